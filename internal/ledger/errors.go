package ledger

import "errors"

var (
	// ErrSyntax marks text that does not have the form of the value it was read as.
	ErrSyntax = errors.New("malformed")
	// ErrRange marks text of the right form whose value is beyond what the ledger can hold.
	ErrRange = errors.New("out of range")
)
