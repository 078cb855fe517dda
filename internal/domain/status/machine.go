package status

import (
	"fmt"
	"slices"
	"strings"
)

// NoState is the state of a notice that does not exist yet.
const NoState State = ""

// steps are the states that may follow a state. Saying something more in the same state is a step too.
type steps map[State][]State

// stepsOf returns the steps of a kind of notice.
func stepsOf(k Kind) steps {
	if k == Scheduled {
		return steps{
			NoState:    {Planned, InProgress, Completed},
			Planned:    {Planned, InProgress, Completed},
			InProgress: {InProgress, Verifying, Completed},
			Verifying:  {InProgress, Verifying, Completed},
			Completed:  nil,
		}
	}
	open := []State{Investigating, Identified, Monitoring}
	unresolved := append(slices.Clone(open), Resolved)
	return steps{
		NoState:       unresolved,
		Investigating: unresolved,
		Identified:    unresolved,
		Monitoring:    unresolved,
		Resolved:      {Resolved, Postmortem},
		Postmortem:    nil,
	}
}

// StepError says that a notice cannot take a step.
type StepError struct {
	Kind    Kind
	From    State // NoState for a new notice
	To      State
	Allowed []State // what is possible instead, in the usual order; may be empty
}

func (e *StepError) Error() string {
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

// Next tells whether a notice may go from one state to another by an update, with a [*StepError] where it may not. from is [NoState] for a new
// notice. Reopening is a step of its own: see [Reopen].
func Next(k Kind, from, to State) error { return step(k, from, to, stepsOf(k)[from]) }

// Reopen tells whether an incident that is over may be opened again in a state, with a [*StepError] where it may not.
func Reopen(from, to State) error {
	var allowed []State
	if from == Resolved || from == Postmortem {
		allowed = []State{Investigating, Identified, Monitoring}
	}
	return step(Realtime, from, to, allowed)
}

func step(k Kind, from, to State, allowed []State) error {
	if slices.Contains(allowed, to) {
		return nil
	}
	return &StepError{Kind: k, From: from, To: to, Allowed: allowed}
}
