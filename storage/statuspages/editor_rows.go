package statuspages

import (
	"context"
	"slices"

	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
)

func attachmentTargets(a *status.Attachment, into []any) []any {
	return append(into, &a.NoticeCode, &a.ComponentCode, &a.HeldStatus)
}

// WorkingCopy returns the components of a page, including empty groups, and the holds of notices.
func (s *DB) WorkingCopy(ctx context.Context, p *status.Page) (*status.WorkingCopy, error) {
	components, err := s.components(ctx, p)
	if err != nil {
		return nil, err
	}
	holds, err := read(ctx, s, `select incident_id, component_id, held_status::text from status.incident_component where page_id = $1 and held_status is not null`,
		[]any{p.Code}, attachmentTargets, nil)
	if err != nil {
		return nil, err
	}
	return status.NewWorkingCopy(p, components, holds), nil
}

// workingCopy returns a working copy of the page that is written to.
func (w *write) workingCopy(ctx context.Context) (*status.WorkingCopy, error) {
	c, err := w.editor.db.WorkingCopy(ctx, w.Page)
	if err != nil {
		return nil, err
	}
	c.At, c.Origin, c.NewCode = w.At, w.command.by.origin(), w.editor.code
	return c, nil
}

// emptyCopy returns a working copy without components, for rules that do not need them.
func (w *write) emptyCopy() *status.WorkingCopy {
	return &status.WorkingCopy{Page: w.Page, At: w.At, Origin: w.command.by.origin(), NewCode: w.editor.code}
}

// notice makes a notice the target of the write, locks it and reads it. what is the object in the error if it does not exist.
func (w *write) notice(ctx context.Context, what, code string) (status.NoticeState, error) {
	if err := w.target(ctx, noticeTable, code); err != nil {
		return status.NoticeState{}, err
	}
	s, err := w.noticeState(ctx, code, ` for update`)
	if err == nil && s.Notice == nil {
		err = status.Errorf(status.NotFound, "%s %s does not exist", what, code)
	}
	return s, err
}

// noticeState reads a notice with its components and updates. The notice is nil if it does not exist. lock is the locking clause.
func (w *write) noticeState(ctx context.Context, code, lock string) (s status.NoticeState, err error) {
	db := w.editor.db
	rows, err := read(ctx, db, `select `+noticeColumns+` from status.incident n where n.id = $1 and n.deleted_at is null`+lock, []any{code}, noticeTargets,
		func(n *status.Notice) error {
			noticeInZone(n, w.Page.Zone)
			return nil
		})
	if err != nil || len(rows) == 0 {
		return s, err
	}
	states, err := db.noticeStates(ctx, status.Pages{w.Page}, rows)
	if err != nil {
		return s, err
	}
	slices.Reverse(states[0].Updates) // oldest first
	return states[0], nil
}

// store writes an effect on a notice, which becomes the object of the write.
func (w *write) store(e *status.Effect) {
	b := &w.statements
	if e.New {
		w.table, w.object = noticeTable, e.Notice.Code
		b.InsertNotice(e.Notice)
	} else {
		w.updateNotice(e.Notice)
	}
	for _, u := range e.Updates {
		u.Revision = ledger.Of(w.Page.Revision + 1)
		b.Queue(replaceUpdate, updateRow(u)...)
		b.Queue(`delete from status.update_component where update_id = $1`, u.Code)
		b.insertAffected(u)
	}
	for _, a := range e.Attachments {
		b.Queue(`insert into status.incident_component (page_id, incident_id, component_id, held_status) values ($1, $2, $3, $4)
on conflict (incident_id, component_id) do update set held_status = excluded.held_status`,
			w.Page.Code, e.Notice.Code, a.ComponentCode, ledger.NonZero(a.HeldStatus).Pointer())
	}
	for _, c := range e.BaseChanged {
		w.updateBase(c)
	}
	w.insertChanges(e.Changes)
}

func (w *write) updateNotice(n *status.Notice) { w.queue(updateNotice, noticeRow(n)...) }

func (w *write) updateBase(c *status.Component) {
	w.queue(`update status.component set base_status = $2, updated_at = $3, version = version + 1 where id = $1`, c.Code, c.BaseStatus, w.At)
}

// insertChanges writes changes of statuses. The second change of a component within a millisecond is dated a millisecond later.
func (w *write) insertChanges(list []*status.Change) {
	for _, c := range list {
		w.queue(`insert into status.component_change (component_id, changed_at, old_status, new_status, update_id, origin)
values ($1::text, greatest($2::timestamptz, (select max(changed_at) + interval '1 millisecond' from status.component_change
where component_id = $1::text)), $3, $4, $5, $6)`,
			c.ComponentCode, c.At, c.OldStatus, c.NewStatus, c.UpdateCode.Pointer(), c.Origin)
		w.queue(`update status.component set updated_at = $2, version = version + 1 where id = $1 and updated_at <> $2`, c.ComponentCode, w.At)
	}
}
