package status

import (
	"cmp"
	"time"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
)

// OpenIncident opens an incident.
func (w *WorkingCopy) OpenIncident(in NewIncident) (*Effect, error) {
	n, err := w.newNotice(Realtime, in.Name)
	if err != nil {
		return nil, err
	}
	n.Draft, n.Backfilled, n.ProbeID, n.ReminderIntervals, n.ImpactOverride = in.Draft, in.Backfill, in.ProbeID,
		in.Reminders, in.ImpactOverride
	if in.Reminders.Valid {
		if _, err := ParseReminders(in.Reminders.V); err != nil {
			return nil, err
		}
	}
	if err := checkImpact(in.ImpactOverride); err != nil {
		return nil, err
	}
	if in.StartedAt.Valid {
		n.StartedAt = w.local(in.StartedAt.V)
		if n.StartedAt.After(w.At) {
			return nil, Errorf(BadInput, "an incident cannot start in the future")
		}
	}
	if in.Backfill {
		return w.backfill(n, in)
	}
	u := textUpdate(in.State, in.Body, in.Notify)
	u.Affected = in.Affected
	switch u.State {
	case NoState:
		u.State = Investigating
	case Resolved:
		return nil, Errorf(BadInput, "a new incident that is resolved needs its start and its end: backfill it")
	default:
	}
	return w.addUpdate(NoticeState{Notice: n}, u)
}

// newNotice returns a new notice. Its first update completes it.
func (w *WorkingCopy) newNotice(k Kind, name string) (*Notice, error) {
	if err := CheckName("the notice", name); err != nil {
		return nil, err
	}
	code, err := w.NewCode()
	if err != nil {
		return nil, err
	}
	return &Notice{
		Code: code, PageCode: w.Page.Code, Kind: k, Name: name, Shortlink: w.Page.NoticeURL(code), NotifyAtStart: true,
		NotifyAtEnd: true,
		Origin:      w.Origin, Version: 1,
	}, nil
}

// local returns an instant as it is stored and shown.
func (w *WorkingCopy) local(t time.Time) time.Time { return Milliseconds(t).In(w.At.Location()) }

func checkImpact(override ledger.Null[Impact]) error {
	if override.Valid && !override.V.Valid() {
		return Errorf(BadInput, "%q is not an impact", override.V)
	}
	return nil
}

// backfill records an incident that is over, with two updates.
func (w *WorkingCopy) backfill(n *Notice, in NewIncident) (*Effect, error) {
	switch {
	case in.Draft:
		return nil, Errorf(BadInput, "a backfilled incident cannot be a draft")
	case !in.StartedAt.Valid || !in.ResolvedAt.Valid:
		return nil, Errorf(BadInput, "a backfilled incident needs its start and its end")
	case in.State != NoState && in.State != Resolved:
		return nil, Errorf(BadInput, "a backfilled incident is resolved, not %s", in.State)
	}
	start, end := w.local(in.StartedAt.V), w.local(in.ResolvedAt.V)
	if err := CheckTimes(start, end); err != nil {
		return nil, err
	}
	if end.After(w.At) {
		return nil, Errorf(BadInput, "a backfilled incident cannot end in the future")
	}
	first, err := w.addUpdate(NoticeState{Notice: n}, update{
		NewUpdate: NewUpdate{State: Investigating, Body: in.Body, Affected: in.Affected, Notify: in.Notify}, at: start,
	})
	if err != nil {
		return nil, err
	}
	resolution := NewUpdate{
		State: Resolved, Body: cmp.Or(in.Resolution, w.Page.Text(IncidentResolved)),
		Affected: in.Affected, Keep: true, Notify: in.Notify,
	}
	last, err := w.addUpdate(NoticeState{first.Notice, first.Attachments, first.Updates},
		update{NewUpdate: resolution, at: end})
	if err != nil {
		return nil, err
	}
	last.Notice.UpdatedAt, last.Notice.Version = w.At, 1
	return first.then(last), nil
}

// UpdateIncident adds an update to an incident that is not over, or resolves it. In state [Postmortem] it publishes
// the postmortem.
func (w *WorkingCopy) UpdateIncident(s NoticeState, in NewUpdate) (*Effect, error) {
	if s.Notice.Draft {
		return nil, Errorf(BadState, "%s is a draft: publish or discard it first", s.Notice.Code)
	}
	if in.State == Postmortem {
		return w.PublishPostmortem(s, in)
	}
	return w.addUpdate(s, update{NewUpdate: in})
}

// ReopenIncident reopens an incident that is over.
func (w *WorkingCopy) ReopenIncident(s NoticeState, in NewUpdate) (*Effect, error) {
	return w.addUpdate(s, update{NewUpdate: in, reopen: true})
}

// PublishPostmortem adds the postmortem to a resolved incident, or replaces it.
func (w *WorkingCopy) PublishPostmortem(s NoticeState, in NewUpdate) (*Effect, error) {
	u := textUpdate(Postmortem, in.Body, in.Notify)
	u.textOnly = true
	for _, old := range s.Updates {
		if old.State == Postmortem {
			u.code = old.Code
		}
	}
	if s.Notice.State == Postmortem {
		resolved := *s.Notice
		resolved.State, s.Notice = Resolved, &resolved
	}
	return w.addUpdate(s, u)
}

// PublishDraft publishes a draft: its update is dated now, and sets the components to the statuses that it states.
func (w *WorkingCopy) PublishDraft(s NoticeState) (*Effect, error) {
	if err := CheckDraft(s.Notice); err != nil {
		return nil, err
	}
	first := s.Updates[0]
	u := textUpdate(s.Notice.State, first.Body, ledger.Of(first.DeliverNotifications))
	u.code = first.Code
	for _, a := range first.Affected {
		if w.Component(a.Code) != nil {
			u.Affected = append(u.Affected, Assignment{a.Code, a.NewStatus})
		}
	}
	n := *s.Notice
	n.State, n.Draft = NoState, false // as if this were its first update
	e, err := w.addUpdate(NoticeState{Notice: &n, Attachments: s.Attachments}, u)
	if err != nil {
		return nil, err
	}
	e.New = false
	e.Notice.Version++
	return e, nil
}

// CheckDraft fails if a notice is not a draft.
func CheckDraft(n *Notice) error {
	if !n.Draft {
		return Errorf(BadState, "%s is not a draft", n.Code)
	}
	return nil
}

// ScheduleMaintenance schedules a maintenance.
func (w *WorkingCopy) ScheduleMaintenance(in NewMaintenance) (*Effect, error) {
	n, err := w.newNotice(Scheduled, in.Name)
	if err != nil {
		return nil, err
	}
	start, end := w.local(in.Start), w.local(in.End)
	state := cmp.Or(in.State, Planned)
	if err := w.checkSchedule(start, end, state, in); err != nil {
		return nil, err
	}
	n.ScheduledFor, n.ScheduledUntil, n.ImpactOverride = ledger.Of(start), ledger.Of(end), in.ImpactOverride
	n.AutoInProgress, n.AutoCompleted, n.RemindMinutes = in.AutoInProgress, in.AutoCompleted, in.RemindMinutes
	n.AutoMaintenanceState, n.AutoOperationalState = in.AutoMaintenanceState, in.AutoOperationalState
	n.NotifyAtStart, n.NotifyAtEnd = !in.SilentAtStart, !in.SilentAtEnd
	s := NoticeState{Notice: n}
	u := textUpdate(state, in.Body, in.Notify)
	switch state {
	case InProgress: // the components are attached without a status, so that they get that of maintenance
		for _, code := range in.Components {
			c, err := w.Leaf(code)
			if err != nil {
				return nil, err
			}
			s.Attachments = append(s.Attachments, &Attachment{NoticeCode: n.Code, ComponentCode: c.Code})
		}
		return w.addUpdate(s, u)
	case Completed:
		n.Backfilled, u.at = true, end
	default:
	}
	u.Affected = list.Map(in.Components, func(code string) Assignment { return Assignment{code, Operational} })
	e, err := w.addUpdate(s, u)
	if err == nil && state == Completed {
		e.Notice.CreatedAt, e.Notice.StartedAt, e.Notice.UpdatedAt = start, start, w.At
	}
	return e, err
}

func (w *WorkingCopy) checkSchedule(start, end time.Time, state State, in NewMaintenance) error {
	if err := CheckTimes(start, end); err != nil {
		return err
	}
	switch {
	case state == Completed && end.After(w.At):
		return Errorf(BadInput, "a maintenance that is over cannot end in the future")
	case state == InProgress && start.After(w.At):
		return Errorf(BadInput, "a maintenance in progress cannot start in the future")
	case state != Completed && !end.After(w.At):
		return Errorf(BadInput, "the end, %s, is in the past", end.Format(time.RFC3339))
	case in.RemindMinutes.Valid && in.RemindMinutes.V < 1:
		return Errorf(BadInput, "a reminder must be at least 1 minute before the start")
	}
	return checkImpact(in.ImpactOverride)
}

// CheckTimes fails unless the end is after the start.
func CheckTimes(start, end time.Time) error {
	if !end.After(start) {
		return Errorf(BadInput, "the end, %s, must be after the start, %s", end.Format(time.RFC3339),
			start.Format(time.RFC3339))
	}
	return nil
}

// MoveMaintenance changes the state of a maintenance, or adds text in its current state. The default text is that of
// the page.
func (w *WorkingCopy) MoveMaintenance(s NoticeState, in NewUpdate) (*Effect, error) {
	in.Body = cmp.Or(in.Body, w.stateText(in.State))
	return w.addUpdate(s, update{NewUpdate: in})
}

// stateText returns the page's text for a maintenance that reaches a state, or "" if the state has none.
func (w *WorkingCopy) stateText(s State) string {
	return w.Page.Text(map[State]Event{
		InProgress: MaintenanceStarted, Verifying: MaintenanceVerifying,
		Completed: MaintenanceCompleted,
	}[s])
}

// CancelMaintenance ends a maintenance that has not started. It is published as completed.
func (w *WorkingCopy) CancelMaintenance(s NoticeState, in NewUpdate) (*Effect, error) {
	if s.Notice.State != Planned {
		return nil, Errorf(BadState, "a maintenance that is %s cannot be cancelled: complete it", s.Notice.State)
	}
	return w.addUpdate(s, textUpdate(Completed, cmp.Or(in.Body, w.Page.Text(MaintenanceCancelled)), in.Notify))
}

// RescheduleMaintenance moves a maintenance that has not started, or the end of one in progress. A body is published
// as an update in the current state. The reminder is sent again, unless the update is later than the reminder would
// be.
func (w *WorkingCopy) RescheduleMaintenance(s NoticeState, in Reschedule) (*Effect, error) {
	n := *s.Notice
	start, end := w.local(in.Start), w.local(in.End)
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
		if !w.At.Before(start.Add(-time.Duration(n.RemindMinutes.V) * time.Minute)) {
			n.RemindedAt = ledger.Of(w.At)
		}
		return w.addUpdate(s, textUpdate(n.State, in.Body, in.Notify))
	}
	n.UpdatedAt = w.At
	n.Version++
	return &Effect{Notice: &n}, nil
}

// RunDue performs a due action of a notice.
func (w *WorkingCopy) RunDue(s NoticeState, due Due) (*Effect, error) {
	n := *s.Notice
	s.Notice = &n
	switch due {
	case StartDue:
		return w.addUpdate(s, textUpdate(InProgress, w.stateText(InProgress), ledger.Of(n.NotifyAtStart)))
	case EndDue:
		return w.addUpdate(s, textUpdate(Completed, w.stateText(Completed), ledger.Of(n.NotifyAtEnd)))
	case ReminderDue:
		n.RemindedAt = ledger.Of(w.At)
		return w.addUpdate(s, update{
			NewUpdate: NewUpdate{State: n.State, Body: w.Page.Text(MaintenanceReminder)},
			textOnly:  true, origin: FromReminder,
		})
	default: // IncidentReminder is for editors only
		n.RemindedAt = ledger.Of(w.At)
		return &Effect{Notice: &n}, nil
	}
}
