package statuspages

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"heliograph/internal/domain/status"
)

// DueAction is an action that [Editor.RunDue] performed.
type DueAction struct {
	Page   string // code
	Notice string // code
	Name   string
	Due    status.Due
}

// maxDue is the maximum number of actions that can be due for a notice at once: a start and an end.
const maxDue = 2

// RunDue performs the actions that are due on all pages: it starts and completes maintenances, publishes their reminders, and records reminders of
// incidents. Missed actions follow in order. Each is a write of its own, which happens once even if several gateways call RunDue. It returns the actions
// that it performed, also with an error: an error of one notice does not affect the others.
func (e *Editor) RunDue(ctx context.Context) ([]DueAction, error) {
	var done []DueAction
	var failed []error
	for range maxDue + 1 {
		list, err := e.due(ctx)
		if err != nil {
			return done, errors.Join(append(failed, err)...)
		}
		before := len(done)
		for _, n := range list {
			action, err := e.runDue(ctx, n)
			if err != nil {
				failed = append(failed, fmt.Errorf("running what is due for %s: %w", n.Code, err))
			} else if action != nil {
				done = append(done, *action)
			}
		}
		if len(done) == before || len(failed) > 0 {
			break
		}
	}
	return done, errors.Join(failed...)
}

// due returns the notices for which an action is due, earliest first. Mirrors are excluded, since they follow their sources.
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

// runDue performs the action that is due for a notice. It returns nil if there is none, for example because another gateway performed it.
func (e *Editor) runDue(ctx context.Context, n *status.Notice) (*DueAction, error) {
	var action *DueAction
	by := Author{Name: "schedule", Origin: status.FromSchedule}
	_, err := e.edit(ctx, command{by: by, name: "schedule", page: n.PageCode}, func(ctx context.Context, w *write) {
		w.target(ctx, noticeTable, n.Code)
		s := w.noticeState(ctx, n.Code, ` for update skip locked`)
		if s.Notice == nil {
			check(ErrUnchanged)
		}
		due := status.DueOf(s.Notice, w.At)
		if due == status.NothingDue {
			check(ErrUnchanged)
		}
		action = &DueAction{Page: n.PageCode, Notice: n.Code, Name: s.Notice.Name, Due: due}
		w.command.name = "schedule." + string(due)
		w.store(must(w.workingCopy(ctx).RunDue(s, due)))
	})
	if err != nil {
		return nil, err
	}
	return action, nil
}
