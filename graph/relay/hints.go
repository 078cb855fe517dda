package relay

import (
	"context"

	"heliograph/internal/ledger"
)

// Hints are what resolvers tell the REST side about an answer beyond its data.
type Hints struct {
	// Rows and Last are the size of the page that the root field "page" holds, and the place of its last row.
	Rows int
	Last Key
	// Volatile tells that the answer may change soon although what it shows is history.
	Volatile bool
	// Partial tells that the database does not have all of what the answer should show.
	Partial bool
	// Lacks names what the database does not have of the thing that was asked for.
	Lacks string
	// CallFailure is why a contract's call failed.
	CallFailure *ledger.ContractCallFailure
}

type hintsKey struct{}

// WithHints returns a context in which resolvers fill h.
func WithHints(ctx context.Context, h *Hints) context.Context {
	return context.WithValue(ctx, hintsKey{}, h)
}

// HintsOf returns the context's hints; what is written there is lost where nobody asked for them.
func HintsOf(ctx context.Context) *Hints {
	if h, ok := ctx.Value(hintsKey{}).(*Hints); ok {
		return h
	}
	return &Hints{}
}

type limitsKey struct{}

// WithLimits returns a context with page sizes of its own.
func WithLimits(ctx context.Context, l Limits) context.Context {
	return context.WithValue(ctx, limitsKey{}, l)
}

// LimitsOf returns the context's page sizes.
func LimitsOf(ctx context.Context) Limits {
	if own, ok := ctx.Value(limitsKey{}).(Limits); ok {
		return own
	}
	return Limits{Default: 25, Max: 100}
}
