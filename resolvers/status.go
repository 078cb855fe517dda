package resolvers

import (
	"context"

	"heliograph/graph"
	"heliograph/internal/domain/status"
)

// The functions of status pages are in package statuspages.

// Status returns the default status page.
func (r queries) Status(ctx context.Context) (*status.Page, error) { return r.status.Page(ctx, nil) }

// StatusPage returns a status page.
func (r queries) StatusPage(ctx context.Context, args graph.QueryStatusPageArgs) (*status.Page, error) {
	return r.status.Page(ctx, args.Slug)
}

// StatusIncident returns an incident.
func (r queries) StatusIncident(ctx context.Context, args graph.QueryStatusIncidentArgs) (*status.Incident, error) {
	return r.status.Incident(ctx, args.Code)
}

// StatusMaintenance returns a maintenance.
func (r queries) StatusMaintenance(ctx context.Context, args graph.QueryStatusMaintenanceArgs) (*status.Maintenance, error) {
	return r.status.Maintenance(ctx, args.Code)
}

// StatusDrafts returns the drafts of a status page.
func (r queries) StatusDrafts(ctx context.Context, args graph.QueryStatusDraftsArgs) ([]*status.Incident, error) {
	return r.status.Drafts(ctx, args.Page)
}

// StatusWebhooks returns the webhooks of a status page.
func (r queries) StatusWebhooks(ctx context.Context, args graph.QueryStatusWebhooksArgs) ([]*status.Webhook, error) {
	return r.status.Webhooks(ctx, args.Page)
}
