package tracing

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// warnEvery is how often the log tells at most that spans are lost.
const warnEvery = time.Minute

// outbox holds spans until they are sent. It never makes anybody wait: what does not fit is dropped, and counted, which the SDK's own queue would not tell.
type outbox struct {
	sdktrace.SpanProcessor // sends in batches

	to  sdktrace.SpanExporter
	log *slog.Logger
	now func() time.Time

	pending            atomic.Int64 // spans that are waiting or being sent
	sent, full, failed atomic.Int64
	warned             time.Time // by the one goroutine that sends
	told               int64     // how many were lost then
}

func newOutbox(to sdktrace.SpanExporter, log *slog.Logger, options ...sdktrace.BatchSpanProcessorOption) *outbox {
	o := &outbox{to: to, log: log, now: time.Now} //nolint:forbidigo // intervals of the log are measured, and the injected clock may stand still
	o.SpanProcessor = sdktrace.NewBatchSpanProcessor(sender{o}, append(options, sdktrace.WithMaxQueueSize(queueSize))...)
	return o
}

// OnEnd takes a span that has ended.
func (o *outbox) OnEnd(s sdktrace.ReadOnlySpan) {
	if !s.SpanContext().IsSampled() {
		return
	}
	// The queue behind has room for all that are pending, and so never drops any itself.
	if o.pending.Add(1) > queueSize {
		o.pending.Add(-1)
		o.full.Add(1)
		return
	}
	o.SpanProcessor.OnEnd(s)
}

// sender sends batches.
type sender struct{ *outbox }

// ExportSpans sends a batch. Its failure is counted and told here, and to nobody else.
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

// Shutdown ends the connections to the collector.
func (s sender) Shutdown(ctx context.Context) error {
	return s.to.Shutdown(ctx) //nolint:wrapcheck // for the SDK, which hands it to [Traces.Shutdown]
}

// warn tells that spans were lost, unless it has just been told.
func (s sender) warn(ctx context.Context, err error) {
	full, failed := s.full.Load(), s.failed.Load()
	if now := s.now(); full+failed > s.told && now.Sub(s.warned) >= warnEvery {
		s.warned, s.told = now, full+failed
		attrs := []slog.Attr{slog.Int64("queue_full", full), slog.Int64("failed", failed)}
		if err != nil {
			text := err.Error()
			attrs = append(attrs, slog.String("error", text[:min(len(text), 300)])) // it can hold the collector's whole answer
		}
		s.log.LogAttrs(ctx, slog.LevelWarn, "spans are lost: the collector does not take them, or not fast enough", attrs...)
	}
}
