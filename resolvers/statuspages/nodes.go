package statuspages

import (
	"context"

	"heliograph/graph/relay"
)

// The types of status page objects in global ids.
const (
	pageType        = "StatusPage"
	componentType   = "StatusComponent"
	incidentType    = "StatusIncident"
	maintenanceType = "StatusMaintenance"
	updateType      = "StatusUpdate"
)

// HasType reports whether a type name in a global id is a type of status page objects.
func HasType(name string) bool {
	switch name {
	case pageType, componentType, incidentType, maintenanceType, updateType:
		return true
	default:
		return false
	}
}

// Node returns the object with the given type and code, or nil if it does not exist.
func (r *Resolver) Node(ctx context.Context, typ, code string) (relay.Node, error) {
	pages, err := r.pages(ctx)
	if err != nil || pages == nil {
		return nil, err
	}
	switch typ {
	case pageType:
		return node(pages.ByCode(code), nil)
	case componentType:
		return node(r.componentByCode(ctx, code))
	case incidentType:
		return node(r.Incident(ctx, code))
	case maintenanceType:
		return node(r.Maintenance(ctx, code))
	default:
		return node(r.db.UpdateByCode(ctx, pages, code))
	}
}

// node converts a nil pointer to a nil interface.
func node[T any, P interface {
	*T
	relay.Node
}](row P, err error) (relay.Node, error) {
	if err != nil || row == nil {
		return nil, err
	}
	return row, nil
}
