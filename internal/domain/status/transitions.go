package status

import (
	"fmt"
	"slices"
	"strings"
)

// NoState is the state of a notice that does not exist yet.
const NoState State = ""

// successors returns the states that may follow each state of a kind of notice. A state may follow itself: the update then only adds text.
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
	names := make([]string, len(e.Allowed))
	for i, s := range e.Allowed {
		names[i] = string(s)
	}
	return fmt.Sprintf("%s %s cannot become %s, only %s", what, from, e.To, strings.Join(names, ", "))
}

// CheckTransition fails with a [*TransitionError] if an update cannot change the state of a notice this way. from is [NoState] for a new notice. See
// [CheckReopen] for reopening.
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

// Error reports why a write was rejected. Its text is for editors. A rejected write changes nothing. A transition that a notice cannot make is reported by
// a [*TransitionError] instead.
type Error struct {
	Reason Reason
	Text   string
}

func (e *Error) Error() string { return e.Text }

// Errorf returns an [*Error].
func Errorf(r Reason, format string, args ...any) error {
	return &Error{Reason: r, Text: fmt.Sprintf(format, args...)}
}

// CheckVersion fails with [Conflict] if the current version is not the one that the editor has seen. An expected version of 0 matches any version.
func CheckVersion(what string, expected, version int64) error {
	if expected == 0 || expected == version {
		return nil
	}
	return Errorf(Conflict, "%s has changed: it is at version %d, not %d; reload it and try again", what, version, expected)
}
