package gateway

import (
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"heliograph/app/pagesync"
	"heliograph/app/tracing"
	"heliograph/app/web/statuspage"
	"heliograph/rest/edition"
	"heliograph/storage"
)

// metrics counts what happens.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
}

func newMetrics(db *storage.DB, pages *edition.Keeper, followers []*pagesync.Follower, traces *tracing.Traces) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "heliograph", Name: "request_seconds", Help: "How long requests took, by what was asked and how it ended.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"path", "status"}),
	}
	m.registry.MustRegister(m.requests, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.addStatus(pages)
	m.addTraces(traces)
	for _, f := range followers {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: "heliograph", Subsystem: "status", Name: "sync_age_seconds", Help: "How long ago a status page elsewhere was last read that a page is a copy of; -1 when it never was.",
			ConstLabels: prometheus.Labels{"url": f.URL()},
		}, func() float64 { return f.Age().Seconds() }))
	}
	if db != nil {
		gauge := func(name, help string, value func() float64) {
			m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "heliograph", Subsystem: "pool", Name: name, Help: help}, value))
		}
		gauge("connections", "Connections to the database.", func() float64 { return float64(db.Pool().Stat().TotalConns()) })
		gauge("acquired", "Connections in use.", func() float64 { return float64(db.Pool().Stat().AcquiredConns()) })
		gauge("waited_total", "How often a request had to wait for a connection.", func() float64 { return float64(db.Pool().Stat().EmptyAcquireCount()) })
	}
	return m
}

// addStatus adds what is known of the documents of the status pages.
func (m *metrics) addStatus(pages *edition.Keeper) {
	name := func(name, help string) prometheus.GaugeOpts {
		return prometheus.GaugeOpts{Namespace: "heliograph", Subsystem: "status", Name: name, Help: help}
	}
	m.registry.MustRegister(
		prometheus.NewGaugeFunc(name("pages", "Status pages."), func() float64 { return float64(pages.Stats().Pages) }),
		prometheus.NewGaugeFunc(name("stale_seconds", "How old the status documents are that are served because the database cannot be read; 0 while it can."),
			func() float64 { return pages.Stats().Stale.Seconds() }),
		prometheus.NewCounterFunc(prometheus.CounterOpts(name("builds_total", "How often the documents of a status page were made.")),
			func() float64 { return float64(pages.Stats().Builds) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts(name("failures_total", "How often the status pages could not be read.")),
			func() float64 { return float64(pages.Stats().Failures) }),
	)
}

// addTraces adds what becomes of spans, where there are any.
func (m *metrics) addTraces(traces *tracing.Traces) {
	if traces == nil {
		return
	}
	add := func(name, help string, labels prometheus.Labels, value func(tracing.Stats) int64) {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: "heliograph", Subsystem: "trace", Name: name, Help: help, ConstLabels: labels},
			func() float64 { return float64(value(traces.Stats())) }))
	}
	const lost = "Spans that the collector never got: because too many were waiting, or because it did not take them."
	add("spans_sent_total", "Spans that the collector has taken.", nil, func(s tracing.Stats) int64 { return s.Sent })
	add("spans_dropped_total", lost, prometheus.Labels{"reason": "queue_full"}, func(s tracing.Stats) int64 { return s.QueueFull })
	add("spans_dropped_total", lost, prometheus.Labels{"reason": "failed"}, func(s tracing.Stats) int64 { return s.Failed })
}

func (m *metrics) observe(path string, status int, took time.Duration) {
	m.requests.WithLabelValues(path, strconv.Itoa(status)).Observe(took.Seconds())
}

// family is the part of a path that metrics tell apart: never what a client can choose freely.
func family(path string) string {
	for _, known := range []string{"/graphql", "/graphiql", "/api/v1", "/api/v2", "/health"} {
		if strings.HasPrefix(path, known) {
			return known
		}
	}
	if statuspage.Has(path) {
		return "/"
	}
	return "other"
}

func levelOf(status int) slog.Level {
	if status >= http.StatusInternalServerError {
		return slog.LevelError
	}
	return slog.LevelInfo
}

func requestAttrs(r *http.Request, status, bytes int, took time.Duration) []slog.Attr {
	return []slog.Attr{
		slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.String("query", r.URL.RawQuery), slog.Int("status", status),
		slog.Int("bytes", bytes), slog.Duration("took", took), slog.String("client", r.RemoteAddr),
	}
}
