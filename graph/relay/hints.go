package relay

import (
	"context"

	"heliograph/internal/base/values"
	"heliograph/internal/domain/evm/calls"
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
	CallFailure *calls.ContractCallFailure
}

var hintsKey = values.NewKey[*Hints]()

// Value is h for contexts in which resolvers fill it.
func (h *Hints) Value() values.Value { return hintsKey.Is(h) }

// HintsOf returns the context's hints; what is written there is lost where nobody asked for them.
func HintsOf(ctx context.Context) *Hints {
	if h, ok := hintsKey.Of(ctx); ok {
		return h
	}
	return &Hints{}
}

var limitsKey = values.NewKey[*Limits]()

// Value is l for contexts whose lists have pages of these sizes.
func (l *Limits) Value() values.Value { return limitsKey.Is(l) }

// LimitsOf returns the context's page sizes.
func LimitsOf(ctx context.Context) Limits {
	if own, ok := limitsKey.Of(ctx); ok {
		return *own
	}
	return Limits{Default: 25, Max: 100}
}
