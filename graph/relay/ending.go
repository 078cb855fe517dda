package relay

import (
	"context"
	"sync"
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

type endingKey struct{}

// WithEnding returns a context in which the reason is recorded in e.
func WithEnding(ctx context.Context, e *Ending) context.Context {
	return context.WithValue(ctx, endingKey{}, e)
}

// EndingOf returns where to record the reason; it is lost where nobody asks for it.
func EndingOf(ctx context.Context) *Ending {
	if e, ok := ctx.Value(endingKey{}).(*Ending); ok {
		return e
	}
	return &Ending{}
}
