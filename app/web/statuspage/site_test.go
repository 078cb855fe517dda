package statuspage_test

import (
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"heliograph/app/testing/testenv"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/storage/demo"
	"heliograph/storage/pgtest"
)

var update = flag.Bool("update", false, "write the files in testdata/golden anew")

// TestFront checks the contents of the page of the demo network.
func TestFront(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t, testenv.Cached)
	got := g.Get(t, "/")
	if got.Status != http.StatusOK {
		t.Fatalf("status %d: %s", got.Status, got.Body)
	}
	texts := func(name, class string) (out []string) {
		for _, e := range elements(t, got.Body, ofClass(name, class)) {
			out = append(out, e.text)
		}
		return out
	}
	for _, c := range []struct {
		what, name, class string
		want              []string
	}{
		{"headline", "h1", "", []string{"Major System Outage"}},
		{"sections", "h2", "", []string{
			"Open incidents", "Maintenance in progress", "Components",
			"Upcoming maintenance", "Past two weeks", "Subscribe", "Build on it",
		}},
		{"groups", "summary", "", []string{
			"Consensus nodes6 of 7 operationalDegraded performance",
			"Gateway3 of 3 operationalOperational", "Around town2 of 2 operationalOperational",
		}},
		{"state of the page", "title", "", []string{"Lantern Bay status"}},
	} {
		list := texts(c.name, c.class)
		if c.what == "state of the page" {
			list = list[:1] // the bars have titles too
		}
		if !slices.Equal(list, c.want) {
			t.Errorf("%s: got %q, want %q", c.what, list, c.want)
		}
	}
	cards := elements(t, got.Body, ofClass("article", "card"))
	var open []string
	for _, e := range cards {
		open = append(open, e.attributes["data-key"])
	}
	if len(open) != 7 {
		t.Errorf("%d open or scheduled notices", len(open))
	}
	if days := elements(t, got.Body, ofClass("section", "day")); len(days) != 7 ||
		days[0].text != "11 May –to 17 May 2026 Nothing to report." {
		t.Errorf("%d days, the first: %s", len(days), days[0].text)
	}
	for _, e := range elements(t, got.Body, ofClass("svg", "bars")) {
		if e.attributes["role"] != "img" || !strings.Contains(e.attributes["aria-label"], "% uptime over 90 days") ||
			strings.Count(e.text, "% up") != 90 {
			t.Errorf("bars %v: %s", e.attributes, e.text)
		}
	}
	if strings.Contains(got.Body, "Not yet told") {
		t.Error("a draft is visible")
	}
	for _, e := range elements(t, got.Body, func(e *element) bool { return e.Data == "a" }) {
		if to := e.attributes["href"]; strings.HasPrefix(to, "/") {
			if answer := g.Get(t, to); answer.Status != http.StatusOK {
				t.Errorf("link %s: status %d", to, answer.Status)
			}
		}
	}
	if live := elements(t, got.Body,
		func(e *element) bool { return e.Data == "main" })[0].attributes["data-live"]; !strings.HasPrefix(live,
		"/graphql?query=") {
		t.Errorf("event stream %q", live)
	}
}

// TestPolicies checks that no page contains inline scripts, inline styles or external resources, and that the headers
// forbid them.
func TestPolicies(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t, testenv.Cached)
	incident := g.NewestIncident(t)
	for path, frames := range map[string]string{
		"/": "'none'", "/history": "'none'",
		"/incidents/" + incident: "'none'",
		"/incidents/none":        "'none'", "/embed/frame": "*",
	} {
		got := g.Get(t, path)
		policy := got.Header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'; script-src 'self'; style-src 'self';") ||
			!strings.HasSuffix(policy, "frame-ancestors "+frames) {
			t.Errorf("%s: %s", path, policy)
		}
		if kind := got.Header.Get("Content-Type"); kind != "text/html; charset=utf-8" ||
			got.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: type %s", path, kind)
		}
		for _, e := range elements(t, got.Body, func(*element) bool { return true }) {
			if e.Data == "script" && (e.attributes["src"] == "" || e.text != "") || e.Data == "style" {
				t.Errorf("%s contains %s: %s", path, e.Data, e.text)
			}
			for name, value := range e.attributes {
				own := strings.HasPrefix(value, "/") || strings.HasPrefix(value, "#")
				if name == "style" || strings.HasPrefix(name, "on") ||
					(name == "src" || name == "href" && e.Data == "link") && !own {
					t.Errorf("%s: <%s %s=%q>", path, e.Data, name, value)
				}
				if (name == "src" || e.Data == "link" && strings.HasPrefix(value, "/page-assets/")) && own {
					if file := g.Get(t, value); file.Status != http.StatusOK ||
						file.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" {
						t.Errorf("%s: status %d, %s", value, file.Status, file.Header.Get("Cache-Control"))
					}
				}
			}
		}
	}
}

// TestHeaders checks conditional requests, compression, methods and cache headers of all resources.
func TestHeaders(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t, testenv.Cached)
	g.WaitForPage(t)
	for path, kind := range map[string]string{
		"/": "text/html; charset=utf-8", "/history": "text/html; charset=utf-8",
		"/history?month=2026-03":            "text/html; charset=utf-8",
		"/incidents/" + g.NewestIncident(t): "text/html; charset=utf-8",
		"/history.atom":                     "application/atom+xml; charset=utf-8",
		"/history.rss":                      "application/rss+xml; charset=utf-8",
		"/badge.svg":                        "image/svg+xml", "/embed/frame": "text/html; charset=utf-8",
		"/embed.js": "text/javascript; charset=utf-8",
	} {
		got := g.Get(t, path)
		if got.Status != http.StatusOK || got.Header.Get("Content-Type") != kind {
			t.Errorf("%s: status %d, type %s", path, got.Status, got.Header.Get("Content-Type"))
			continue
		}
		if cache := got.Header.Get("Cache-Control"); !strings.Contains(cache, "max-age=") ||
			!strings.Contains(cache, "public") {
			t.Errorf("%s: Cache-Control %s", path, cache)
		}
		tag := got.Header.Get("ETag")
		if again := g.Do(t, http.MethodGet, path, "", "If-None-Match: "+tag); tag == "" ||
			again.Status != http.StatusNotModified || again.Body != "" || again.Header.Get("Cache-Control") == "" {
			t.Errorf("%s, If-None-Match %s: status %d", path, tag, again.Status)
		}
		if head := g.Do(t, http.MethodHead, path, ""); head.Status != http.StatusOK || head.Body != "" ||
			head.Header.Get("ETag") != tag {
			t.Errorf("HEAD %s: status %d, %q", path, head.Status, head.Body)
		}
		if post := g.Do(t, http.MethodPost, path, "x"); post.Status != http.StatusMethodNotAllowed ||
			post.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("POST %s: status %d, allowed %s", path, post.Status, post.Header.Get("Allow"))
		}
		if len(got.Body) > 600 {
			if packed := g.Do(t, http.MethodGet, path, "",
				"Accept-Encoding: gzip"); packed.Header.Get("Content-Encoding") != "gzip" ||
				len(packed.Body) >= len(got.Body) {
				t.Errorf("%s with gzip: %d of %d bytes", path, len(packed.Body), len(got.Body))
			}
		}
		if open := got.Header.Get("Access-Control-Allow-Origin"); strings.HasSuffix(path, ".svg") && open != "*" {
			t.Errorf("%s: Access-Control-Allow-Origin %q", path, open)
		}
	}
	for path, kind := range map[string]string{
		"/incidents/": "text/html", "/incidents/nothing": "text/html", "/incidents/a/b": "text/html",
		"/incidents/%00": "text/html", "/incidents/%FF%FE": "text/html",
		"/incidents/" + strings.Repeat("x", 65): "text/html", "/history?month=2026-13": "text/html",
		"/history?month=2031-01": "text/html", "/history?month=x": "text/html",
		"/badge.svg?component=nothing": "text/plain", "/page-assets/nothing.js": "text/html",
	} {
		if got := g.Get(t, path); got.Status != http.StatusNotFound ||
			!strings.HasPrefix(got.Header.Get("Content-Type"), kind) || got.Header.Get("Cache-Control") == "public" {
			t.Errorf("%s: status %d, type %s", path, got.Status, got.Header.Get("Content-Type"))
		}
	}
}

// TestGolden compares the rendered page of the demo network with golden files.
func TestGolden(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t, testenv.Cached)
	g.WaitForPage(t)
	code := regexp.MustCompile(`/incidents/([0-9a-z]{12})`)
	past := code.FindStringSubmatch(g.Get(t, "/history?month=2026-02").Body)
	maintenance := regexp.MustCompile(
		`data-key="([0-9a-z]{12})">\s*<div class="card-head">\s*<h3><a href="[^"]*">Repairs at`).FindStringSubmatch(
		g.Get(t, "/").Body)
	if past == nil || maintenance == nil {
		t.Fatal("the page of the demo network has no such notices")
	}
	hashes := regexp.MustCompile(`-[0-9a-f]{10}\.(css|js|svg)`)
	for name, path := range map[string]string{
		"incident.html": "/incidents/" + past[1], "maintenance.html": "/incidents/" + maintenance[1],
		"history.html": "/history?month=2026-02", "frame.html": "/embed/frame",
		"badge.svg": "/badge.svg", "feed.atom": "/history.atom", "feed.rss": "/history.rss",
		"missing.html": "/incidents/nothing",
	} {
		got := hashes.ReplaceAllString(g.Get(t, path).Body, "-HASH.$1")
		file := filepath.Join("testdata", "golden", name)
		if *update {
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs from %s; update it with: go test ./app/web/statuspage -run Golden -update",
				path, file)
		}
	}
}

// TestHistory checks that each incident and maintenance of the page is on exactly one month page.
func TestHistory(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t, testenv.Cached)
	seen := map[string]int{}
	path, months := "/history", 0
	for path != "" {
		got := g.Get(t, path)
		months++
		for _, e := range elements(t, got.Body, ofClass("article", "past")) {
			seen[e.attributes["data-key"]]++
		}
		path = ""
		for _, e := range elements(t, got.Body, ofClass("a", "")) {
			if e.attributes["rel"] == "next" {
				path = e.attributes["href"]
			}
		}
	}
	var data struct {
		Status struct {
			Incidents, Maintenances struct{ Nodes []struct{ Code, Name string } }
		}
	}
	g.Data(t,
		`{ status { incidents(first: 100) { nodes { code name } } maintenances(first: 100, until: `+
			`"2026-06-01T00:00:00Z") { nodes { code name } } } }`, nil, &data)
	all := slices.Concat(data.Status.Incidents.Nodes, data.Status.Maintenances.Nodes)
	for _, n := range all {
		if seen[n.Code] != 1 {
			t.Errorf("%s %s is listed %d times", n.Code, n.Name, seen[n.Code])
		}
	}
	if len(seen) != len(all) || len(all) < 60 || months < 6 {
		t.Errorf("%d notices of %d in %d months", len(seen), len(all), months)
	}
}

// TestWrites checks that a write appears in all documents and that texts of editors are escaped.
func TestWrites(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, testenv.Filled.Fresh(t), testenv.Cached)
	g.WaitForPage(t)
	paths := []string{"/", "/history", "/history.atom", "/history.rss", "/embed/frame"}
	before := map[string]*testenv.Response{}
	for _, p := range paths {
		before[p] = g.Get(t, p)
	}
	edit := g.Editor()
	var data struct {
		Status struct {
			Components struct{ Nodes []struct{ Code string } }
		}
	}
	g.Data(t, `{ status { components(first: 1) { nodes { code } } } }`, nil, &data)
	down := []status.Assignment{{Component: data.Status.Components.Nodes[0].Code, Status: status.MajorOutage}}
	code, err := edit.OpenIncident(t.Context(), testenv.Author, demo.StatusPage, status.NewIncident{
		Name: `Blocks <img src=x onerror="alert(1)"> & more`,
		Body: "<script>alert(2)</script>Look at <b onclick=alert(3)>this</b> \u0007.", Affected: down,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		eventually(t, p+" shows it", func() bool {
			got := g.Get(t, p)
			return got.Status == http.StatusOK && got.Header.Get("ETag") != before[p].Header.Get("ETag") &&
				strings.Contains(got.Body, "Blocks &")
		})
		for _, bad := range []string{"<img", "<script>", "onclick"} {
			if body := g.Get(t, p).Body; strings.Contains(body, bad) {
				t.Errorf("%s contains %s", p, bad)
			}
		}
	}
	own := g.Get(t, "/incidents/"+code)
	if own.Status != http.StatusOK || !strings.Contains(own.Body, "Look at <b>this</b>") ||
		strings.Contains(own.Body, "alert(2)") {
		t.Errorf("incident page: status %d, %s", own.Status, own.Body)
	}
	if badge := g.Get(t, "/badge.svg").Body; !strings.Contains(badge, "Major System Outage") {
		t.Errorf("badge: %s", badge)
	}
	if _, err := edit.SetPage(t.Context(), testenv.Author, demo.StatusPage,
		[]status.PageSetting{{Key: "locale", Value: "de"}}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the language of what editors write", func() bool {
		body := g.Get(t, "/incidents/"+code).Body
		return strings.Contains(body, `<html lang="en">`) &&
			strings.Contains(body, `<h1 class="t-critical" lang="de">`) &&
			strings.Contains(body, `<div class="said" lang="de">`)
	})
	// Pages that are rendered on request are updated too.
	old := regexp.MustCompile(`/incidents/([0-9a-z]{12})`).FindStringSubmatch(
		g.Get(t, "/history?month=2026-02").Body)[1]
	g.Get(t, "/incidents/"+old)
	if _, err := edit.EditNotice(t.Context(), testenv.Author, old,
		status.NoticeEdit{Name: ledger.Of("Another name")}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the new name", func() bool {
		return strings.Contains(g.Get(t, "/incidents/"+old).Body,
			"Another name")
	})
	if _, err := edit.DeleteNotice(t.Context(), testenv.Author, old, status.VersionInput{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the deletion", func() bool { return g.Get(t, "/incidents/"+old).Status == http.StatusNotFound })
}

// TestVocabulary checks that the page, its badges and its documents have the same statuses in both vocabularies while
// a maintenance is in progress.
func TestVocabulary(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, testenv.Filled.Fresh(t))
	edit := g.Editor()
	for _, c := range []struct{ vocabulary, incidents, rollup, headline, maintained string }{
		{"documented", "open", "Partially Degraded Service", "Major System Outage", ""},
		{"statuspage", "open", "Partially Degraded Service", "Major System Outage", "Website, Rope Walk"},
		{"statuspage", "deleted", "Service Under Maintenance", "Service Under Maintenance", "Website, Rope Walk"},
		{"documented", "deleted", "All Systems Operational", "All Systems Operational", ""},
	} {
		if _, err := edit.SetPage(t.Context(), testenv.Author, demo.StatusPage,
			[]status.PageSetting{{Key: "vocabulary", Value: c.vocabulary}}); err != nil {
			t.Fatal(err)
		}
		var data struct {
			Components []struct {
				ID, Name, Status string
				Group            bool
				Hidden           bool `json:"only_show_if_degraded"`
			}
			Incidents []struct{ ID string }
			Status    struct{ Description string }
		}
		summary := func() {
			if err := json.Unmarshal([]byte(g.Get(t, "/api/v2/summary.json").Body), &data); err != nil {
				t.Fatal(err)
			}
		}
		for summary(); c.incidents == "deleted" && len(data.Incidents) > 0; summary() {
			_, err := edit.DeleteNotice(t.Context(), testenv.Author, data.Incidents[0].ID, status.VersionInput{})
			if err != nil {
				t.Fatal(err)
			}
		}
		page := g.Get(t, "/").Body
		if headline := elements(t, page, ofClass("h1", ""))[0].text; headline != c.headline ||
			data.Status.Description != c.rollup {
			t.Errorf("%+v: headline %q, documents %q", c, headline, data.Status.Description)
		}
		var maintained []string
		shown := elements(t, page, ofClass("div", "component"))
		for _, x := range data.Components {
			if x.Status == "under_maintenance" && !x.Group {
				maintained = append(maintained, x.Name)
			}
			state := strings.ToUpper(x.Status[:1]) + strings.ReplaceAll(x.Status[1:], "_", " ")
			there := func(e *element) bool {
				return strings.HasPrefix(e.text, x.Name) &&
					strings.Contains(e.text, state)
			}
			if !x.Group && !x.Hidden && !slices.ContainsFunc(shown, there) {
				t.Errorf("%+v: %s is not %s on the page", c, x.Name, state)
			}
			if x.Name != "Website" {
				continue
			}
			if badge := g.Get(t, "/badge.svg?component="+x.ID).Body; !strings.Contains(badge,
				`aria-label="`+x.Name+": "+state) {
				t.Errorf("%+v: %s is not %s in %s", c, x.Name, state, badge)
			}
		}
		if strings.Join(maintained, ", ") != c.maintained || !strings.Contains(page, "Maintenance in progress") {
			t.Errorf("%+v: under maintenance are %q", c, maintained)
		}
	}
}

// TestBadges checks the badges of all components.
func TestBadges(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t, testenv.Cached)
	g.WaitForPage(t)
	var data struct {
		Components []struct{ ID, Name, Status string }
	}
	if err := json.Unmarshal([]byte(g.Get(t, "/api/v2/components.json").Body), &data); err != nil {
		t.Fatal(err)
	}
	if len(data.Components) < 12 {
		t.Fatalf("%d components", len(data.Components))
	}
	for _, c := range data.Components {
		got := g.Get(t, "/badge.svg?component="+c.ID)
		state := strings.ToUpper(c.Status[:1]) + strings.ReplaceAll(c.Status[1:], "_", " ")
		if !strings.Contains(got.Body, `aria-label="`+c.Name+": "+state) {
			t.Errorf("badge of %s, status %s: %s", c.Name, c.Status, got.Body)
		}
	}
}

// TestLanding checks the landing page, which is served if there is no status page.
func TestLanding(t *testing.T) {
	t.Parallel()
	url := testenv.Empty.Fresh(t)
	bare := testenv.Empty.Fresh(t)
	testenv.Exec(t, bare, "drop schema status cascade")
	for name, g := range map[string]*testenv.Gateway{
		"no page":   testenv.Over(t, url, testenv.Cached),
		"no tables": testenv.Over(t, bare, testenv.Cached), "no cache": testenv.Over(t, url),
	} {
		got := g.Get(t, "/")
		if got.Status != http.StatusOK || !strings.Contains(got.Body, "There is no status page here yet") {
			t.Errorf("%s: status %d, %s", name, got.Status, got.Body)
		}
		for _, e := range elements(t, got.Body, ofClass("a", "")) {
			if to := e.attributes["href"]; strings.HasPrefix(to, "/") && g.Get(t, to).Status != http.StatusOK {
				t.Errorf("%s: broken link %s", name, to)
			}
		}
		for _, p := range []string{"/history", "/incidents/x", "/history.atom", "/badge.svg", "/embed/frame"} {
			if got := g.Get(t, p); got.Status != http.StatusNotFound {
				t.Errorf("%s: %s: status %d", name, p, got.Status)
			}
		}
	}
}

// TestUncached checks that a gateway without a cache renders the same documents.
func TestUncached(t *testing.T) {
	t.Parallel()
	cached, uncached := testenv.Demo(t, testenv.Cached), testenv.Demo(t)
	cached.WaitForPage(t)
	for _, p := range []string{
		"/", "/history?month=2026-01", "/incidents/" + cached.NewestIncident(t),
		"/history.atom",
		"/badge.svg", "/embed/frame",
	} {
		if a, b := cached.Get(t, p), uncached.Get(t, p); a.Body != b.Body || b.Status != http.StatusOK ||
			a.Header.Get("ETag") != b.Header.Get("ETag") {
			t.Errorf("%s: cached %d bytes; uncached %d bytes, status %d", p, len(a.Body), len(b.Body), b.Status)
		}
	}
	if got := uncached.Get(t, "/incidents/nothing"); got.Status != http.StatusNotFound {
		t.Errorf("status %d", got.Status)
	}
}

// TestHosts checks that each of several pages is served at its own host.
func TestHosts(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, testenv.Filled.Fresh(t), testenv.Cached)
	g.WaitForPage(t)
	edit := g.Editor()
	if _, err := edit.InitPage(t.Context(), testenv.Author,
		status.Page{
			Name: "Second Harbour", URL: "https://second.example",
			TimeZone: "Asia/Kolkata",
		}, "Pier"); err != nil {
		t.Fatal(err)
	}
	at := func(host, path string) string {
		r, w := httptest.NewRequest(http.MethodGet, path, http.NoBody), httptest.NewRecorder()
		r.Host = host
		g.Public().ServeHTTP(w, r)
		return w.Body.String()
	}
	eventually(t, "the second page", func() bool {
		return strings.Contains(at("second.example", "/"),
			"<span>Second Harbour</span>")
	})
	for _, host := range []string{"localhost:8080", "unknown.example"} {
		if !strings.Contains(at(host, "/"), "<span>Lantern Bay</span>") {
			t.Errorf("%s: wrong page", host)
		}
	}
	code := g.NewestIncident(t)
	if got := at("second.example", "/incidents/"+code); strings.Contains(got, "missing balances") {
		t.Error("an incident of one page is shown on the other")
	}
	if !strings.Contains(at("second.example", "/history.atom"), "<title>Second Harbour status</title>") {
		t.Error("the feed is that of another page")
	}
}

// TestDatabaseGone checks that all cached documents are served for an hour while the database is unavailable, marked
// with the time, including those rendered on request.
func TestDatabaseGone(t *testing.T) {
	t.Parallel()
	url := testenv.Filled.Fresh(t)
	var late atomic.Int64
	g := testenv.Over(t, url, testenv.Cached, func(o *testenv.Options) {
		o.REST.Now = func() time.Time { return testenv.Now().Add(time.Duration(late.Load())) }
	})
	g.WaitForPage(t)
	month := "/history?month=2026-02"
	known, unknown := regexp.MustCompile(`/incidents/[0-9a-z]{12}`).FindString(g.Get(t, month).Body),
		"/incidents/xxxxxxxxxxxx"
	paths := []string{
		"/", "/history.atom", "/history.rss", "/badge.svg", "/embed/frame",
		"/incidents/" + g.NewestIncident(t), month, known,
	}
	before := map[string]string{}
	for _, p := range paths {
		before[p] = g.Get(t, p).Body
	}
	pgtest.Allow(t, url, false)
	notice := regexp.MustCompile(`<p class="stale".*?</p>`)
	for _, p := range paths {
		if got := g.Get(t, p); got.Status != http.StatusOK || notice.ReplaceAllString(got.Body, "") != before[p] {
			t.Errorf("without database: %s: status %d", p, got.Status)
		}
	}
	if got := g.Get(t, unknown); got.Status != http.StatusServiceUnavailable || got.Header.Get("Retry-After") == "" ||
		!strings.Contains(got.Body, "cannot be read") {
		t.Errorf("a page that was not rendered before: status %d", got.Status)
	}
	eventually(t, "responses are marked", func() bool { return g.Get(t, "/").Header.Get("X-Stale-Since") != "" })
	w := httptest.NewRecorder()
	g.Admin().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/metrics", http.NoBody))
	if !regexp.MustCompile(`heliograph_status_failures_total [1-9]`).MatchString(w.Body.String()) {
		t.Error("the metrics have no failures")
	}
	for _, p := range append(paths, "/history", "/api/v2/summary.json") {
		got := g.Get(t, p)
		marked := strings.Contains(got.Body, `This page shows the status as of <time datetime="2026-05-17T`)
		if got.Status != http.StatusOK || got.Header.Get("X-Stale-Since") != "Sun, 17 May 2026 12:34:56 GMT" ||
			marked != strings.HasPrefix(got.Header.Get("Content-Type"), "text/html") {
			t.Errorf("%s is not marked: status %d, %v", p, got.Status, got.Header)
		}
	}
	late.Store(int64(59 * time.Minute))
	if got := g.Get(t, "/"); got.Status != http.StatusOK || notice.ReplaceAllString(got.Body, "") != before["/"] {
		t.Errorf("after 59 minutes: status %d", got.Status)
	}
	late.Store(int64(61 * time.Minute))
	for _, p := range paths {
		if got := g.Get(t, p); got.Status != http.StatusServiceUnavailable || got.Header.Get("Retry-After") == "" {
			t.Errorf("after an hour: %s: status %d", p, got.Status)
		}
	}
}
