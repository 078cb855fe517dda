package tracing

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// warnInterval is the minimum interval between log records about lost spans.
const warnInterval = time.Minute

// queue queues spans for export. It never blocks: spans that do not fit into the queue are dropped and counted. The queue of the SDK does not
// count them.
type queue struct {
	sdktrace.SpanProcessor // exports in batches

	to  sdktrace.SpanExporter
	log *slog.Logger
	now func() time.Time

	pending            atomic.Int64 // spans that are queued or being exported
	sent, full, failed atomic.Int64
	warned             time.Time // used by the exporting goroutine only
	reported           int64     // number of lost spans at that time
}

func newQueue(to sdktrace.SpanExporter, log *slog.Logger, options ...sdktrace.BatchSpanProcessorOption) *queue {
	q := &queue{to: to, log: log, now: time.Now} //nolint:forbidigo // measures intervals, and the injected clock may be fixed
	q.SpanProcessor = sdktrace.NewBatchSpanProcessor(sender{q}, append(options, sdktrace.WithMaxQueueSize(queueSize))...)
	return q
}

// OnEnd queues a span that has ended.
func (q *queue) OnEnd(s sdktrace.ReadOnlySpan) {
	if !s.SpanContext().IsSampled() {
		return
	}
	// The queue of the SDK has the same size, so it never drops spans itself.
	if q.pending.Add(1) > queueSize {
		q.pending.Add(-1)
		q.full.Add(1)
		return
	}
	q.SpanProcessor.OnEnd(s)
}

// sender exports batches.
type sender struct{ *queue }

// ExportSpans exports a batch. It counts and logs failures and does not return them.
func (s sender) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := s.to.ExportSpans(ctx, spans)
	n := int64(len(spans))
	s.pending.Add(-n)
	if err == nil {
		s.sent.Add(n)
	} else {
		s.failed.Add(n)
	}
	s.warn(ctx, err)
	return nil
}

// Shutdown closes the connections to the collector.
func (s sender) Shutdown(ctx context.Context) error {
	return s.to.Shutdown(ctx) //nolint:wrapcheck // the SDK returns it to [Traces.Shutdown]
}

// warn logs the number of lost spans, at most once per warnInterval.
func (s sender) warn(ctx context.Context, err error) {
	full, failed := s.full.Load(), s.failed.Load()
	if now := s.now(); full+failed > s.reported && now.Sub(s.warned) >= warnInterval {
		s.warned, s.reported = now, full+failed
		attrs := []slog.Attr{slog.Int64("queue_full", full), slog.Int64("failed", failed)}
		if err != nil {
			text := err.Error()
			attrs = append(attrs, slog.String("error", text[:min(len(text), 300)])) // it can contain the whole response of the collector
		}
		s.log.LogAttrs(ctx, slog.LevelWarn, "spans were lost because the collector is unavailable or too slow", attrs...)
	}
}
