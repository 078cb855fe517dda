package resolvers

import (
	"context"

	"heliograph/graph"
	"heliograph/internal/domain/status"
)

// Status reads the default status page.
func (r queries) Status(ctx context.Context) (*status.Page, error) {
	return r.status.Page(ctx, nil)
}

// StatusPage reads a status page.
func (r queries) StatusPage(ctx context.Context, args graph.QueryStatusPageArgs) (*status.Page, error) {
	return r.status.Page(ctx, args.Slug)
}

// StatusIncident reads an incident.
func (r queries) StatusIncident(ctx context.Context, args graph.QueryStatusIncidentArgs) (*status.Incident, error) {
	return r.status.Incident(ctx, args.Code)
}

// StatusMaintenance reads a maintenance.
func (r queries) StatusMaintenance(ctx context.Context, args graph.QueryStatusMaintenanceArgs) (
	*status.Maintenance, error,
) {
	return r.status.Maintenance(ctx, args.Code)
}

// StatusDrafts reads the incidents that are not published.
func (r queries) StatusDrafts(ctx context.Context, args graph.QueryStatusDraftsArgs) ([]*status.Incident, error) {
	return r.status.Drafts(ctx, args.Page)
}

// StatusWebhooks reads the webhooks of a status page.
func (r queries) StatusWebhooks(ctx context.Context, args graph.QueryStatusWebhooksArgs) ([]*status.Webhook, error) {
	return r.status.Webhooks(ctx, args.Page)
}
