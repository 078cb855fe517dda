package ledger

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// TransactionID identifies a transaction by its payer and the start of its validity. Scheduled executions, child
// transactions and duplicates have the same id.
type TransactionID struct {
	Payer      EntityID
	ValidStart Timestamp
}

// Append appends "shard.realm.num-seconds-nanoseconds" with nine digits of nanoseconds.
func (id TransactionID) Append(dst []byte) []byte {
	return id.ValidStart.appendWith(append(id.Payer.Append(dst), '-'), '-')
}

// String returns "shard.realm.num-seconds-nanoseconds".
func (id TransactionID) String() string { return string(id.Append(make([]byte, 0, 40))) }

// ParseTransactionID parses "shard.realm.num-seconds-nanoseconds" with all parts. The nanoseconds are a number of up
// to nine digits: "-5" is five nanoseconds. Errors wrap [ErrSyntax] for malformed text and seconds that do not fit
// into 64 bits, and [ErrRange] for an instant after the year 2262. The error is an [EntityIDError] for an entity id
// that cannot exist or has too many digits.
func ParseTransactionID(s string) (TransactionID, error) {
	payer, start, _ := strings.Cut(s, "-")
	sec, frac, dash := strings.Cut(start, "-")
	if !dash || strings.Count(payer, ".") != 2 {
		return TransactionID{}, fmt.Errorf("transaction id %q is not shard.realm.num-seconds-nanoseconds: %w",
			s, ErrSyntax)
	}
	for part := range strings.SplitSeq(payer, ".") {
		if !isDigits(part) {
			return TransactionID{}, fmt.Errorf("transaction id %q: entity id: %q is not a number: %w", s, part,
				ErrSyntax)
		}
	}
	if !isDigits(sec) || len(sec) > 19 {
		return TransactionID{}, fmt.Errorf("transaction id %q: seconds: %q is not a number of at most 19 digits: %w",
			s, sec, ErrSyntax)
	}
	nanos, err := parseDigits(frac, 9)
	if err != nil {
		return TransactionID{}, fmt.Errorf("transaction id %q: nanoseconds: %w", s, err)
	}
	id, err := ParseEntityID(payer, 0)
	if err != nil {
		return TransactionID{}, entityIDError(payer, err)
	}
	seconds, err := strconv.ParseInt(sec, 10, 64)
	if err != nil {
		return TransactionID{}, fmt.Errorf("transaction id %q: seconds do not fit into 64 bits: %w", s, ErrSyntax)
	}
	validStart, err := joinTimestamp(seconds, nanos)
	if err != nil {
		return TransactionID{}, fmt.Errorf("transaction id %q: %w", s, err)
	}
	return TransactionID{Payer: id, ValidStart: validStart}, nil
}

// ParseAnyTransactionID parses a transaction id as [ParseTransactionID] does, or as the network's SDKs write it:
// "shard.realm.num@seconds.nanoseconds". Errors wrap [ErrSyntax] or [ErrRange].
func ParseAnyTransactionID(s string) (TransactionID, error) {
	payer, start, found := strings.Cut(s, "@")
	if !found {
		return ParseTransactionID(s)
	}
	return ParseTransactionID(payer + "-" + strings.Replace(start, ".", "-", 1))
}

// entityIDError converts an error of parsing a numeric id to an [EntityIDError]. The caller has checked that the id
// consists of digits, so any other error means that there are too many.
func entityIDError(id string, err error) error {
	var e *EntityIDError
	if errors.As(err, &e) {
		return &EntityIDError{ID: id, Reason: e.Reason}
	}
	return &EntityIDError{ID: id, Reason: "a part has too many digits"}
}

// TransactionID returns the ID of the transaction: payer and valid start.
func (t *Transaction) TransactionID() TransactionID {
	return TransactionID{Payer: t.PayerAccountID, ValidStart: t.ValidStartTimestamp}
}

// Fee returns the transaction fee that is part of the change, in tinybars and not negative. It is 0 unless the
// transfer is of hbars of the payer.
func (t *Transfer) Fee() int64 {
	if !t.TokenID.IsNone() || t.AccountID != t.PayerAccountID {
		return 0
	}
	return t.ChargedFee.V
}

// TransferFilter selects transfers.
type TransferFilter struct {
	Token     *EntityID // 0 for hbars
	Direction *TransferDirection
	Timestamp *TimestampFilter
}

// successCodes are the results that count as success.
var successCodes = []ResponseCode{22, 104, 220}

// SuccessCodes returns a new list of the response codes that count as success.
func SuccessCodes() []ResponseCode { return slices.Clone(successCodes) }

// MemoText returns the memo as text, or null if it is missing or not valid UTF-8.
func (t *Transaction) MemoText() Null[string] { return textOf(t.Memo) }

// TypeNumber returns the number of the type, which can be one without a name.
func (t *Transaction) TypeNumber() int32 { return int32(t.Type) }

// ResultNumber returns the number of the response code, which can be one without a name.
func (t *Transaction) ResultNumber() int32 { return int32(t.Result) }
