package status

import (
	"encoding/json"
	"time"
)

// Due is what the time has come for.
type Due string

// What can be due.
const (
	NothingDue       Due = ""
	StartDue         Due = "start"
	EndDue           Due = "end"
	ReminderDue      Due = "reminder"
	IncidentReminder Due = "incident reminder"
)

// DueOf is what is due of a notice at an instant. When it has been done there may be more: a start that was missed comes before the end that was.
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
	switch {
	case n.State == Planned && n.AutoInProgress && started:
		return StartDue
	case n.State != Planned && n.AutoCompleted && !now.Before(n.ScheduledUntil.V):
		return EndDue
	case n.State == Planned && !started && n.RemindMinutes.Valid && !n.RemindedAt.Valid &&
		!now.Before(n.ScheduledFor.V.Add(-time.Duration(n.RemindMinutes.V)*time.Minute)):
		return ReminderDue
	default:
		return NothingDue
	}
}

// Overdue tells whether a maintenance should have begun or ended and does not do so by itself.
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

// ParseReminders reads after how many hours editors are to be reminded of an incident: a JSON list such as [3, 6, 12, 24], ascending.
func ParseReminders(text string) ([]time.Duration, error) {
	var hours []float64
	if err := json.Unmarshal([]byte(text), &hours); err != nil || len(hours) == 0 {
		return nil, Refuse(BadInput, "%q is no list of hours such as [3, 6, 12, 24]", text)
	}
	out := make([]time.Duration, len(hours))
	for i, h := range hours {
		if h <= 0 || h > 8760 || i > 0 && h <= hours[i-1] {
			return nil, Refuse(BadInput, "%q is no ascending list of hours such as [3, 6, 12, 24]", text)
		}
		out[i] = time.Duration(h * float64(time.Hour))
	}
	return out, nil
}

// nextReminder is when the editors are next to be told that an incident is still open: as long after its beginning as its list says, and not twice.
func nextReminder(n *Notice) (time.Time, bool) {
	if !n.ReminderIntervals.Valid {
		return time.Time{}, false
	}
	list, err := ParseReminders(n.ReminderIntervals.V)
	if err != nil { // an imported text in another form
		return time.Time{}, false
	}
	for _, after := range list {
		if at := n.CreatedAt.Add(after); !n.RemindedAt.Valid || n.RemindedAt.V.Before(at) {
			return at, true
		}
	}
	return time.Time{}, false
}
