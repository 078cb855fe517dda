package gateway

import (
	"context"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"heliograph/app/pagesync"
	"heliograph/app/tracing"
	"heliograph/app/web/statuspage"
	"heliograph/app/webhooks"
	"heliograph/internal/domain/status"
	"heliograph/rest/doccache"
	"heliograph/storage"
	"heliograph/storage/statuspages"
)

// collectorTime are the metrics of the time of the processors that the garbage collector takes, of the time that they
// are idle, and of all of their time.
var collectorTime = collectors.GoRuntimeMetricsRule{Matcher: regexp.MustCompile(`^/cpu/classes/(gc/|idle|total)`)}

type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec       // the durations by the label of [family] and the status
	ok       map[string]prometheus.Observer // those with status 200 by label
}

// newMetrics returns the registry of the admin port's /metrics with the metrics of requests, the process, the status
// pages, traces and the database. now is the clock. Collectors of operations, pages and queues are registered later.
// Each of db, followers and traces may be missing.
func newMetrics(
	db *storage.DB, pages *doccache.Cache, followers []*pagesync.Follower, traces *tracing.Traces,
	now func() time.Time,
) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "heliograph", Name: "request_seconds", Help: "Duration of requests by path and status.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"path", "status"}),
		ok: map[string]prometheus.Observer{},
	}
	for _, label := range append(families, "/", "other") {
		m.ok[label] = m.requests.WithLabelValues(label, "200")
	}
	m.registry.MustRegister(m.requests,
		collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(collectorTime)),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.addStatus(pages)
	m.addTraces(traces)
	for _, f := range followers {
		m.gauge("status", "sync_age_seconds",
			"Seconds since the last successful read of a mirrored status page; -1 if it was never read.",
			prometheus.Labels{"url": f.URL()}, func() float64 { return f.Age().Seconds() })
	}
	if db != nil {
		m.addDatabase(db, now)
	}
	return m
}

// gauge registers a gauge heliograph_subsystem_name. The registry calls value at each scrape of /metrics. It
// panics if the metric exists already.
func (m *metrics) gauge(subsystem, name, help string, labels prometheus.Labels, value func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: "heliograph", Subsystem: subsystem, Name: name, Help: help, ConstLabels: labels,
	}, value))
}

// counter registers a counter heliograph_subsystem_name. The registry calls value at each scrape of /metrics, and
// value must not decrease. It panics if the metric exists already.
func (m *metrics) counter(subsystem, name, help string, labels prometheus.Labels, value func() int64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Namespace: "heliograph", Subsystem: subsystem, Name: name, Help: help, ConstLabels: labels,
	}, func() float64 { return float64(value()) }))
}

// addDatabase registers metrics of the ledger's database servers: the lag, which is measured against now, the pools of
// connections and, if there are several servers, the lag of each. Reading the lag can query the database at each
// scrape.
func (m *metrics) addDatabase(db *storage.DB, now func() time.Time) {
	m.gauge("ledger", "lag_seconds", "Age of the newest block in seconds; -1 if it cannot be read.",
		nil, func() float64 {
			ctx, stop := context.WithTimeout(context.Background(), healthMaxAge)
			defer stop()
			lag, err := db.Lag(ctx, now())
			if err != nil {
				return -1
			}
			return lag.Seconds()
		})
	sum := func(of func(*pgxpool.Stat) int64) func() float64 {
		return func() (n float64) {
			for _, one := range db.Servers() {
				n += float64(of(one.Stat))
			}
			return n
		}
	}
	m.gauge("pool", "connections", "Open connections to the database.", nil, sum(func(s *pgxpool.Stat) int64 {
		return int64(s.TotalConns())
	}))
	m.gauge("pool", "acquired", "Connections in use.", nil, sum(func(s *pgxpool.Stat) int64 {
		return int64(s.AcquiredConns())
	}))
	waited := sum((*pgxpool.Stat).EmptyAcquireCount)
	m.counter("pool", "waited_total", "Number of times that a request had to wait for a connection.",
		nil, func() int64 {
			return int64(waited())
		})
	if len(db.Servers()) == 1 {
		return // the only server is not compared with others
	}
	for i, one := range db.Servers() {
		m.gauge("server", "lag_seconds",
			"Time by which the newest block of a server is behind that of the freshest one; -1 if the server cannot "+
				"be reached.",
			prometheus.Labels{"server": one.Name}, func() float64 { return db.Servers()[i].Lag.Seconds() })
	}
}

// addStatus registers with m the metrics of the cache that renders status pages. They are read at each scrape.
func (m *metrics) addStatus(pages *doccache.Cache) {
	m.gauge("status", "pages", "Number of status pages.", nil, func() float64 { return float64(pages.Stats().Pages) })
	m.gauge("status", "stale_seconds",
		"Age of the status documents that are served while the database is unavailable; 0 while it is available.", nil,
		func() float64 { return pages.Stats().Stale.Seconds() })
	m.counter("status", "builds_total", "Number of times that the documents of a status page were rendered.", nil,
		func() int64 { return pages.Stats().Renders })
	m.counter("status", "failures_total", "Number of times that reading the status pages failed.", nil, func() int64 {
		return pages.Stats().Failures
	})
}

// addTraces registers counters of exported and dropped spans. It does nothing if traces is nil.
func (m *metrics) addTraces(traces *tracing.Traces) {
	if traces == nil {
		return
	}
	const lost = "Spans that were dropped because the queue was full or the export failed."
	m.counter("trace", "spans_sent_total", "Spans that the collector accepted.", nil, func() int64 {
		return traces.Stats().Sent
	})
	m.counter("trace", "spans_dropped_total", lost, prometheus.Labels{"reason": "queue_full"}, func() int64 {
		return traces.Stats().QueueFull
	})
	m.counter("trace", "spans_dropped_total", lost, prometheus.Labels{"reason": "failed"}, func() int64 {
		return traces.Stats().Failed
	})
}

// observe adds the duration of a request to the histogram of a label of [family] and a status. The histograms of
// status 200, which most requests have, are not looked up in the registry.
func (m *metrics) observe(label string, status int, took time.Duration) {
	histogram := m.ok[label]
	if status != http.StatusOK {
		histogram = m.requests.WithLabelValues(label, strconv.Itoa(status))
	}
	histogram.Observe(took.Seconds())
}

// families are the prefixes of paths that are labels in metrics.
var families = []string{"/graphql", "/graphiql", "/api/v1", "/api/v2", "/hcs", "/health", mcpPath}

// family returns the label of a request's path in metrics, such as /api/v1, or "other". The set of labels is
// fixed, because clients choose paths freely.
func family(path string) string {
	for _, known := range families {
		if strings.HasPrefix(path, known) {
			return known
		}
	}
	if statuspage.Has(path) {
		return "/"
	}
	return "other"
}

// levelOf returns the level of the access log line of a request whose path has the label of [family]: debug for
// health checks, warning for 503, error for other 5xx, otherwise info.
func levelOf(label string, status int) slog.Level {
	switch {
	case label == "/health": // load balancers send one a second
		return slog.LevelDebug
	case status == http.StatusServiceUnavailable:
		return slog.LevelWarn
	case status >= http.StatusInternalServerError:
		return slog.LevelError
	}
	return slog.LevelInfo
}

// Limits of the names of operations in metrics, which clients choose freely. Other operations have the name "other".
const (
	maxNames      = 100
	maxNameLength = 64
)

// operations counts the operations of clients by name, and notifies the traces.
type operations struct {
	traces *tracing.Traces // can be nil
	counts *prometheus.CounterVec

	mu    sync.Mutex
	names map[string]bool
}

// newOperations returns the counter of GraphQL operations, which also names the spans of traces. It is not registered
// yet.
func newOperations(traces *tracing.Traces) *operations {
	return &operations{
		traces: traces, names: map[string]bool{},
		counts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "heliograph", Name: "operations_total",
			Help: "Number of GraphQL operations of clients by kind and name. The first 100 names are counted " +
				"separately.",
		}, []string{"kind", "name"}),
	}
}

// Received implements [server.Observer]: it counts an operation of a client by kind and name, and names the span
// of its request.
func (o *operations) Received(ctx context.Context, kind, name string) {
	o.counts.WithLabelValues(kind, o.label(name)).Inc()
	if o.traces != nil {
		o.traces.Received(ctx, kind, name)
	}
}

// Run implements [server.Observer]: it starts the span of an operation that serves another request. Without
// tracing it returns ctx and a function that does nothing. It counts nothing.
func (o *operations) Run(ctx context.Context, kind, name string) (of context.Context, end func()) {
	if o.traces == nil {
		return ctx, func() {}
	}
	return o.traces.Run(ctx, kind, name)
}

// label returns the label for the name of a client's operation: the name itself for the first maxNames names,
// "anonymous" for an empty one, and "other" for further and too long ones, so that clients cannot create any number
// of time series.
func (o *operations) label(name string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case name == "":
		return "anonymous"
	case o.names[name]:
		return name
	case len(name) > maxNameLength || len(o.names) >= maxNames:
		return "other"
	}
	name = strings.Clone(name) // a substring would retain the whole document
	o.names[name] = true
	return name
}

// pageMetrics are the metrics of a status page as of its last refresh.
type pageMetrics struct {
	components []*status.Component
	open       map[status.Impact]int // unresolved incidents by impact
	drafts     int
}

type statusMetrics struct {
	pages  doccache.Part[*pageMetrics]
	cache  *doccache.Cache
	sender *webhooks.Sender // nil if nothing is sent
	now    func() time.Time
}

// describe returns the description of the metric heliograph_subsystem_name with these labels, for a collector. It
// registers nothing.
func describe(subsystem, name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName("heliograph", subsystem, name), help, labels, nil)
}

var (
	componentMetric = describe("status", "component_state",
		"Status of a component: 0 operational, 1 under maintenance, 2 degraded performance, 3 partial outage, 4 "+
			"major outage.", "page", "component", "name")
	openMetric   = describe("status", "open_incidents", "Number of unresolved incidents.", "page", "impact")
	draftsMetric = describe("status", "drafts", "Number of draft incidents that wait for an editor.", "page")
	ageMetric    = describe("status", "page_age_seconds",
		"Seconds since the status page was last compared with the database.")
	sentMetric = describe("status", "deliveries_total",
		"Number of requests to webhooks by result: delivered, rejected (status other than 2xx) or failed (no "+
			"response).", "result")
	pendingMetric = describe("status", "deliveries_pending",
		"Number of messages that wait to be sent to webhooks of all pages.")
	disabledMetric = describe("status", "webhooks_disabled", "Number of webhooks that were disabled after failures.")
)

// readPageMetrics returns the function that reads components, open incidents and drafts of a page from the
// database. The cache calls it when the page has changed. It returns a zero time, so the metrics are valid until
// the next change. Incidents over 1,000 are not counted.
func readPageMetrics(db *statuspages.DB) func(ctx context.Context, p *status.Page) (*pageMetrics, time.Time, error) {
	return func(ctx context.Context, p *status.Page) (*pageMetrics, time.Time, error) {
		components, err := db.Components(ctx, p)
		if err != nil {
			return nil, time.Time{}, err
		}
		m := &pageMetrics{components: components, open: map[status.Impact]int{}}
		const most = 1000
		for _, drafts := range []bool{false, true} {
			f := statuspages.NoticeFilter{
				Kind: status.Realtime, States: status.OpenStates(status.Realtime),
				Drafts: drafts,
			}
			list, err := db.Notices(ctx, p, f, statuspages.ByCreation, storage.Page{Limit: most})
			if err != nil {
				return nil, time.Time{}, err
			}
			if drafts {
				m.drafts = len(list)
				continue
			}
			for _, n := range list {
				m.open[n.Impact]++
			}
		}
		return m, time.Time{}, nil
	}
}

// Describe implements [prometheus.Collector]: it sends the descriptions of all metrics of status pages and
// webhooks.
func (m *statusMetrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		componentMetric, openMetric, draftsMetric, ageMetric, sentMetric,
		pendingMetric, disabledMetric,
	} {
		to <- d
	}
}

// Collect implements [prometheus.Collector]: it sends the metrics of cached pages and, if webhooks are sent, the
// counters of their sender. It reads no database.
func (m *statusMetrics) Collect(to chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	for p, page := range m.pages.All() {
		for _, c := range page.components {
			if !c.IsGroup {
				gauge(componentMetric, float64(slices.Index(status.ComponentStatuses(), c.Status)), p.Slug, c.Code,
					c.QualifiedName())
			}
		}
		for _, impact := range status.Impacts() {
			gauge(openMetric, float64(page.open[impact]), p.Slug, string(impact))
		}
		gauge(draftsMetric, float64(page.drafts), p.Slug)
	}
	if at := m.cache.RefreshedAt(); !at.IsZero() {
		gauge(ageMetric, max(0, m.now().Sub(at).Seconds()))
	}
	if m.sender == nil {
		return
	}
	for _, result := range webhooks.Results() {
		to <- prometheus.MustNewConstMetric(sentMetric, prometheus.CounterValue, float64(m.sender.Count(result)),
			result)
	}
	stats := m.sender.Stats()
	gauge(pendingMetric, float64(stats.Pending))
	gauge(disabledMetric, float64(stats.Disabled))
}
