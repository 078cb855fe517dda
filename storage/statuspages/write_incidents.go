package statuspages

import (
	"context"
	"time"

	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
)

// NewIncident is an incident to be opened.
type NewIncident struct {
	Name string
	Body string
	// State is the first state, none for investigating.
	State          status.State
	Affected       []status.Setting
	ImpactOverride ledger.Null[status.Impact]
	// StartedAt is when it began; unknown is now.
	StartedAt ledger.Null[time.Time]
	Reminders ledger.Null[string] // after how many hours editors are reminded of it, as a JSON list
	Silent    bool                // nobody is notified
	// Draft keeps it from readers, and from components, until it is published.
	Draft   bool
	ProbeID ledger.Null[int64]
	// Backfill tells it after it was over: from StartedAt to ResolvedAt. It leaves the components as they are, but lists them.
	Backfill   bool
	ResolvedAt ledger.Null[time.Time]
	Resolution string // what is said at the end of a backfill; empty for the text of the page
}

// OpenIncident opens an incident and returns its code.
func (e *Editor) OpenIncident(ctx context.Context, by Author, page string, in NewIncident) (string, error) {
	return e.edit(ctx, action{by: by, name: "incident.open", page: page}, func(ctx context.Context, w *writing) error {
		n, err := w.newNotice(status.Realtime, in.Name)
		if err != nil {
			return err
		}
		n.Draft, n.Backfilled, n.ProbeID, n.ReminderIntervals = in.Draft, in.Backfill, in.ProbeID, in.Reminders
		if in.Reminders.Valid {
			if _, err := status.ParseReminders(in.Reminders.V); err != nil {
				return err
			}
		}
		if n.ImpactOverride = in.ImpactOverride; in.ImpactOverride.Valid && !in.ImpactOverride.V.Valid() {
			return status.Refuse(status.BadInput, "%q is no impact", in.ImpactOverride.V)
		}
		if in.StartedAt.Valid {
			n.StartedAt = status.Milliseconds(in.StartedAt.V).In(w.Page.Zone)
			if n.StartedAt.After(w.At) {
				return status.Refuse(status.BadInput, "an incident cannot have begun in the future")
			}
		}
		if in.Backfill {
			return w.backfill(ctx, n, in)
		}
		s := status.Saying{State: status.State(orText(string(in.State), string(status.Investigating))), Body: in.Body, Set: in.Affected, Deliver: !in.Silent}
		if s.State == status.Resolved {
			return status.Refuse(status.BadInput, "an incident that is over when it is told needs its beginning and its end: backfill it")
		}
		_, err = w.say(ctx, n, nil, s)
		return err
	})
}

// newNotice begins a notice; its first update completes it.
func (w *writing) newNotice(k status.Kind, name string) (*status.Notice, error) {
	if err := status.CheckName("the notice", name); err != nil {
		return nil, err
	}
	code, err := w.editor.code()
	if err != nil {
		return nil, err
	}
	w.table, w.object = noticeTable, code
	return &status.Notice{
		Code: code, PageCode: w.Page.Code, Kind: k, Name: name, Shortlink: w.Page.URL + "/incidents/" + code, NotifyAtStart: true, NotifyAtEnd: true,
		Origin: w.action.by.origin(), Version: 1,
	}, nil
}

// backfill writes an incident of the past with its two updates.
func (w *writing) backfill(ctx context.Context, n *status.Notice, in NewIncident) error {
	switch {
	case in.Draft:
		return status.Refuse(status.BadInput, "a backfilled incident cannot be a draft")
	case !in.StartedAt.Valid || !in.ResolvedAt.Valid:
		return status.Refuse(status.BadInput, "a backfilled incident needs its beginning and its end")
	case in.State != "" && in.State != status.Resolved:
		return status.Refuse(status.BadInput, "a backfilled incident is resolved, not %s", in.State)
	}
	start, end := status.Milliseconds(in.StartedAt.V).In(w.Page.Zone), status.Milliseconds(in.ResolvedAt.V).In(w.Page.Zone)
	if err := status.CheckTimes(start, end); err != nil {
		return err
	}
	if end.After(w.At) {
		return status.Refuse(status.BadInput, "an incident that was over cannot end in the future")
	}
	first, err := w.say(ctx, n, nil, status.Saying{State: status.Investigating, Body: in.Body, Set: in.Affected, Deliver: !in.Silent, At: start})
	if err != nil {
		return err
	}
	last, err := w.say(ctx, first.Notice, first.Attached, status.Saying{
		State: status.Resolved, Body: orText(in.Resolution, w.Page.Text(status.IncidentResolved)), Set: in.Affected, Keep: true, Deliver: !in.Silent, At: end,
	})
	if err != nil {
		return err
	}
	last.Notice.UpdatedAt, last.Notice.Version = w.At, 1
	return w.storeNotice(ctx, last.Notice)
}

// NewUpdate is an update of an incident.
type NewUpdate struct {
	State    status.State
	Body     string
	Affected []status.Setting
	// Keep leaves the components as they are when the incident is resolved.
	Keep bool
	// DisplayAt dates it; unknown is now.
	DisplayAt ledger.Null[time.Time]
	Silent    bool
	// ExpectedVersion is the version that the editor has seen, 0 for any.
	ExpectedVersion int64
}

func (u *NewUpdate) saying() status.Saying {
	return status.Saying{State: u.State, Body: u.Body, Set: u.Affected, Keep: u.Keep, DisplayAt: u.DisplayAt, Deliver: !u.Silent}
}

// UpdateIncident says something of an incident that is not over, or resolves it.
func (e *Editor) UpdateIncident(ctx context.Context, by Author, code string, u NewUpdate) (string, error) {
	return e.editNotice(ctx, by, "incident.update", status.Realtime, code, u.ExpectedVersion, func(ctx context.Context, w *writing, n *status.Notice, attached []*status.Attachment) error {
		if err := refuseDraft(n); err != nil {
			return err
		}
		if u.State == status.Postmortem {
			return w.postmortem(ctx, n, u.Body, !u.Silent)
		}
		_, err := w.say(ctx, n, attached, u.saying())
		return err
	})
}

// refuseDraft refuses what can be said of published notices only.
func refuseDraft(n *status.Notice) error {
	if n.Draft {
		return status.Refuse(status.BadState, "%s is a draft: publish or discard it first", n.Code)
	}
	return nil
}

// ReopenIncident opens an incident again that was over.
func (e *Editor) ReopenIncident(ctx context.Context, by Author, code string, u NewUpdate) (string, error) {
	return e.editNotice(ctx, by, "incident.reopen", status.Realtime, code, u.ExpectedVersion, func(ctx context.Context, w *writing, n *status.Notice, attached []*status.Attachment) error {
		s := u.saying()
		s.Reopen = true
		_, err := w.say(ctx, n, attached, s)
		return err
	})
}

// PublishPostmortem tells what happened in an incident that is resolved. An incident has one postmortem: a second one takes the place of the first.
func (e *Editor) PublishPostmortem(ctx context.Context, by Author, code, body string, silent bool, expectedVersion int64) (string, error) {
	return e.editNotice(ctx, by, "incident.postmortem", status.Realtime, code, expectedVersion, func(ctx context.Context, w *writing, n *status.Notice, _ []*status.Attachment) error {
		return w.postmortem(ctx, n, body, !silent)
	})
}

func (w *writing) postmortem(ctx context.Context, n *status.Notice, body string, deliver bool) error {
	updates, err := w.updates(ctx, n.Code)
	if err != nil {
		return err
	}
	s := status.Saying{State: status.Postmortem, Body: body, Deliver: deliver, Quiet: true}
	from := *n
	for _, u := range updates {
		if u.State == status.Postmortem {
			s.Code = u.Code
		}
	}
	if n.State == status.Postmortem { // it is written anew
		from.State = status.Resolved
	}
	attached, err := w.attached(ctx, n.Code)
	if err != nil {
		return err
	}
	_, err = w.say(ctx, &from, attached, s)
	return err
}

// EditUpdate changes what was said of a notice, or its date, and returns the code of the update.
func (e *Editor) EditUpdate(ctx context.Context, by Author, update string, edit status.UpdateEdit) (string, error) {
	var notice string
	rows, err := read(ctx, e.db, `select incident_id from status.incident_update where id = $1`, []any{update},
		func(s *string, into []any) []any { return append(into, s) }, nil)
	if err != nil {
		return "", explainWrite(err)
	}
	if len(rows) == 0 {
		return "", status.Refuse(status.NotFound, "there is no update %s", update)
	}
	notice = *rows[0]
	return e.editNotice(ctx, by, "update.edit", "", notice, 0, func(ctx context.Context, w *writing, n *status.Notice, _ []*status.Attachment) error {
		if err := w.watch(ctx, updateTable, update); err != nil {
			return err
		}
		updates, err := w.updates(ctx, n.Code)
		if err != nil {
			return err
		}
		after, u, err := status.EditUpdate(n, updates, update, edit, w.At)
		if err != nil {
			return err
		}
		if err := w.storeNotice(ctx, after); err != nil {
			return err
		}
		return w.exec(ctx, "changing an update", `update status.incident_update set body = $2, display_at = $3, updated_at = $4, revision = default where id = $1`, update, u.Body, valueOrNull(u.DisplayAt), u.UpdatedAt)
	})
}

// NoticeEdit is what changes of a notice apart from its updates. What is unknown stays.
type NoticeEdit struct {
	Name ledger.Null[string]
	// ImpactOverride says how bad it is whatever its updates say; empty goes back to those.
	ImpactOverride ledger.Null[status.Impact]
	Reminders      ledger.Null[string] // of incidents; empty takes them away
	// What follows is of maintenances.
	AutoInProgress  ledger.Null[bool]
	AutoCompleted   ledger.Null[bool]
	ExpectedVersion int64
}

// EditNotice changes an incident or a maintenance, without saying anything.
func (e *Editor) EditNotice(ctx context.Context, by Author, code string, edit NoticeEdit) (string, error) {
	return e.editNotice(ctx, by, "notice.edit", "", code, edit.ExpectedVersion, func(ctx context.Context, w *writing, n *status.Notice, _ []*status.Attachment) error {
		n.Name = edit.Name.Or(n.Name)
		if err := status.CheckName("the notice", n.Name); err != nil {
			return err
		}
		if edit.ImpactOverride.Valid {
			if n.ImpactOverride = orNone(edit.ImpactOverride.V); n.ImpactOverride.Valid && !n.ImpactOverride.V.Valid() {
				return status.Refuse(status.BadInput, "%q is no impact", n.ImpactOverride.V)
			}
			given, err := w.given(ctx, code)
			if err != nil {
				return err
			}
			n.Impact = status.ImpactOf(n.Kind, n.ImpactOverride.V, given...)
		}
		if edit.Reminders.Valid {
			if n.ReminderIntervals = orNone(edit.Reminders.V); n.Kind != status.Realtime {
				return status.Refuse(status.BadInput, "editors are reminded of incidents only")
			}
			if n.ReminderIntervals.Valid {
				if _, err := status.ParseReminders(edit.Reminders.V); err != nil {
					return err
				}
			}
		}
		if (edit.AutoInProgress.Valid || edit.AutoCompleted.Valid) && n.Kind != status.Scheduled {
			return status.Refuse(status.BadInput, "only maintenances begin and end by themselves")
		}
		n.AutoInProgress, n.AutoCompleted = edit.AutoInProgress.Or(n.AutoInProgress), edit.AutoCompleted.Or(n.AutoCompleted)
		n.UpdatedAt = w.At
		n.Version++
		return w.storeNotice(ctx, n)
	})
}

// given are the states that components had after the updates of a notice that changed them.
func (w *writing) given(ctx context.Context, notice string) ([]status.ComponentStatus, error) {
	rows, err := read(ctx, w.editor.db, `select distinct c.new_status::text from status.update_component c join status.incident_update u on u.id = c.update_id where u.incident_id = $1`,
		[]any{notice}, func(s *status.ComponentStatus, into []any) []any { return append(into, s) }, nil)
	if err != nil {
		return nil, err
	}
	out := make([]status.ComponentStatus, len(rows))
	for i, r := range rows {
		out[i] = *r
	}
	return out, nil
}

// PublishDraft opens a draft: its update is dated now, and the components are as it said.
func (e *Editor) PublishDraft(ctx context.Context, by Author, code string, expectedVersion int64) (string, error) {
	return e.editNotice(ctx, by, "incident.publish", status.Realtime, code, expectedVersion, func(ctx context.Context, w *writing, n *status.Notice, attached []*status.Attachment) error {
		if !n.Draft {
			return status.Refuse(status.BadState, "%s is no draft", code)
		}
		updates, err := w.updates(ctx, code)
		if err != nil {
			return err
		}
		first := updates[0]
		set, err := read(ctx, w.editor.db, `select u.code, u.new_status::text from status.update_component u
join status.component c on c.id = u.code and c.deleted_at is null where u.update_id = $1`,
			[]any{first.Code}, func(s *status.Setting, into []any) []any { return append(into, &s.Component, &s.Status) }, nil)
		if err != nil {
			return err
		}
		s := status.Saying{Code: first.Code, State: n.State, Body: first.Body, Deliver: first.DeliverNotifications}
		for _, one := range set {
			s.Set = append(s.Set, *one)
		}
		started := n.StartedAt
		// The first update makes it what it is: it is said as if there had been nothing before.
		if _, err := w.sayFirst(ctx, n, attached, s); err != nil {
			return err
		}
		return w.exec(ctx, "publishing a draft", `update status.incident set draft = false, started_at = $2, version = $3 where id = $1`, code, started, n.Version+1)
	})
}

// sayFirst says the first update of a draft once more.
func (w *writing) sayFirst(ctx context.Context, n *status.Notice, attached []*status.Attachment, s status.Saying) (*status.Effect, error) {
	b, err := w.board(ctx)
	if err != nil {
		return nil, err
	}
	fresh := *n
	fresh.State, fresh.Draft = status.NoState, false
	s.At, s.Origin = w.At, w.action.by.origin()
	effect, err := b.Say(&fresh, attached, s)
	if err != nil {
		return nil, err
	}
	if err := w.storeNotice(ctx, effect.Notice); err != nil {
		return nil, err
	}
	return effect, w.storeEffect(ctx, effect)
}

// DiscardDraft deletes a draft.
func (e *Editor) DiscardDraft(ctx context.Context, by Author, code string, expectedVersion int64) (string, error) {
	return e.editNotice(ctx, by, "incident.discard", status.Realtime, code, expectedVersion, func(ctx context.Context, w *writing, n *status.Notice, _ []*status.Attachment) error {
		if !n.Draft {
			return status.Refuse(status.BadState, "%s is no draft", code)
		}
		return w.exec(ctx, "discarding a draft", `update status.incident set deleted_at = $2, version = version + 1 where id = $1`, code, w.At)
	})
}

// DeleteNotice takes an incident or a maintenance off its page, and lets go of its components.
func (e *Editor) DeleteNotice(ctx context.Context, by Author, code string, expectedVersion int64) (string, error) {
	return e.editNotice(ctx, by, "notice.delete", "", code, expectedVersion, func(ctx context.Context, w *writing, _ *status.Notice, _ []*status.Attachment) error {
		b, err := w.board(ctx)
		if err != nil {
			return err
		}
		changes := b.Release(code, by.origin(), w.At)
		if err := w.exec(ctx, "letting go of components", `update status.incident_component set held_status = null where incident_id = $1`, code); err != nil {
			return err
		}
		if err := w.storeChanges(ctx, changes); err != nil {
			return err
		}
		return w.exec(ctx, "deleting a notice", `update status.incident set deleted_at = $2, updated_at = $2, version = version + 1 where id = $1`, code, w.At)
	})
}

// editNotice writes to a notice of a kind, or of any where the kind is empty.
func (e *Editor) editNotice(ctx context.Context, by Author, name string, k status.Kind, code string, expected int64,
	do func(ctx context.Context, w *writing, n *status.Notice, attached []*status.Attachment) error,
) (string, error) {
	what := map[status.Kind]string{status.Realtime: "incident", status.Scheduled: "maintenance", "": "notice"}[k]
	page, err := e.pageOf(ctx, noticeTable, what, code)
	if err != nil {
		return "", err
	}
	return e.edit(ctx, action{by: by, name: name, page: page}, func(ctx context.Context, w *writing) error {
		n, attached, err := w.notice(ctx, what, code)
		if err != nil {
			return err
		}
		if k != "" && n.Kind != k {
			return status.Refuse(status.NotFound, "%s is no %s", code, what)
		}
		if err := status.CheckVersion(n.Name, expected, n.Version); err != nil {
			return err
		}
		return do(ctx, w, n, attached)
	})
}
