// Package tracing exports traces to an OpenTelemetry collector, with spans for HTTP requests, GraphQL operations and
// SQL statements. Other packages do not depend on OpenTelemetry. If tracing is off, requests do not call this package.
package tracing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/net/http/httpguts"
)

// scope is the instrumentation scope and the service name.
const scope = "heliograph"

const (
	// queueSize is the maximum number of queued spans.
	queueSize = 2048
	// maxValueLength is the length to which attribute values are truncated, in characters. Clients choose the length
	// of paths.
	maxValueLength = 8192
	// flushTimeout is the maximum time that Shutdown waits for the collector.
	flushTimeout = 5 * time.Second
	// tracesPath is the default path of collectors for traces.
	tracesPath = "/v1/traces"
)

// Options configure the export of traces.
type Options struct {
	// Endpoint is the URL of the collector (OTLP over HTTP). The default path is /v1/traces. If Endpoint is empty, the
	// environment variables OTEL_EXPORTER_OTLP_TRACES_ENDPOINT and OTEL_EXPORTER_OTLP_ENDPOINT apply. If these are
	// empty too, tracing is off.
	Endpoint string
	// Ratio is the fraction of traces to sample, from 0 to 1. For requests with a traceparent header, its sampled flag
	// applies instead.
	Ratio float64
	// Version is the version of the program.
	Version string
	// Logger receives a record about lost spans at most once per minute.
	Logger *slog.Logger
}

// Traces records and exports spans. The methods of nil Traces do nothing.
type Traces struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	queue    *queue
	log      *slog.Logger
}

// Start returns the traces of the process, which are exported in the background, or nil if no collector is
// configured in o or the environment. It does not connect, so the collector can be unavailable. The SDK reads the
// other standard environment variables. It fails if a setting is invalid. Call [Traces.Shutdown] at the end.
func Start(ctx context.Context, o Options) (*Traces, error) {
	target, err := o.target()
	if err != nil || target == nil {
		return nil, err
	}
	if !(o.Ratio >= 0 && o.Ratio <= 1) { // also false for NaN
		return nil, fmt.Errorf("HELIOGRAPH_TRACE_RATIO must be between 0 and 1, not %v", o.Ratio)
	}
	if err := checkHeaders("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"); err != nil {
		return nil, err
	}
	// Later options take precedence.
	self, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(semconv.ServiceName(scope), semconv.ServiceVersion(o.Version)),
		resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("reading OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	to, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(target.String()))
	if err != nil {
		return nil, fmt.Errorf("creating the trace exporter: %w", err)
	}
	return newTraces(o, self, newQueue(to, o.Logger)), nil
}

// newTraces returns a tracer whose sampled spans go to q. o.Ratio of the traces without a parent are sampled, the
// others as their parents are. Values of attributes are cut to maxValueLength characters, or to a lower limit in the
// environment. self describes the process.
func newTraces(o Options, self *resource.Resource, q *queue) *Traces {
	limits := sdktrace.NewSpanLimits()
	if limits.AttributeValueLengthLimit < 0 || limits.AttributeValueLengthLimit > maxValueLength {
		limits.AttributeValueLengthLimit = maxValueLength
	}
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithResource(self), sdktrace.WithRawSpanLimits(limits), sdktrace.WithSpanProcessor(q),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(o.Ratio))),
	)
	return &Traces{
		provider: provider, tracer: provider.Tracer(scope, trace.WithSchemaURL(semconv.SchemaURL)),
		queue: q,
		log:   o.Logger,
	}
}

// target returns the URL of the collector from the options or the standard environment variables, or nil if none
// is configured. It fails for an invalid URL, and errors do not contain the URL.
func (o *Options) target() (*url.URL, error) {
	for _, from := range []struct {
		name, text string
		suffix     string // appended to the path
	}{
		{"HELIOGRAPH_TRACE_ENDPOINT", o.Endpoint, ""},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"), tracesPath},
	} {
		if from.text == "" {
			continue
		}
		u, err := url.Parse(strings.TrimSpace(from.text))
		// the URL can contain a password, which must not be in errors
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, fmt.Errorf("%s is not a URL such as http://127.0.0.1:4318", from.name)
		}
		switch {
		case from.suffix != "":
			u = u.JoinPath(from.suffix)
		case u.Path == "" || u.Path == "/":
			u.Path = tracesPath
		}
		return u, nil
	}
	return nil, nil
}

// checkHeaders fails if one of the given environment variables is a header list that the SDK cannot parse. The SDK
// would print the lists, but they are secret.
func checkHeaders(variables ...string) error {
	for _, name := range variables {
		text := os.Getenv(name)
		if strings.TrimSpace(text) == "" {
			continue
		}
		for pair := range strings.SplitSeq(text, ",") {
			header, value, found := strings.Cut(pair, "=")
			value, err := url.PathUnescape(value)
			if !found || err != nil || !httpguts.ValidHeaderFieldName(strings.TrimSpace(header)) ||
				!httpguts.ValidHeaderFieldValue(strings.TrimSpace(value)) {
				return fmt.Errorf("%s is not a comma-separated list of name=value with percent-encoded values", name)
			}
		}
	}
	return nil
}

// Shutdown exports the queued spans and ends the export. It waits for at most flushTimeout, also if ctx has ended, as
// after a shutdown of servers that took too long, and logs failures. It does nothing if t is nil.
func (t *Traces) Shutdown(ctx context.Context) {
	if t == nil {
		return
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
	defer cancel()
	if err := t.provider.Shutdown(bounded); err != nil {
		t.log.WarnContext(ctx, "exporting the last spans failed", "spans", t.queue.pending.Load(), "error", err)
		err = t.queue.to.Shutdown(bounded) // cancels pending requests
		if err != nil && !errors.Is(err, bounded.Err()) {
			t.log.WarnContext(ctx, "canceling the export of spans failed", "error", err)
		}
	}
}

// Stats are numbers of spans since the start.
type Stats struct {
	// Sent is the number of spans that the collector accepted.
	Sent int64
	// QueueFull is the number of spans dropped because the queue was full. Failed is the number of spans whose export
	// failed.
	QueueFull, Failed int64
}

// Stats returns the numbers of spans that were sent and lost since the start of the process, for metrics. Unlike for
// the other methods, t must not be nil.
func (t *Traces) Stats() Stats {
	return Stats{Sent: t.queue.sent.Load(), QueueFull: t.queue.full.Load(), Failed: t.queue.failed.Load()}
}

// Logger returns a logger that adds the attributes trace_id and span_id to records. It returns l if tracing is off.
func (t *Traces) Logger(l *slog.Logger) *slog.Logger {
	if t == nil {
		return l
	}
	return slog.New(logHandler{l.Handler()})
}

// logHandler adds trace and span ids to records.
type logHandler struct{ slog.Handler }

// Handle passes a log line to the handler below, with the IDs of the trace and span of ctx if they are sampled.
func (h logHandler) Handle(ctx context.Context, r slog.Record) error {
	if sc := trace.SpanContextFromContext(ctx); sc.IsSampled() { // ids of unsampled traces are useless
		r.AddAttrs(slog.String("trace_id", sc.TraceID().String()), slog.String("span_id", sc.SpanID().String()))
	}
	return h.Handler.Handle(ctx, r) //nolint:wrapcheck // the same handler
}

// WithAttrs returns a handler for records with attributes that adds the IDs too.
func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup returns a handler for records of a group that adds the IDs too.
func (h logHandler) WithGroup(name string) slog.Handler { return logHandler{h.Handler.WithGroup(name)} }

// warnInterval is the minimum interval between log records about lost spans.
const warnInterval = time.Minute

// queue queues spans for export. It never blocks: spans that do not fit into the queue are dropped and counted. The
// queue of the SDK does not count them.
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

// newQueue returns a queue that sends spans to an exporter in the background. It drops spans if the exporter is too
// slow.
func newQueue(to sdktrace.SpanExporter, log *slog.Logger, options ...sdktrace.BatchSpanProcessorOption) *queue {
	//nolint:forbidigo // measures intervals, and the injected clock may be fixed
	q := &queue{to: to, log: log, now: time.Now}
	q.SpanProcessor = sdktrace.NewBatchSpanProcessor(sender{q},
		append(options, sdktrace.WithMaxQueueSize(queueSize))...)
	return q
}

// OnEnd implements the span processor of the SDK: it queues a sampled span that has ended. If the queue is full,
// it drops the span and counts it.
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

// ExportSpans sends a batch to the collector and updates the counters of the queue. It logs lost spans, at most once
// per warnInterval, and always returns nil.
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

// Shutdown closes the connections to the collector. It implements the interface of exporters, and [Traces.Shutdown]
// calls it through the SDK.
func (s sender) Shutdown(ctx context.Context) error {
	return s.to.Shutdown(ctx) //nolint:wrapcheck // the SDK returns it to [Traces.Shutdown]
}

// warn logs the number of lost spans, with the error of the last export, if it has grown and at most once per
// warnInterval. Only the exporting goroutine calls it.
func (s sender) warn(ctx context.Context, err error) {
	full, failed := s.full.Load(), s.failed.Load()
	if now := s.now(); full+failed > s.reported && now.Sub(s.warned) >= warnInterval {
		s.warned, s.reported = now, full+failed
		attrs := []slog.Attr{slog.Int64("queue_full", full), slog.Int64("failed", failed)}
		if err != nil {
			text := err.Error()
			// it can contain the whole response of the collector
			attrs = append(attrs, slog.String("error", text[:min(len(text), 300)]))
		}
		s.log.LogAttrs(ctx, slog.LevelWarn, "spans were lost because the collector is unavailable or too slow",
			attrs...)
	}
}
