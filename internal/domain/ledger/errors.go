package ledger

import (
	"errors"
	"fmt"
)

var (
	// ErrSyntax reports malformed text or bytes.
	ErrSyntax = errors.New("malformed")
	// ErrRange reports a well-formed value that the ledger cannot hold.
	ErrRange = errors.New("out of range")
	// ErrEmptyRange marks bounds that no value satisfies.
	ErrEmptyRange = errors.New("the lower bound is above the upper bound")
)

// EntityIDError reports a well-formed entity id that cannot exist. It wraps [ErrRange].
type EntityIDError struct {
	// ID is the id with missing parts filled in. Otherwise it is unchanged.
	ID string
	// Reason describes the problem.
	Reason string
}

func (e *EntityIDError) Error() string {
	return fmt.Sprintf("invalid entity id %q: %s: %v", e.ID, e.Reason, ErrRange)
}

// Unwrap returns [ErrRange].
func (e *EntityIDError) Unwrap() error { return ErrRange }
