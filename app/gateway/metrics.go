package gateway

import (
	"context"
	"log/slog"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"heliograph/app/pagesync"
	"heliograph/app/tracing"
	"heliograph/app/web/statuspage"
	"heliograph/rest/doccache"
	"heliograph/storage"
)

// collectorTime are the metrics of the time of the processors that the garbage collector takes, of the time that they are idle, and of all of their time.
var collectorTime = collectors.GoRuntimeMetricsRule{Matcher: regexp.MustCompile(`^/cpu/classes/(gc/|idle|total)`)}

// metrics are the Prometheus metrics of the gateway.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
}

func newMetrics(db *storage.DB, pages *doccache.Cache, followers []*pagesync.Follower, traces *tracing.Traces, now func() time.Time) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "heliograph", Name: "request_seconds", Help: "Duration of requests by path and status.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"path", "status"}),
	}
	m.registry.MustRegister(m.requests,
		collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(collectorTime)), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.addStatus(pages)
	m.addTraces(traces)
	for _, f := range followers {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: "heliograph", Subsystem: "status", Name: "sync_age_seconds",
			Help:        "Seconds since the last successful read of a mirrored status page; -1 if it was never read.",
			ConstLabels: prometheus.Labels{"url": f.URL()},
		}, func() float64 { return f.Age().Seconds() }))
	}
	if db != nil {
		gauge := func(name, help string, value func() float64) {
			m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "heliograph", Subsystem: "pool", Name: name, Help: help}, value))
		}
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: "heliograph", Subsystem: "ledger", Name: "lag_seconds", Help: "Age of the newest block in seconds; -1 if it cannot be read.",
		}, func() float64 {
			ctx, stop := context.WithTimeout(context.Background(), healthMaxAge)
			defer stop()
			lag, err := db.Lag(ctx, now())
			if err != nil {
				return -1
			}
			return lag.Seconds()
		}))
		sum := func(of func(*pgxpool.Stat) int64) func() float64 {
			return func() (n float64) {
				for _, one := range db.Servers() {
					n += float64(of(one.Stat))
				}
				return n
			}
		}
		gauge("connections", "Open connections to the database.", sum(func(s *pgxpool.Stat) int64 { return int64(s.TotalConns()) }))
		gauge("acquired", "Connections in use.", sum(func(s *pgxpool.Stat) int64 { return int64(s.AcquiredConns()) }))
		gauge("waited_total", "Number of times that a request had to wait for a connection.", sum((*pgxpool.Stat).EmptyAcquireCount))
		for i, one := range db.Servers() {
			m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
				Namespace: "heliograph", Subsystem: "server", Name: "lag_seconds",
				Help:        "Time by which the newest block of a database server is behind that of the freshest one; -1 if the server cannot be reached.",
				ConstLabels: prometheus.Labels{"server": one.Name},
			}, func() float64 { return db.Servers()[i].Lag.Seconds() }))
		}
	}
	return m
}

// addStatus adds metrics of the rendered status pages.
func (m *metrics) addStatus(pages *doccache.Cache) {
	name := func(name, help string) prometheus.GaugeOpts {
		return prometheus.GaugeOpts{Namespace: "heliograph", Subsystem: "status", Name: name, Help: help}
	}
	m.registry.MustRegister(
		prometheus.NewGaugeFunc(name("pages", "Number of status pages."), func() float64 { return float64(pages.Stats().Pages) }),
		prometheus.NewGaugeFunc(name("stale_seconds", "Age of the status documents that are served while the database is unavailable; 0 while it is available."),
			func() float64 { return pages.Stats().Stale.Seconds() }),
		prometheus.NewCounterFunc(prometheus.CounterOpts(name("builds_total", "Number of times that the documents of a status page were rendered.")),
			func() float64 { return float64(pages.Stats().Renders) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts(name("failures_total", "Number of times that reading the status pages failed.")),
			func() float64 { return float64(pages.Stats().Failures) }),
	)
}

// addTraces adds metrics of exported spans if tracing is on.
func (m *metrics) addTraces(traces *tracing.Traces) {
	if traces == nil {
		return
	}
	add := func(name, help string, labels prometheus.Labels, value func(tracing.Stats) int64) {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Namespace: "heliograph", Subsystem: "trace", Name: name, Help: help,
			ConstLabels: labels,
		},
			func() float64 { return float64(value(traces.Stats())) }))
	}
	const lost = "Spans that were dropped because the queue was full or the export failed."
	add("spans_sent_total", "Spans that the collector accepted.", nil, func(s tracing.Stats) int64 { return s.Sent })
	add("spans_dropped_total", lost, prometheus.Labels{"reason": "queue_full"}, func(s tracing.Stats) int64 { return s.QueueFull })
	add("spans_dropped_total", lost, prometheus.Labels{"reason": "failed"}, func(s tracing.Stats) int64 { return s.Failed })
}

func (m *metrics) observe(path string, status int, took time.Duration) {
	m.requests.WithLabelValues(path, strconv.Itoa(status)).Observe(took.Seconds())
}

// family returns the label of a path in metrics. The set of labels is fixed, because clients choose paths freely.
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

// maxLogged is the maximum length of the path and of the query of a request in the log, in bytes.
const maxLogged = 1024

func logged(text string) string {
	if len(text) > maxLogged {
		return strings.ToValidUTF8(text[:maxLogged], "") + "…"
	}
	return text
}

func requestAttrs(r *http.Request, status, bytes int, took time.Duration) []slog.Attr {
	return []slog.Attr{
		slog.String("method", r.Method), slog.String("path", logged(r.URL.Path)), slog.String("query", logged(r.URL.RawQuery)), slog.Int("status", status),
		slog.Int("bytes", bytes), slog.Duration("took", took), slog.String("client", r.RemoteAddr),
	}
}
