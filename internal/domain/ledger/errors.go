package ledger

import (
	"errors"
	"fmt"
)

var (
	// ErrSyntax marks text or bytes that do not have the form of the value they were read as.
	ErrSyntax = errors.New("malformed")
	// ErrRange marks text or bytes of the right form whose value is beyond what the ledger can hold.
	ErrRange = errors.New("out of range")
	// ErrEmptyRange marks bounds that no value satisfies.
	ErrEmptyRange = errors.New("the lower bound is above the upper bound")
)

// EntityIDError is an entity id of the right form that cannot exist. It wraps [ErrRange].
type EntityIDError struct {
	// ID is the id with the parts that were left out filled in, otherwise as it was written.
	ID string
	// Reason says what is wrong with it.
	Reason string
}

func (e *EntityIDError) Error() string {
	return fmt.Sprintf("invalid entity id %q: %s: %v", e.ID, e.Reason, ErrRange)
}

// Unwrap makes the error an [ErrRange].
func (e *EntityIDError) Unwrap() error { return ErrRange }
