package status

import (
	"slices"
	"strings"
	"time"

	"heliograph/internal/domain/ledger"
)

// UpdateEdit is what changes of an update that was made before. What is unknown stays.
type UpdateEdit struct {
	Body      ledger.Null[string]
	DisplayAt ledger.Null[time.Time]
}

// EditUpdate changes one of the updates of a notice, and the dates of the notice that come from it. updates are all of the notice. The rows are not
// changed: those after the edit are returned.
func EditUpdate(n *Notice, updates []*Update, code string, edit UpdateEdit, at time.Time) (*Notice, *Update, error) {
	updates = slices.Clone(updates)
	slices.SortFunc(updates, func(a, b *Update) int {
		if c := a.CreatedAt.Compare(b.CreatedAt); c != 0 {
			return c
		}
		return strings.Compare(a.Code, b.Code)
	})
	i := slices.IndexFunc(updates, func(u *Update) bool { return u.Code == code })
	if i < 0 {
		return nil, nil, Refuse(NotFound, "there is no update %s of %s", code, n.Code)
	}
	u := *updates[i]
	if edit.Body.Valid {
		if err := checkBody(edit.Body.V); err != nil {
			return nil, nil, err
		}
		u.Body = edit.Body.V
	}
	if edit.DisplayAt.Valid {
		if u.State == Postmortem {
			return nil, nil, Refuse(BadInput, "postmortems have no date")
		}
		display, err := displayTime(edit.DisplayAt.V, at)
		if err != nil {
			return nil, nil, err
		}
		u.DisplayAt = ledger.Of(display)
	}
	u.UpdatedAt = at
	updates[i] = &u

	after := *n
	after.UpdatedAt = at
	after.Version++
	if edit.DisplayAt.Valid {
		after.redate(updates)
	}
	return &after, &u, nil
}

// redate takes the dates of a notice from its updates, which are ordered by when they were written.
func (n *Notice) redate(updates []*Update) {
	var last State
	for i, u := range updates {
		display := u.DisplayAt.Or(u.CreatedAt)
		if i == 0 && !n.Backfilled {
			n.CreatedAt = display
		}
		if u.State != last && (u.State == Monitoring || u.State == Verifying) {
			n.MonitoringAt = ledger.Of(display)
		}
		if over := !u.State.Open(); over && n.ResolvedAt.Valid && (last == NoState || last.Open()) {
			n.ResolvedAt = ledger.Of(display)
		}
		last = u.State
	}
}

// CheckTimes refuses times at which nothing can be done: the end must be after the start.
func CheckTimes(start, end time.Time) error {
	if !end.After(start) {
		return Refuse(BadInput, "the end, %s, must be after the start, %s", end.Format(time.RFC3339), start.Format(time.RFC3339))
	}
	return nil
}

// Reschedule moves a maintenance that has not begun, or the end of one that goes on. A reminder is due again.
func Reschedule(n *Notice, start, end, at time.Time) (*Notice, error) {
	if n.Kind != Scheduled {
		return nil, Refuse(BadInput, "%s is an incident: only maintenances can be moved", n.Code)
	}
	if !n.State.Open() {
		return nil, &StepError{Kind: n.Kind, From: n.State, To: Planned}
	}
	start, end = Milliseconds(start).In(at.Location()), Milliseconds(end).In(at.Location())
	if err := CheckTimes(start, end); err != nil {
		return nil, err
	}
	if n.State != Planned && !start.Equal(n.ScheduledFor.V) {
		return nil, Refuse(BadState, "the maintenance has begun: only its end can be moved")
	}
	after := *n
	after.ScheduledFor, after.ScheduledUntil, after.RemindedAt = ledger.Of(start), ledger.Of(end), ledger.Null[time.Time]{}
	after.UpdatedAt = at
	after.Version++
	return &after, nil
}
