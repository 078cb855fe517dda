package status

import (
	"encoding/json"
	"time"
)

// Due is an action that is due for a notice.
type Due string

// The actions.
const (
	NothingDue       Due = ""
	StartDue         Due = "start"
	EndDue           Due = "end"
	ReminderDue      Due = "reminder"
	IncidentReminder Due = "incident reminder"
)

// DueOf returns the action that is due for a notice at an instant. Another one may be due after it: a missed start precedes a missed end.
func DueOf(n *Notice, now time.Time) Due {
	if n.Draft || !n.State.Open() {
		return NothingDue
	}
	if n.Kind == Realtime {
		if at, ok := nextReminder(n); ok && !now.Before(at) {
			return IncidentReminder
		}
		return NothingDue
	}
	started := !now.Before(n.ScheduledFor.V)
	remindAt := n.ScheduledFor.V.Add(-time.Duration(n.RemindMinutes.V) * time.Minute)
	switch {
	case n.State == Planned && n.AutoInProgress && started:
		return StartDue
	case n.State != Planned && n.AutoCompleted && !now.Before(n.ScheduledUntil.V):
		return EndDue
	case n.State == Planned && !started && n.RemindMinutes.Valid && !n.RemindedAt.Valid && !now.Before(remindAt) &&
		!n.CreatedAt.After(remindAt): // otherwise the announcement is the reminder
		return ReminderDue
	default:
		return NothingDue
	}
}

// Overdue reports whether a maintenance without automatic transitions is past its planned start or end.
func (n *Notice) Overdue(now time.Time) bool {
	if n.Kind != Scheduled || n.Draft {
		return false
	}
	switch n.State {
	case Planned:
		return !n.AutoInProgress && now.After(n.ScheduledFor.V)
	case InProgress, Verifying:
		return !n.AutoCompleted && now.After(n.ScheduledUntil.V)
	default:
		return false
	}
}

// ParseReminders parses the times at which editors are reminded of an incident, in hours after it was created: an ascending JSON list such as [3, 6, 12, 24].
func ParseReminders(text string) ([]time.Duration, error) {
	var hours []float64
	if err := json.Unmarshal([]byte(text), &hours); err != nil || len(hours) == 0 {
		return nil, Errorf(BadInput, "%q is not a list of hours such as [3, 6, 12, 24]", text)
	}
	out := make([]time.Duration, len(hours))
	for i, h := range hours {
		if h <= 0 || h > 8760 || i > 0 && h <= hours[i-1] {
			return nil, Errorf(BadInput, "%q is not an ascending list of hours such as [3, 6, 12, 24]", text)
		}
		out[i] = time.Duration(h * float64(time.Hour))
	}
	return out, nil
}

// nextReminder returns the time of the next reminder of an incident that has not been sent. ok is false if there is none.
func nextReminder(n *Notice) (time.Time, bool) {
	if !n.ReminderIntervals.Valid {
		return time.Time{}, false
	}
	list, err := ParseReminders(n.ReminderIntervals.V)
	if err != nil { // imported in another format
		return time.Time{}, false
	}
	for _, after := range list {
		if at := n.CreatedAt.Add(after); !n.RemindedAt.Valid || n.RemindedAt.V.Before(at) {
			return at, true
		}
	}
	return time.Time{}, false
}
