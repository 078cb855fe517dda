package gateway_test

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"heliograph/app/testing/testenv"
	"heliograph/app/tracing"
)

// otlpCollector is an OTLP/HTTP collector.
type otlpCollector struct {
	*httptest.Server
	status int // response status, if not 0

	mu       sync.Mutex
	requests int
	raw      []byte
	spans    []*otlp.Span
	resource map[string]string
	headers  http.Header
}

func newCollector(t *testing.T) *otlpCollector {
	t.Helper()
	c := &otlpCollector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body io.Reader = r.Body
		if r.Header.Get("Content-Encoding") == "gzip" {
			var err error
			if body, err = gzip.NewReader(r.Body); err != nil {
				t.Error(err)
			}
		}
		b, err := io.ReadAll(body)
		if err != nil {
			t.Error(err)
		}
		var in collector.ExportTraceServiceRequest
		if err := proto.Unmarshal(b, &in); err != nil || r.Method != http.MethodPost || r.URL.Path != "/v1/traces" {
			t.Error(r.Method, r.URL.Path, err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.requests++
		if c.status != 0 {
			http.Error(w, "not now", c.status)
			return
		}
		c.raw, c.headers = append(c.raw, b...), r.Header
		for _, of := range in.ResourceSpans {
			c.resource = valuesOf(of.Resource.Attributes)
			for _, s := range of.ScopeSpans {
				c.spans = append(c.spans, s.Spans...)
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// valuesOf returns attributes as strings.
func valuesOf(list []*common.KeyValue) map[string]string {
	all := map[string]string{}
	for _, kv := range list {
		b, _ := json.Marshal(kv.Value.GetIntValue())
		if text, ok := kv.Value.Value.(*common.AnyValue_StringValue); ok {
			b = []byte(text.StringValue)
		}
		all[kv.Key] = string(b)
	}
	return all
}

// traceTo exports traces to the collector.
func traceTo(t *testing.T, endpoint string, ratio float64, log *slog.Logger) *tracing.Traces {
	t.Helper()
	traces, err := tracing.Start(t.Context(), tracing.Options{
		Endpoint: endpoint, Ratio: ratio, Version: "test",
		Logger: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { traces.Shutdown(t.Context()) })
	return traces
}

// traced returns a gateway that records spans in traces. end waits until all requests have ended and their spans are
// exported.
func traced(t *testing.T, traces *tracing.Traces, options ...testenv.Option) (g *testenv.Gateway, end func()) {
	t.Helper()
	g = testenv.Demo(t, append(options, func(o *testenv.Options) {
		o.Traces, o.Storage.Tracer, o.Logger = traces, traces.Statements(), traces.Logger(o.Logger)
	})...)
	server := httptest.NewServer(g.Public()) // closing a server waits until the spans of its requests have ended
	t.Cleanup(server.Close)
	g.URL = server.URL
	return g, func() {
		server.Close()
		traces.Shutdown(t.Context())
	}
}

// named returns the only span with the given name.
func (c *otlpCollector) named(t *testing.T, name string) *otlp.Span {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	var found *otlp.Span
	var names []string
	for _, s := range c.spans {
		names = append(names, s.Name)
		if s.Name == name {
			found = s
		}
	}
	if found == nil {
		t.Fatalf("no span %q in %q", name, names)
	}
	return found
}

// below returns the statement spans among the descendants of a span.
func (c *otlpCollector) below(of *otlp.Span) []*otlp.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []*otlp.Span
	parents := [][]byte{of.SpanId}
	for i := 0; i < len(parents); i++ {
		for _, s := range c.spans {
			if bytes.Equal(s.ParentSpanId, parents[i]) {
				parents = append(parents, s.SpanId)
				if _, ok := valuesOf(s.Attributes)["db.query.text"]; ok {
					found = append(found, s)
				}
			}
		}
	}
	return found
}

func wantAttributes(t *testing.T, s *otlp.Span, want map[string]string) {
	t.Helper()
	got := valuesOf(s.Attributes)
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s: %s is %q, want %q; all: %v", s.Name, name, got[name], value, got)
		}
	}
}

const (
	parentTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	parentSpan  = "00f067aa0ba902b7"
	sampled     = "traceparent: 00-" + parentTrace + "-" + parentSpan + "-01"
	unsampled   = "traceparent: 00-" + parentTrace + "-" + parentSpan + "-00"
)

// lockedBuffer is a buffer for the log that is safe for concurrent use.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestTraces checks the spans of requests and that they contain no secrets.
func TestTraces(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	var log lockedBuffer
	logger := slog.New(slog.NewJSONHandler(&log, nil))
	traces := traceTo(t, c.URL, 1, logger)
	g, end := traced(t, traces, func(o *testenv.Options) { o.Logger = logger })

	if got := g.Do(t, http.MethodGet, "/api/v1/accounts/0.0.1001?transactiontype=cryptotransfer&limit=19", "",
		sampled, "X-API-Key: hunter2"); got.Status != http.StatusOK {
		t.Fatal(got)
	}
	const query = `query Pages($first: Int!, $ids: [EntityID!]) { accounts(first: $first, filter: {id: {in: $ids}}) ` +
		`{ nodes { id tokens(first: 2) { nodes { balance } } } } }`
	body, err := json.Marshal(map[string]any{
		"query":     query,
		"variables": map[string]any{"first": 7, "ids": []string{"0.0.1001", "0.0.987654"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Do(t, http.MethodPost, "/graphql", string(body), "Content-Type: application/json",
		"Authorization: Bearer sesame"); got.Status != http.StatusOK || strings.Contains(got.Body, `"errors"`) {
		t.Fatal(got)
	}
	g.Do(t, http.MethodPost, "/graphql", `{"query":"query"}`, "Content-Type: application/json")
	g.Query(t, `{ __typename }`, nil)
	g.Get(t, "/api/v1/contracts/results/1.000000001")
	g.Get(t, "/API/v1/Accounts")
	g.Get(t, "/api/v2/status.json")
	g.Get(t, "/nowhere/"+strings.Repeat("x", 9000))
	g.Do(t, "BREW", "/", "")
	for _, cached := range []bool{false, true} {
		const query = `query Cached { network { __typename } blocks(first: 1) { nodes { number } } }`
		if got := g.Query(t, query, nil); got.Status != http.StatusOK {
			t.Fatal(cached, got)
		}
	}
	end()

	t.Run("REST", func(t *testing.T) {
		root := c.named(t, "GET /api/v1/accounts/{idOrAliasOrEvmAddress}")
		if hex.EncodeToString(root.TraceId) != parentTrace || hex.EncodeToString(root.ParentSpanId) != parentSpan ||
			root.Kind != otlp.Span_SPAN_KIND_SERVER {
			t.Errorf("the span does not continue the trace: %v", root)
		}
		wantAttributes(t, root, map[string]string{
			"http.request.method": "GET", "http.route": "/api/v1/accounts/{idOrAliasOrEvmAddress}",
			"http.response.status_code": "200",
			"url.path":                  "/api/v1/accounts/0.0.1001", "url.scheme": "http",
			"client.address": "127.0.0.1",
			"url.query":      "",
		})
		if root.Status.GetCode() != otlp.Status_STATUS_CODE_UNSET {
			t.Errorf("status %v", root.Status)
		}
		child := c.named(t, "graphql Account")
		if !bytes.Equal(child.ParentSpanId, root.SpanId) {
			t.Error("the operation is not a child of its request")
		}
		wantAttributes(t, child, map[string]string{
			"graphql.operation.type": "query",
			"graphql.operation.name": "Account",
		})
		statements := c.below(child)
		if len(statements) == 0 {
			t.Fatal("the operation has no statements")
		}
		rows := false
		for _, s := range statements {
			wantAttributes(t, s, map[string]string{"db.system.name": "postgresql"})
			n := valuesOf(s.Attributes)["pgx.rows_affected"]
			rows = rows || n == "1"
			if !bytes.Equal(s.TraceId, root.TraceId) || s.Kind != otlp.Span_SPAN_KIND_CLIENT {
				t.Errorf("%v", s)
			}
		}
		if !rows {
			t.Error("no statement reports one row")
		}
	})
	t.Run("GraphQL", func(t *testing.T) {
		root := c.named(t, "graphql Pages")
		wantAttributes(t, root, map[string]string{
			"graphql.operation.type": "query", "graphql.operation.name": "Pages", "http.route": "/graphql",
			"http.request.method": "POST", "http.response.status_code": "200",
		})
		if len(c.below(root)) < 2 {
			t.Error("the statements of two levels are missing")
		}
	})
	t.Run("names", func(t *testing.T) {
		for name, route := range map[string]string{
			"POST /graphql": "/graphql", "graphql query": "/graphql",
			"GET /api/v1/contracts/results/{timestamp}": "/api/v1/contracts/results/{timestamp}",
			"GET /api/v1/accounts":                      "/api/v1/accounts",
			"GET /api/v2/status.json":                   "/api/v2/status.json", "GET": "",
			"HTTP": "",
		} {
			wantAttributes(t, c.named(t, name), map[string]string{"http.route": route})
		}
		wantAttributes(t, c.named(t, "HTTP"), map[string]string{
			"http.request.method":          "_OTHER",
			"http.request.method_original": "BREW",
		})
		if got := valuesOf(c.named(t, "GET").Attributes)["url.path"]; len(got) != 8192 {
			t.Errorf("url.path has %d bytes", len(got))
		}
	})
	t.Run("cached response", func(t *testing.T) {
		n := 0
		for _, s := range c.spans {
			if s.Name == "graphql Cached" {
				n++
			}
		}
		if n != 2 {
			t.Errorf("%d spans", n)
		}
	})
	t.Run("secrets", func(t *testing.T) {
		for _, secret := range []string{"hunter2", "sesame", "cryptotransfer", "987654"} {
			if bytes.Contains(c.raw, []byte(secret)) {
				t.Errorf("%q was exported", secret)
			}
		}
	})
	t.Run("resource", func(t *testing.T) {
		if c.resource["service.name"] != "heliograph" || c.resource["service.version"] != "test" {
			t.Error(c.resource)
		}
	})
	t.Run("log", func(t *testing.T) {
		root := c.named(t, "GET /api/v1/accounts/{idOrAliasOrEvmAddress}")
		for line := range strings.Lines(log.String()) {
			if strings.Contains(line, `"path":"/api/v1/accounts/0.0.1001"`) {
				if !strings.Contains(line, `"trace_id":"`+parentTrace+`","span_id":"`+hex.EncodeToString(root.SpanId)+
					`"`) {
					t.Error(line)
				}
				return
			}
		}
		t.Errorf("the request is not logged: %s", log.String())
	})
}

// TestTraceRatio checks that the sampling decision of the client overrides the ratio.
func TestTraceRatio(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	traces := traceTo(t, c.URL, 0, slog.New(slog.DiscardHandler))
	g, end := traced(t, traces)
	g.Get(t, "/api/v1/blocks?limit=1")
	g.Do(t, http.MethodGet, "/api/v1/blocks?limit=1", "", unsampled)
	g.Do(t, http.MethodGet, "/api/v1/accounts?limit=1", "", sampled) // the client has sampled the trace
	end()
	c.named(t, "GET /api/v1/accounts")
	if slices.ContainsFunc(c.spans, func(s *otlp.Span) bool { return strings.Contains(s.Name, "blocks") }) {
		t.Error("an unsampled request was traced")
	}
}

// TestTraceRatioZero checks that a ratio of 0 exports nothing without a sampled parent.
func TestTraceRatioZero(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	traces := traceTo(t, c.URL, 0, slog.New(slog.DiscardHandler))
	g, end := traced(t, traces)
	g.Get(t, "/api/v1/blocks?limit=1")
	g.Query(t, `query Head { blocks(first: 1) { nodes { number } } }`, nil)
	end()
	if c.requests != 0 {
		t.Errorf("%d requests", c.requests)
	}
}

// TestTracesOff checks that requests have no spans if no collector is configured, even with a sampled parent.
func TestTracesOff(t *testing.T) {
	t.Parallel()
	if traces := traceTo(t, "", 1, slog.New(slog.DiscardHandler)); traces != nil {
		t.Fatal("tracing is on without a collector")
	}
	var log lockedBuffer
	g := testenv.Demo(t, func(o *testenv.Options) { o.Logger = slog.New(slog.NewJSONHandler(&log, nil)) })
	if got := g.Do(t, http.MethodGet, "/api/v1/blocks?limit=1", "", sampled); got.Status != http.StatusOK {
		t.Error(got)
	}
	if strings.Contains(log.String(), "trace_id") || strings.Contains(metricsOf(t, g), "heliograph_trace") {
		t.Error("tracing is on")
	}
}

// metricsOf returns the metrics of the gateway.
func metricsOf(t *testing.T, g *testenv.Gateway) string {
	t.Helper()
	w := httptest.NewRecorder()
	g.Admin().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/metrics",
		http.NoBody))
	return w.Body.String()
}

// TestCollectorDown checks that an unavailable or failing collector does not affect requests, and that lost spans are
// counted.
func TestCollectorDown(t *testing.T) {
	t.Parallel()
	failing := newCollector(t)
	failing.status = http.StatusBadRequest
	unavailable := httptest.NewServer(http.NotFoundHandler())
	unavailable.Close()
	for name, endpoint := range map[string]string{"unavailable": unavailable.URL, "failing": failing.URL} {
		t.Run(name, func(t *testing.T) {
			var log lockedBuffer
			logger := slog.New(slog.NewJSONHandler(&log, nil))
			traces := traceTo(t, endpoint, 1, logger)
			g, end := traced(t, traces, func(o *testenv.Options) { o.Logger = logger })
			for range 3 {
				if got := g.Get(t, "/api/v1/blocks?limit=1"); got.Status != http.StatusOK {
					t.Error(got)
				}
			}
			start := time.Now()
			end()
			if took := time.Since(start); took > 8*time.Second {
				t.Errorf("the shutdown took %s", took)
			}
			lost := traces.Stats().Failed
			if text := metricsOf(t, g); lost < 9 ||
				strings.Contains(text, `heliograph_trace_spans_dropped_total{reason="failed"} 0`) ||
				!strings.Contains(text, "heliograph_trace_spans_sent_total 0\n") {
				t.Errorf("%d spans were lost; metrics: %s", lost, text)
			}
			if n := strings.Count(log.String(), "spans were lost"); n != 1 {
				t.Errorf("%d warnings: %s", n, log.String())
			}
		})
	}
}

// TestTracedSubscription checks that a stream has one span and its events have none.
func TestTracedSubscription(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	traces := traceTo(t, c.URL, 1, slog.New(slog.DiscardHandler))
	g, end := traced(t, traces)
	events := subscribe(t,
		g,
		`subscription Listen($topic: EntityID!, $from: Timestamp) { topicMessages(topic: $topic, from: $from) { `+
			`sequenceNumber payer { id } } }`, map[string]any{"topic": "0.0.4001", "from": "0"})
	await(t, events)
	g.Close()
	for e := range events {
		if e.name == "complete" {
			break
		}
	}
	end()
	root := c.named(t, "graphql Listen")
	wantAttributes(t, root, map[string]string{"graphql.operation.type": "subscription", "http.route": "/graphql"})
	if len(c.below(root)) > 0 {
		t.Error("a stream has spans of statements")
	}
}
