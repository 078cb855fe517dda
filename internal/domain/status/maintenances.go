package status

import (
	"time"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
)

// NewMaintenance describes a maintenance to schedule.
type NewMaintenance struct {
	Target
	Name           string
	Body           string
	Start, End     time.Time
	Components     []string // codes
	ImpactOverride ledger.Null[Impact]
	// State is the first state: planned by default, in progress for work that has started, completed for a maintenance that is over.
	State State
	// AutoInProgress and AutoCompleted start and complete the maintenance on time.
	AutoInProgress, AutoCompleted bool
	// AutoMaintenanceState and AutoOperationalState change the components when it starts and when it ends.
	AutoMaintenanceState, AutoOperationalState bool
	RemindMinutes                              ledger.Null[int32]
	Notify                                     ledger.Null[bool] // whether subscribers are notified of the announcement; default: true
	SilentAtStart, SilentAtEnd                 bool
}

// ScheduleMaintenance schedules a maintenance.
func (b *WorkingCopy) ScheduleMaintenance(in NewMaintenance) (*Effect, error) {
	n, err := b.newNotice(Scheduled, in.Name)
	if err != nil {
		return nil, err
	}
	start, end := b.local(in.Start), b.local(in.End)
	state := in.State
	if state == NoState {
		state = Planned
	}
	if err := b.checkSchedule(start, end, state, in); err != nil {
		return nil, err
	}
	n.ScheduledFor, n.ScheduledUntil, n.ImpactOverride = ledger.Of(start), ledger.Of(end), in.ImpactOverride
	n.AutoInProgress, n.AutoCompleted, n.RemindMinutes = in.AutoInProgress, in.AutoCompleted, in.RemindMinutes
	n.AutoMaintenanceState, n.AutoOperationalState = in.AutoMaintenanceState, in.AutoOperationalState
	n.NotifyAtStart, n.NotifyAtEnd = !in.SilentAtStart, !in.SilentAtEnd
	s := NoticeState{Notice: n}
	u := update{NewUpdate: NewUpdate{State: state, Body: in.Body, Notify: in.Notify}}
	switch state {
	case InProgress: // the components are attached without a status, so that they get that of maintenance
		for _, code := range in.Components {
			c, err := b.Leaf(code)
			if err != nil {
				return nil, err
			}
			s.Attachments = append(s.Attachments, &Attachment{NoticeCode: n.Code, ComponentCode: c.Code})
		}
		return b.addUpdate(s, u)
	case Completed:
		n.Backfilled, u.at = true, end
	default:
	}
	u.Affected = list.Map(in.Components, func(code string) Assignment { return Assignment{code, Operational} })
	e, err := b.addUpdate(s, u)
	if err == nil && state == Completed {
		e.Notice.CreatedAt, e.Notice.StartedAt, e.Notice.UpdatedAt = start, start, b.At
	}
	return e, err
}

func (b *WorkingCopy) checkSchedule(start, end time.Time, state State, in NewMaintenance) error {
	if err := CheckTimes(start, end); err != nil {
		return err
	}
	switch {
	case state == Completed && end.After(b.At):
		return Errorf(BadInput, "a maintenance that is over cannot end in the future")
	case state == InProgress && start.After(b.At):
		return Errorf(BadInput, "a maintenance in progress cannot start in the future")
	case state != Completed && !end.After(b.At):
		return Errorf(BadInput, "the end, %s, is in the past", end.Format(time.RFC3339))
	case in.RemindMinutes.Valid && in.RemindMinutes.V < 1:
		return Errorf(BadInput, "a reminder must be at least 1 minute before the start")
	}
	return checkImpact(in.ImpactOverride)
}

// CheckTimes fails unless the end is after the start.
func CheckTimes(start, end time.Time) error {
	if !end.After(start) {
		return Errorf(BadInput, "the end, %s, must be after the start, %s", end.Format(time.RFC3339), start.Format(time.RFC3339))
	}
	return nil
}

// MoveMaintenance changes the state of a maintenance, or adds text in its current state. The default text is that of the page.
func (b *WorkingCopy) MoveMaintenance(s NoticeState, in NewUpdate) (*Effect, error) {
	if in.Body == "" {
		in.Body = b.stateText(in.State)
	}
	return b.addUpdate(s, update{NewUpdate: in})
}

// stateText returns the page's text for a maintenance that reaches a state, or "" if the state has none.
func (b *WorkingCopy) stateText(s State) string {
	switch s {
	case InProgress:
		return b.Page.Text(MaintenanceStarted)
	case Verifying:
		return b.Page.Text(MaintenanceVerifying)
	case Completed:
		return b.Page.Text(MaintenanceCompleted)
	default:
		return ""
	}
}

// CancelMaintenance ends a maintenance that has not started. It is published as completed.
func (b *WorkingCopy) CancelMaintenance(s NoticeState, in NewUpdate) (*Effect, error) {
	if s.Notice.State != Planned {
		return nil, Errorf(BadState, "a maintenance that is %s cannot be cancelled: complete it", s.Notice.State)
	}
	return b.addUpdate(s, update{NewUpdate: NewUpdate{State: Completed, Body: b.textOr(in.Body, MaintenanceCancelled), Notify: in.Notify}})
}

// Reschedule describes new times of a maintenance.
type Reschedule struct {
	Target
	Start, End      time.Time
	Body            string            // of an update; empty for none
	Notify          ledger.Null[bool] // whether subscribers are notified of the update; default: true
	ExpectedVersion int64             // the version that the editor has seen, or 0 for any
}

// RescheduleMaintenance moves a maintenance that has not started, or the end of one in progress. A body is published as an update in the current state.
// The reminder is sent again, unless the update is later than the reminder would be.
func (b *WorkingCopy) RescheduleMaintenance(s NoticeState, in Reschedule) (*Effect, error) {
	n := *s.Notice
	start, end := b.local(in.Start), b.local(in.End)
	switch err := CheckTimes(start, end); {
	case n.Kind != Scheduled:
		return nil, Errorf(BadInput, "%s is an incident: only maintenances can be moved", n.Code)
	case !n.State.Open():
		return nil, &TransitionError{Kind: n.Kind, From: n.State, To: Planned}
	case err != nil:
		return nil, err
	case n.State != Planned && !start.Equal(n.ScheduledFor.V):
		return nil, Errorf(BadState, "the maintenance has started: only its end can be moved")
	}
	n.ScheduledFor, n.ScheduledUntil, n.RemindedAt = ledger.Of(start), ledger.Of(end), ledger.Null[time.Time]{}
	s.Notice = &n
	if in.Body != "" {
		if !b.At.Before(start.Add(-time.Duration(n.RemindMinutes.V) * time.Minute)) {
			n.RemindedAt = ledger.Of(b.At)
		}
		return b.addUpdate(s, update{NewUpdate: NewUpdate{State: n.State, Body: in.Body, Notify: in.Notify}})
	}
	n.UpdatedAt = b.At
	n.Version++
	return &Effect{Notice: &n}, nil
}

// RunDue performs a due action of a notice.
func (b *WorkingCopy) RunDue(s NoticeState, due Due) (*Effect, error) {
	n := *s.Notice
	s.Notice = &n
	switch due {
	case StartDue:
		return b.addUpdate(s, update{NewUpdate: NewUpdate{State: InProgress, Body: b.stateText(InProgress), Notify: ledger.Of(n.NotifyAtStart)}})
	case EndDue:
		return b.addUpdate(s, update{NewUpdate: NewUpdate{State: Completed, Body: b.stateText(Completed), Notify: ledger.Of(n.NotifyAtEnd)}})
	case ReminderDue:
		n.RemindedAt = ledger.Of(b.At)
		return b.addUpdate(s, update{NewUpdate: NewUpdate{State: n.State, Body: b.Page.Text(MaintenanceReminder)}, textOnly: true, origin: FromReminder})
	default: // IncidentReminder is for editors only
		n.RemindedAt = ledger.Of(b.At)
		return &Effect{Notice: &n}, nil
	}
}
