package statuspages

import (
	"context"

	"heliograph/graph/model"
	"heliograph/graph/relay"
	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/storage"
	"heliograph/storage/statuspages"
)

// assignments returns the component statuses in the input of a mutation.
func assignments(list []*model.StatusAffectedInput) ([]status.Assignment, error) {
	out := make([]status.Assignment, len(list))
	for i, a := range list {
		code, err := codeOf(a.ComponentID, componentType)
		if err != nil {
			return nil, err
		}
		out[i] = status.Assignment{Component: code, Status: a.Status}
	}
	return out, nil
}

// writtenNotice reads a notice after a write. It includes drafts.
func (r *Resolver) writtenNotice(ctx context.Context, code string) (*status.Notice, error) {
	pages, err := r.pages(ctx)
	if err != nil {
		return nil, err
	}
	found, err := r.db.NoticesByCode(ctx, pages, []string{code})
	if err != nil {
		return nil, err
	}
	if found[code] == nil {
		return nil, errGone
	}
	return found[code], nil
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

// OpenIncident resolves Mutation.openIncident.
func (r *Resolver) OpenIncident(ctx context.Context, in model.OpenIncidentInput) (*model.IncidentPayload, error) {
	affected, err := assignments(in.Affected)
	if err != nil {
		return nil, err
	}
	state := in.Status
	if in.Backfill && state == status.Investigating { // the default
		state = status.Resolved
	}
	return payload(ctx, r.incidentPayload)(r.create(ctx, status.Operator, in.IdempotencyKey, in.Page, func(by statuspages.Author, page string) (string, error) {
		return r.editor.OpenIncident(ctx, by, page, status.NewIncident{
			Name: in.Name, Body: in.Body, State: state, Affected: affected, ImpactOverride: ledger.FromPointer(in.ImpactOverride),
			StartedAt: ledger.FromPointer(in.StartedAt), Reminders: ledger.FromPointer(in.ReminderIntervals), Silent: !in.DeliverNotifications, Draft: in.Draft,
			Backfill: in.Backfill, ResolvedAt: ledger.FromPointer(in.ResolvedAt), Resolution: orZero(in.Resolution),
		})
	}))
}

// UpdateIncident resolves Mutation.updateIncident.
func (r *Resolver) UpdateIncident(ctx context.Context, in model.UpdateIncidentInput) (*model.IncidentPayload, error) {
	return r.updateIncident(ctx, in, status.Reporter, r.editor.UpdateIncident)
}

// ReopenIncident resolves Mutation.reopenIncident.
func (r *Resolver) ReopenIncident(ctx context.Context, in model.UpdateIncidentInput) (*model.IncidentPayload, error) {
	return r.updateIncident(ctx, in, status.Operator, r.editor.ReopenIncident)
}

func (r *Resolver) updateIncident(ctx context.Context, in model.UpdateIncidentInput, needed status.Role,
	write func(context.Context, statuspages.Author, string, status.NewUpdate) (string, error),
) (*model.IncidentPayload, error) {
	affected, err := assignments(in.Affected)
	if err != nil {
		return nil, err
	}
	u := status.NewUpdate{
		State: in.Status, Body: in.Body, Affected: affected, Keep: in.KeepComponents, DisplayAt: ledger.FromPointer(in.DisplayAt), Silent: !in.DeliverNotifications,
		ExpectedVersion: orZero(in.ExpectedVersion),
	}
	return payload(ctx, r.incidentPayload)(r.change(ctx, needed, in.IdempotencyKey, in.ID, incidentTypes,
		func(by statuspages.Author, code string) (string, error) {
			return write(ctx, by, code, u)
		}))
}

// PublishPostmortem resolves Mutation.publishPostmortem.
func (r *Resolver) PublishPostmortem(ctx context.Context, in model.PublishPostmortemInput) (*model.IncidentPayload, error) {
	return payload(ctx, r.incidentPayload)(r.change(ctx, status.Operator, in.IdempotencyKey, in.ID, incidentTypes,
		func(by statuspages.Author, code string) (string, error) {
			return r.editor.PublishPostmortem(ctx, by, code, in.Body, !in.DeliverNotifications, orZero(in.ExpectedVersion))
		}))
}

// changeNotice writes to a notice with an input that has only its id and version.
func (r *Resolver) changeNotice(ctx context.Context, in model.NoticeInput, write func(ctx context.Context, by statuspages.Author, code string,
	expected int64) (string, error),
) (string, error) {
	return r.change(ctx, status.Operator, in.IdempotencyKey, in.ID, noticeTypes, func(by statuspages.Author, code string) (string, error) {
		return write(ctx, by, code, orZero(in.ExpectedVersion))
	})
}

// PublishDraft resolves Mutation.publishDraft.
func (r *Resolver) PublishDraft(ctx context.Context, in model.NoticeInput) (*model.IncidentPayload, error) {
	return payload(ctx, r.incidentPayload)(r.changeNotice(ctx, in, r.editor.PublishDraft))
}

// DiscardDraft resolves Mutation.discardDraft.
func (r *Resolver) DiscardDraft(ctx context.Context, in model.NoticeInput) (*model.RemovedPayload, error) {
	return removedPayload(r.changeNotice(ctx, in, r.editor.DiscardDraft))
}

// DeleteStatusNotice resolves Mutation.deleteStatusNotice.
func (r *Resolver) DeleteStatusNotice(ctx context.Context, in model.NoticeInput) (*model.RemovedPayload, error) {
	return removedPayload(r.changeNotice(ctx, in, r.editor.DeleteNotice))
}

// EditUpdate resolves Mutation.editUpdate.
func (r *Resolver) EditUpdate(ctx context.Context, in model.EditUpdateInput) (*model.UpdatePayload, error) {
	return payload(ctx, r.updatePayload)(r.change(ctx, status.Operator, in.IdempotencyKey, in.ID, updateTypes,
		func(by statuspages.Author, code string) (string, error) {
			_, err := r.editor.EditUpdate(ctx, by, code, status.UpdateEdit{Body: ledger.FromPointer(in.Body), DisplayAt: ledger.FromPointer(in.DisplayAt)})
			return code, err // the code of the update, not of its notice
		}))
}

func (r *Resolver) updatePayload(ctx context.Context, code string) (*model.UpdatePayload, error) {
	pages, err := r.pages(ctx)
	if err != nil {
		return nil, err
	}
	u, err := r.db.UpdateByCode(ctx, pages, code)
	if err != nil {
		return nil, err
	}
	if u == nil {
		return nil, errGone
	}
	return &model.UpdatePayload{Update: u}, nil
}

// EditStatusNotice resolves Mutation.editStatusNotice.
func (r *Resolver) EditStatusNotice(ctx context.Context, in model.EditNoticeInput) (*model.NoticePayload, error) {
	return payload(ctx, r.noticePayload)(r.change(ctx, status.Operator, in.IdempotencyKey, in.ID, noticeTypes,
		func(by statuspages.Author, code string) (string, error) {
			return r.editor.EditNotice(ctx, by, code, status.NoticeEdit{
				Name: ledger.FromPointer(in.Name), ImpactOverride: ledger.FromPointer(in.ImpactOverride), Reminders: ledger.FromPointer(in.ReminderIntervals),
				AutoInProgress: ledger.FromPointer(in.AutoInProgress),
				AutoCompleted:  ledger.FromPointer(in.AutoCompleted), ExpectedVersion: orZero(in.ExpectedVersion),
			})
		}))
}

func (r *Resolver) noticePayload(ctx context.Context, code string) (*model.NoticePayload, error) {
	n, err := r.writtenNotice(ctx, code)
	if err != nil {
		return nil, err
	}
	return &model.NoticePayload{Notice: asNotice(n)}, nil
}

// asNotice converts a notice to its type in the schema.
func asNotice(n *status.Notice) relay.StatusNotice {
	if n.Kind == status.Scheduled {
		return &status.Maintenance{Notice: *n}
	}
	return &status.Incident{Notice: *n}
}

// ScheduleMaintenance resolves Mutation.scheduleMaintenance.
func (r *Resolver) ScheduleMaintenance(ctx context.Context, in model.ScheduleMaintenanceInput) (*model.MaintenancePayload, error) {
	components := make([]string, len(in.ComponentIds))
	for i, id := range in.ComponentIds {
		code, err := codeOf(id, componentType)
		if err != nil {
			return nil, err
		}
		components[i] = code
	}
	return payload(ctx, r.maintenancePayload)(r.create(ctx, status.Operator, in.IdempotencyKey, in.Page, func(by statuspages.Author, page string) (string, error) {
		return r.editor.ScheduleMaintenance(ctx, by, page, status.NewMaintenance{
			Name: in.Name, Body: in.Body, Start: in.ScheduledFor, End: in.ScheduledUntil, Components: components, State: in.Status,
			ImpactOverride: ledger.FromPointer(in.ImpactOverride),
			AutoInProgress: in.AutoInProgress, AutoCompleted: in.AutoCompleted, AutoMaintenanceState: in.AutoMaintenanceState,
			AutoOperationalState: in.AutoOperationalState,
			RemindMinutes:        ledger.FromPointer(in.RemindMinutes), Silent: !in.DeliverNotifications,
		})
	}))
}

// MoveMaintenance resolves Mutation.moveMaintenance.
func (r *Resolver) MoveMaintenance(ctx context.Context, in model.MoveMaintenanceInput) (*model.MaintenancePayload, error) {
	affected, err := assignments(in.Affected)
	if err != nil {
		return nil, err
	}
	return payload(ctx, r.maintenancePayload)(r.change(ctx, status.Operator, in.IdempotencyKey, in.ID, maintenanceTypes,
		func(by statuspages.Author, code string) (string, error) {
			return r.editor.MoveMaintenance(ctx, by, code, status.NewUpdate{
				State: in.Status, Body: orZero(in.Body), Affected: affected, Keep: in.KeepComponents, Silent: !in.DeliverNotifications,
				ExpectedVersion: orZero(in.ExpectedVersion),
			})
		}))
}

// RescheduleMaintenance resolves Mutation.rescheduleMaintenance.
func (r *Resolver) RescheduleMaintenance(ctx context.Context, in model.RescheduleMaintenanceInput) (*model.MaintenancePayload, error) {
	return payload(ctx, r.maintenancePayload)(r.change(ctx, status.Operator, in.IdempotencyKey, in.ID, maintenanceTypes,
		func(by statuspages.Author, code string) (string, error) {
			return r.editor.RescheduleMaintenance(ctx, by, code, in.ScheduledFor, in.ScheduledUntil, orZero(in.Body), !in.DeliverNotifications,
				orZero(in.ExpectedVersion))
		}))
}

// CancelMaintenance resolves Mutation.cancelMaintenance.
func (r *Resolver) CancelMaintenance(ctx context.Context, in model.CancelMaintenanceInput) (*model.MaintenancePayload, error) {
	return payload(ctx, r.maintenancePayload)(r.change(ctx, status.Operator, in.IdempotencyKey, in.ID, maintenanceTypes,
		func(by statuspages.Author, code string) (string, error) {
			return r.editor.CancelMaintenance(ctx, by, code, orZero(in.Body), !in.DeliverNotifications, orZero(in.ExpectedVersion))
		}))
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
