package statuspages

import (
	"context"
	"fmt"
	"time"

	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
)

func attachmentTargets(a *status.Attachment, into []any) []any {
	return append(into, &a.NoticeCode, &a.ComponentCode, &a.HeldStatus)
}

// Board reads the components of a page, groups without components among them, and what holds them.
func (s *DB) Board(ctx context.Context, p *status.Page) (*status.Board, error) {
	components, err := read(ctx, s, `select `+componentColumns+` from status.component where page_id = $1 and deleted_at is null`, []any{p.Code}, componentTargets,
		func(c *status.Component) error {
			inZone(p.Zone, &c.CreatedAt, &c.UpdatedAt)
			return nil
		})
	if err != nil {
		return nil, err
	}
	holds, err := read(ctx, s, `select incident_id, component_id, held_status::text from status.incident_component where page_id = $1 and held_status is not null`,
		[]any{p.Code}, attachmentTargets, nil)
	if err != nil {
		return nil, err
	}
	return status.NewBoard(p, components, holds), nil
}

// board reads the board of the page that is written to.
func (w *writing) board(ctx context.Context) (*status.Board, error) {
	return w.editor.db.Board(ctx, w.Page)
}

// notice reads the notice that is written to, and locks it. what is what it is called where there is none.
func (w *writing) notice(ctx context.Context, what, code string) (*status.Notice, []*status.Attachment, error) {
	if err := w.watch(ctx, noticeTable, code); err != nil {
		return nil, nil, err
	}
	rows, err := read(ctx, w.editor.db, `select `+noticeColumns+` from status.incident n where n.id = $1 and n.deleted_at is null for update`, []any{code}, noticeTargets, func(n *status.Notice) error {
		noticeInZone(n, w.Page.Zone)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	if len(rows) == 0 {
		return nil, nil, status.Refuse(status.NotFound, "there is no %s %s", what, code)
	}
	attached, err := w.attached(ctx, code)
	return rows[0], attached, err
}

// attached reads the components of a notice.
func (w *writing) attached(ctx context.Context, notice string) ([]*status.Attachment, error) {
	return read(ctx, w.editor.db, `select incident_id, component_id, coalesce(held_status::text, '') from status.incident_component where incident_id = $1`,
		[]any{notice}, attachmentTargets, nil)
}

// updates reads all updates of a notice, without their components, the oldest first.
func (w *writing) updates(ctx context.Context, notice string) ([]*status.Update, error) {
	return read(ctx, w.editor.db, `select `+updateColumns+` from status.incident_update u where u.incident_id = $1 order by u.created_at, u.id`, []any{notice}, updateTargets,
		func(u *status.Update) error {
			inZone(w.Page.Zone, &u.CreatedAt, &u.UpdatedAt)
			nullInZone(w.Page.Zone, &u.DisplayAt)
			return nil
		})
}

// latest is when the newest update of a notice was written.
func (w *writing) latest(ctx context.Context, notice string) (time.Time, error) {
	var t *time.Time
	if err := w.QueryRow(ctx, `select max(created_at) from status.incident_update where incident_id = $1`, notice).Scan(&t); err != nil {
		return time.Time{}, fmt.Errorf("looking for the newest update: %w", err)
	}
	if t == nil {
		return time.Time{}, nil
	}
	return t.In(w.Page.Zone), nil
}

// say gives a notice an update and writes all that follows from it. A notice in no state is new.
func (w *writing) say(ctx context.Context, n *status.Notice, attached []*status.Attachment, s status.Saying) (*status.Effect, error) {
	b, err := w.board(ctx)
	if err != nil {
		return nil, err
	}
	if s.Code == "" {
		if s.Code, err = w.editor.code(); err != nil {
			return nil, err
		}
	}
	if s.At.IsZero() {
		s.At = w.At
	}
	if n.State != status.NoState {
		if s.Latest, err = w.latest(ctx, n.Code); err != nil {
			return nil, err
		}
	}
	s.Origin = w.action.by.origin()
	effect, err := b.Say(n, attached, s)
	if err != nil {
		return nil, err
	}
	if n.State == status.NoState {
		err = w.insertNotice(ctx, effect.Notice)
	} else {
		err = w.storeNotice(ctx, effect.Notice)
	}
	if err != nil {
		return nil, err
	}
	return effect, w.storeEffect(ctx, effect)
}

func (w *writing) insertNotice(ctx context.Context, n *status.Notice) error {
	err := w.QueryRow(ctx, `insert into status.incident (id, page_id, kind, name, state, impact, impact_override, shortlink, started_at, created_at, updated_at, monitoring_at,
  resolved_at, reminder_intervals, scheduled_for, scheduled_until, auto_in_progress, auto_completed, auto_maintenance_state, auto_operational_state, notify_at_start, notify_at_end,
  remind_minutes, backfilled, draft, origin, probe_id, version)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28) returning seq`,
		n.Code, n.PageCode, n.Kind, n.Name, n.State, n.Impact, valueOrNull(n.ImpactOverride), n.Shortlink, n.StartedAt, n.CreatedAt, n.UpdatedAt, valueOrNull(n.MonitoringAt), valueOrNull(n.ResolvedAt),
		valueOrNull(n.ReminderIntervals), valueOrNull(n.ScheduledFor), valueOrNull(n.ScheduledUntil), n.AutoInProgress, n.AutoCompleted, n.AutoMaintenanceState, n.AutoOperationalState, n.NotifyAtStart,
		n.NotifyAtEnd, valueOrNull(n.RemindMinutes), n.Backfilled, n.Draft, n.Origin, valueOrNull(n.ProbeID), n.Version).Scan(&n.Seq)
	if err != nil {
		return fmt.Errorf("inserting a notice: %w", err)
	}
	return nil
}

func (w *writing) storeNotice(ctx context.Context, n *status.Notice) error {
	return w.exec(ctx, "changing a notice", `update status.incident set name = $2, state = $3, impact = $4, impact_override = $5, started_at = $6, created_at = $7, updated_at = $8,
  monitoring_at = $9, resolved_at = $10, reminder_intervals = $11, scheduled_for = $12, scheduled_until = $13, auto_in_progress = $14, auto_completed = $15, remind_minutes = $16,
  reminded_at = $17, draft = $18, version = $19 where id = $1`,
		n.Code, n.Name, n.State, n.Impact, valueOrNull(n.ImpactOverride), n.StartedAt, n.CreatedAt, n.UpdatedAt, valueOrNull(n.MonitoringAt), valueOrNull(n.ResolvedAt), valueOrNull(n.ReminderIntervals),
		valueOrNull(n.ScheduledFor), valueOrNull(n.ScheduledUntil), n.AutoInProgress, n.AutoCompleted, valueOrNull(n.RemindMinutes), valueOrNull(n.RemindedAt), n.Draft, n.Version)
}

// storeEffect writes an update and what it does to components.
func (w *writing) storeEffect(ctx context.Context, e *status.Effect) error {
	if err := w.insertUpdate(ctx, e.Update); err != nil {
		return err
	}
	for _, a := range e.Attached {
		if err := w.exec(ctx, "attaching a component", `insert into status.incident_component (page_id, incident_id, component_id, held_status) values ($1, $2, $3, nullif($4, '')::status.component_status)
on conflict (incident_id, component_id) do update set held_status = excluded.held_status`, w.Page.Code, e.Notice.Code, a.ComponentCode, a.HeldStatus); err != nil {
			return err
		}
	}
	for _, c := range e.Rebased {
		if err := w.exec(ctx, "keeping a component", `update status.component set base_status = $2, updated_at = $3, version = version + 1 where id = $1`, c.Code, c.BaseStatus, w.At); err != nil {
			return err
		}
	}
	return w.storeChanges(ctx, e.Changes)
}

// insertUpdate writes an update, in place of one with the same code.
func (w *writing) insertUpdate(ctx context.Context, u *status.Update) error {
	if err := w.exec(ctx, "inserting an update", `insert into status.incident_update (id, incident_id, state, body, created_at, updated_at, display_at, deliver_notifications, origin)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
on conflict (id) do update set state = excluded.state, body = excluded.body, created_at = excluded.created_at, updated_at = excluded.updated_at, display_at = excluded.display_at,
  deliver_notifications = excluded.deliver_notifications, revision = excluded.revision`,
		u.Code, u.NoticeCode, u.State, u.Body, u.CreatedAt, u.UpdatedAt, valueOrNull(u.DisplayAt), u.DeliverNotifications, u.Origin); err != nil {
		return err
	}
	if err := w.exec(ctx, "replacing the components of an update", `delete from status.update_component where update_id = $1`, u.Code); err != nil {
		return err
	}
	for _, a := range u.Affected {
		if err := w.exec(ctx, "inserting a component of an update", `insert into status.update_component (update_id, ordinal, code, name, old_status, new_status) values ($1, $2, $3, $4, $5, $6)`,
			u.Code, a.Ordinal, a.Code, a.Name, a.OldStatus, a.NewStatus); err != nil {
			return err
		}
	}
	return nil
}

// storeChanges writes the changes of components' states. Of two in one millisecond, the second is a millisecond later.
func (w *writing) storeChanges(ctx context.Context, list []*status.Change) error {
	for _, c := range list {
		if err := w.exec(ctx, "noting a component's change", `insert into status.component_change (component_id, changed_at, old_status, new_status, update_id, origin)
values ($1::text, greatest($2::timestamptz, (select max(changed_at) + interval '1 millisecond' from status.component_change where component_id = $1::text)), $3, $4, $5, $6)`,
			c.ComponentCode, c.At, c.OldStatus, c.NewStatus, valueOrNull(c.UpdateCode), c.Origin); err != nil {
			return err
		}
		if err := w.exec(ctx, "touching a component", `update status.component set updated_at = $2, version = version + 1 where id = $1 and updated_at <> $2`, c.ComponentCode, w.At); err != nil {
			return err
		}
	}
	return nil
}

// orNone is n, or unknown where the value is the zero value.
func orNone[T comparable](v T) ledger.Null[T] {
	var zero T
	return ledger.Null[T]{V: v, Valid: v != zero}
}
