package gateway

import (
	"context"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"heliograph/app/webhooks"
	"heliograph/internal/domain/status"
	"heliograph/rest/doccache"
	"heliograph/storage"
	"heliograph/storage/statuspages"
)

// pageMetrics are the metrics of a status page as of its last refresh.
type pageMetrics struct {
	components []*status.Component
	open       map[status.Impact]int // unresolved incidents by impact
	drafts     int
}

// statusMetrics collects the metrics of status pages and webhooks.
type statusMetrics struct {
	pages  doccache.Part[*pageMetrics]
	cache  *doccache.Cache
	sender *webhooks.Sender // nil if nothing is sent
	now    func() time.Time
}

func statusMetric(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("heliograph_status_"+name, help, labels, nil)
}

var (
	componentMetric = statusMetric("component_state",
		"Status of a component: 0 operational, 1 under maintenance, 2 degraded performance, 3 partial outage, 4 major outage.", "page", "component", "name")
	openMetric   = statusMetric("open_incidents", "Number of unresolved incidents.", "page", "impact")
	draftsMetric = statusMetric("drafts", "Number of draft incidents that wait for an editor.", "page")
	ageMetric    = statusMetric("page_age_seconds", "Seconds since the status page was last compared with the database.")
	sentMetric   = statusMetric("deliveries_total",
		"Number of requests to webhooks by result: delivered, rejected (status other than 2xx) or failed (no response).", "result")
	pendingMetric  = statusMetric("deliveries_pending", "Number of messages that wait to be sent to webhooks of all pages.")
	disabledMetric = statusMetric("webhooks_disabled", "Number of webhooks that were disabled after failures.")
)

// readPageMetrics reads the metrics of a page.
func readPageMetrics(db *statuspages.DB) func(ctx context.Context, p *status.Page) (*pageMetrics, time.Time, error) {
	return func(ctx context.Context, p *status.Page) (*pageMetrics, time.Time, error) {
		m := &pageMetrics{open: map[status.Impact]int{}}
		var err error
		if m.components, err = db.Components(ctx, p); err != nil {
			return nil, time.Time{}, err
		}
		const most = 1000
		for _, drafts := range []bool{false, true} {
			f := statuspages.NoticeFilter{Kind: status.Realtime, States: status.OpenStates(status.Realtime), Drafts: drafts}
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

// Describe implements [prometheus.Collector].
func (m *statusMetrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{componentMetric, openMetric, draftsMetric, ageMetric, sentMetric, pendingMetric, disabledMetric} {
		to <- d
	}
}

// Collect implements [prometheus.Collector].
func (m *statusMetrics) Collect(to chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	for p, page := range m.pages.All() {
		for _, c := range page.components {
			if !c.IsGroup {
				gauge(componentMetric, float64(slices.Index(status.ComponentStatuses(), c.Status)), p.Slug, c.Code, c.QualifiedName())
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
		to <- prometheus.MustNewConstMetric(sentMetric, prometheus.CounterValue, float64(m.sender.Count(result)), result)
	}
	stats := m.sender.Stats()
	gauge(pendingMetric, float64(stats.Pending))
	gauge(disabledMetric, float64(stats.Disabled))
}
