package statuspages

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
)

// Happened is something that time has done.
type Happened struct {
	Page   string // codes
	Notice string
	Name   string
	Due    status.Due
}

// Tick does what the time has come for, on all pages: it starts and ends maintenances that do so by themselves, publishes their reminders, and notes the
// reminders of incidents. Each is a write of its own, and done once however many call this at a time. What was missed is made up for in order. It returns what it
// has done, also where it could not do all: errors of single notices do not keep it from the others.
func (e *Editor) Tick(ctx context.Context) ([]Happened, error) {
	var done []Happened
	var failed []error
	for range maxSteps { // a notice may be due more than once, and is found again
		list, err := e.due(ctx)
		if err != nil {
			return done, errors.Join(append(failed, err)...)
		}
		before := len(done)
		for _, d := range list {
			h, err := e.do(ctx, d)
			if err != nil {
				failed = append(failed, fmt.Errorf("what is due of %s: %w", d.Code, err))
			} else if h != nil {
				done = append(done, *h)
			}
		}
		if len(done) == before || len(failed) > 0 {
			break
		}
	}
	return done, errors.Join(failed...)
}

// maxSteps is how much can be due of one notice at a time: a start, an end, and nothing more.
const maxSteps = 3

// due reads the notices for which the time has come, the earliest first. Mirrors follow their sources.
func (e *Editor) due(ctx context.Context) ([]*status.Notice, error) {
	now := e.now()
	list, err := read(ctx, e.db, `select `+noticeColumns+` from status.incident n join status.page p on p.id = n.page_id and p.mode <> 'mirror'
where n.deleted_at is null and not n.draft and (
  n.state = 'scheduled' and (n.auto_in_progress or n.remind_minutes is not null)
  or n.state in ('in_progress', 'verifying') and n.auto_completed
  or n.state in ('investigating', 'identified', 'monitoring') and n.reminder_intervals is not null)
order by coalesce(n.scheduled_for, n.created_at), n.id`, nil, noticeTargets, nil)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(n *status.Notice) bool { return status.DueOf(n, now) == status.NothingDue }), nil
}

// do does what is due of a notice, nil where that is nothing: another one may have done it.
func (e *Editor) do(ctx context.Context, d *status.Notice) (*Happened, error) {
	var h *Happened
	by := Author{Name: "schedule", Origin: status.FromSchedule}
	_, err := e.edit(ctx, action{by: by, name: "schedule", page: d.PageCode}, func(ctx context.Context, w *writing) error {
		if err := w.watch(ctx, noticeTable, d.Code); err != nil {
			return err
		}
		// Nobody else looks at it now, or they have: who writes to the page holds its lock.
		rows, err := read(ctx, e.db, `select `+noticeColumns+` from status.incident n where n.id = $1 and n.deleted_at is null for update skip locked`, []any{d.Code}, noticeTargets,
			func(n *status.Notice) error {
				noticeInZone(n, w.Page.Zone)
				return nil
			})
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return ErrUnchanged
		}
		n := rows[0]
		due := status.DueOf(n, w.At)
		if due == status.NothingDue {
			return ErrUnchanged
		}
		h = &Happened{Page: d.PageCode, Notice: n.Code, Name: n.Name, Due: due}
		w.action.name = "schedule." + string(due)
		attached, err := w.attached(ctx, n.Code)
		if err != nil {
			return err
		}
		return w.happen(ctx, n, attached, due)
	})
	if err != nil {
		return nil, err
	}
	return h, nil
}

// happen does one thing that is due.
func (w *writing) happen(ctx context.Context, n *status.Notice, attached []*status.Attachment, due status.Due) error {
	s := status.Saying{}
	switch due {
	case status.StartDue:
		s.State, s.Deliver = status.InProgress, n.NotifyAtStart
		s.Body = w.eventText(s.State)
	case status.EndDue:
		s.State, s.Deliver = status.Completed, n.NotifyAtEnd
		s.Body = w.eventText(s.State)
	case status.ReminderDue:
		w.action.by.Origin = status.FromReminder
		s.State, s.Deliver, s.Quiet, s.Body = n.State, true, true, w.Page.Text(status.MaintenanceReminder)
		n.RemindedAt = ledger.Of(w.At)
	case status.IncidentReminder:
		return w.exec(ctx, "noting a reminder", `update status.incident set reminded_at = $2 where id = $1`, n.Code, w.At)
	case status.NothingDue:
		return ErrUnchanged
	}
	_, err := w.say(ctx, n, attached, s)
	return err
}
