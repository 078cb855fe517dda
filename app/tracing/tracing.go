// Package tracing sends traces to an OpenTelemetry collector: a span for each request, for the operation of the graph that it runs, and for each statement. No
// other package knows how traces are made. Where they are off, nothing of this package is called for a request.
package tracing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/net/http/httpguts"
)

// scope is the name under which spans tell who made them.
const scope = "heliograph"

const (
	// queueSize is how many spans wait for the collector at most.
	queueSize = 2048
	// longestValue is where the values of attributes are cut, in characters: clients choose how long the paths are that they ask for.
	longestValue = 8192
	// flushTimeout bounds what the end of the gateway waits for the collector.
	flushTimeout = 5 * time.Second
	// tracesPath is where collectors take traces.
	tracesPath = "/v1/traces"
)

// Options say which traces are sent where.
type Options struct {
	// Endpoint is the URL of the collector, which speaks OTLP over HTTP; without a path, traces go to /v1/traces there. When it is empty the variables
	// OTEL_EXPORTER_OTLP_TRACES_ENDPOINT and OTEL_EXPORTER_OTLP_ENDPOINT are asked, and when these are empty too, there are no traces.
	Endpoint string
	// Ratio is the part of the traces that begin here which is sent, 0 to 1. Of those that begin elsewhere the request's traceparent tells.
	Ratio float64
	// Version is the version of the program.
	Version string
	// Logger is told when spans are lost, once a minute at most.
	Logger *slog.Logger
}

// Traces makes and sends spans. Nil stands for none; its methods may be called all the same.
type Traces struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	out      *outbox
	log      *slog.Logger
}

// Start begins to send traces, or returns nil when no collector is named. It does not connect: a collector that is down is no reason not to start. Other standard variables
// than the endpoint's are read by the SDK.
func Start(ctx context.Context, o Options) (*Traces, error) {
	target, err := o.target()
	if err != nil || target == nil {
		return nil, err
	}
	if !(o.Ratio >= 0 && o.Ratio <= 1) { // so that it is false of what is no number, too
		return nil, fmt.Errorf("HELIOGRAPH_TRACE_RATIO must be between 0 and 1, not %v", o.Ratio)
	}
	if err := checkHeaders("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"); err != nil {
		return nil, err
	}
	// What comes later wins.
	self, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(semconv.ServiceName(scope), semconv.ServiceVersion(o.Version)), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("reading OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	to, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(target.String()))
	if err != nil {
		return nil, fmt.Errorf("preparing to send traces: %w", err)
	}
	return newTraces(o, self, newOutbox(to, o.Logger)), nil
}

func newTraces(o Options, self *resource.Resource, out *outbox) *Traces {
	limits := sdktrace.NewSpanLimits()
	if limits.AttributeValueLengthLimit < 0 || limits.AttributeValueLengthLimit > longestValue {
		limits.AttributeValueLengthLimit = longestValue
	}
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithResource(self), sdktrace.WithRawSpanLimits(limits), sdktrace.WithSpanProcessor(out),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(o.Ratio))),
	)
	return &Traces{provider: provider, tracer: provider.Tracer(scope, trace.WithSchemaURL(semconv.SchemaURL)), out: out, log: o.Logger}
}

// target is where traces are sent to; nil when nothing tells.
func (o *Options) target() (*url.URL, error) {
	for _, from := range []struct {
		name, text string
		below      string // what is added to a path
	}{
		{"HELIOGRAPH_TRACE_ENDPOINT", o.Endpoint, ""},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"), tracesPath},
	} {
		if from.text == "" {
			continue
		}
		u, err := url.Parse(strings.TrimSpace(from.text))
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" { // the URL may hold a password, which no error tells
			return nil, fmt.Errorf("%s is not a URL such as http://127.0.0.1:4318", from.name)
		}
		switch {
		case from.below != "":
			u = u.JoinPath(from.below)
		case u.Path == "" || u.Path == "/":
			u.Path = tracesPath
		}
		return u, nil
	}
	return nil, nil
}

// checkHeaders refuses lists of headers that the SDK would not understand: it would print them, and they are secrets.
func checkHeaders(variables ...string) error {
	for _, name := range variables {
		text := os.Getenv(name)
		if strings.TrimSpace(text) == "" {
			continue
		}
		for pair := range strings.SplitSeq(text, ",") {
			header, value, found := strings.Cut(pair, "=")
			value, err := url.PathUnescape(value)
			if !found || err != nil || !httpguts.ValidHeaderFieldName(strings.TrimSpace(header)) || !httpguts.ValidHeaderFieldValue(strings.TrimSpace(value)) {
				return fmt.Errorf("%s is not a list of name=value, separated by commas, with what is special in values written as %%XX", name)
			}
		}
	}
	return nil
}

// Shutdown sends what has not been sent yet, for a few seconds at most, and for no longer than the context lasts.
func (t *Traces) Shutdown(ctx context.Context) {
	if t == nil {
		return
	}
	bounded, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	if err := t.provider.Shutdown(bounded); err != nil {
		t.log.WarnContext(ctx, "the last spans were not sent to the collector", "spans", t.out.pending.Load(), "error", err)
		err = t.out.to.Shutdown(bounded) // gives up what is being sent
		if err != nil && !errors.Is(err, bounded.Err()) {
			t.log.WarnContext(ctx, "sending spans could not be given up", "error", err)
		}
	}
}

// Stats are what became of spans so far.
type Stats struct {
	// Sent are those that the collector has taken.
	Sent int64
	// QueueFull are those that were dropped because too many were waiting, Failed those that the collector did not take.
	QueueFull, Failed int64
}

// Stats tells what became of spans so far.
func (t *Traces) Stats() Stats {
	return Stats{Sent: t.out.sent.Load(), QueueFull: t.out.full.Load(), Failed: t.out.failed.Load()}
}
