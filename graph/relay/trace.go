package relay

import (
	"context"

	"heliograph/internal/base/values"
	"heliograph/internal/domain/evm/calls"
)

// TraceSink takes a trace as it is made, for whoever cannot keep all of it.
type TraceSink interface {
	// Head is told what is known of the trace but for its steps, before the first of them.
	Head(t *calls.OpcodeTrace) error
	// Step is told each step, which is overwritten afterwards.
	Step(s *calls.OpcodeStep) error
}

var traceSinkKey = values.NewKey[TraceSink]()

// WithTraceSink returns a context in which traces are told to s instead of listed.
func WithTraceSink(ctx context.Context, s TraceSink) context.Context {
	return values.Context(ctx, traceSinkKey.Is(s))
}

// TraceSinkOf returns the context's sink; nil when steps are to be listed.
func TraceSinkOf(ctx context.Context) TraceSink {
	s, _ := traceSinkKey.Of(ctx)
	return s
}
