package resolvers

import (
	"context"

	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/internal/domain/ledger"
)

// readEntities returns the objects that other graphs reference by global id or entity id.
func (r *Resolver) readEntities(ctx context.Context, references []map[string]any) ([]relay.Node, []error) {
	nodes, errs := make([]relay.Node, len(references)), make([]error, len(references))
	var ids []string
	var places []int
	for i, reference := range references {
		var id string
		if id, errs[i] = r.referred(reference); errs[i] == nil {
			ids, places = append(ids, id), append(places, i)
		}
	}
	found, failed := r.nodes(ctx, ids)
	for i, place := range places {
		nodes[place], errs[place] = found[i], failed[i]
	}
	return nodes, errs
}

// referred returns the global id of a reference from another graph.
func (r *Resolver) referred(reference map[string]any) (string, error) {
	typ, _ := reference["__typename"].(string)
	if id, ok := reference["id"].(string); ok {
		if named, _, err := relay.ParseID(id); err != nil || named != typ {
			return "", fault.Input("%q is not the id of a thing of type %q", id, typ)
		}
		return id, nil
	}
	number, ok := reference["entityId"].(string)
	if !ok {
		return "", fault.Input("a reference needs __typename, and id or entityId, as strings")
	}
	switch typ {
	case accountType, contractType, fileType, scheduleType, tokenType, topicType:
	default:
		return "", fault.Input("things of type %q have no entityId", typ)
	}
	id, err := ledger.ParseEntityID(number, r.db.SystemEntity(0))
	if err != nil {
		return "", fault.Input("%v", err)
	}
	return relay.ID(typ, id.String()), nil
}
