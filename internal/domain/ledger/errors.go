// Package ledger has the values and rows of a public ledger: entity ids, consensus timestamps, keys and hashes with
// their text forms, and the accounts, blocks, transactions and topics in the mirror database. Storage fills the rows
// and the graph serves them. There is no second model: rows_gen.go has the rows, filters and enums, generated from the
// schema of the graph.
//
// Each Parse function accepts the text that the String method of a valid value returns. Its errors quote the text and
// describe the problem. They wrap [ErrSyntax] for malformed text, and [ErrRange] for a well-formed value that no
// ledger can have.
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

// Error implements error. It quotes the id and gives the reason why it cannot exist.
func (e *EntityIDError) Error() string {
	return fmt.Sprintf("invalid entity id %q: %s: %v", e.ID, e.Reason, ErrRange)
}

// Unwrap returns [ErrRange].
func (e *EntityIDError) Unwrap() error { return ErrRange }
