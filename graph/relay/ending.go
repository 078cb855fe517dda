package relay

import (
	"context"
	"sync"

	"heliograph/internal/base/values"
)

// Ending is the reason why the server ended a subscription.
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

// Err returns the reason, or nil.
func (e *Ending) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

var endingKey = values.NewKey[*Ending]()

// Value returns a context value that makes e the ending of the context.
func (e *Ending) Value() values.Value { return endingKey.Is(e) }

// EndingOf returns the ending of the context. Without one, it returns a new ending that is not read.
func EndingOf(ctx context.Context) *Ending {
	if e, ok := endingKey.Of(ctx); ok {
		return e
	}
	return &Ending{}
}
