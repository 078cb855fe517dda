package statuspages

import (
	"context"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/status"
)

// OpenIncident opens an incident and returns its code.
func (e *Editor) OpenIncident(ctx context.Context, by Author, page string, in status.NewIncident) (string, error) {
	return e.addNotice(ctx, by, "incident.open", page, func(c *status.WorkingCopy) (*status.Effect, error) { return c.OpenIncident(in) })
}

// UpdateIncident adds an update to an incident that is not over, or resolves it.
func (e *Editor) UpdateIncident(ctx context.Context, by Author, code string, in status.NewUpdate) (string, error) {
	return e.changeNotice(ctx, by, "incident.update", status.Realtime, code, in.ExpectedVersion, with(in, (*status.WorkingCopy).UpdateIncident))
}

// ReopenIncident reopens an incident that is over.
func (e *Editor) ReopenIncident(ctx context.Context, by Author, code string, in status.NewUpdate) (string, error) {
	return e.changeNotice(ctx, by, "incident.reopen", status.Realtime, code, in.ExpectedVersion, with(in, (*status.WorkingCopy).ReopenIncident))
}

// PublishPostmortem adds the postmortem to a resolved incident, or replaces it.
func (e *Editor) PublishPostmortem(ctx context.Context, by Author, code string, in status.NewUpdate) (string, error) {
	return e.changeNotice(ctx, by, "incident.postmortem", status.Realtime, code, in.ExpectedVersion, with(in, (*status.WorkingCopy).PublishPostmortem))
}

// PublishDraft publishes a draft: its update is dated now, and sets the components to the statuses that it states.
func (e *Editor) PublishDraft(ctx context.Context, by Author, code string, expectedVersion int64) (string, error) {
	return e.changeNotice(ctx, by, "incident.publish", status.Realtime, code, expectedVersion, (*status.WorkingCopy).PublishDraft)
}

// DiscardDraft deletes a draft.
func (e *Editor) DiscardDraft(ctx context.Context, by Author, code string, expectedVersion int64) (string, error) {
	return e.editNotice(ctx, by, "incident.discard", status.Realtime, code, expectedVersion, func(ctx context.Context, w *write, s status.NoticeState) error {
		if err := status.CheckDraft(s.Notice); err != nil {
			return err
		}
		w.deleteDraft(code)
		return nil
	})
}

func (w *write) deleteDraft(code string) {
	w.queue(`update status.incident set deleted_at = $2, version = version + 1 where id = $1`, code, w.At)
}

// EditUpdate changes the text or the date of an update, and returns the code of the update.
func (e *Editor) EditUpdate(ctx context.Context, by Author, update string, edit status.UpdateEdit) (string, error) {
	notice, err := readValue[string](ctx, e.db, `select incident_id from status.incident_update where id = $1`, update)
	if err != nil {
		return "", explainWrite(err)
	}
	if notice == "" {
		return "", status.Errorf(status.NotFound, "update %s does not exist", update)
	}
	return e.editNotice(ctx, by, "update.edit", "", notice, 0, func(ctx context.Context, w *write, s status.NoticeState) error {
		if err := w.target(ctx, updateTable, update); err != nil {
			return err
		}
		n, u, err := w.emptyCopy().EditUpdate(s, update, edit)
		if err != nil {
			return err
		}
		w.updateNotice(n)
		w.queue(`update status.incident_update set body = $2, display_at = $3, updated_at = $4, revision = default where id = $1`,
			update, u.Body, u.DisplayAt.Pointer(), u.UpdatedAt)
		return nil
	})
}

// EditNotice changes an incident or a maintenance without an update.
func (e *Editor) EditNotice(ctx context.Context, by Author, code string, edit status.NoticeEdit) (string, error) {
	return e.editNotice(ctx, by, "notice.edit", "", code, edit.ExpectedVersion, func(ctx context.Context, w *write, s status.NoticeState) error {
		given, err := read(ctx, e.db, `select distinct c.new_status::text from status.update_component c join status.incident_update u on u.id = c.update_id
where u.incident_id = $1`,
			[]any{code}, value[status.ComponentStatus], nil)
		if err != nil {
			return err
		}
		n, err := w.emptyCopy().EditNotice(s.Notice, edit, list.Map(given, func(s *status.ComponentStatus) status.ComponentStatus { return *s }))
		if err != nil {
			return err
		}
		w.updateNotice(n)
		return nil
	})
}

// DeleteNotice deletes an incident or a maintenance, and releases its components.
func (e *Editor) DeleteNotice(ctx context.Context, by Author, code string, expectedVersion int64) (string, error) {
	return e.editNotice(ctx, by, "notice.delete", "", code, expectedVersion, func(ctx context.Context, w *write, _ status.NoticeState) error {
		c, err := w.workingCopy(ctx)
		if err != nil {
			return err
		}
		w.queue(`update status.incident_component set held_status = null where incident_id = $1`, code)
		w.insertChanges(c.Release(code))
		w.queue(`update status.incident set deleted_at = $2, updated_at = $2, version = version + 1 where id = $1`, code, w.At)
		return nil
	})
}

// addNotice writes a new notice.
func (e *Editor) addNotice(ctx context.Context, by Author, name, page string, add func(*status.WorkingCopy) (*status.Effect, error)) (string, error) {
	return e.edit(ctx, command{by: by, name: name, page: page}, func(ctx context.Context, w *write) error {
		return w.apply(ctx, add)
	})
}

// changeNotice adds an update to a notice.
func (e *Editor) changeNotice(ctx context.Context, by Author, name string, k status.Kind, code string, expected int64,
	change func(*status.WorkingCopy, status.NoticeState) (*status.Effect, error),
) (string, error) {
	return e.editNotice(ctx, by, name, k, code, expected, func(ctx context.Context, w *write, s status.NoticeState) error {
		return w.apply(ctx, func(c *status.WorkingCopy) (*status.Effect, error) { return change(c, s) })
	})
}

// apply writes the effect of a rule on a working copy of the page.
func (w *write) apply(ctx context.Context, rule func(*status.WorkingCopy) (*status.Effect, error)) error {
	c, err := w.workingCopy(ctx)
	if err != nil {
		return err
	}
	effect, err := rule(c)
	if err != nil {
		return err
	}
	w.store(effect)
	return nil
}

// with returns a change with an input.
func with[T any](in T, change func(*status.WorkingCopy, status.NoticeState, T) (*status.Effect, error)) func(*status.WorkingCopy, status.NoticeState) (
	*status.Effect, error,
) {
	return func(c *status.WorkingCopy, s status.NoticeState) (*status.Effect, error) { return change(c, s, in) }
}

// editNotice writes to a notice of a kind, or of any kind if k is empty.
func (e *Editor) editNotice(ctx context.Context, by Author, name string, k status.Kind, code string, expected int64,
	do func(ctx context.Context, w *write, s status.NoticeState) error,
) (string, error) {
	what, article := map[status.Kind]string{status.Realtime: "incident", status.Scheduled: "maintenance", "": "notice"}[k], "a"
	if k == status.Realtime {
		article = "an"
	}
	page, err := e.pageOf(ctx, noticeTable, what, code)
	if err != nil {
		return "", err
	}
	return e.edit(ctx, command{by: by, name: name, page: page}, func(ctx context.Context, w *write) error {
		s, err := w.notice(ctx, what, code)
		if err != nil {
			return err
		}
		if k != "" && s.Notice.Kind != k {
			return status.Errorf(status.NotFound, "%s is not %s %s", code, article, what)
		}
		if err := status.CheckVersion(s.Notice.Name, expected, s.Notice.Version); err != nil {
			return err
		}
		return do(ctx, w, s)
	})
}

// value scans a single column.
func value[T any](v *T, into []any) []any { return append(into, v) }
