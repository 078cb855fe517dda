package statuspages

import (
	"context"

	"heliograph/graph"
	"heliograph/graph/fault"
	"heliograph/graph/model"
	"heliograph/graph/relay"
	"heliograph/internal/base/must"
	"heliograph/internal/domain/status"
	"heliograph/storage/statuspages"
)

// target is the kind of object that a mutation writes to: the types of its global ids. It is nil for mutations that write to a page.
type target []string

var (
	page        target
	component   = target{componentType}
	incident    = target{incidentType}
	maintenance = target{maintenanceType}
	notice      = target{incidentType, maintenanceType}
	update      = target{updateType}
	webhook     = target{} // webhooks have no global id
)

// Mutations returns the mutations of status pages.
func (r *Resolver) Mutations() graph.Mutations {
	e := r.editor
	return graph.Mutations{
		OpenIncident:          write(r, status.Operator, page, r.openIncident, r.incidentPayload),
		UpdateIncident:        write(r, status.Reporter, incident, e.UpdateIncident, r.incidentPayload),
		ReopenIncident:        write(r, status.Operator, incident, e.ReopenIncident, r.incidentPayload),
		PublishPostmortem:     write(r, status.Operator, incident, e.PublishPostmortem, r.incidentPayload),
		PublishDraft:          write(r, status.Operator, notice, expecting(e.PublishDraft), r.incidentPayload),
		DiscardDraft:          write(r, status.Operator, notice, expecting(e.DiscardDraft), removed),
		DeleteStatusNotice:    write(r, status.Operator, notice, expecting(e.DeleteNotice), removed),
		EditStatusNotice:      write(r, status.Operator, notice, e.EditNotice, r.noticePayload),
		EditUpdate:            write(r, status.Operator, update, e.EditUpdate, r.updatePayload),
		ScheduleMaintenance:   write(r, status.Operator, page, e.ScheduleMaintenance, r.maintenancePayload),
		MoveMaintenance:       write(r, status.Operator, maintenance, e.MoveMaintenance, r.maintenancePayload),
		RescheduleMaintenance: write(r, status.Operator, maintenance, e.RescheduleMaintenance, r.maintenancePayload),
		CancelMaintenance:     write(r, status.Operator, maintenance, e.CancelMaintenance, r.maintenancePayload),
		SetComponentStatus:    write(r, status.Reporter, component, e.EditComponent, r.componentPayload),
		AddComponent:          write(r, status.Admin, page, e.AddComponent, r.componentPayload),
		EditComponent:         write(r, status.Admin, component, e.EditComponent, r.componentPayload),
		MoveComponent:         write(r, status.Admin, component, e.MoveComponent, r.componentPayload),
		RemoveComponent:       write(r, status.Admin, component, expecting(e.RemoveComponent), removed),
		SetStatusPage:         write(r, status.Admin, page, r.setPage, r.pagePayload),
		AddStatusWebhook:      writeWebhook(r, page, e.AddWebhook),
		RotateStatusWebhook:   writeWebhook(r, webhook, r.rotateWebhook),
		EnableStatusWebhook:   writeWebhook(r, webhook, r.enableWebhook),
		RemoveStatusWebhook:   write(r, status.Admin, webhook, r.removeWebhook, removed),
	}
}

func (r *Resolver) openIncident(ctx context.Context, by statuspages.Author, page string, in status.NewIncident) (string, error) {
	if in.Backfill && in.State == status.Investigating { // the default
		in.State = status.Resolved
	}
	return r.editor.OpenIncident(ctx, by, page, in)
}

func (r *Resolver) setPage(ctx context.Context, by statuspages.Author, page string, in status.PageEdit) (string, error) {
	return r.editor.SetPage(ctx, by, page, in.Settings)
}

// expecting returns a function for [write] that writes to an object with an expected version.
func expecting(do func(ctx context.Context, by statuspages.Author, code string, version int64) (string, error)) func(
	context.Context, statuspages.Author, string, status.VersionInput,
) (string, error) {
	return func(ctx context.Context, by statuspages.Author, code string, in status.VersionInput) (string, error) {
		return do(ctx, by, code, in.ExpectedVersion)
	}
}

type input[I any] interface {
	*I
	Destination() *status.Target
}

// write returns the function of a mutation: it authenticates the sender, replaces global ids by codes, calls do with the code of the target, and reads the
// written object.
func write[I, P any, T input[I]](r *Resolver, needed status.Role, kind target,
	do func(ctx context.Context, by statuspages.Author, code string, in I) (string, error), read func(ctx context.Context, code string) P,
) func(context.Context, I) (P, error) {
	return func(ctx context.Context, in I) (out P, err error) {
		to := T(&in).Destination()
		by, err := r.author(ctx, needed, to.IdempotencyKey)
		if err != nil {
			return out, err
		}
		code, err := r.destination(ctx, kind, to)
		if err != nil {
			return out, err
		}
		for _, id := range components(&in) {
			if *id, err = codeOf(*id, componentType); err != nil {
				return out, err
			}
		}
		code, err = do(ctx, by, code, in)
		r.written(ctx)
		if err != nil {
			return out, err
		}
		err = must.Run(func() error {
			out = read(ctx, code)
			return nil
		})
		return out, err
	}
}

// destination returns the code of the object or page that a mutation writes to.
func (r *Resolver) destination(ctx context.Context, kind target, to *status.Target) (string, error) {
	if kind != nil {
		return codeOf(to.ID, kind...)
	}
	p, err := r.pageToEdit(ctx, to.Page)
	if err != nil {
		return "", err
	}
	return p.Code, nil
}

func components(in any) (ids []*string) {
	var affected []status.Assignment
	var list []string
	switch in := in.(type) {
	case *status.NewIncident:
		affected = in.Affected
	case *status.NewUpdate:
		affected = in.Affected
	case *status.NewMaintenance:
		list = in.Components
	case *status.NewWebhook:
		list = in.Components
	case *status.NewComponent:
		ids = optional(&in.Group)
	case *status.ComponentMove:
		ids = optional(&in.Group)
	}
	for i := range affected {
		ids = append(ids, &affected[i].Component)
	}
	for i := range list {
		ids = append(ids, &list[i])
	}
	return ids
}

// optional returns an id, or nothing if it is empty.
func optional(id *string) []*string {
	if *id == "" {
		return nil
	}
	return []*string{id}
}

// written discards the operation's cached reads of status pages after a write.
func (r *Resolver) written(ctx context.Context) {
	reads := r.readsOf(ctx)
	reads.mu.Lock()
	defer reads.mu.Unlock()
	reads.read, reads.pages, reads.states = false, nil, map[string]*status.PageState{}
}

// writeWebhook is [write] for webhooks. do returns the code and the new secret, which is empty if there is none.
func writeWebhook[I any, T input[I]](r *Resolver, kind target,
	do func(ctx context.Context, by statuspages.Author, code string, in I) (string, string, error),
) func(context.Context, I) (*model.StatusWebhookPayload, error) {
	return func(ctx context.Context, in I) (*model.StatusWebhookPayload, error) {
		var p model.StatusWebhookPayload
		return write[I, *model.StatusWebhookPayload, T](r, status.Admin, kind, func(ctx context.Context, by statuspages.Author, code string, in I) (string, error) {
			code, secret, err := do(ctx, by, code, in)
			if secret != "" {
				p.Secret = &secret
			}
			return code, err
		}, func(ctx context.Context, code string) *model.StatusWebhookPayload {
			p.Webhook = found(r.db.Webhook(ctx, code))
			return &p
		})(ctx, in)
	}
}

func (r *Resolver) rotateWebhook(ctx context.Context, by statuspages.Author, code string, _ status.VersionInput) (string, string, error) {
	secret, err := r.editor.RotateWebhook(ctx, by, code)
	return code, secret, err
}

func (r *Resolver) enableWebhook(ctx context.Context, by statuspages.Author, code string, _ status.VersionInput) (string, string, error) {
	code, err := r.editor.EnableWebhook(ctx, by, code)
	return code, "", err
}

func (r *Resolver) removeWebhook(ctx context.Context, by statuspages.Author, code string, _ status.VersionInput) (string, error) {
	return r.editor.RemoveWebhook(ctx, by, code)
}

// The functions below read objects after a write. They use package must.

// found fails if an object was deleted after it was written.
func found[T any](row *T, err error) *T {
	if err == nil && row == nil {
		err = &fault.Error{Code: fault.NotFound, Message: "the object was deleted after the write"}
	}
	return must.Get(row, err)
}

// notice reads a notice. It includes drafts.
func (r *Resolver) notice(ctx context.Context, code string) *status.Notice {
	return found(must.Get(r.db.NoticesByCode(ctx, must.Get(r.pages(ctx)), []string{code}))[code], nil)
}

func (r *Resolver) incidentPayload(ctx context.Context, code string) *model.IncidentPayload {
	return &model.IncidentPayload{Incident: asIncident(r.notice(ctx, code))}
}

func (r *Resolver) maintenancePayload(ctx context.Context, code string) *model.MaintenancePayload {
	return &model.MaintenancePayload{Maintenance: asMaintenance(r.notice(ctx, code))}
}

func (r *Resolver) noticePayload(ctx context.Context, code string) *model.NoticePayload {
	return &model.NoticePayload{Notice: asNotice(r.notice(ctx, code))}
}

// asNotice converts a notice to its type in the schema.
func asNotice(n *status.Notice) relay.StatusNotice {
	if n.Kind == status.Scheduled {
		return asMaintenance(n)
	}
	return asIncident(n)
}

func asIncident(n *status.Notice) *status.Incident { return &status.Incident{Notice: *n} }

func asMaintenance(n *status.Notice) *status.Maintenance { return &status.Maintenance{Notice: *n} }

func (r *Resolver) updatePayload(ctx context.Context, code string) *model.UpdatePayload {
	return &model.UpdatePayload{Update: found(r.db.UpdateByCode(ctx, must.Get(r.pages(ctx)), code))}
}

func (r *Resolver) pagePayload(ctx context.Context, code string) *model.StatusPagePayload {
	return &model.StatusPagePayload{Page: found(must.Get(r.pages(ctx)).ByCode(code), nil)}
}

// componentPayload includes groups without components.
func (r *Resolver) componentPayload(ctx context.Context, code string) *model.ComponentPayload {
	p := r.pagePayload(ctx, must.Get(r.db.PageOfComponent(ctx, code)))
	return &model.ComponentPayload{Component: found(must.Get(r.db.WorkingCopy(ctx, p.Page)).Component(code), nil)}
}

func removed(_ context.Context, code string) *model.RemovedPayload {
	return &model.RemovedPayload{Code: code}
}
