package resolvers

import (
	"context"

	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/domain/status"
)

// The types of status pages, as they stand in global ids.
const (
	statusPageType        = "StatusPage"
	statusComponentType   = "StatusComponent"
	statusIncidentType    = "StatusIncident"
	statusMaintenanceType = "StatusMaintenance"
	statusUpdateType      = "StatusUpdate"
)

func statusPageID(p *status.Page) string { return relay.ID(statusPageType, p.Code) }

func statusComponentID(c *status.Component) string { return relay.ID(statusComponentType, c.Code) }

func statusIncidentID(n *status.Incident) string { return relay.ID(statusIncidentType, n.Code) }

func statusMaintenanceID(n *status.Maintenance) string {
	return relay.ID(statusMaintenanceType, n.Code)
}

func statusUpdateID(u *status.Update) string { return relay.ID(statusUpdateType, u.Code) }

func addStatusIDs(t *rowplan.Tables) {
	t.StatusPage.Add("id", idField(statusPageID))
	t.StatusComponent.Add("id", idField(statusComponentID))
	t.StatusIncident.Add("id", idField(statusIncidentID))
	t.StatusMaintenance.Add("id", idField(statusMaintenanceID))
	t.StatusUpdate.Add("id", idField(statusUpdateID))
}

// statusThing reads what belongs to a status page by the code in its global id.
func (r *Resolver) statusThing(ctx context.Context, typ, code string) (relay.Node, error) {
	pages, err := r.statusPages(ctx)
	if err != nil || pages == nil {
		return nil, err
	}
	switch typ {
	case statusPageType:
		return present(pages.ByCode(code), nil)
	case statusComponentType:
		return present(r.statusComponent(ctx, code))
	case statusIncidentType:
		return present(r.statusIncident(ctx, code))
	case statusMaintenanceType:
		return present(r.statusMaintenance(ctx, code))
	default:
		return present(r.status.UpdateByCode(ctx, pages, code))
	}
}
