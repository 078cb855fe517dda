package ledger

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// TransactionID names a transaction by who paid for it and the instant from which it was valid. Scheduled executions, children and
// duplicates share it.
type TransactionID struct {
	Payer      EntityID
	ValidStart Timestamp
}

// Append appends "shard.realm.num-seconds-nanoseconds" with nine digits of nanoseconds.
func (id TransactionID) Append(dst []byte) []byte {
	dst = append(id.Payer.Append(dst), '-')
	dst = strconv.AppendInt(dst, int64(id.ValidStart)/second, 10)
	return appendNanos(append(dst, '-'), int64(id.ValidStart)%second)
}

// String is "shard.realm.num-seconds-nanoseconds".
func (id TransactionID) String() string { return string(id.Append(make([]byte, 0, 40))) }

// ParseTransactionID reads "shard.realm.num-seconds-nanoseconds". The nanoseconds are a plain number: "-5" means five of them. An entity
// part that does not fit is an [EntityIDError].
func ParseTransactionID(s string) (TransactionID, error) {
	payer, start, _ := strings.Cut(s, "-")
	sec, nanos, dash := strings.Cut(start, "-")
	if !dash || strings.Count(payer, ".") != 2 {
		return TransactionID{}, fmt.Errorf("transaction id %q is not shard.realm.num-seconds-nanoseconds: %w", s, ErrSyntax)
	}
	for part := range strings.SplitSeq(payer, ".") {
		if !isDigits(part) {
			return TransactionID{}, fmt.Errorf("transaction id %q: %q is not a number: %w", s, part, ErrSyntax)
		}
	}
	if !isDigits(sec) || len(sec) > 19 {
		return TransactionID{}, fmt.Errorf("transaction id %q: %q is no number of seconds: %w", s, sec, ErrSyntax)
	}
	n, err := parseDigits(nanos, 9)
	if err != nil {
		return TransactionID{}, fmt.Errorf("transaction id %q: %w", s, err)
	}
	id, err := ParseEntityID(payer, 0)
	if err != nil {
		return TransactionID{}, &EntityIDError{ID: payer}
	}
	seconds, err := strconv.ParseInt(sec, 10, 64)
	if err != nil {
		return TransactionID{}, fmt.Errorf("transaction id %q: %w", s, ErrSyntax)
	}
	if seconds > math.MaxInt64/second {
		return TransactionID{}, fmt.Errorf("transaction id %q: %w", s, ErrRange)
	}
	start64, err := joinTimestamp(seconds, n)
	if err != nil {
		return TransactionID{}, fmt.Errorf("transaction id %q: %w", s, err)
	}
	return TransactionID{Payer: id, ValidStart: start64}, nil
}

// EntityIDError is an entity id of the right form that cannot exist.
type EntityIDError struct{ ID string }

func (e *EntityIDError) Error() string { return fmt.Sprintf("invalid entity id %q", e.ID) }

// Unwrap makes the error an [ErrRange].
func (e *EntityIDError) Unwrap() error { return ErrRange }

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
