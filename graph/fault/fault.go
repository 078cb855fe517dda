// Package fault defines the errors that GraphQL clients receive: a closed list of codes, and messages without internal
// details.
package fault

import (
	"fmt"

	"heliograph/internal/base/admission"
)

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
	// PersistedQueryNotFound is the code that the protocol of automatic persisted queries defines.
	PersistedQueryNotFound Code = "PERSISTED_QUERY_NOT_FOUND"

	Timeout     Code = "TIMEOUT"
	Unavailable Code = "UNAVAILABLE"
	// SchemaMismatch is the code of fields that need a table or column that the database lacks.
	SchemaMismatch Code = "SCHEMA_MISMATCH"
	Internal       Code = "INTERNAL"
)

// Error is an error with a code and a message for the client.
type Error struct {
	Code    Code
	Message string
	// Extra has additional members of extensions. It may be nil.
	Extra map[string]any
	// Err is the cause, for callers in process. Clients do not receive it. It may be nil.
	Err error
}

// Error returns the message that clients get.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// New returns an error of the GraphQL API with a code for clients and a message that they get as it is.
func New(code Code, message string) *Error { return &Error{Code: code, Message: message} }

// Of returns an error of the GraphQL API with a code and the message of err, which clients get. err is its cause, and
// must not be nil.
func Of(code Code, err error) error {
	return &Error{Code: code, Message: err.Error(), Err: err}
}

// Input returns an error with the code BAD_USER_INPUT: the client's input caused it, and the client gets the
// message.
func Input(format string, args ...any) error {
	return New(BadUserInput, fmt.Sprintf(format, args...))
}

// OneOf fails with BAD_USER_INPUT unless exactly one of some arguments of a field is given. names lists them for the
// message, such as "number and hash"; given says for each whether it is.
func OneOf(names string, given ...bool) error {
	n := 0
	for _, g := range given {
		if g {
			n++
		}
	}
	if n != 1 {
		return Input("give exactly one of %s", names)
	}
	return nil
}

// Busy returns the error of a request that the queue refused, with the code UNAVAILABLE. The extension retryAfter
// has the seconds after which to retry.
func Busy(r *admission.Refusal) *Error {
	return &Error{Code: Unavailable, Message: r.Error(), Extra: map[string]any{"retryAfter": r.Seconds}, Err: r}
}

// Missing returns an error with the code NOT_FOUND about an object that does not exist. Mutations, subscriptions
// and queries of operators use it; other queries return null.
func Missing(format string, args ...any) error {
	return New(NotFound, fmt.Sprintf(format, args...))
}
