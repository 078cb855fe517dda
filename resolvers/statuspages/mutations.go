package statuspages

import (
	"context"

	"heliograph/graph"
	"heliograph/graph/fault"
	"heliograph/graph/model"
	"heliograph/graph/relay"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/storage/statuspages"
)

// target is the kind of object that a mutation writes to: the types of its global ids. It is nil for mutations that
// write to a page.
type target []string

var (
	toPage        target
	toComponent   = target{componentType}
	toIncident    = target{incidentType}
	toMaintenance = target{maintenanceType}
	toNotice      = target{incidentType, maintenanceType}
	toUpdate      = target{updateType}
	toWebhook     = target{} // webhooks have no global id
)

// Mutations returns the mutations of status pages with the roles that they need. Each authenticates its sender; see
// [mutation]. Without a database of status pages, each fails with UNAUTHENTICATED.
func (r *Resolver) Mutations() graph.Mutations {
	e := r.editor
	return graph.Mutations{
		OpenIncident:        mutation(r, status.Operator, toPage, r.openIncident, r.incidentPayload),
		UpdateIncident:      mutation(r, status.Reporter, toIncident, e.UpdateIncident, r.incidentPayload),
		ReopenIncident:      mutation(r, status.Operator, toIncident, e.ReopenIncident, r.incidentPayload),
		PublishPostmortem:   mutation(r, status.Operator, toIncident, e.PublishPostmortem, r.incidentPayload),
		PublishDraft:        mutation(r, status.Operator, toNotice, e.PublishDraft, r.incidentPayload),
		DiscardDraft:        mutation(r, status.Operator, toNotice, e.DiscardDraft, removed),
		DeleteStatusNotice:  mutation(r, status.Operator, toNotice, e.DeleteNotice, removed),
		EditStatusNotice:    mutation(r, status.Operator, toNotice, e.EditNotice, r.noticePayload),
		EditUpdate:          mutation(r, status.Operator, toUpdate, e.EditUpdate, r.updatePayload),
		ScheduleMaintenance: mutation(r, status.Operator, toPage, e.ScheduleMaintenance, r.maintenancePayload),
		MoveMaintenance:     mutation(r, status.Operator, toMaintenance, e.MoveMaintenance, r.maintenancePayload),
		RescheduleMaintenance: mutation(r, status.Operator, toMaintenance, e.RescheduleMaintenance,
			r.maintenancePayload),
		CancelMaintenance:   mutation(r, status.Operator, toMaintenance, e.CancelMaintenance, r.maintenancePayload),
		SetComponentStatus:  mutation(r, status.Reporter, toComponent, e.EditComponent, r.componentPayload),
		AddComponent:        mutation(r, status.Admin, toPage, e.AddComponent, r.componentPayload),
		EditComponent:       mutation(r, status.Admin, toComponent, e.EditComponent, r.componentPayload),
		MoveComponent:       mutation(r, status.Admin, toComponent, e.MoveComponent, r.componentPayload),
		RemoveComponent:     mutation(r, status.Admin, toComponent, e.RemoveComponent, removed),
		SetStatusPage:       mutation(r, status.Admin, toPage, r.setPage, r.pagePayload),
		AddStatusWebhook:    webhookMutation(r, toPage, e.AddWebhook),
		RotateStatusWebhook: webhookMutation(r, toWebhook, e.RotateWebhook),
		EnableStatusWebhook: mutation(r, status.Admin, toWebhook, e.EnableWebhook, r.webhookPayload),
		RemoveStatusWebhook: mutation(r, status.Admin, toWebhook, e.RemoveWebhook, removed),
	}
}

// openIncident writes a new incident into the database and returns its code, as a function for [mutation]. The same
// transaction adds an entry to the audit log and messages for webhooks, and announces the write to the gateways. An
// incident of the past is resolved if its state in the input is investigating, which is the default. Errors are those
// of [statuspages.Editor.OpenIncident].
func (r *Resolver) openIncident(
	ctx context.Context, by statuspages.Author, page string, in status.NewIncident,
) (string, error) {
	if in.Backfill && in.State == status.Investigating { // the default
		in.State = status.Resolved
	}
	return r.editor.OpenIncident(ctx, by, page, in)
}

// setPage writes the settings of a page to the database and returns its code, as a function for [mutation]. The same
// transaction adds an entry to the audit log and announces the write to the gateways. Errors are those of
// [statuspages.Editor.SetPage].
func (r *Resolver) setPage(
	ctx context.Context, by statuspages.Author, page string, in status.PageEdit,
) (string, error) {
	return r.editor.SetPage(ctx, by, page, in.Settings)
}

type input[I any] interface {
	*I
	Destination() *status.Target
}

// mutation returns the function of a mutation: it authenticates the sender, which records the use of a stored token,
// replaces global ids by codes, also in the lists of the caller's input, calls do with the code of the target, and
// reads the written object. do writes in one transaction, which also adds an entry to the audit log and announces the
// write to the gateways. It fails with UNAUTHENTICATED, FORBIDDEN, BAD_USER_INPUT for invalid ids, or as do and read
// do. It discards what the operation has cached of status pages, also if do fails. The write remains if the last read
// fails.
func mutation[I, P any, T input[I]](r *Resolver, needed status.Role, kind target,
	do func(ctx context.Context, by statuspages.Author, code string, in I) (string, error),
	read func(ctx context.Context, code string) (P, error),
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
		return read(ctx, code)
	}
}

// destination returns the code of the object or page that a mutation writes to. It reads the page if kind is nil. If
// kind is empty, as for webhooks, it accepts codes only. An invalid id is BAD_USER_INPUT, and a page that does not
// exist NOT_FOUND. It does not check whether the object exists.
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

// components returns the places of an input that hold IDs of components, so that global IDs can be replaced by codes.
// It returns nil for other inputs.
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

// optional returns a list of a pointer to the id of a group, or nil if the id is empty, for [components].
func optional(id *string) []*string {
	if *id == "" {
		return nil
	}
	return []*string{id}
}

// written discards the operation's cached reads of status pages after a write, also after one that failed.
func (r *Resolver) written(ctx context.Context) {
	reads := r.readsOf(ctx)
	reads.mu.Lock()
	defer reads.mu.Unlock()
	reads.read, reads.pages, reads.states = false, nil, map[string]*status.PageState{}
}

// webhookMutation returns the function of a mutation of webhooks, whose payload has the new secret. It authenticates
// the sender, who needs the role admin, calls do and reads the webhook, as [mutation] does. do writes in one
// transaction, with an entry in the audit log, and returns the code and the secret, which is empty if there is none.
// If the read after the write fails, the secret is not returned.
func webhookMutation[I any, T input[I]](r *Resolver, kind target,
	do func(ctx context.Context, by statuspages.Author, code string, in I) (string, string, error),
) func(context.Context, I) (*model.StatusWebhookPayload, error) {
	return func(ctx context.Context, in I) (*model.StatusWebhookPayload, error) {
		var secret string
		write := func(ctx context.Context, by statuspages.Author, code string, in I) (_ string, err error) {
			code, secret, err = do(ctx, by, code, in)
			return code, err
		}
		p, err := mutation[I, *model.StatusWebhookPayload, T](r, status.Admin, kind, write, r.webhookPayload)(ctx, in)
		if err != nil {
			return nil, err
		}
		p.Secret = ledger.NonZero(secret).Pointer()
		return p, nil
	}
}

// webhookPayload reads a webhook after a mutation and returns the payload without a secret. It fails with NOT_FOUND if
// the webhook was deleted since; the payload beside an error is empty.
func (r *Resolver) webhookPayload(ctx context.Context, code string) (*model.StatusWebhookPayload, error) {
	w, err := found(r.db.Webhook(ctx, code))
	return &model.StatusWebhookPayload{Webhook: w}, err
}

// found returns the result of reading an object after a write. It fails with NOT_FOUND if the object was deleted
// since.
func found[T any](row *T, err error) (*T, error) {
	if err == nil && row == nil {
		err = &fault.Error{Code: fault.NotFound, Message: "the object was deleted after the write"}
	}
	return row, err
}

// notice reads the notice with a code from the database of status pages after a write, also a draft, for the payloads
// of mutations. It fails with NOT_FOUND if it was deleted since.
func (r *Resolver) notice(ctx context.Context, code string) (*status.Notice, error) {
	pages, err := r.pages(ctx)
	if err != nil {
		return nil, err
	}
	notices, err := r.db.NoticesByCode(ctx, pages, []string{code})
	return found(notices[code], err)
}

// incidentPayload reads the incident with a code after a mutation has written it, as the payload of the mutation.
// NOT_FOUND means that it was deleted since.
func (r *Resolver) incidentPayload(ctx context.Context, code string) (*model.IncidentPayload, error) {
	n, err := r.notice(ctx, code)
	if err != nil {
		return nil, err
	}
	return &model.IncidentPayload{Incident: asIncident(n)}, nil
}

// maintenancePayload reads the maintenance with a code after a mutation has written it, as the payload of the mutation.
// NOT_FOUND means that it was deleted since.
func (r *Resolver) maintenancePayload(ctx context.Context, code string) (*model.MaintenancePayload, error) {
	n, err := r.notice(ctx, code)
	if err != nil {
		return nil, err
	}
	return &model.MaintenancePayload{Maintenance: asMaintenance(n)}, nil
}

// noticePayload reads the incident or maintenance with a code after a mutation has written it, as the payload of the
// mutation. NOT_FOUND means that it was deleted since.
func (r *Resolver) noticePayload(ctx context.Context, code string) (*model.NoticePayload, error) {
	n, err := r.notice(ctx, code)
	if err != nil {
		return nil, err
	}
	return &model.NoticePayload{Notice: asNotice(n)}, nil
}

// asNotice returns a notice as its type in the schema, a copy.
func asNotice(n *status.Notice) relay.StatusNotice {
	if n.Kind == status.Scheduled {
		return asMaintenance(n)
	}
	return asIncident(n)
}

// asIncident returns a copy of a notice as an incident.
func asIncident(n *status.Notice) *status.Incident { return &status.Incident{Notice: *n} }

// asMaintenance returns a copy of a notice as a maintenance.
func asMaintenance(n *status.Notice) *status.Maintenance { return &status.Maintenance{Notice: *n} }

// updatePayload reads the update with a code after a mutation has written it, as the payload of the mutation.
// NOT_FOUND means that it was deleted since; the payload beside that error is empty.
func (r *Resolver) updatePayload(ctx context.Context, code string) (*model.UpdatePayload, error) {
	pages, err := r.pages(ctx)
	if err != nil {
		return nil, err
	}
	u, err := found(r.db.UpdateByCode(ctx, pages, code))
	return &model.UpdatePayload{Update: u}, err
}

// pagePayload reads the page with a code after a mutation has written it, as the payload of the mutation. NOT_FOUND
// means that it was deleted since; the payload beside that error is empty.
func (r *Resolver) pagePayload(ctx context.Context, code string) (*model.StatusPagePayload, error) {
	pages, err := r.pages(ctx)
	if err != nil {
		return nil, err
	}
	p, err := found(pages.ByCode(code), nil)
	return &model.StatusPagePayload{Page: p}, err
}

// componentPayload reads the component with a code after a mutation has written it, with several statements, as the
// payload of the mutation. It may be a group without components, which pages do not show. NOT_FOUND means that it, or
// its page, was deleted since. The payload beside an error is nil or empty.
func (r *Resolver) componentPayload(ctx context.Context, code string) (*model.ComponentPayload, error) {
	page, err := r.db.PageOfComponent(ctx, code)
	if err != nil {
		return nil, err
	}
	p, err := r.pagePayload(ctx, page)
	if err != nil {
		return nil, err
	}
	w, err := r.db.WorkingCopy(ctx, p.Page)
	if err != nil {
		return nil, err
	}
	c, err := found(w.Component(code), nil)
	return &model.ComponentPayload{Component: c}, err
}

// removed returns the payload of a mutation that has deleted an object. It reads nothing.
func removed(_ context.Context, code string) (*model.RemovedPayload, error) {
	return &model.RemovedPayload{Code: code}, nil
}
