package status

import (
	"maps"
	"slices"
	"strings"
	"time"

	"heliograph/internal/domain/ledger"
)

// Setting is a state in which a notice holds a component from now on.
type Setting struct {
	Component string // its code
	Status    ComponentStatus
}

// Saying is an update that somebody wants to give a notice.
type Saying struct {
	Code  string // the update's
	State State
	Body  string
	// Set are the states of components. What they leave out stays as it is.
	Set []Setting
	// Keep leaves the components as they are when the notice ends; otherwise it lets go of them.
	Keep bool
	// DisplayAt dates the update; unknown is now.
	DisplayAt ledger.Null[time.Time]
	Deliver   bool
	Origin    Origin
	// Reopen opens an incident that is over.
	Reopen bool
	// Quiet says nothing of components: reminders and postmortems.
	Quiet bool
	// At is when it is said, Latest when the newest update of the notice was.
	At     time.Time
	Latest time.Time
}

// Effect is what an update does.
type Effect struct {
	Notice *Notice // as it is afterwards
	Update *Update
	// Attached are all components of the notice and the states in which it holds them.
	Attached []*Attachment
	// Rebased are the components whose bases changed.
	Rebased []*Component
	Changes []*Change
}

// checkBody refuses texts that say nothing.
func checkBody(body string) error {
	if strings.TrimSpace(body) == "" {
		return Refuse(BadInput, "the text is empty")
	}
	return nil
}

// CheckName refuses names that cannot be shown.
func CheckName(what, name string) error {
	if strings.TrimSpace(name) == "" {
		return Refuse(BadInput, "the name of %s is empty", what)
	}
	if strings.ContainsAny(name, "\r\n\x00") {
		return Refuse(BadInput, "the name of %s has more than one line", what)
	}
	return nil
}

// display is the date of an update. Dates that people choose have whole seconds, and are not in the future.
func (s *Saying) display() (time.Time, error) {
	if !s.DisplayAt.Valid {
		return s.At, nil
	}
	return displayTime(s.DisplayAt.V, s.At)
}

func displayTime(chosen, now time.Time) (time.Time, error) {
	if chosen.After(now) {
		return time.Time{}, Refuse(BadInput, "an update cannot be dated in the future, at %s", chosen.Format(time.RFC3339))
	}
	return chosen.Truncate(time.Second).In(now.Location()), nil
}

// Say gives a notice an update. n is as it was, with the state [NoState] where it is new; attached are the components that it had. The board is changed; the
// notice and the attachments are not. Steps that the notice cannot take have a [*StepError].
func (b *Board) Say(n *Notice, attached []*Attachment, s Saying) (*Effect, error) {
	if err := b.checkSaying(n, &s); err != nil {
		return nil, err
	}
	display, err := s.display()
	if err != nil {
		return nil, err
	}
	// Lists of updates are ordered by when they were written, and the newest has the state of the notice: two never share an instant.
	written := s.At
	if !written.After(s.Latest) {
		written = s.Latest.Add(time.Millisecond)
	}
	e := &Effect{
		Notice: n.said(&s, display),
		Update: &Update{
			Code: s.Code, NoticeCode: n.Code, State: s.State, Body: s.Body, CreatedAt: written, UpdatedAt: written,
			DisplayAt: ledger.Of(display), DeliverNotifications: s.Deliver, Origin: s.Origin,
		},
	}
	if s.State == Postmortem {
		e.Update.DisplayAt = ledger.Null[time.Time]{}
	}
	b.affect(e, attached, &s)
	return e, nil
}

func (b *Board) checkSaying(n *Notice, s *Saying) error {
	if s.Reopen {
		if err := Reopen(n.State, s.State); err != nil {
			return err
		}
	} else if err := Next(n.Kind, n.State, s.State); err != nil {
		return err
	}
	if err := checkBody(s.Body); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, set := range s.Set {
		c, err := b.Leaf(set.Component)
		if err != nil {
			return err
		}
		switch {
		case seen[c.Code]:
			return Refuse(BadInput, "%s is given two states", c.QualifiedName())
		case !set.Status.Valid():
			return Refuse(BadInput, "%q is no state of a component", set.Status)
		case s.Quiet:
			return Refuse(BadInput, "an update in state %s says nothing of components", s.State)
		case s.State == Planned && set.Status != Operational:
			return Refuse(BadInput, "a maintenance that has not begun leaves %s as it is", c.QualifiedName())
		case !s.State.Open() && !s.Keep && set.Status != Operational:
			return Refuse(BadInput, "%s cannot stay in state %s when the notice lets go of it: keep the components", c.QualifiedName(), set.Status)
		}
		seen[c.Code] = true
	}
	return nil
}

// said is the notice after an update with a date.
func (n *Notice) said(s *Saying, display time.Time) *Notice {
	after := *n
	after.State, after.UpdatedAt = s.State, s.At
	if (s.State == Monitoring || s.State == Verifying) && n.State != s.State {
		after.MonitoringAt = ledger.Of(display)
	}
	switch {
	case s.State.Open():
		after.ResolvedAt = ledger.Null[time.Time]{}
	case !n.ResolvedAt.Valid:
		after.ResolvedAt = ledger.Of(display)
	}
	if n.Kind == Realtime {
		given := make([]ComponentStatus, len(s.Set))
		for i, set := range s.Set {
			given[i] = set.Status
		}
		after.Impact = ImpactOf(n.Kind, n.ImpactOverride.V, given...)
		if !n.ImpactOverride.Valid && n.Impact.WorseThan(after.Impact) {
			after.Impact = n.Impact
		}
	} else {
		after.Impact = ImpactOf(n.Kind, n.ImpactOverride.V)
	}
	if n.State != NoState {
		after.Version++
		return &after
	}
	after.CreatedAt = display
	if after.StartedAt.IsZero() {
		after.StartedAt = display
	}
	return &after
}

// affect does to components what an update does to them. What drafts and updates of the past say of components is recorded, but not done.
func (b *Board) affect(e *Effect, attached []*Attachment, s *Saying) {
	n := e.Notice
	before := b.snapshot()
	holds := map[string]ComponentStatus{}
	for _, a := range attached {
		holds[a.ComponentCode] = a.HeldStatus
	}
	given := map[string]ComponentStatus{}
	for _, set := range s.Set {
		given[set.Component] = set.Status
		holds[set.Component] = "" // attached, held below
	}
	theory := n.Draft || n.Backfilled
	if !theory {
		takeHold(n, s, holds, given)
		b.letGo(e, s, holds)
	}
	for code, held := range holds {
		if b.Component(code) == nil { // deleted since
			held = ""
		}
		b.hold(code, n.Code, held)
		e.Attached = append(e.Attached, &Attachment{NoticeCode: n.Code, ComponentCode: code, HeldStatus: held})
	}
	slices.SortFunc(e.Attached, func(a, b *Attachment) int { return strings.Compare(a.ComponentCode, b.ComponentCode) })
	b.Settle()
	e.Changes = b.changesSince(before, s.Origin, ledger.Of(s.Code), s.At)
	if s.Quiet {
		return
	}
	place := ByPlace(b.Components)
	var list []*Component
	for code := range holds {
		if c := b.Component(code); c != nil {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, place)
	for i, c := range list {
		a := &AffectedComponent{
			UpdateCode: s.Code, Ordinal: int32(i), Code: c.Code, Name: c.QualifiedName(), OldStatus: before[c.Code], NewStatus: c.Status,
		}
		if theory {
			a.NewStatus = Effective(a.OldStatus, given[c.Code])
			if n.Backfilled {
				a.OldStatus, a.NewStatus = pastStates(given[c.Code], s.State)
			}
		}
		a.OldShown, a.NewShown = a.OldStatus.Shown(b.Page.Vocabulary), a.NewStatus.Shown(b.Page.Vocabulary)
		e.Update.Affected = append(e.Update.Affected, a)
	}
}

// pastStates are the states before and after an update of a notice that is told after it was over: what it was in between is what was given.
func pastStates(given ComponentStatus, s State) (before, after ComponentStatus) {
	given = Effective(Operational, given)
	if s.Open() {
		return Operational, given
	}
	return given, Operational
}

// takeHold sets the states in which a notice that is not over holds its components.
func takeHold(n *Notice, s *Saying, holds, given map[string]ComponentStatus) {
	if s.State == Planned { // it holds nothing yet
		return
	}
	maps.Copy(holds, given)
	if s.State == InProgress && n.AutoMaintenanceState {
		for code := range holds {
			if _, set := given[code]; !set && holds[code] == "" {
				holds[code] = UnderMaintenance
			}
		}
	}
}

// letGo releases the components of a notice that is over. What is kept moves into their bases.
func (b *Board) letGo(e *Effect, s *Saying, holds map[string]ComponentStatus) {
	if s.State.Open() {
		return
	}
	keep := s.Keep || e.Notice.Kind == Scheduled && !e.Notice.AutoOperationalState
	for code, held := range holds {
		if c := b.Component(code); keep && c != nil && held.WorseThan(c.BaseStatus) {
			c.BaseStatus = held
			e.Rebased = append(e.Rebased, c)
		}
		holds[code] = ""
	}
	slices.SortFunc(e.Rebased, func(a, b *Component) int { return strings.Compare(a.Code, b.Code) })
}
