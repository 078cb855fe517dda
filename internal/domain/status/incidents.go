package status

import (
	"cmp"
	"time"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
)

// OpenIncident returns what is written for a new incident: the notice, its first update and the changes of
// components. It also changes the working copy. An incident of the past gets its last update too. Invalid input fails
// with [BadInput], a component that does not exist with [NotFound], and an impossible first state with a
// [*TransitionError]. After an error, the working copy must not be used.
func (w *WorkingCopy) OpenIncident(in NewIncident) (*Effect, error) {
	n, err := w.newNotice(Realtime, in.Name)
	if err != nil {
		return nil, err
	}
	n.Draft, n.Backfilled, n.ProbeID, n.ReminderIntervals, n.ImpactOverride = in.Draft, in.Backfill, in.ProbeID,
		in.Reminders, in.ImpactOverride
	if in.StartedAt.Valid {
		n.StartedAt = w.local(in.StartedAt.V)
	}
	err = cmp.Or(checkReminders(in.Reminders), checkImpact(in.ImpactOverride),
		badIf(n.StartedAt.After(w.At), "an incident cannot start in the future"),
		badIf(in.State == Resolved && !in.Backfill,
			"a new incident that is resolved needs its start and its end: backfill it"))
	if err != nil {
		return nil, err
	}
	if in.Backfill {
		return w.backfill(n, in)
	}
	u := textUpdate(cmp.Or(in.State, Investigating), in.Body, in.Notify)
	u.Affected = in.Affected
	return w.addUpdate(NoticeState{Notice: n}, u)
}

// newNotice returns a new notice with a code, and a [BadInput] error if the name is invalid. Its first update
// completes it. It is not stored.
func (w *WorkingCopy) newNotice(k Kind, name string) (*Notice, error) {
	code := w.NewCode()
	return &Notice{
		Code: code, PageCode: w.Page.Code, Kind: k, Name: name, Shortlink: w.Page.NoticeURL(code), NotifyAtStart: true,
		NotifyAtEnd: true, Origin: w.Origin, Version: 1,
	}, CheckName("the notice", name)
}

// local returns an instant of the input as it is stored and shown: in milliseconds, in the zone of w.At.
func (w *WorkingCopy) local(t time.Time) time.Time { return Milliseconds(t).In(w.At.Location()) }

// checkImpact fails with [BadInput] if an override is not null and not an impact.
func checkImpact(override ledger.Null[Impact]) error {
	return badIf(override.Valid && !override.V.Valid(), "%q is not an impact", override.V)
}

// backfill returns what is written for an incident that is over: a notice with two updates, at its start and its end.
// The statuses of components do not change. Without a text, the resolution has that of the page. A draft, another
// state, a blank text, an invalid status, and times that are missing, in the future or in the wrong order fail with
// [BadInput], and components that do not exist with [NotFound]. n does not change.
func (w *WorkingCopy) backfill(n *Notice, in NewIncident) (*Effect, error) {
	start, end := w.local(in.StartedAt.V), w.local(in.ResolvedAt.V)
	err := cmp.Or(badIf(in.Draft, "a backfilled incident cannot be a draft"),
		badIf(!in.StartedAt.Valid || !in.ResolvedAt.Valid, "a backfilled incident needs its start and its end"),
		badIf(in.State != NoState && in.State != Resolved, "a backfilled incident is resolved, not %s", in.State),
		CheckTimes(start, end), badIf(end.After(w.At), "a backfilled incident cannot end in the future"))
	if err != nil {
		return nil, err
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

// UpdateIncident returns what is written for an update of an incident that is not over, or that resolves it, and
// changes the working copy. An empty state is the current one. In state [Postmortem] it publishes the postmortem; see
// [WorkingCopy.PublishPostmortem]. It fails with [BadState] for drafts, with a [*TransitionError] for
// impossible transitions, with [NotFound] for unknown components, and with [BadInput] for other invalid input; then
// nothing changes.
func (w *WorkingCopy) UpdateIncident(s NoticeState, in NewUpdate) (*Effect, error) {
	err := FailIf(s.Notice.Draft, BadState, "%s is a draft: publish or discard it first", s.Notice.Code)
	if err != nil {
		return nil, err
	}
	if in.State = cmp.Or(in.State, s.Notice.State); in.State == Postmortem {
		return w.PublishPostmortem(s, in)
	}
	return w.addUpdate(s, update{NewUpdate: in})
}

// ReopenIncident returns what is written to reopen an incident that is over, and changes the working copy. A
// backfilled incident affects its components from then on, as others do. It fails with a [*TransitionError] if the
// incident is not over, or if the state of in, which has no default, is not an open one. An invalid text, date or
// status fails with [BadInput], and a component that does not exist with [NotFound]. s does not change.
func (w *WorkingCopy) ReopenIncident(s NoticeState, in NewUpdate) (*Effect, error) {
	return w.addUpdate(s, update{NewUpdate: in, reopen: true})
}

// PublishPostmortem returns what is written to add the postmortem to a resolved incident, or to replace it.
// Components do not change. If the incident is not resolved, it fails with a [*TransitionError]. An empty body, a date
// and statuses of components fail with [BadInput]. s.Notice does not change.
func (w *WorkingCopy) PublishPostmortem(s NoticeState, in NewUpdate) (*Effect, error) {
	u := update{NewUpdate: in, textOnly: true}
	u.State = Postmortem
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

// PublishDraft returns what is written to publish a draft, and changes the working copy: the draft's update gets the
// time of the working copy, and sets the components to the statuses that it states, without those that were deleted
// meanwhile. The input is not used: the caller has checked its version. It fails with [BadState] if the notice is not
// a draft.
func (w *WorkingCopy) PublishDraft(s NoticeState, _ VersionInput) (*Effect, error) {
	err := CheckDraft(s.Notice)
	if err != nil {
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

// CheckDraft fails with [BadState] if a notice is not a draft.
func CheckDraft(n *Notice) error {
	return FailIf(!n.Draft, BadState, "%s is not a draft", n.Code)
}

// ScheduleMaintenance returns what is written for a new maintenance: planned, in progress or over. It also changes the
// working copy. Invalid times, texts and settings fail with [BadInput], components that do not exist with [NotFound],
// and other states with a [*TransitionError].
func (w *WorkingCopy) ScheduleMaintenance(in NewMaintenance) (*Effect, error) {
	n, err := w.newNotice(Scheduled, in.Name)
	if err != nil {
		return nil, err
	}
	start, end := w.local(in.Start), w.local(in.End)
	state := cmp.Or(in.State, Planned)
	err = cmp.Or(CheckTimes(start, end),
		badIf(state == Completed && end.After(w.At), "a maintenance that is over cannot end in the future"),
		badIf(state == InProgress && start.After(w.At), "a maintenance in progress cannot start in the future"),
		badIf(state != Completed && !end.After(w.At), "the end, %s, is in the past", end.Format(time.RFC3339)),
		badIf(in.RemindMinutes.Valid && in.RemindMinutes.V < 1,
			"a reminder must be at least 1 minute before the start"), checkImpact(in.ImpactOverride))
	if err != nil {
		return nil, err
	}
	n.ScheduledFor, n.ScheduledUntil, n.ImpactOverride = ledger.Of(start), ledger.Of(end), in.ImpactOverride
	n.AutoInProgress, n.AutoCompleted, n.RemindMinutes = in.AutoInProgress, in.AutoCompleted, in.RemindMinutes
	n.AutoMaintenanceState, n.AutoOperationalState = in.AutoMaintenanceState, in.AutoOperationalState
	n.NotifyAtStart, n.NotifyAtEnd = !in.SilentAtStart, !in.SilentAtEnd
	given := Operational
	if state == InProgress && n.AutoMaintenanceState {
		given = UnderMaintenance
	}
	u := textUpdate(state, in.Body, in.Notify)
	u.Affected = list.Map(in.Components, func(code string) Assignment { return Assignment{code, given} })
	if state == Completed {
		n.Backfilled, u.at = true, end
	}
	e, err := w.addUpdate(NoticeState{Notice: n}, u)
	if err == nil && state == Completed {
		e.Notice.CreatedAt, e.Notice.StartedAt, e.Notice.UpdatedAt = start, start, w.At
	}
	return e, err
}

// CheckTimes fails with [BadInput] unless the end of a maintenance or of a backfilled incident is after its start.
func CheckTimes(start, end time.Time) error {
	return badIf(!end.After(start), "the end, %s, must be after the start, %s", end.Format(time.RFC3339),
		start.Format(time.RFC3339))
}

// MoveMaintenance returns what is written to change the state of a maintenance, or to add text in its current state,
// which is the default. It also changes the working copy. If the state changes, the default text is that of the page
// for the new state. An impossible transition fails with a [*TransitionError], a missing text or invalid status with
// [BadInput], and a component that does not exist with [NotFound]. s does not change.
func (w *WorkingCopy) MoveMaintenance(s NoticeState, in NewUpdate) (*Effect, error) {
	in.State = cmp.Or(in.State, s.Notice.State)
	if in.State != s.Notice.State {
		in.Body = cmp.Or(in.Body, w.stateText(in.State))
	}
	return w.addUpdate(s, update{NewUpdate: in})
}

// stateText returns the page's text for a maintenance that reaches a state, or "" if the state has none.
func (w *WorkingCopy) stateText(s State) string {
	return w.Page.Text(map[State]Event{
		InProgress: MaintenanceStarted, Verifying: MaintenanceVerifying,
		Completed: MaintenanceCompleted,
	}[s])
}

// CancelMaintenance returns what is written to end a maintenance that has not started, and changes the working copy.
// It is published as completed. If it has started, CancelMaintenance fails with [BadState]. Without a body, the text
// is that of the page; a blank text fails with [BadInput]. s does not change.
func (w *WorkingCopy) CancelMaintenance(s NoticeState, in NewUpdate) (*Effect, error) {
	err := FailIf(s.Notice.State != Planned, BadState, "a maintenance that is %s cannot be cancelled: complete it",
		s.Notice.State)
	if err != nil {
		return nil, err
	}
	return w.addUpdate(s, textUpdate(Completed, cmp.Or(in.Body, w.Page.Text(MaintenanceCancelled)), in.Notify))
}

// RescheduleMaintenance returns what is written to move a maintenance that has not started, or the end of one in
// progress. A body is published as an update in the current state. The reminder is sent again, unless the update is
// later than the reminder would be. Without a body only the notice is written, and the working copy does not change.
// If the maintenance has started, another start fails with [BadState]; one that is over fails with a
// [*TransitionError], and incidents and invalid times with [BadInput]. s.Notice does not change.
func (w *WorkingCopy) RescheduleMaintenance(s NoticeState, in Reschedule) (*Effect, error) {
	n := *s.Notice
	start, end := w.local(in.Start), w.local(in.End)
	err := cmp.Or(badIf(n.Kind != Scheduled, "%s is an incident: only maintenances can be moved", n.Code),
		CheckTransition(n.Kind, n.State, n.State), CheckTimes(start, end),
		FailIf(n.State != Planned && !start.Equal(n.ScheduledFor.V), BadState,
			"the maintenance has started: only its end can be moved"))
	if err != nil {
		return nil, err
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

// RunDue returns what is written when an action of a notice is due: the start or end of a maintenance, or a reminder.
// It changes the working copy. Reminders of incidents only record that they were sent. due is the result of [DueOf],
// not [NothingDue]. With it, RunDue does not fail. s.Notice does not change.
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
