package compare_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"heliograph/app/compare"
	"heliograph/app/testing/testenv"
	"heliograph/rest"
	"heliograph/rest/requests"
	v1 "heliograph/rest/v1"
	"heliograph/storage/demo/demodb"
	"heliograph/storage/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// comparison returns the comparison of the gateways at two URLs with generated requests: all that follow pages, and a
// part of the others.
func comparison(t *testing.T, against, own string) *compare.Comparison {
	t.Helper()
	api, err := v1.NewOffline(&rest.Config{})
	if err != nil {
		t.Fatal(err)
	}
	c := &compare.Comparison{
		API: api, Most: 5000, Concurrency: 4,
		Waits: []time.Duration{100 * time.Millisecond, 300 * time.Millisecond, time.Second},
	}
	for at, url := range map[*compare.Service]string{&c.Against: against, &c.Own: own} {
		if *at, err = compare.NewService(url, nil, time.Minute, 4); err != nil {
			t.Fatal(err)
		}
	}
	all, err := requests.Generate(t.Context(), api, func(ctx context.Context, path string) (int, []byte, error) {
		got, err := c.Own(ctx, path)
		if err != nil {
			return 0, nil, err
		}
		return got.Status, got.Body, nil
	}, requests.Most)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range all {
		if r.Pages > 1 || i%8 == 0 {
			c.Requests = append(c.Requests, r)
		}
	}
	return c
}

// proxy returns the URL of a proxy that changes the bodies and the links of a gateway.
func proxy(t *testing.T, g *testenv.Gateway, change func(r *http.Request, text string) string) string {
	t.Helper()
	target, err := url.Parse(g.URL)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			// Traces and prestates are always compressed.
			if path := r.In.URL.Path; !strings.Contains(path, "/opcodes") && !strings.Contains(path, "/prestate") {
				r.Out.Header.Del("Accept-Encoding")
			}
		},
		Transport: &http.Transport{DisableCompression: true},
		ModifyResponse: func(r *http.Response) error {
			body, err := io.ReadAll(r.Body)
			changed := []byte(change(r.Request, string(body)))
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(changed)), int64(len(changed))
			r.Header.Set("Content-Length", strconv.Itoa(len(changed)))
			if link := r.Header.Get("Link"); link != "" {
				r.Header.Set("Link", change(r.Request, link))
			}
			return err
		},
	})
	t.Cleanup(server.Close)
	return server.URL
}

// TestPlantedDifferences checks that a comparison finds three differences and nothing else.
func TestPlantedDifferences(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t)
	var mu sync.Mutex
	var pages []string // the bounds of the second and the third page
	number := regexp.MustCompile(`"pending_reward":(\d+)`)
	memo := regexp.MustCompile(`"memo_base64":[^,]*,`)
	own := proxy(t, g, func(r *http.Request, text string) string {
		switch r.URL.Path {
		case "/api/v1/accounts": // a number is a string
			return number.ReplaceAllString(text, `"pending_reward":"$1"`)
		case "/api/v1/blocks": // a link repeats a row
			return strings.Replace(text, `block.number=lt:`, `block.number=lte:`, 1)
		case "/api/v1/transactions": // a member is missing from the third page
			if rest, ok := strings.CutPrefix(r.URL.RawQuery, "limit=2&timestamp=lt:"); ok {
				bound, _, _ := strings.Cut(rest, "&")
				mu.Lock()
				defer mu.Unlock()
				if !slices.Contains(pages, bound) {
					pages = append(pages, bound)
				}
				if len(pages) > 1 && pages[1] == bound {
					return memo.ReplaceAllString(text, "")
				}
			}
		}
		return text
	})
	c := comparison(t, g.URL, own)
	c.Waits = nil
	report, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[compare.Cause]bool{}
	for _, cause := range report.Causes() {
		got[cause] = true
	}
	if want := map[compare.Cause]bool{
		{Kind: compare.TypeChanged, Where: "accounts[].pending_reward", Before: "number", After: "string"}: true,
		{Kind: compare.MemberMissing, Where: "transactions[].memo_base64"}:                                 true,
		{Kind: compare.LinkChanged, Where: "links.next"}:                                                   true,
	}; !reflect.DeepEqual(got, want) {
		var b strings.Builder
		_, _ = report.WriteTo(&b) // a builder does not fail
		t.Errorf("causes\n%s\nwant %+v", b.String(), want)
	}
	if report.Requests < 500 {
		t.Errorf("only %d requests", report.Requests)
	}
}

// TestEqualWhileWriting checks that a comparison finds nothing between two gateways while blocks are written to their
// database.
func TestEqualWhileWriting(t *testing.T) {
	t.Parallel()
	url := testenv.Filled.Fresh(t)
	start := time.Now()
	clock := func(o *testenv.Options) {
		o.REST.Now = func() time.Time { return testenv.Now().Add(time.Since(start)) }
	}
	a, b := testenv.Over(t, url, clock), testenv.Over(t, url, clock, testenv.Cached)
	ctx, stop := context.WithCancel(t.Context())
	var writer sync.WaitGroup
	writer.Go(func() {
		if err := demodb.KeepAlive(ctx, url, func() time.Time {
			return testenv.Now().Add(time.Since(start))
		}, slog.New(slog.DiscardHandler)); err != nil {
			t.Error(err)
		}
	})
	newest := func() string { return a.Get(t, "/api/v1/blocks?limit=1").Body }
	first := newest()
	for newest() == first && t.Context().Err() == nil {
		time.Sleep(50 * time.Millisecond)
	}
	before := newest()
	c := comparison(t, a.URL, b.URL)
	for runs := 0; runs == 0 || newest() == before; runs++ { // a block is written every two seconds
		report, err := c.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if causes := report.Causes(); len(causes) > 0 {
			var b strings.Builder
			_, _ = report.WriteTo(&b) // a builder does not fail
			t.Errorf("%d causes in %d requests, %d repeated, %d newer:\n%s", len(causes), report.Requests,
				report.Repeated, report.Newer, b.String())
		}
		t.Logf("%d requests, %d repeated, %d newer", report.Requests, report.Repeated, report.Newer)
	}
	stop()
	writer.Wait()
}

// TestNewerRows checks that rows which only one service has are not reported, and that other differences of the same
// lists are.
func TestNewerRows(t *testing.T) {
	t.Parallel()
	service := func(rows ...string) compare.Service {
		return func(_ context.Context, path string) (*compare.Response, error) {
			u, err := url.Parse(path)
			if err != nil {
				return nil, err
			}
			var items []string
			for _, row := range rows {
				at, _, _ := strings.Cut(row, " ")
				if until, bounded := strings.CutPrefix(u.Query().Get("timestamp"), "lte:"); !bounded || at <= until {
					items = append(items, `{"consensus_timestamp":"`+at+`","name":"`+row+`"}`)
				}
			}
			if u.Query().Get("limit") == "1" {
				items = items[:1]
			}
			return &compare.Response{
				Status: http.StatusOK,
				Body:   []byte(`{"transactions":[` + strings.Join(items, ",") + `]}`),
			}, nil
		}
	}
	api, err := v1.NewOffline(&rest.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for row, want := range map[string]int{"1.000000001 a": 0, "1.000000001 b": 1} {
		c := compare.Comparison{
			Against: service("1.000000002 new", "1.000000001 a"), Own: service(row), API: api, Most: 10,
			Concurrency: 1,
			Requests:    []requests.Request{{Path: "/api/v1/transactions", Pages: 1}},
		}
		report, err := c.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Causes()) != want || report.Newer != 1-want {
			t.Errorf("%s: causes %v, %d newer", row, report.Causes(), report.Newer)
		}
	}
}

// TestServiceFails checks the errors of services.
func TestServiceFails(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "mirror.example.com", "ftp://mirror.example.com", "http://", "http://a?b"} {
		if _, err := compare.NewService(text, nil, time.Second, 1); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "secret" {
			w.WriteHeader(http.StatusUnauthorized)
		}
		if r.URL.Path == "/x/api/v1/moved" {
			http.Redirect(w, r, "/", http.StatusFound)
		}
		if r.URL.Path == "/x/api/v1/long" {
			_, _ = io.CopyN(w, zeros{}, 65<<20)
		}
	}))
	defer server.Close()
	s, err := compare.NewService(server.URL+"/x/api/v1/", map[string]string{"Authorization": "secret"}, time.Minute, 1)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{"/api/v1/a": http.StatusOK, "/api/v1/moved": http.StatusFound} {
		if got, err := s(t.Context(), path); err != nil || got.Status != want {
			t.Errorf("%s: %+v, %v", path, got, err)
		}
	}
	if _, err := s(t.Context(), "/api/v1/long"); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("a long response: %v", err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// TestReadLog reads lines of access logs in the layouts of common servers. Lines whose query string cannot be read
// are refused: a request without its query string is another request.
func TestReadLog(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`10.0.0.1 - - [26/Nov/2026:14:00:00 +0000] "GET /api/v1/blocks?limit=1 HTTP/1.1" 200 17`: "/api/v1/" +
			"blocks?limit=1",
		`10.0.0.1 - - [26/Nov/2026:14:00:00 +0000] "POST /api/v1/contracts/call HTTP/1.1" 200 17`: "",
		`{"method":"GET","path":"/api/v1/blocks","query":"limit=1"}`: "/api/v1/" +
			"blocks?limit=1",
		`{"method":"GET","path":"/api/v1/blocks","query":{"limit":"1"}}`: "/api/v1/" +
			"blocks?limit=1",
		`{"method":"GET","path":"/api/v1/blocks","query":{"limit":1,"order":["asc","desc"],"x":true}}`: "/api/v1/" +
			"blocks?limit=1&order=asc&order=desc&x=true",
		`{"method":"GET","path":"/api/v1/blocks","query":{}}`: "/api/v1/" +
			"blocks",
		`{"method":"GET","path":"/api/v1/blocks","query":null}`: "/api/v1/" +
			"blocks",
		`{"method":"GET","path":"/api/v1/blocks","query":{"limit":{"a":1}}}`: "",
		`{"method":"GET","path":"/api/v1/blocks","query":[1]}`:               "",
		`{"method":"GET","path":"/api/v1/blocks?limit=2","query":{"limit":"1"}}`: "/api/v1/" +
			"blocks?limit=2",
		`{"path":"/api/v1/blocks","query_string":"?limit=1"}`: "/api/v1/" +
			"blocks?limit=1",
		`{"request":"GET /api/v1/blocks?limit=1 HTTP/1.1"}`: "/api/v1/" +
			"blocks?limit=1",
		`{"request":{"method":"GET","uri":"/api/v1/blocks?limit=1"}}`: "/api/v1/" +
			"blocks?limit=1",
		`{"request":{"method":"POST","uri":"/api/v1/blocks"}}`: "",
		`{"url":{"path":"/api/v1/blocks","query":"limit=1"},"http":{"request":{"method":"GET"}}}`: "/api/v1/" +
			"blocks?limit=1",
		`{"url":{"path":"/api/v1/blocks"},"http":{"request":{"method":"DELETE"}}}`: "",
		`{"query":{"limit":"1"}}`: "",
		`{`:                       "",
		``:                        "",
	} {
		found, err := compare.ReadLog(strings.NewReader(line+"\n"), "/api/v1", 10)
		if err != nil || len(found) > 1 || (len(found) == 1) != (want != "") || want != "" && found[0].Path != want {
			t.Errorf("%s: %v, %v, want %s", line, found, err, want)
		}
	}
}

// TestLongPath checks that no line of a report is longer than a screen, whatever the path of the request is.
func TestLongPath(t *testing.T) {
	t.Parallel()
	answer := func(text string) compare.Service {
		return func(context.Context, string) (*compare.Response, error) {
			return &compare.Response{
				Status: http.StatusOK,
				Header: http.Header{"Content-Type": {text + strings.Repeat("y", 3000)}},
				Body:   []byte(`{"` + strings.Repeat("m", 3000) + `":"` + text + `"}`),
			}, nil
		}
	}
	api, err := v1.NewOffline(&rest.Config{LimitDefault: 25, LimitMax: 100, MaxRepeats: 100})
	if err != nil {
		t.Fatal(err)
	}
	c := compare.Comparison{
		Against: answer("a"), Own: answer("b"), API: api, Most: 1, Concurrency: 1,
		Requests: []requests.Request{{Path: "/api/v1/blocks?limit=" + strings.Repeat("1", 70_000), Pages: 1}},
	}
	report, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if _, err := report.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if len(line) > 500 {
			t.Errorf("a line of %d bytes: %.80s", len(line), line)
		}
	}
	if !strings.Contains(b.String(), "/api/v1/blocks?limit=111") {
		t.Errorf("%.300s", b.String())
	}
}
