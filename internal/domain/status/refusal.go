package status

import "fmt"

// Reason is why a write was refused.
type Reason string

// The reasons.
const (
	BadInput Reason = "bad input"     // what was given makes no sense
	BadState Reason = "illegal state" // it makes no sense now
	Conflict Reason = "conflict"      // somebody else was faster
	NotFound Reason = "not found"     // there is no such thing
)

// Refusal says why a write was refused, in a sentence for editors. Nothing was changed. Steps that notices cannot take have a [*StepError] instead.
type Refusal struct {
	Reason Reason
	Text   string
}

func (e *Refusal) Error() string { return e.Text }

// Refuse makes a [*Refusal].
func Refuse(r Reason, format string, args ...any) error {
	return &Refusal{Reason: r, Text: fmt.Sprintf(format, args...)}
}

// CheckVersion refuses a write by somebody who has not seen the newest version of a thing. An expected version of 0 stands for any.
func CheckVersion(what string, expected, version int64) error {
	if expected == 0 || expected == version {
		return nil
	}
	return Refuse(Conflict, "%s was changed meanwhile: it is at version %d, not %d; look at it again", what, version, expected)
}
