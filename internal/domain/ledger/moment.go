package ledger

import (
	"context"

	"heliograph/internal/base/values"
)

// Moment is a past moment of the ledger: the state after all transactions with a consensus time up to At.
type Moment struct {
	At Timestamp
	// Balances is the newest balance snapshot up to the moment, from which all balances are computed. Null if there is
	// none: the balances are unknown.
	Balances Null[SnapshotWindow]
}

var momentKey = values.NewKey[*Moment]()

// Value returns m as a value for a context. Storage reads it: all statements that run with the context read the
// state at the moment.
func (m *Moment) Value() values.Value { return momentKey.Is(m) }

// MomentOf returns the moment of a context, or nil if the context reads the present.
func MomentOf(ctx context.Context) *Moment {
	m, _ := momentKey.Of(ctx)
	return m
}

// Present returns a copy of ctx in which statements read the present, even if ctx has a moment.
func Present(ctx context.Context) context.Context { return values.Context(ctx, momentKey.Is(nil)) }

// Scope returns a copy of ctx in which all statements read the state at the moment of s, instead of that of ctx. The
// resolvers of its fields use it.
func (s *LedgerState) Scope(ctx context.Context) context.Context {
	return values.Context(ctx, s.Moment.Value())
}

// Since returns the time of the balance snapshot. Transfers after it are added to its balances. m.Balances must
// not be null.
func (m *Moment) Since() Timestamp { return m.Balances.V.At }
