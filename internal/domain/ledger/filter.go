package ledger

import (
	"bytes"
	"slices"
)

// Filter is a set of conditions on a 64-bit value or a text. Texts are compared byte by byte. A row must satisfy all
// conditions. A non-nil empty In matches nothing.
type Filter[T ~int64 | ~string] struct {
	Eq    *T
	Ne    *T
	Gt    *T
	Gte   *T
	Lt    *T
	Lte   *T
	In    []T
	NotIn []T
}

// The filters of the graph.
type (
	EntityIDFilter  = Filter[EntityID]
	TimestampFilter = Filter[Timestamp]
	LongFilter      = Filter[int64]
	StringFilter    = Filter[string]
	HookKeyFilter   = BytesFilter // on keys of up to HookSlotSize bytes
	SlotFilter      = BytesFilter // on storage slots, padded or trimmed to 32 bytes
)

// BytesFilter is a set of conditions on bytes. A row must satisfy all of them. A non-nil empty In matches nothing.
type BytesFilter struct {
	Eq  []byte
	Gt  []byte
	Gte []byte
	Lt  []byte
	Lte []byte
	In  [][]byte
}

// Match reports whether a value satisfies the conditions, for subscriptions, which filter new rows in memory. A nil
// filter has none.
func (f *Filter[T]) Match(v T) bool {
	switch {
	case f == nil:
		return true
	case f.Eq != nil && v != *f.Eq, f.Ne != nil && v == *f.Ne,
		f.Gt != nil && v <= *f.Gt, f.Gte != nil && v < *f.Gte, f.Lt != nil && v >= *f.Lt, f.Lte != nil && v > *f.Lte,
		f.In != nil && !slices.Contains(f.In, v), slices.Contains(f.NotIn, v):
		return false
	default:
		return true
	}
}

// Match reports whether a new log satisfies the conditions of a subscription, except those on index and transaction
// hash. It does not compare f.Contract either: the caller has replaced it by an ID. The topic at an index must be one
// of those in f.Topics at the same index. Leading zeros of topics do not matter, and an empty list at an index is no
// condition.
func (f *ContractLogFilter) Match(l *ContractLog) bool {
	if !f.ContractID.Match(l.ContractID) || !f.Timestamp.Match(l.ConsensusTimestamp) {
		return false
	}
	for place, wanted := range f.Topics {
		if len(wanted) == 0 {
			continue
		}
		if place >= len(l.Topics) || !slices.ContainsFunc(wanted, func(topic []byte) bool {
			return bytes.Equal(bytes.TrimLeft(topic, "\x00"), bytes.TrimLeft(l.Topics[place], "\x00"))
		}) {
			return false
		}
	}
	return true
}

// Match reports whether a new contract result satisfies the conditions of a subscription, except those on its block
// and its index in the block. It does not compare f.Contract either: the caller has replaced it by an ID. A synthetic
// result does not match conditions on the contract or the sender, and no filter with Synthetic set to false. Of other
// results, those of calls that other calls caused match only if Internal is set.
func (f *ContractResultFilter) Match(r *ContractResult) bool {
	if r.Synthetic {
		return f.ContractID == nil && f.From == nil && (f.Synthetic == nil || *f.Synthetic) &&
			f.Timestamp.Match(r.ConsensusTimestamp)
	}
	internal := f.Internal != nil && *f.Internal
	return (internal || r.TransactionNonce == 0) && f.ContractID.Match(r.ContractID) &&
		(f.From == nil || !r.SenderID.IsNone() && f.From.Match(r.SenderID)) &&
		f.Timestamp.Match(r.ConsensusTimestamp)
}

// Party is the role of an account in a transaction.
type Party struct {
	AccountID EntityID
	Credited  bool // it received hbar or tokens
	Debited   bool // it sent hbar or tokens
}

// Match reports whether a new transaction with these parties satisfies the conditions of a subscription. One party
// must satisfy those on account and direction together. It does not compare Account, which the caller has replaced by
// an ID, nor EntityID and TokenID, which subscriptions refuse.
func (f *TransactionFilter) Match(t *Transaction, parties []Party) bool {
	if !f.Timestamp.Match(t.ConsensusTimestamp) || f.Types != nil && !slices.Contains(f.Types, t.Type) {
		return false
	}
	if f.Outcome != nil && slices.Contains(SuccessCodes(), t.Result) != (*f.Outcome == OutcomeSuccess) {
		return false
	}
	if f.AccountID == nil && f.Direction == nil {
		return true
	}
	return slices.ContainsFunc(parties, func(p Party) bool {
		return f.AccountID.Match(p.AccountID) && (f.Direction == nil || p.Credited &&
			*f.Direction == DirectionCredit || p.Debited && *f.Direction == DirectionDebit)
	})
}
