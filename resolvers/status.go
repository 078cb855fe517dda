package resolvers

import (
	"context"

	"heliograph/graph"
	"heliograph/internal/domain/status"
)

// Status resolves Query.status. It reads the default status page from the database of status pages, nil if there is
// none. An operation reads the pages once.
func (r queries) Status(ctx context.Context) (*status.Page, error) {
	return r.status.Page(ctx, nil)
}

// StatusPage resolves Query.statusPage. It reads the status page with a short name from the database of status pages,
// nil if it does not exist. An operation reads the pages once.
func (r queries) StatusPage(ctx context.Context, args graph.QueryStatusPageArgs) (*status.Page, error) {
	return r.status.Page(ctx, args.Slug)
}

// StatusIncident resolves Query.statusIncident. It reads a published incident from the database of status pages, nil
// for an unknown code, a draft or a maintenance.
func (r queries) StatusIncident(ctx context.Context, args graph.QueryStatusIncidentArgs) (*status.Incident, error) {
	return r.status.Incident(ctx, args.Code)
}

// StatusMaintenance resolves Query.statusMaintenance. It reads a published maintenance from the database of status
// pages, nil for an unknown code, a draft or an incident.
func (r queries) StatusMaintenance(ctx context.Context, args graph.QueryStatusMaintenanceArgs) (
	*status.Maintenance, error,
) {
	return r.status.Maintenance(ctx, args.Code)
}

// StatusDrafts resolves Query.statusDrafts. It reads the newest incidents that are not published, at most 100, of a
// page or of the default one. It fails with UNAUTHENTICATED or FORBIDDEN unless the sender has the role viewer for the
// page, and with NOT_FOUND without the page. The use of a stored token is recorded in the database.
func (r queries) StatusDrafts(ctx context.Context, args graph.QueryStatusDraftsArgs) ([]*status.Incident, error) {
	return r.status.Drafts(ctx, args.Page)
}

// StatusWebhooks resolves Query.statusWebhooks. It reads the webhooks of a status page or of the default one. It fails
// with UNAUTHENTICATED or FORBIDDEN unless the sender has the role admin for the page, and with NOT_FOUND without the
// page. The use of a stored token is recorded in the database.
func (r queries) StatusWebhooks(ctx context.Context, args graph.QueryStatusWebhooksArgs) ([]*status.Webhook, error) {
	return r.status.Webhooks(ctx, args.Page)
}
