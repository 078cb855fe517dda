package status

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
)

// Target identifies what a request writes to. The rules do not depend on it.
type Target struct {
	ID             string  // code or global ID of an object
	Page           *string // slug of the page of a new object; nil for the default page
	IdempotencyKey *string
}

// Destination returns t itself. It implements the interface of inputs that contain a target.
func (t *Target) Destination() *Target { return t }

// VersionInput is the input of writes that have no other one.
type VersionInput struct {
	Target
	ExpectedVersion int64 // the version that the editor has seen, or 0 for any
}

// update is a [NewUpdate] with what only the rules set.
type update struct {
	NewUpdate
	code   string // generated if empty
	origin Origin // that of the working copy if empty
	// reopen permits states that only reopening leads to.
	reopen bool
	// textOnly leaves components out of the update: reminders and postmortems.
	textOnly bool
	at       time.Time // the time of the working copy if zero
}

// textUpdate returns an update that has a text and names no components, which callers can add. Its code, origin and
// time are set when it is added to a notice. A null notify means the default: to notify.
func textUpdate(state State, body string, notify ledger.Null[bool]) update {
	return update{NewUpdate: NewUpdate{State: state, Body: body, Notify: notify}}
}

// NoticeState is a stored notice with its components and updates.
type NoticeState struct {
	Notice      *Notice
	Attachments []*Attachment
	Updates     []*Update // oldest first; newest first in messages and imports
}

// Effect is what a write to a notice stores.
type Effect struct {
	// New reports whether the notice does not exist yet.
	New    bool
	Notice *Notice
	// Updates are new, or replace those with the same codes.
	Updates []*Update
	// Attachments are all components of the notice with the statuses in which it holds them.
	Attachments []*Attachment
	// BaseChanged are the components whose base status changes.
	BaseChanged []*Component
	Changes     []*Change
}

// then returns the effect of two updates of a notice, one after the other, as if they were one. It changes and returns
// next, whose notice and attachments stay.
func (e *Effect) then(next *Effect) *Effect {
	next.New = e.New
	next.Updates = append(e.Updates, next.Updates...)
	next.BaseChanged = append(e.BaseChanged, next.BaseChanged...)
	next.Changes = append(e.Changes, next.Changes...)
	return next
}

// checkBody fails with [BadInput] if a text is blank.
func checkBody(body string) error {
	return badIf(strings.TrimSpace(body) == "", "the body is empty")
}

// CheckName fails with [BadInput] if a name is blank, or has a line break or the character 0. what is the object in
// the error's text.
func CheckName(what, name string) error {
	return cmp.Or(badIf(strings.TrimSpace(name) == "", "the name of %s is empty", what),
		badIf(strings.ContainsAny(name, "\r\n\x00"), "the name of %s has more than one line", what))
}

// checkDisplayTime returns a date that an editor chose in the form in which it is stored: whole seconds, in the zone
// of now. It fails with [BadInput] for dates in the future; the date beside that error must not be used.
func checkDisplayTime(chosen, now time.Time) (time.Time, error) {
	return chosen.Truncate(time.Second).In(now.Location()), badIf(chosen.After(now),
		"the date of an update must not be in the future: %s", chosen.Format(time.RFC3339))
}

// addUpdate adds an update to a notice, which is in [NoState] if it is new. s.Updates must be oldest first. It changes
// the working copy, but not the notice. Transitions that are not possible fail with a [*TransitionError], an invalid
// text, date or status with [BadInput], and a component that does not exist with [NotFound]; then nothing changes.
func (w *WorkingCopy) addUpdate(s NoticeState, u update) (*Effect, error) {
	n := s.Notice
	if u.code == "" {
		u.code = w.NewCode()
	}
	u.at, u.origin = cmp.Or(u.at, w.At), cmp.Or(u.origin, w.Origin)
	err := w.checkUpdate(n, &u)
	if err != nil {
		return nil, err
	}
	display := u.at
	if u.DisplayAt.Valid {
		display, err = checkDisplayTime(u.DisplayAt.V, u.at)
		if err != nil {
			return nil, err
		}
	}
	// Lists of updates are ordered by creation, and the newest has the state of the notice: creation times must
	// differ.
	created := u.at
	if last := len(s.Updates) - 1; n.State != NoState && last >= 0 && !created.After(s.Updates[last].CreatedAt) {
		created = s.Updates[last].CreatedAt.Add(time.Millisecond)
	}
	added := &Update{
		Code: u.code, NoticeCode: n.Code, State: u.State, Body: u.Body, CreatedAt: created, UpdatedAt: created,
		DisplayAt: ledger.Of(display), DeliverNotifications: u.Notify.Or(true), Origin: u.origin,
	}
	if u.State == Postmortem {
		added.DisplayAt = ledger.Null[time.Time]{}
	}
	e := &Effect{New: n.State == NoState, Notice: n.after(&u, display), Updates: []*Update{added}}
	w.affect(e, added, s.Attachments, &u)
	return e, nil
}

// checkUpdate fails if the notice cannot get the update: with a [*TransitionError] for the state, with [NotFound] for
// a component that does not exist, and with [BadInput] for the text, the date and the statuses of components. It
// changes nothing.
func (w *WorkingCopy) checkUpdate(n *Notice, u *update) error {
	err := CheckTransition(n.Kind, n.State, u.State)
	if u.reopen {
		err = CheckReopen(n.State, u.State)
	}
	err = cmp.Or(err, checkBody(u.Body), badIf(u.DisplayAt.Valid && u.State == Postmortem, "postmortems have no date"))
	seen := map[string]bool{}
	for _, a := range u.Affected {
		c, missing := w.Leaf(a.Component)
		if err := cmp.Or(err, missing); err != nil {
			return err
		}
		err = cmp.Or(
			badIf(seen[c.Code], "%s is given two statuses", c.QualifiedName()),
			badIf(!a.Status.Valid(), noComponentStatus, a.Status),
			badIf(u.textOnly, "an update in state %s cannot change components", u.State),
			badIf(u.State == Planned && a.Status != Operational,
				"a maintenance that has not started cannot change the status of %s", c.QualifiedName()),
			badIf(!u.State.Open() && !u.Keep && a.Status != Operational,
				"%s cannot stay in status %s when the notice ends: keep the components", c.QualifiedName(), a.Status),
		)
		seen[c.Code] = true
	}
	return err
}

// after returns a copy of n after an update that is displayed with a date, as part of addUpdate: state, dates, impact
// and version. The impact of an incident only becomes worse, unless it is overridden. A new notice gets its creation
// time and, unless it has one, its start, and keeps its version. A backfilled one that is reopened is one like others.
func (n *Notice) after(u *update, display time.Time) *Notice {
	after := *n
	after.State, after.UpdatedAt, after.Backfilled = u.State, u.at, n.Backfilled && !u.reopen
	if (u.State == Monitoring || u.State == Verifying) && n.State != u.State {
		after.MonitoringAt = ledger.Of(display)
	}
	switch {
	case u.State.Open():
		after.ResolvedAt = ledger.Null[time.Time]{}
	case !n.ResolvedAt.Valid:
		after.ResolvedAt = ledger.Of(display)
	}
	given := list.Map(u.Affected, func(a Assignment) ComponentStatus { return a.Status })
	after.Impact = ImpactOf(n.Kind, n.ImpactOverride.V, given...)
	if n.Kind == Realtime && !n.ImpactOverride.Valid && n.Impact.WorseThan(after.Impact) {
		after.Impact = n.Impact
	}
	if n.State != NoState {
		after.Version++
		return &after
	}
	after.CreatedAt = display
	after.StartedAt = cmp.Or(after.StartedAt, display)
	return &after
}

// affect applies an update to the components of the working copy, and adds the resulting attachments and changes
// to e and the affected components to added. Drafts and backfilled notices only record what they state of
// components, and change none.
func (w *WorkingCopy) affect(e *Effect, added *Update, attachments []*Attachment, u *update) {
	n := e.Notice
	before := w.statuses()
	holds := map[string]ComponentStatus{}
	for _, a := range attachments {
		holds[a.ComponentCode] = a.HeldStatus
	}
	given := map[string]ComponentStatus{}
	for _, a := range u.Affected {
		given[a.Component] = a.Status
		holds[a.Component] = "" // attached; the hold is set below
	}
	recordOnly := n.Draft || n.Backfilled
	if !recordOnly {
		setHolds(n, u, holds, given)
		w.releaseHolds(e, u, holds)
	}
	for _, code := range slices.Sorted(maps.Keys(holds)) {
		held := holds[code]
		if w.Component(code) == nil { // deleted
			held = ""
		}
		e.Attachments = append(e.Attachments, &Attachment{NoticeCode: n.Code, ComponentCode: code, HeldStatus: held})
	}
	w.hold(n.Code, e.Attachments...)
	w.compute()
	e.Changes = w.changesSince(before, u.origin, ledger.Of(u.code))
	if u.textOnly {
		return
	}
	affected := slices.DeleteFunc(slices.Clone(w.Components), func(c *Component) bool {
		_, attached := holds[c.Code]
		return !attached
	})
	slices.SortFunc(affected, DisplayOrder(w.Components))
	for i, c := range affected {
		a := &AffectedComponent{
			UpdateCode: u.code, Ordinal: int32(i), Code: c.Code, Name: c.QualifiedName(),
			OldStatus: before[c.Code], NewStatus: c.Status,
		}
		switch {
		case n.Backfilled:
			a.OldStatus, a.NewStatus = backfilledStatuses(given[c.Code], u.State)
		case n.Draft:
			a.NewStatus = Worst(a.OldStatus, given[c.Code])
		}
		a.OldShown, a.NewShown = a.OldStatus.Shown(w.Page.Vocabulary), a.NewStatus.Shown(w.Page.Vocabulary)
		added.Affected = append(added.Affected, a)
	}
}

// backfilledStatuses returns the statuses of a component before and after an update of a backfilled notice. In between
// it had the given status.
func backfilledStatuses(given ComponentStatus, s State) (before, after ComponentStatus) {
	given = Worst(Operational, given)
	if s.Open() {
		return Operational, given
	}
	return given, Operational
}

// setHolds changes holds, the statuses in which a notice holds its components, by code: given, the statuses in the
// update, replace those before. A maintenance that has not started holds none. One with AutoMaintenanceState that is
// in progress holds those without a status under maintenance.
func setHolds(n *Notice, u *update, holds, given map[string]ComponentStatus) {
	if u.State == Planned {
		return
	}
	maps.Copy(holds, given)
	if u.State == InProgress && n.AutoMaintenanceState {
		for code := range holds {
			if _, set := given[code]; !set && holds[code] == "" {
				holds[code] = UnderMaintenance
			}
		}
	}
}

// releaseHolds sets all statuses in holds, by component, to the empty one if the notice is over. Statuses that are
// kept, as the update or a maintenance without AutoOperationalState demands, become base statuses of the components
// where they are worse, and it adds these components to e.BaseChanged.
func (w *WorkingCopy) releaseHolds(e *Effect, u *update, holds map[string]ComponentStatus) {
	if u.State.Open() {
		return
	}
	keep := u.Keep || e.Notice.Kind == Scheduled && !e.Notice.AutoOperationalState
	for _, code := range slices.Sorted(maps.Keys(holds)) {
		if c := w.Component(code); keep && c != nil && holds[code].WorseThan(c.BaseStatus) {
			c.BaseStatus = holds[code]
			e.BaseChanged = append(e.BaseChanged, c)
		}
		holds[code] = ""
	}
}

// NoState is the state of a notice that does not exist yet.
const NoState State = ""

// successors returns the states that may follow each state of a kind of notice. A state may follow itself: the update
// then only adds text.
func successors(k Kind) map[State][]State {
	if k == Scheduled {
		return map[State][]State{
			NoState:    {Planned, InProgress, Completed},
			Planned:    {Planned, InProgress, Completed},
			InProgress: {InProgress, Verifying, Completed},
			Verifying:  {InProgress, Verifying, Completed},
			Completed:  nil,
		}
	}
	next := append(OpenStates(Realtime), Resolved)
	return map[State][]State{
		NoState:       next,
		Investigating: next,
		Identified:    next,
		Monitoring:    next,
		Resolved:      {Resolved, Postmortem},
		Postmortem:    nil,
	}
}

// TransitionError reports a state that a notice cannot change to.
type TransitionError struct {
	Kind    Kind
	From    State // NoState for a new notice
	To      State
	Allowed []State // the states that are possible instead, in the usual order; may be empty
}

// Error implements error. The text, for editors, says which states are possible instead, or that none is.
func (e *TransitionError) Error() string {
	what := "an incident"
	if e.Kind == Scheduled {
		what = "a maintenance"
	}
	from := "that is " + string(e.From)
	if e.From == NoState {
		from = "that is new"
	}
	if e.From == Resolved || e.From == Postmortem {
		return fmt.Sprintf("%s %s cannot become %s, unless it is reopened", what, from, e.To)
	}
	if len(e.Allowed) == 0 && e.From.Open() {
		return fmt.Sprintf("%s %s cannot be reopened: it is not over", what, from)
	}
	if len(e.Allowed) == 0 {
		return fmt.Sprintf("%s %s cannot become %s: it is final", what, from, e.To)
	}
	names := list.Map(e.Allowed, func(s State) string { return string(s) })
	return fmt.Sprintf("%s %s cannot become %s, only %s", what, from, e.To, strings.Join(names, ", "))
}

// CheckTransition fails with a [*TransitionError] if an update cannot change the state of a notice this way. from is
// [NoState] for a new notice. See [CheckReopen] for reopening.
func CheckTransition(k Kind, from, to State) error {
	return checkOneOf(k, from, to, successors(k)[from])
}

// CheckReopen fails with a [*TransitionError] if an incident cannot be reopened in a state.
func CheckReopen(from, to State) error {
	var allowed []State
	if from == Resolved || from == Postmortem {
		allowed = OpenStates(Realtime)
	}
	return checkOneOf(Realtime, from, to, allowed)
}

// checkOneOf fails with a [TransitionError] if to is not allowed.
func checkOneOf(k Kind, from, to State, allowed []State) error {
	if slices.Contains(allowed, to) {
		return nil
	}
	return &TransitionError{Kind: k, From: from, To: to, Allowed: allowed}
}

// Reason classifies an [Error].
type Reason string

// The reasons.
const (
	BadInput Reason = "bad input"     // the input is invalid
	BadState Reason = "illegal state" // the input is not possible in the current state
	Conflict Reason = "conflict"      // a concurrent write was faster, or a name is taken
	NotFound Reason = "not found"     // the object does not exist
)

// Error reports why a write was rejected. Its text is for editors. A rejected write changes nothing. A transition that
// a notice cannot make is reported by a [*TransitionError] instead.
type Error struct {
	Reason Reason
	Text   string
}

// Error returns the text, which is for editors.
func (e *Error) Error() string { return e.Text }

// Errorf returns an [*Error] with a reason, by which callers choose a status code, and a formatted text.
func Errorf(r Reason, format string, args ...any) error {
	return &Error{Reason: r, Text: fmt.Sprintf(format, args...)}
}

// FailIf returns an [*Error] if a condition holds, else nil. Rules are lists of such conditions, of which the
// first that holds counts: see [cmp.Or].
func FailIf(condition bool, r Reason, format string, args ...any) error {
	if condition {
		return Errorf(r, format, args...)
	}
	return nil
}

// badIf returns an [*Error] with the reason [BadInput] if a condition holds, else nil; see [FailIf].
func badIf(condition bool, format string, args ...any) error {
	return FailIf(condition, BadInput, format, args...)
}

// CheckVersion fails with [Conflict] if the current version is not the one that the editor has seen. An expected
// version of 0 matches any version. what names the object in the error's text.
func CheckVersion(what string, expected, version int64) error {
	return FailIf(expected != 0 && expected != version, Conflict,
		"%s has changed: it is at version %d, not %d; reload it and try again", what, version, expected)
}
