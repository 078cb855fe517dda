package gateway

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"heliograph/graph/fault"
	"heliograph/internal/base/admission"
	"heliograph/internal/base/values"
)

// class returns the class under which the queue counts a request: the pattern of its path in the REST API, or the
// label of [family]. It also returns the endpoint of the REST API, which belongs into the context of the request,
// so that it is not searched again. For other paths that value is empty and has no effect.
func (g *Gateway) class(r *http.Request) (name string, endpoint values.Value) {
	if isREST(r) {
		if name, endpoint = g.v1.Find(r); name != "" {
			return name, endpoint
		}
	}
	return family(r.URL.Path), endpoint
}

// statusGone is the status in the log of a request whose client has disconnected before it was its turn.
const statusGone = 499

// run waits for the turn of a request and then calls next, with a timeout of RequestTimeout. It reads the body
// before, sets the header Server-Timing, and responds with 503 if the queue refuses the request or the memory of the
// process is used up. If the client disconnects while it waits, the status is statusGone. The turn ends early if the
// client reads the response slowly. Streams are served at once and take a turn for each operation instead.
func (g *Gateway) run(
	ctx context.Context, next http.Handler, w http.ResponseWriter, r *http.Request, turn *admission.Turn,
) {
	l, stream := limited(w), streams(r)
	var err error
	switch {
	case g.budget.exhausted():
		err = turn.Refuse(admission.ByMemory)
	case !stream:
		err = receive(r, turn)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, g.o.RequestTimeout)
		defer cancel()
		if err == nil {
			err = turn.Enter(ctx)
		}
	}
	refusal := admission.RefusalOf(err)
	l.refused = refusal != nil
	switch {
	case refusal != nil:
		g.refuse(ctx, w, r, turn.Client(), refusal)
	case err != nil:
		w.WriteHeader(statusGone)
	case stream:
		next.ServeHTTP(w, r.WithContext(ctx))
	default:
		w.Header()["Server-Timing"] = timing(turn.Waited())
		l.turn = turn
		defer l.stop() // else a timer of each page would end later, in a goroutine of its own
		next.ServeHTTP(w, r.WithContext(ctx))
	}
}

// notWaited is the value of the header Server-Timing of requests that were not queued. Responses share it.
var notWaited = []string{"queue;dur=0"}

// timing returns the value of the header Server-Timing: the time in the queue in milliseconds. The slice must not
// be changed.
func timing(waited time.Duration) []string {
	if waited == 0 {
		return notWaited
	}
	return []string{"queue;dur=" + strconv.FormatFloat(float64(waited.Microseconds())/1000, 'f', -1, 64)}
}

// refuse responds with 503 and Retry-After in seconds in the error format of the API that r addresses, and counts
// the refusal for the log. If new requests are refused faster than refusalRate, it waits before it responds, unless ctx
// ends before it would be the turn of this one.
func (g *Gateway) refuse(
	ctx context.Context, w http.ResponseWriter, r *http.Request, client string, refusal *admission.Refusal,
) {
	g.refusals.add(g.o.Logger, client, refusal.Limit)
	if refusal.Limit == admission.ByQueue {
		_ = g.refusals.pace.Wait(ctx)
	}
	if isREST(r) {
		g.v1.Unavailable(w, r, refusal.Seconds)
		return
	}
	w.Header().Set("Retry-After", strconv.Itoa(refusal.Seconds))
	g.reject(w, r, http.StatusServiceUnavailable, fault.Unavailable, refusal.Error())
}

// refusalRate is the number of new requests that are refused per second and processor, and refusalBurst how many are
// refused at once. Clients that repeat refused requests at once would take the processors from the requests that run:
// with ten times the requests that fit, 11 to 19 % of the capacity was left for them, instead of 63 % or more.
const refusalRate, refusalBurst = 2500, 100

// refusals counts refused requests, and logs their number and the last one of them once a second.
type refusals struct {
	pace *rate.Limiter // of new requests

	mu       sync.Mutex
	requests int
	client   string
	limit    admission.Limit
}

// settings are those that change a limit.
var settings = map[admission.Limit]string{
	admission.ByQueue:   "--queue-timeout, --max-connections",
	admission.ByTimeout: "--queue-timeout, --request-timeout",
	admission.ByMemory:  "--memory-limit",
}

// add counts a refused request. The first one starts a timer, so that one log line a second reports all of them.
func (f *refusals) add(log *slog.Logger, client string, limit admission.Limit) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests++
	f.client, f.limit = client, limit
	if f.requests == 1 {
		time.AfterFunc(time.Second, func() { f.report(log) })
	}
}

// report writes the log line with the number of requests refused in the last second and the client and limit of
// the last one, and resets the number.
func (f *refusals) report(log *slog.Logger) {
	f.mu.Lock()
	defer f.mu.Unlock()
	log.Warn("requests were refused", "requests", f.requests, "client", f.client, "limit", f.limit,
		"setting", settings[f.limit])
	f.requests = 0
}

// queueMetrics are the metrics of the queue.
type queueMetrics struct{ queue *admission.Queue }

var (
	queueWaiting = describe("queue", "waiting", "Number of requests that wait, by class.", "class")
	queueServed  = describe("queue", "served_total", "Number of requests that have started to run, by class.", "class")
	queueRefused = describe("queue", "refused_total", "Number of requests that were refused, by class.", "class")
)

// Describe implements [prometheus.Collector] by collecting the metrics once.
func (m queueMetrics) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(m, out) }

// Collect implements [prometheus.Collector]: it sends the numbers of waiting, served and refused requests of each
// class.
func (m queueMetrics) Collect(out chan<- prometheus.Metric) {
	for class, s := range m.queue.Stats() {
		out <- prometheus.MustNewConstMetric(queueWaiting, prometheus.GaugeValue, float64(s.Waiting), class)
		out <- prometheus.MustNewConstMetric(queueServed, prometheus.CounterValue, float64(s.Served), class)
		out <- prometheus.MustNewConstMetric(queueRefused, prometheus.CounterValue, float64(s.Refused), class)
	}
}
