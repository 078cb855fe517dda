package relay

import (
	"context"

	"heliograph/internal/base/values"
)

// Limits are the page sizes of lists.
type Limits struct {
	Default int
	Max     int
}

var limitsKey = values.NewKey[*Limits]()

// Value returns a context value that sets the page sizes of an operation.
func (l *Limits) Value() values.Value { return limitsKey.Is(l) }

// LimitsOf returns the page sizes of the context's operation: 25 and at most 100 by default.
func LimitsOf(ctx context.Context) Limits {
	if own, ok := limitsKey.Of(ctx); ok {
		return *own
	}
	return Limits{Default: 25, Max: 100}
}
