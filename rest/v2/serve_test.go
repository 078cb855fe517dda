package v2_test

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"heliograph/app/testing/testenv"
	"heliograph/internal/domain/status"
	"heliograph/storage/pgtest"
	"heliograph/storage/statuspages"
)

const (
	summaryPath = "/api/v2/summary.json"
	page        = "h4d7q2m9x1tz"
	component   = "p6v2s9l4c8dk"
)

// set writes the state of a component to the example page.
func set(t *testing.T, db *statuspages.DB, at time.Time, state status.ComponentStatus) {
	t.Helper()
	err := db.Write(t.Context(), page, at, nil, func(ctx context.Context, tx *statuspages.Tx) error {
		_, err := tx.Exec(ctx,
			`update status.component set base_status = $2::text::status.component_status where id = $1`, component,
			string(state))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, testenv.Empty.Fresh(t), withCache())
	importExample(t, g.Status, status.Documented)
	waitFor(t, 15*time.Second, "the page is there", func() bool { return g.Get(t, summaryPath).Status == 200 })
	for _, name := range status.Documents() {
		path := "/api/v2/" + name
		got := g.Get(t, path+"?unknown=1&limit=x")
		for header, want := range map[string]string{
			"Content-Type": "application/json; charset=utf-8", "Vary": "Accept,Accept-Encoding",
			"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "ETag",
			"X-Content-Type-Options": "nosniff",
			"Cache-Control": "max-age=10, public, s-maxage=10, stale-while-revalidate=20, " +
				"stale-if-error=3600", "Last-Modified": "", "Content-Encoding": "",
		} {
			if got.Header.Get(header) != want {
				t.Errorf("%s: %s is %q", path, header, got.Header.Get(header))
			}
		}
		etag := got.Header.Get("ETag")
		if got.Status != 200 || len(etag) != len(`W/""`)+32 || !strings.HasPrefix(etag, `W/"`) ||
			got.Header.Get("X-Request-Id") == "" || strings.HasSuffix(got.Body, "\n") {
			t.Errorf("%s: %d, tag %s", path, got.Status, etag)
		}
		head := g.Do(t, http.MethodHead, path, "")
		if head.Status != 200 || head.Body != "" {
			t.Errorf("HEAD %s: %d %q", path, head.Status, head.Body)
		}
		for _, header := range []string{
			"Etag", "Content-Length", "Content-Type", "Cache-Control",
			"Vary", "Access-Control-Allow-Origin",
		} {
			if head.Header.Get(header) != got.Header.Get(header) || head.Header.Get(header) == "" {
				t.Errorf("HEAD %s: %s is %q, of GET %q", path, header, head.Header.Get(header), got.Header.Get(header))
			}
		}
		for _, tags := range []string{
			etag, strings.TrimPrefix(etag, "W/"), `"x", ` + etag, "*",
			`W/"y",` + etag + `,"z"`,
		} {
			same := g.Do(t, http.MethodGet, path, "", "If-None-Match: "+tags)
			if same.Status != http.StatusNotModified || same.Body != "" || same.Header.Get("ETag") != etag ||
				same.Header.Get("Access-Control-Allow-Origin") != "*" ||
				same.Header.Get("Cache-Control") == "" || same.Header.Get("Content-Type") != "" {
				t.Errorf("%s with %s: %d %v", path, tags, same.Status, same.Header)
			}
		}
		if other := g.Do(t, http.MethodGet, path, "",
			`If-None-Match: "x", W/"`+strings.Repeat("0", 32)+`"`); other.Status != 200 || other.Body != got.Body {
			t.Errorf("%s with other tags: %d", path, other.Status)
		}
		if again := g.Get(t, path); again.Body != got.Body || again.Header.Get("ETag") != etag {
			t.Errorf("%s changes by itself", path)
		}
		zipped := g.Do(t, http.MethodGet, path, "", "Accept-Encoding: br;q=1.0, gzip;q=0.8")
		if zipped.Header.Get("Content-Encoding") == "gzip" {
			r, err := gzip.NewReader(strings.NewReader(zipped.Body))
			if err != nil {
				t.Fatal(err)
			}
			if plain, err := io.ReadAll(r); err != nil || string(plain) != got.Body {
				t.Errorf("%s unzips to %s, error %v", path, plain, err)
			}
		} else if len(got.Body) > 512 || zipped.Body != got.Body {
			t.Errorf("%s is not zipped", path)
		}
		if plain := g.Do(t, http.MethodGet, path, "", "Accept-Encoding: gzip;q=0"); plain.Body != got.Body {
			t.Errorf("%s is compressed although the client refuses gzip", path)
		}
		if options := g.Do(t, http.MethodOptions, path,
			"", "Access-Control-Request-Headers: If-None-Match"); options.Status != http.StatusNoContent ||
			options.Header.Get("Access-Control-Allow-Methods") != "GET, HEAD, OPTIONS" ||
			options.Header.Get("Access-Control-Allow-Headers") != "If-None-Match" {
			t.Errorf("OPTIONS %s: %d %v", path, options.Status, options.Header)
		}
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch} {
			if refused := g.Do(t, method, path, "x"); refused.Status != http.StatusMethodNotAllowed ||
				refused.Header.Get("Allow") != "GET, HEAD, OPTIONS" || refused.Body != "" {
				t.Errorf("%s %s: %d %q", method, path, refused.Status, refused.Body)
			}
		}
	}
	for _, path := range []string{
		"/api/v2", "/api/v2/", "/api/v2/summary", "/api/v2/summary.json/",
		"/api/v2/incidents/x.json", "/api/v2/Summary.json", "/api/v2/nothing",
	} {
		got := g.Get(t, path)
		if got.Status != http.StatusNotFound || got.Body != "" || got.Header.Values("Content-Type") != nil ||
			got.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %d %q %v", path, got.Status, got.Body, got.Header)
		}
	}
}

// TestNoPage checks the 404 without a page or without status tables, and that the graph returns null.
func TestNoPage(t *testing.T) {
	t.Parallel()
	without := testenv.Empty.Fresh(t)
	testenv.Exec(t, without, "drop schema status cascade")
	for _, g := range []*testenv.Gateway{
		testenv.Over(t, testenv.Empty.Fresh(t)), testenv.Over(t, testenv.Empty.Fresh(t), withCache()),
		testenv.Over(t, without), testenv.Over(t, without, withCache()),
	} {
		for _, name := range status.Documents() {
			if got := g.Get(t, "/api/v2/"+name); got.Status != http.StatusNotFound || got.Body != "" {
				t.Errorf("%s: %d %q", name, got.Status, got.Body)
			}
		}
		got := g.Query(t,
			`{ status { name } statusPage(slug: "x") { name } statusIncident(code: "x") { name } node(id: `+
				`"U3RhdHVzSW5jaWRlbnQ6eA") { id } }`, nil)
		if got.Body != `{"data":{"status":null,"statusPage":null,"statusIncident":null,"node":null}}` {
			t.Errorf("GraphQL returns %s", got.Body)
		}
	}
}

// TestHosts checks that each page is served at its own hosts, and the default page at all others.
func TestHosts(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, testenv.Empty.Fresh(t))
	importExample(t, g.Status, status.Documented)
	for _, p := range []*status.Page{
		{
			Code: "second", Slug: "second", Name: "Second", URL: "https://Status.second.example:8443/path",
			TimeZone: "Europe/London",
		},
		{
			Code: "third", Slug: "third", Name: "Third", URL: "https://third.example", Hosts: []string{"also.example"},
			TimeZone: "Asia/Kolkata",
		},
	} {
		edit := statuspages.NewEditor(g.Status, lastWrite)
		if _, err := edit.InitPage(t.Context(), statuspages.Author{},
			*p, "Only"); err != nil {
			t.Fatal(err)
		}
	}
	for host, want := range map[string]string{
		"status.ledgerlight.example": "Ledgerlight Network", "anything": "Ledgerlight Network",
		"status.SECOND.example": "Second", "status.second.example:1234": "Second",
		"third.example.": "Third", "also.example": "Third", "": "Ledgerlight Network",
	} {
		r := httptest.NewRequest(http.MethodGet, "/api/v2/status.json", http.NoBody)
		r.Host = host
		w := httptest.NewRecorder()
		g.Public().ServeHTTP(w, r)
		if !strings.Contains(w.Body.String(), `"name":"`+want+`"`) {
			t.Errorf("%q: %s", host, w.Body)
		}
	}
	third := g.Query(t,
		`{ statusPage(slug: "third") { name isDefault updatedAt rollup { indicator description } components { nodes `+
			`{ name } } } }`, nil).Body
	if third != `{"data":{"statusPage":{"name":"Third","isDefault":false,"updatedAt":"2026-03-12T09:42:10.118Z",`+
		`"rollup":{"indicator":"NONE","description":"All Systems Operational"},`+
		`"components":{"nodes":[{"name":"Only"}]}}}}` {
		t.Errorf("the third page is %s", third)
	}
}

// TestTwoGateways checks that a write appears in all documents of two gateways, which the database notifies.
func TestTwoGateways(t *testing.T) {
	t.Parallel()
	url := testenv.Empty.Fresh(t)
	first, second := testenv.Over(t, url, withCache()), testenv.Over(t, url, withCache())
	importExample(t, first.Status, status.Documented)
	for _, g := range []*testenv.Gateway{first, second} {
		waitFor(t, 15*time.Second, "the page is there", func() bool { return g.Get(t, summaryPath).Status == 200 })
	}
	at := lastWrite()
	for _, state := range []status.ComponentStatus{status.MajorOutage, status.Operational, status.PartialOutage} {
		at = at.Add(time.Minute)
		set(t, second.Status, at, state)
		stamp := at.Format("2006-01-02T15:04:05.000Z")
		for _, g := range []*testenv.Gateway{first, second} {
			waitForWrite(t, "all documents show the write", func() bool {
				for _, name := range status.Documents() {
					if !strings.Contains(g.Get(t, "/api/v2/"+name).Body, stamp) {
						return false
					}
				}
				return strings.Contains(g.Get(t, summaryPath).Body, string(state))
			})
		}
	}
}

// TestFailedWrites checks that a write that fails or is interrupted is rolled back and never visible.
func TestFailedWrites(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, testenv.Empty.Fresh(t))
	importExample(t, g.Status, status.Documented)
	before := g.Get(t, summaryPath).Body
	failed := errors.New("it failed")
	for name, end := range map[string]func(context.Context, *statuspages.Tx) error{
		"an error": func(context.Context, *statuspages.Tx) error { return failed },
		"nothing":  func(context.Context, *statuspages.Tx) error { return statuspages.ErrUnchanged },
		"a bad row": func(ctx context.Context, tx *statuspages.Tx) error {
			_, err := tx.Exec(ctx, `update status.page set vocabulary = 'x'`)
			return err
		},
		"a dead end": func(ctx context.Context, tx *statuspages.Tx) error {
			_, err := tx.Exec(ctx, `select pg_terminate_backend(pg_backend_pid())`)
			return err
		},
	} {
		err := g.Status.Write(t.Context(), page, lastWrite().Add(time.Hour), nil,
			func(ctx context.Context, tx *statuspages.Tx) error {
				if _, err := tx.Exec(ctx,
					`update status.component set base_status = 'major_outage' where not is_group`); err != nil {
					return err
				}
				return end(ctx, tx)
			})
		if (err == nil) != (name == "nothing") {
			t.Errorf("%s: %v", name, err)
		}
		if got := g.Get(t, summaryPath).Body; got != before {
			t.Errorf("%s: %s", name, got)
		}
	}
	if err := g.Status.Write(t.Context(), "nobody", lastWrite(), nil, func(context.Context, *statuspages.Tx) error {
		return nil
	}); !errors.Is(err, statuspages.ErrNoPage) {
		t.Errorf("writing to no page: %v", err)
	}
}

// TestDatabaseUnavailable checks that the last documents are served for an hour without a database, then 503 is
// returned, and current documents are served when it is back.
func TestDatabaseUnavailable(t *testing.T) {
	t.Parallel()
	url := testenv.Empty.Fresh(t)
	var late atomic.Int64
	clock := func(o *testenv.Options) {
		o.REST.Now = func() time.Time { return testenv.Now().Add(time.Duration(late.Load())) }
	}
	g := testenv.Over(t, url, withCache(), clock)
	importExample(t, g.Status, status.Documented)
	waitFor(t, 15*time.Second, "the page is there", func() bool { return g.Get(t, summaryPath).Status == 200 })
	before := g.Get(t, summaryPath)
	metric := func(name string) bool {
		w := httptest.NewRecorder()
		g.Admin().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/metrics", http.NoBody))
		return strings.Contains(w.Body.String(), "\n"+name+"\n")
	}
	if !metric("heliograph_status_stale_seconds 0") || !metric("heliograph_status_pages 1") {
		t.Error("the metrics do not report a healthy state")
	}

	pgtest.Allow(t, url, false)
	late.Store(int64(59 * time.Minute))
	waitFor(t, time.Minute, "a refresh fails", func() bool { return metric("heliograph_status_stale_seconds 3540") })
	if got := g.Get(t, summaryPath); got.Status != 200 || got.Body != before.Body ||
		metric("heliograph_status_failures_total 0") {
		t.Errorf("without a database: %d %s", got.Status, got.Body)
	}
	late.Store(int64(61 * time.Minute))
	if got := g.Get(t, summaryPath); got.Status != http.StatusServiceUnavailable || got.Body != "" ||
		got.Header.Get("Retry-After") == "" {
		t.Errorf("after an hour: %d %s", got.Status, got.Body)
	}
	off := testenv.Now()
	pgtest.Allow(t, url, true)
	waitFor(t, time.Minute, "the page is back", func() bool { return g.Get(t, summaryPath).Status == 200 })
	set(t, g.Status, off, status.MajorOutage)
	waitForWrite(t, "a write is seen", func() bool { return g.Get(t, summaryPath).Body != before.Body })
}

// TestExplain checks the operation of a document's path.
func TestExplain(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, testenv.Empty.Fresh(t))
	importExample(t, g.Status, status.Documented)
	for _, name := range status.Documents() {
		x, err := g.Explain(t.Context(), "/api/v2/"+name, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := g.Query(t, x.Query, map[string]any{"page": "ledgerlight"})
		if strings.Contains(got.Body, `"errors"`) || !strings.Contains(got.Body, `"Ledgerlight Network"`) {
			t.Errorf("%s: %s", name, got.Body)
		}
	}
	if got := g.Get(t, "/graphql/explain?path=/api/v2/nothing.json"); got.Status != http.StatusNotFound {
		t.Errorf("unknown path: %d %s", got.Status, got.Body)
	}
}
