// Package fault holds the errors that clients of the graph may see: a closed list of codes, and texts that give away nothing of the inside.
package fault

import "fmt"

// Code is the value of extensions.code.
type Code string

// The codes.
const (
	BadUserInput    Code = "BAD_USER_INPUT"
	NotFound        Code = "NOT_FOUND"
	Unauthenticated Code = "UNAUTHENTICATED"
	Forbidden       Code = "FORBIDDEN"
	Conflict        Code = "CONFLICT"
	BadState        Code = "BAD_STATE"
	TooComplex      Code = "QUERY_TOO_COMPLEX"
	RateLimited     Code = "RATE_LIMITED"
	// PersistedQueryNotFound is the code that clients of automatic persisted queries wait for.
	PersistedQueryNotFound Code = "PERSISTED_QUERY_NOT_FOUND"

	Timeout     Code = "TIMEOUT"
	Unavailable Code = "UNAVAILABLE"
	Internal    Code = "INTERNAL"
)

// Error is an error with a code and a text for the client.
type Error struct {
	Code    Code
	Message string
	// Extra are more members of extensions. It may be nil.
	Extra map[string]any
}

func (e *Error) Error() string { return e.Message }

// Input is an error of the client's.
func Input(format string, args ...any) error {
	return &Error{Code: BadUserInput, Message: fmt.Sprintf(format, args...)}
}

// Missing is an error about something that does not exist.
func Missing(format string, args ...any) error {
	return &Error{Code: NotFound, Message: fmt.Sprintf(format, args...)}
}
