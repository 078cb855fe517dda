package relay

import (
	"context"
	"sync"

	"heliograph/internal/base/values"
)

// Ending is why a subscription ended, if its client did not end it.
type Ending struct {
	mu  sync.Mutex
	err error
}

// Set records the reason.
func (e *Ending) Set(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.err = err
}

// Err is the reason, nil when there is none.
func (e *Ending) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

var endingKey = values.NewKey[*Ending]()

// Value is e for contexts in which the reason is recorded in it.
func (e *Ending) Value() values.Value { return endingKey.Is(e) }

// EndingOf returns where to record the reason; it is lost where nobody asks for it.
func EndingOf(ctx context.Context) *Ending {
	if e, ok := endingKey.Of(ctx); ok {
		return e
	}
	return &Ending{}
}
