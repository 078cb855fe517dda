package resolvers

import (
	"context"

	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/internal/ledger"
)

// ReadEntity implements [graph.EntityReader]. The key is the global id, or the entity's id on the ledger.
func (r *Resolver) ReadEntity(ctx context.Context, reference map[string]any) (relay.Node, error) {
	typ, _ := reference["__typename"].(string)
	if id, ok := reference["id"].(string); ok {
		if named, _, err := relay.ParseID(id); err != nil || named != typ {
			return nil, fault.Input("%q is not the id of a thing of type %q", id, typ)
		}
		return r.node(ctx, id)
	}
	number, ok := reference["entityId"].(string)
	if !ok {
		return nil, fault.Input("a reference needs __typename, and id or entityId, as strings")
	}
	switch typ {
	case accountType, contractType, scheduleType, tokenType, topicType:
	default:
		return nil, fault.Input("things of type %q have no entityId", typ)
	}
	id, err := ledger.ParseEntityID(number, r.db.SystemEntity(0))
	if err != nil {
		return nil, fault.Input("%v", err)
	}
	return r.node(ctx, relay.ID(typ, id.String()))
}
