package tracing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// TestTarget checks the endpoint for combinations of the setting and environment variables. It sets variables, so it
// is not parallel.
func TestTarget(t *testing.T) {
	for _, c := range []struct {
		flag, traces, all string
		want, err         string
	}{
		{"", "", "", "", ""},
		{"http://127.0.0.1:4318", "", "http://127.0.0.2:4318", "http://127.0.0.1:4318/v1/traces", ""},
		{"http://127.0.0.1:4318/", "", "", "http://127.0.0.1:4318/v1/traces", ""},
		{"https://127.0.0.1/here", "", "", "https://127.0.0.1/here", ""},
		{"", "http://127.0.0.1:4318/mine", "http://127.0.0.2:4318", "http://127.0.0.1:4318/mine", ""},
		{"", "", "http://127.0.0.2:4318/all", "http://127.0.0.2:4318/all/v1/traces", ""},
		{"127.0.0.1:4318", "", "", "", "HELIOGRAPH_TRACE_ENDPOINT is not"},
		{"", "", "grpc://me:hunter2@127.0.0.1", "", "OTEL_EXPORTER_OTLP_ENDPOINT is not"},
	} {
		t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", c.traces)
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.all)
		got, err := (&Options{Endpoint: c.flag}).target()
		text := ""
		if got != nil {
			text = got.String()
		}
		if c.err == "" && err != nil || c.err != "" &&
			(err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "hunter2")) ||
			text != c.want {
			t.Errorf("%+v: got %q and %v", c, text, err)
		}
	}
}

// TestInvalidSettings checks that invalid settings are rejected, and that errors do not contain secrets.
func TestInvalidSettings(t *testing.T) {
	start := func(ratio float64) error {
		traces, err := Start(t.Context(), Options{
			Endpoint: "http://127.0.0.1:1", Ratio: ratio,
			Logger: slog.New(slog.DiscardHandler),
		})
		traces.Shutdown(t.Context())
		return err
	}
	for _, ratio := range []float64{-0.1, 1.1} {
		if err := start(ratio); err == nil || !strings.Contains(err.Error(), "HELIOGRAPH_TRACE_RATIO") {
			t.Errorf("%v: %v", ratio, err)
		}
	}
	for _, bad := range []string{"hunter2", "a=b,hunter2", "a=%hunter2", "hun ter2=x", "a=hun%0Ater2"} {
		t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", bad)
		if err := start(1); err == nil || !strings.Contains(err.Error(), "OTEL_EXPORTER_OTLP_HEADERS") ||
			strings.Contains(err.Error(), "hun") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20hunter2, x-tenant = me")
	if err := start(1); err != nil {
		t.Error(err)
	}
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "nonsense")
	if err := start(1); err == nil || !strings.Contains(err.Error(), "OTEL_RESOURCE_ATTRIBUTES") {
		t.Error(err)
	}
}

// blocking is an exporter that blocks until it is released and then fails.
type blocking struct{ released chan struct{} }

func (b blocking) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error {
	<-b.released
	return errors.New("rejected")
}

func (blocking) Shutdown(context.Context) error { return nil }

// TestQueue checks that a blocked exporter does not block spans, that dropped spans are counted, and that they are
// logged once per minute.
func TestQueue(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	now := time.Now()
	to := blocking{make(chan struct{})}
	logger := slog.New(slog.NewTextHandler(&log, nil))
	q := newQueue(to, logger, sdktrace.WithBatchTimeout(time.Hour), sdktrace.WithMaxExportBatchSize(queueSize/4))
	q.now = func() time.Time { return now }
	traces := newTraces(Options{Ratio: 1, Logger: logger}, resource.Empty(), q)
	const lost = 100
	for range queueSize + lost {
		_, span := traces.tracer.Start(t.Context(), "one")
		span.End()
	}
	if got := traces.Stats(); got != (Stats{QueueFull: lost}) {
		t.Errorf("%+v", got)
	}
	close(to.released)
	traces.Shutdown(t.Context())
	if got := traces.Stats(); got != (Stats{QueueFull: lost, Failed: queueSize}) {
		t.Errorf("%+v", got)
	}
	if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "queue_full=100") ||
		!strings.Contains(text, "error=rejected") {
		t.Error(text)
	}
	for _, wait := range []time.Duration{0, warnInterval / 2, warnInterval / 2, warnInterval} {
		now = now.Add(wait)
		q.failed.Add(1)
		sender{q}.warn(t.Context(), nil)
	}
	if text := log.String(); strings.Count(text, "\n") != 3 {
		t.Error(text)
	}
}

// TestWithoutValues checks the texts of statement errors in traces.
func TestWithoutValues(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"SQLSTATE 22P02": fmt.Errorf("reading: %w",
			&pgconn.PgError{Code: "22P02", Message: `invalid input syntax: "hunter2"`}),
		"context canceled":          fmt.Errorf("hunter2: %w", context.Canceled),
		"context deadline exceeded": fmt.Errorf("hunter2: %w", context.DeadlineExceeded),
		"*errors.errorString":       errors.New("hunter2"),
		"no rows in result set":     pgx.ErrNoRows,
	} {
		if got := withoutValues(err); got.Error() != want || !errors.Is(got, err) {
			t.Errorf("%v: got %v", err, got)
		}
	}
	if withoutValues(nil) != nil {
		t.Error("want nil")
	}
}

// counting is an exporter that counts spans, unless its context has ended.
type counting struct{ spans int }

func (c *counting) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if ctx.Err() == nil {
		c.spans += len(spans)
	}
	return ctx.Err()
}

func (*counting) Shutdown(context.Context) error { return nil }

// TestShutdownAfterTheEnd checks that queued spans are exported although the time of the shutdown is up.
func TestShutdownAfterTheEnd(t *testing.T) {
	t.Parallel()
	var to counting
	log := slog.New(slog.DiscardHandler)
	q := newQueue(&to, log, sdktrace.WithBatchTimeout(time.Hour))
	traces := newTraces(Options{Ratio: 1, Logger: log}, resource.Empty(), q)
	_, span := traces.tracer.Start(t.Context(), "one")
	span.End()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	traces.Shutdown(ctx)
	if to.spans != 1 {
		t.Errorf("%d spans were exported", to.spans)
	}
}
