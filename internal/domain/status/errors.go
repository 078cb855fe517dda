package status

import "fmt"

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
