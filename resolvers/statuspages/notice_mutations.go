package statuspages

import (
	"context"

	"heliograph/graph/model"
	"heliograph/graph/relay"
	"heliograph/internal/base/list"
	"heliograph/internal/domain/status"
	"heliograph/storage"
	"heliograph/storage/statuspages"
)

// OpenIncident resolves Mutation.openIncident.
func (r *Resolver) OpenIncident(ctx context.Context, in status.NewIncident) (*model.IncidentPayload, error) {
	if in.Backfill && in.State == status.Investigating { // the default
		in.State = status.Resolved
	}
	return write(ctx, r, status.Operator, page, &in, r.editor.OpenIncident, r.incidentPayload)
}

// UpdateIncident resolves Mutation.updateIncident.
func (r *Resolver) UpdateIncident(ctx context.Context, in status.NewUpdate) (*model.IncidentPayload, error) {
	return write(ctx, r, status.Reporter, incident, &in, r.editor.UpdateIncident, r.incidentPayload)
}

// ReopenIncident resolves Mutation.reopenIncident.
func (r *Resolver) ReopenIncident(ctx context.Context, in status.NewUpdate) (*model.IncidentPayload, error) {
	return write(ctx, r, status.Operator, incident, &in, r.editor.ReopenIncident, r.incidentPayload)
}

// PublishPostmortem resolves Mutation.publishPostmortem.
func (r *Resolver) PublishPostmortem(ctx context.Context, in status.NewUpdate) (*model.IncidentPayload, error) {
	return write(ctx, r, status.Operator, incident, &in, r.editor.PublishPostmortem, r.incidentPayload)
}

// PublishDraft resolves Mutation.publishDraft.
func (r *Resolver) PublishDraft(ctx context.Context, in status.VersionInput) (*model.IncidentPayload, error) {
	return write(ctx, r, status.Operator, notice, &in, expecting(r.editor.PublishDraft), r.incidentPayload)
}

// DiscardDraft resolves Mutation.discardDraft.
func (r *Resolver) DiscardDraft(ctx context.Context, in status.VersionInput) (*model.RemovedPayload, error) {
	return write(ctx, r, status.Operator, notice, &in, expecting(r.editor.DiscardDraft), removed)
}

// DeleteStatusNotice resolves Mutation.deleteStatusNotice.
func (r *Resolver) DeleteStatusNotice(ctx context.Context, in status.VersionInput) (*model.RemovedPayload, error) {
	return write(ctx, r, status.Operator, notice, &in, expecting(r.editor.DeleteNotice), removed)
}

// EditUpdate resolves Mutation.editUpdate.
func (r *Resolver) EditUpdate(ctx context.Context, in status.UpdateEdit) (*model.UpdatePayload, error) {
	return write(ctx, r, status.Operator, update, &in, r.editor.EditUpdate, func(ctx context.Context, code string) (*model.UpdatePayload, error) {
		pages, err := r.pages(ctx)
		if err != nil {
			return nil, err
		}
		u, err := found(r.db.UpdateByCode(ctx, pages, code))
		return &model.UpdatePayload{Update: u}, err
	})
}

// EditStatusNotice resolves Mutation.editStatusNotice.
func (r *Resolver) EditStatusNotice(ctx context.Context, in status.NoticeEdit) (*model.NoticePayload, error) {
	return write(ctx, r, status.Operator, notice, &in, r.editor.EditNotice, func(ctx context.Context, code string) (*model.NoticePayload, error) {
		n, err := r.writtenNotice(ctx, code)
		if err != nil {
			return nil, err
		}
		return &model.NoticePayload{Notice: asNotice(n)}, nil
	})
}

// ScheduleMaintenance resolves Mutation.scheduleMaintenance.
func (r *Resolver) ScheduleMaintenance(ctx context.Context, in status.NewMaintenance) (*model.MaintenancePayload, error) {
	return write(ctx, r, status.Operator, page, &in, r.editor.ScheduleMaintenance, r.maintenancePayload)
}

// MoveMaintenance resolves Mutation.moveMaintenance.
func (r *Resolver) MoveMaintenance(ctx context.Context, in status.NewUpdate) (*model.MaintenancePayload, error) {
	return write(ctx, r, status.Operator, maintenance, &in, r.editor.MoveMaintenance, r.maintenancePayload)
}

// RescheduleMaintenance resolves Mutation.rescheduleMaintenance.
func (r *Resolver) RescheduleMaintenance(ctx context.Context, in status.Reschedule) (*model.MaintenancePayload, error) {
	return write(ctx, r, status.Operator, maintenance, &in, r.editor.RescheduleMaintenance, r.maintenancePayload)
}

// CancelMaintenance resolves Mutation.cancelMaintenance.
func (r *Resolver) CancelMaintenance(ctx context.Context, in status.NewUpdate) (*model.MaintenancePayload, error) {
	return write(ctx, r, status.Operator, maintenance, &in, r.editor.CancelMaintenance, r.maintenancePayload)
}

func (r *Resolver) incidentPayload(ctx context.Context, code string) (*model.IncidentPayload, error) {
	n, err := r.writtenNotice(ctx, code)
	if err != nil {
		return nil, err
	}
	return &model.IncidentPayload{Incident: &status.Incident{Notice: *n}}, nil
}

func (r *Resolver) maintenancePayload(ctx context.Context, code string) (*model.MaintenancePayload, error) {
	n, err := r.writtenNotice(ctx, code)
	if err != nil {
		return nil, err
	}
	return &model.MaintenancePayload{Maintenance: &status.Maintenance{Notice: *n}}, nil
}

// writtenNotice reads a notice after a write. It includes drafts.
func (r *Resolver) writtenNotice(ctx context.Context, code string) (*status.Notice, error) {
	pages, err := r.pages(ctx)
	if err != nil {
		return nil, err
	}
	byCode, err := r.db.NoticesByCode(ctx, pages, []string{code})
	return found(byCode[code], err)
}

// asNotice converts a notice to its type in the schema.
func asNotice(n *status.Notice) relay.StatusNotice {
	if n.Kind == status.Scheduled {
		return &status.Maintenance{Notice: *n}
	}
	return &status.Incident{Notice: *n}
}

// maxDrafts is the maximum number of drafts in the list.
const maxDrafts = 100

// Drafts resolves Query.statusDrafts.
func (r *Resolver) Drafts(ctx context.Context, slug *string) ([]*status.Incident, error) {
	p, err := r.pageToRead(ctx, status.Viewer, slug)
	if err != nil {
		return nil, err
	}
	rows, err := r.db.Notices(ctx, p, statuspages.NoticeFilter{Kind: status.Realtime, Drafts: true}, statuspages.ByCreation,
		storage.Page{Limit: maxDrafts, Desc: true})
	return list.Map(rows, func(n *status.Notice) *status.Incident { return &status.Incident{Notice: *n} }), err
}
