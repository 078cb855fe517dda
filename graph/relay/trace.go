package relay

import (
	"context"

	"heliograph/internal/base/values"
	"heliograph/internal/domain/evm/calls"
)

// TraceSink receives a trace while it is recorded, so that the caller need not store all of it.
type TraceSink interface {
	// Head is called once before the first step, with the trace without its steps.
	Head(t *calls.OpcodeTrace) error
	// Step is called for each step. The step is overwritten after the call.
	Step(s *calls.OpcodeStep) error
}

var traceSinkKey = values.NewKey[TraceSink]()

// WithTraceSink returns a context in which traces are passed to s instead of stored.
func WithTraceSink(ctx context.Context, s TraceSink) context.Context {
	return values.Context(ctx, traceSinkKey.Is(s))
}

// TraceSinkOf returns the context's sink, or nil if steps are to be stored.
func TraceSinkOf(ctx context.Context) TraceSink {
	s, _ := traceSinkKey.Of(ctx)
	return s
}
