package statuspages

import (
	"context"

	"heliograph/graph/fault"
	"heliograph/graph/model"
	"heliograph/graph/relay"
	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/storage"
	"heliograph/storage/statuspages"
)

// orZero returns an optional argument, or the zero value if it is missing.
func orZero[T any](p *T) T { return ledger.FromPointer(p).V }

// settings returns the component states in the input of a mutation.
func settings(list []*model.StatusAffectedInput) ([]status.Assignment, error) {
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

// written discards the operation's cached reads of status pages after a write.
func (r *Resolver) written(ctx context.Context) {
	reads := r.readsOf(ctx)
	reads.mu.Lock()
	defer reads.mu.Unlock()
	reads.read, reads.pages, reads.states = false, nil, map[string]*status.PageState{}
}

// change authenticates the sender, resolves the id of the object to change, and calls write. It returns the code that write returns.
func (r *Resolver) change(ctx context.Context, needed status.Role, key *string, id string, types []string,
	write func(by statuspages.Author, code string) (string, error)) (string, error) {
	by, err := r.author(ctx, needed, key)
	if err != nil {
		return "", err
	}
	code, err := codeOf(id, types...)
	if err != nil {
		return "", err
	}
	code, err = write(by, code)
	r.written(ctx)
	return code, err
}

// create authenticates the sender, finds the page to write to, and calls write.
func (r *Resolver) create(ctx context.Context, needed status.Role, key, slug *string,
	write func(by statuspages.Author, page string) (string, error)) (string, error) {
	by, err := r.author(ctx, needed, key)
	if err != nil {
		return "", err
	}
	p, err := r.pageToEdit(ctx, slug)
	if err != nil {
		return "", err
	}
	code, err := write(by, p.Code)
	r.written(ctx)
	return code, err
}

// errGone reports that the written object was deleted before it could be read.
var errGone = &fault.Error{Code: fault.NotFound, Message: "it was written, and has been taken away since"}

// noticeNow reads a notice after a write. It includes drafts.
func (r *Resolver) noticeNow(ctx context.Context, code string) (*status.Notice, error) {
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

// payload returns a function that reads the written object, unless the write failed. The function takes the results of [Resolver.change] and
// [Resolver.create].
func payload[P any](ctx context.Context, read func(ctx context.Context, code string) (*P, error)) func(code string, err error) (*P, error) {
	return func(code string, err error) (*P, error) {
		if err != nil {
			return nil, err
		}
		return read(ctx, code)
	}
}

func (r *Resolver) incidentPayload(ctx context.Context, code string) (*model.IncidentPayload, error) {
	n, err := r.noticeNow(ctx, code)
	if err != nil {
		return nil, err
	}
	return &model.IncidentPayload{Incident: &status.Incident{Notice: *n}}, nil
}

func (r *Resolver) maintenancePayload(ctx context.Context, code string) (*model.MaintenancePayload, error) {
	n, err := r.noticeNow(ctx, code)
	if err != nil {
		return nil, err
	}
	return &model.MaintenancePayload{Maintenance: &status.Maintenance{Notice: *n}}, nil
}

func (r *Resolver) componentPayload(ctx context.Context, code string) (*model.ComponentPayload, error) {
	page, err := r.db.PageOfComponent(ctx, code)
	if err != nil {
		return nil, err
	}
	pages, err := r.pages(ctx)
	if err != nil {
		return nil, err
	}
	p := pages.ByCode(page)
	if p == nil {
		return nil, errGone
	}
	b, err := r.db.WorkingCopy(ctx, p) // includes groups without components
	if err != nil {
		return nil, err
	}
	c := b.Component(code)
	if c == nil {
		return nil, errGone
	}
	return &model.ComponentPayload{Component: c}, nil
}

func removedPayload(code string, err error) (*model.RemovedPayload, error) {
	if err != nil {
		return nil, err
	}
	return &model.RemovedPayload{Code: code}, nil
}

var (
	componentTypes   = []string{componentType}
	incidentTypes    = []string{incidentType}
	maintenanceTypes = []string{maintenanceType}
	noticeTypes      = []string{incidentType, maintenanceType}
	updateTypes      = []string{updateType}
)

// OpenIncident resolves Mutation.openIncident.
func (r *Resolver) OpenIncident(ctx context.Context, in model.OpenIncidentInput) (*model.IncidentPayload, error) {
	affected, err := settings(in.Affected)
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
	affected, err := settings(in.Affected)
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

// SetComponentStatus resolves Mutation.setComponentStatus.
func (r *Resolver) SetComponentStatus(ctx context.Context, in model.SetComponentStatusInput) (*model.ComponentPayload, error) {
	return payload(ctx, r.componentPayload)(r.change(ctx, status.Reporter, in.IdempotencyKey, in.ID, componentTypes,
		func(by statuspages.Author, code string) (string, error) {
			return r.editor.EditComponent(ctx, by, code, status.ComponentEdit{Status: ledger.Of(in.Status), ExpectedVersion: orZero(in.ExpectedVersion)})
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
	expected int64) (string, error)) (string, error) {
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
	n, err := r.noticeNow(ctx, code)
	if err != nil {
		return nil, err
	}
	return &model.NoticePayload{Notice: asNotice(n)}, nil
}

// asNotice converts a notice to its type in the graph.
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
	affected, err := settings(in.Affected)
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

// groupCode returns the code of a group, or an empty string for the top level of the page.
func groupCode(id *string) (string, error) {
	if id == nil {
		return "", nil
	}
	return codeOf(*id, componentType)
}

// AddComponent resolves Mutation.addComponent.
func (r *Resolver) AddComponent(ctx context.Context, in model.AddComponentInput) (*model.ComponentPayload, error) {
	group, err := groupCode(in.GroupID)
	if err != nil {
		return nil, err
	}
	return payload(ctx, r.componentPayload)(r.create(ctx, status.Admin, in.IdempotencyKey, in.Page, func(by statuspages.Author, page string) (string, error) {
		return r.editor.AddComponent(ctx, by, page, status.NewComponent{
			IsGroup: in.IsGroup, Name: in.Name, Description: orZero(in.Description), Group: group, Position: orZero(in.Position), Status: in.Status,
			Showcase: ledger.FromPointer(in.Showcase).Or(true), OnlyShowIfDegraded: orZero(in.OnlyShowIfDegraded),
			StartDate: ledger.FromPointer(in.StartDate), NodeID: ledger.FromPointer(in.NodeID),
		})
	}))
}

// EditComponent resolves Mutation.editComponent.
func (r *Resolver) EditComponent(ctx context.Context, in model.EditComponentInput) (*model.ComponentPayload, error) {
	return payload(ctx, r.componentPayload)(r.change(ctx, status.Admin, in.IdempotencyKey, in.ID, componentTypes,
		func(by statuspages.Author, code string) (string, error) {
			return r.editor.EditComponent(ctx, by, code, status.ComponentEdit{
				Name: ledger.FromPointer(in.Name), Description: ledger.FromPointer(in.Description), Showcase: ledger.FromPointer(in.Showcase),
				OnlyShowIfDegraded: ledger.FromPointer(in.OnlyShowIfDegraded), StartDate: ledger.FromPointer(in.StartDate),
				NodeID: ledger.FromPointer(in.NodeID), ExpectedVersion: orZero(in.ExpectedVersion),
			})
		}))
}

// MoveComponent resolves Mutation.moveComponent.
func (r *Resolver) MoveComponent(ctx context.Context, in model.MoveComponentInput) (*model.ComponentPayload, error) {
	group, err := groupCode(in.GroupID)
	if err != nil {
		return nil, err
	}
	return payload(ctx, r.componentPayload)(r.change(ctx, status.Admin, in.IdempotencyKey, in.ID, componentTypes,
		func(by statuspages.Author, code string) (string, error) {
			return r.editor.MoveComponent(ctx, by, code, group, orZero(in.Position), orZero(in.ExpectedVersion))
		}))
}

// RemoveComponent resolves Mutation.removeComponent.
func (r *Resolver) RemoveComponent(ctx context.Context, in model.RemoveComponentInput) (*model.RemovedPayload, error) {
	return removedPayload(r.change(ctx, status.Admin, in.IdempotencyKey, in.ID, componentTypes, func(by statuspages.Author, code string) (string, error) {
		return r.editor.RemoveComponent(ctx, by, code, orZero(in.ExpectedVersion))
	}))
}

// SetStatusPage resolves Mutation.setStatusPage.
func (r *Resolver) SetStatusPage(ctx context.Context, in model.SetStatusPageInput) (*model.StatusPagePayload, error) {
	list := make([]status.PageSetting, len(in.Settings))
	for i, s := range in.Settings {
		list[i] = status.PageSetting{Key: s.Key, Value: s.Value}
	}
	return payload(ctx, r.pagePayload)(r.create(ctx, status.Admin, in.IdempotencyKey, in.Page, func(by statuspages.Author, page string) (string, error) {
		return r.editor.SetPage(ctx, by, page, list)
	}))
}

func (r *Resolver) pagePayload(ctx context.Context, code string) (*model.StatusPagePayload, error) {
	pages, err := r.pages(ctx)
	if err != nil {
		return nil, err
	}
	p := pages.ByCode(code)
	if p == nil {
		return nil, errGone
	}
	return &model.StatusPagePayload{Page: p}, nil
}

// maxDrafts is the maximum number of drafts in the list.
const maxDrafts = 100

// Drafts resolves Query.statusDrafts.
func (r *Resolver) Drafts(ctx context.Context, slug *string) ([]*status.Incident, error) {
	t, err := r.operator(ctx, status.Viewer)
	if err != nil {
		return nil, err
	}
	p, err := r.pageToEdit(ctx, slug)
	if err != nil {
		return nil, err
	}
	if !t.For(p.Code) {
		return nil, &fault.Error{Code: fault.Forbidden, Message: "the token is for another page"}
	}
	rows, err := r.db.Notices(ctx, p, statuspages.NoticeFilter{Kind: status.Realtime, Drafts: true}, statuspages.ByCreation,
		storage.Page{Limit: maxDrafts, Desc: true})
	return list.Map(rows, func(n *status.Notice) *status.Incident { return &status.Incident{Notice: *n} }), err
}
