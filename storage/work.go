package storage

import (
	"context"

	"heliograph/internal/base/admission"
	"heliograph/internal/base/values"
)

// work is an operation whose statements run on the database.
type work struct {
	admission.Operation

	latest bool  // needs all rows that subscriptions have read
	own    place // of an operation without a request
}

var workKey = values.NewKey[*work]()

// Work returns the context value of a new operation of the client of ctx, by which the queue admits its
// statements. share is its part of the connections. An operation for an event of a subscription reads from a
// server that has the event.
func Work(ctx context.Context, share admission.Share, event bool) values.Value {
	w := newWork(ctx, share)
	w.latest = event
	return workKey.Is(w)
}

// newWork returns a new operation of the client of ctx, for the queue of statements, with a share of the connections.
// It has no server yet, and no client if ctx has none.
func newWork(ctx context.Context, share admission.Share) *work {
	return &work{Operation: admission.Operation{Share: share, Turn: admission.Of(ctx)}}
}
