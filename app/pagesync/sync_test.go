package pagesync_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"heliograph/app/pagesync"
	"heliograph/app/testing/testenv"
	"heliograph/internal/domain/status"
	"heliograph/storage/pgtest"
	"heliograph/storage/statuspages"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// elsewhere is a server with the documents of a page.
type elsewhere struct {
	*httptest.Server
	mu        sync.Mutex
	documents map[string]string // by path
	asked     []string          // requested paths, followed by * if the ETag matched
	broken    map[string]http.HandlerFunc
}

func newElsewhere(t *testing.T) *elsewhere {
	t.Helper()
	text, err := os.ReadFile("../../rest/v2/testdata/ledgerlight.json")
	if err != nil {
		t.Fatal(err)
	}
	var documents map[string]json.RawMessage
	if err := json.Unmarshal(text, &documents); err != nil {
		t.Fatal(err)
	}
	e := &elsewhere{documents: map[string]string{}, broken: map[string]http.HandlerFunc{}}
	for path, d := range documents {
		e.documents[path] = string(d)
	}
	e.Server = httptest.NewServer(e)
	t.Cleanup(e.Close)
	return e
}

func (e *elsewhere) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	body, broken := e.documents[r.URL.Path], e.broken[r.URL.Path]
	tag := fmt.Sprintf(`W/"%d-%d"`, len(body), strings.Count(body, "e"))
	known := r.Header.Get("If-None-Match") == tag
	e.asked = append(e.asked, strings.TrimPrefix(r.URL.Path, "/api/v2/")+map[bool]string{true: "*"}[known])
	e.mu.Unlock()
	switch {
	case broken != nil:
		broken(w, r)
	case body == "":
		http.NotFound(w, r)
	case known:
		w.WriteHeader(http.StatusNotModified)
	default:
		w.Header().Set("ETag", tag)
		_, _ = w.Write([]byte(body))
	}
}

// change replaces a text in all documents.
func (e *elsewhere) change(before, after string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for path, d := range e.documents {
		e.documents[path] = strings.ReplaceAll(d, before, after)
	}
}

// breaks serves a path with a handler, or normally if it is nil.
func (e *elsewhere) breaks(path string, h http.HandlerFunc) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.broken["/api/v2/"+path] = h
}

// requests returns the paths requested since the last call.
func (e *elsewhere) requests() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer func() { e.asked = nil }()
	return strings.Join(e.asked, " ")
}

// copying is a follower with a gateway and a clock that the test sets.
type copying struct {
	*pagesync.Follower
	g   *testenv.Gateway
	now time.Time
}

func newCopying(t *testing.T, g *testenv.Gateway, url string) *copying {
	t.Helper()
	c := &copying{g: g, now: time.Date(2026, 3, 12, 10, 0, 0, 0, time.UTC)}
	f, err := pagesync.New(pagesync.Options{
		URL: url, Every: time.Minute, DB: g.Status, Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return c.now },
		Random: func() float64 { return 0.5 },
		Import: status.ImportOptions{Mode: status.Mirror, Vocabulary: status.Statuspage},
	})
	if err != nil {
		t.Fatal(err)
	}
	c.Follower = f
	return c
}

// round runs a successful round and returns the number of rows it wrote, or -1 if the documents have not changed.
func (c *copying) round(t *testing.T) int {
	t.Helper()
	out, mine, next, err := c.Poll(t.Context())
	if err != nil || !mine {
		t.Fatalf("mine %v, error %v", mine, err)
	}
	if got := next.Sub(c.now); got != time.Minute {
		t.Errorf("the next round is after %s", got)
	}
	c.now = next
	if out.Result == nil {
		return -1
	}
	return out.Result.Changed
}

// fails runs a round that must fail and returns the time until the next one.
func (c *copying) fails(t *testing.T, words string) time.Duration {
	t.Helper()
	_, _, next, err := c.Poll(t.Context())
	if err == nil || !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), "\n") {
		t.Errorf("the error is %v, want %q", err, words)
	}
	defer func() { c.now = next }()
	return next.Sub(c.now)
}

// pages returns the number of pages and their revisions.
func pages(t *testing.T, db *statuspages.DB) string {
	t.Helper()
	list, err := db.Pages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := []string{strconv.Itoa(len(list))}
	for _, p := range list {
		out = append(out, fmt.Sprintf("%s@%d", p.Slug, p.Revision))
	}
	return strings.Join(out, " ")
}

// TestMirror copies the example over HTTP. All eight documents are equal in values and order except for the modification time of the page.
// The second round writes nothing.
func TestMirror(t *testing.T) {
	t.Parallel()
	e, g := newElsewhere(t), testenv.Over(t, testenv.Empty.Fresh(t))
	c := newCopying(t, g, e.URL+"/")
	if n := c.round(t); n != 13 {
		t.Errorf("%d rows were written", n)
	}
	if got := e.requests(); got != "summary.json incidents.json scheduled-maintenances.json" {
		t.Error(got)
	}
	for path, want := range e.documents {
		want = strings.Replace(want, `"updated_at":"2026-03-12T09:42:10.118Z"`, `"updated_at":"2026-03-12T10:00:00.000Z"`, 1)
		if got := g.Get(t, path).Body; got != want {
			t.Errorf("%s: %s\nwant %s", path, got, want)
		}
	}
	if n := c.round(t); n != -1 || e.requests() != "summary.json* incidents.json* scheduled-maintenances.json*" {
		t.Errorf("nothing has changed, and %d rows were written", n)
	}
	again := newCopying(t, g, e.URL)
	if out, err := again.Copy(t.Context()); err != nil || out.Result.Changed != 0 { // copies all documents again
		t.Errorf("%+v, %v", out, err)
	}
	if got := pages(t, g.Status); got != "1 ledgerlight-network@1" {
		t.Error(got)
	}
	e.requests()

	// A component gets worse: one write. Unchanged documents are requested too, because all documents must belong to the same revision.
	e.change(`"status":"degraded_performance"`, `"status":"major_outage"`)
	c.now = c.now.Add(time.Minute)
	if n := c.round(t); n != 1 {
		t.Errorf("%d rows were written", n)
	}
	if got := g.Get(t, "/api/v2/status.json").Body; !strings.Contains(got, `"indicator":"major"`) {
		t.Error(got)
	}
	var audit struct{ n int }
	if err := g.Status.Pool().QueryRow(t.Context(), `select count(*)::int from status.audit where actor = 'sync' and action = 'page.sync'`).Scan(&audit.n); err != nil || audit.n != 2 {
		t.Errorf("%d rows in the audit, %v", audit.n, err)
	}
	if c.Age() != time.Minute || c.URL() != e.URL {
		t.Errorf("%s was read %s ago", c.URL(), c.Age())
	}
}

// TestDifferentMoments checks that documents of different revisions are read again.
func TestDifferentMoments(t *testing.T) {
	t.Parallel()
	e, g := newElsewhere(t), testenv.Over(t, testenv.Empty.Fresh(t))
	c := newCopying(t, g, e.URL)
	e.documents["/api/v2/incidents.json"] = strings.Replace(e.documents["/api/v2/incidents.json"], "09:42:10.118Z", "09:41:10.118Z", 1)
	c.round(t)
	e.requests()
	if n := c.round(t); n != 0 || strings.Contains(e.requests(), "*") {
		t.Error("documents of different moments were taken for the newest")
	}
}

// TestFailures tests all kinds of server failures. No partial import occurs, the copy remains, and the interval increases.
func TestFailures(t *testing.T) {
	t.Parallel()
	e, g := newElsewhere(t), testenv.Over(t, testenv.Empty.Fresh(t))
	c := newCopying(t, g, e.URL)
	const last = "scheduled-maintenances.json"
	cut := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte(`{"page":`))
	}
	e.breaks(last, cut)
	if got := c.fails(t, "cannot read "+e.URL+"/api/v2/scheduled-maintenances.json: unexpected EOF"); got != 2*time.Minute {
		t.Errorf("the next round is after %s", got)
	}
	if got := pages(t, g.Status); got != "0" {
		t.Errorf("half of it was imported: %s", got)
	}
	if got := c.fails(t, "unexpected EOF"); got != 4*time.Minute {
		t.Errorf("the next round is after %s", got)
	}
	e.breaks(last, nil)
	c.round(t)
	before := pages(t, g.Status)
	e.change("Slow historical queries", "Very slow historical queries")
	for i, f := range []struct {
		words  string
		answer http.HandlerFunc
		after  time.Duration
	}{
		{"the server responds with 503 Service Unavailable", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, 2 * time.Minute},
		{"the server responds with 404 Not Found", http.NotFound, 4 * time.Minute},
		{"the server responds with 204 No Content", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, 8 * time.Minute},
		{"unexpected EOF", cut, 10 * time.Minute},
		{"cannot be mirrored: reading scheduled-maintenances.json: invalid character '<'", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }, 10 * time.Minute},
		{"redirects to another host", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.2:9/x", http.StatusFound)
		}, 10 * time.Minute},
		{"redirects more than 3 times", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }, 10 * time.Minute},
		{"larger than 16 MiB", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, status.LongestDocument+2)) }, 10 * time.Minute},
	} {
		e.breaks(last, f.answer)
		if got := c.fails(t, f.words); got != f.after {
			t.Errorf("failure %d: the next round is after %s, want %s", i, got, f.after)
		}
	}
	if got := pages(t, g.Status); got != before || strings.Contains(g.Get(t, "/api/v2/summary.json").Body, "Very") {
		t.Errorf("%s, before the failures %s", got, before)
	}
	if s, err := g.Status.SourceOf(t.Context(), "h4d7q2m9x1tz"); err != nil || s.Failures != 8 || !strings.Contains(s.Error, "16 MiB") || s.OKAt.IsZero() {
		t.Errorf("%+v, %v", s, err)
	}
	e.breaks(last, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) })
	e.mu.Lock()
	e.documents["/elsewhere"] = e.documents["/api/v2/"+last]
	e.mu.Unlock()
	if n := c.round(t); n != 1 {
		t.Errorf("%d rows were written when it was back", n)
	}
}

// TestTurns checks that one of several gateways reads the page, and that another takes over if it stops or its clock was wrong.
func TestTurns(t *testing.T) {
	t.Parallel()
	e, g := newElsewhere(t), testenv.Over(t, testenv.Empty.Fresh(t))
	first, second := newCopying(t, g, e.URL), newCopying(t, g, e.URL)
	first.round(t)
	if out, mine, next, err := second.Poll(t.Context()); out != nil || mine || err != nil || !next.Equal(first.now) {
		t.Errorf("two read at once: mine %v, next %s, %v", mine, next, err)
	}
	second.now = first.now
	var group sync.WaitGroup
	turns := make([]bool, 2)
	for i, c := range []*copying{first, second} {
		group.Go(func() {
			_, mine, _, err := c.Poll(t.Context())
			turns[i] = mine && err == nil
		})
	}
	group.Wait()
	if turns[0] == turns[1] {
		t.Errorf("turns %v", turns)
	}
	// A clock that is set back by a day must not stop the mirroring for a day.
	second.now = second.now.AddDate(0, 0, -1)
	second.round(t)
}

// TestEditing checks that mirrors reject editors until they are converted to local pages.
func TestEditing(t *testing.T) {
	t.Parallel()
	e, g := newElsewhere(t), testenv.Over(t, testenv.Empty.Fresh(t))
	c := newCopying(t, g, e.URL)
	c.round(t)
	ed, by, ctx := statuspages.NewEditor(g.Status, testenv.Now, nil), statuspages.Author{Name: "test"}, t.Context()
	const page, incident, component = "h4d7q2m9x1tz", "d8s3q7v2n5xk", "b1x4d9r7kq2c"
	say := status.NewUpdate{State: status.Resolved, Body: "x"}
	writes := map[string]func() error{
		"incident.update": func() error { _, err := ed.UpdateIncident(ctx, by, incident, say); return err },
		"incident.open": func() error {
			_, err := ed.OpenIncident(ctx, by, page, status.NewIncident{Name: "x", Body: "x"})
			return err
		},
		"component.set": func() error { _, err := ed.RemoveComponent(ctx, by, component, 0); return err },
		"notice.delete": func() error { _, err := ed.DeleteNotice(ctx, by, incident, 0); return err },
	}
	for name, write := range writes {
		var refusal *status.Error
		if err := write(); !errors.As(err, &refusal) || refusal.Reason != status.BadState || !strings.Contains(refusal.Text, "is a mirror of another page") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := pages(t, g.Status); got != "1 ledgerlight-network@1" {
		t.Error(got)
	}
	ours, err := pagesync.New(pagesync.Options{
		URL: e.URL, DB: g.Status, Logger: slog.New(slog.DiscardHandler), Now: testenv.Now, Import: status.ImportOptions{Mode: status.Imported, URL: "https://status.own.example"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ours.Copy(ctx); err != nil {
		t.Fatal(err)
	}
	if got := g.Get(t, "/api/v2/incidents.json").Body; strings.Contains(got, "ledgerlight.example") || !strings.Contains(got, "https://status.own.example/incidents/"+incident) {
		t.Error(got)
	}
	if _, err := ours.Copy(ctx); err != nil {
		t.Errorf("before it is edited it can be imported again: %v", err)
	}
	if err := writes["incident.update"](); err != nil {
		t.Error(err)
	}
	var refusal *status.Error
	if _, err := ours.Copy(ctx); !errors.As(err, &refusal) || !strings.Contains(refusal.Text, "would overwrite the edits") {
		t.Errorf("an import wrote over what was edited: %v", err)
	}
	c.now = c.now.Add(time.Hour)
	if _, _, _, err := c.Poll(ctx); !errors.As(err, &refusal) || !strings.Contains(refusal.Text, "is edited here") {
		t.Errorf("a mirror wrote over what was edited: %v", err)
	}
}

// TestHostile reads malicious documents. They are rejected with a one-line error, or their invalid parts are dropped.
func TestHostile(t *testing.T) {
	t.Parallel()
	e, g := newElsewhere(t), testenv.Over(t, testenv.Empty.Fresh(t))
	summary := e.documents["/api/v2/summary.json"]
	for _, c := range []struct{ old, new, words string }{
		{`"position":1`, `"position":"1"`, "cannot be mirrored: reading summary.json"},
		{`"position":1`, `"position":99999999999`, "cannot be mirrored"},
		{`"created_at":"2025-11-03T09:58:00.000Z"`, `"created_at":"yesterday"`, `"yesterday" is not an instant`},
		{`"created_at":"2025-11-03T09:58:00.000Z"`, `"created_at":"0000-01-01T00:00:00Z"`, "is out of range"},
		{`"components":[`, `"components":[[`, "cannot be mirrored"},
		{`"page":`, `"pages":`, "the page is missing"},
		{`"id":"h4d7q2m9x1tz","name"`, `"id":"' or 1=1","name"`, "cannot be stored"},
		{`"components":[`, `"components":[` + strings.Repeat(`{},`, 6000), "maximum of 5000"},
		{`{`, strings.Repeat(`{"page":`, 20000), "exceeded max depth"},
	} {
		e.documents["/api/v2/summary.json"] = strings.Replace(summary, c.old, c.new, 1)
		out, err := newCopying(t, g, e.URL).Copy(t.Context())
		if err == nil || !strings.Contains(err.Error(), c.words) || len(err.Error()) > 400 || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.60s: %+v, %v", c.new, out, err)
		}
	}
	if got := pages(t, g.Status); got != "0" {
		t.Errorf("something was imported: %s", got)
	}
	const leaf, group, other = "b1x4d9r7kq2c", "9k2c7vwh3bpl", "t5n8jz1gq6xr"
	for i, c := range []struct{ old, new, warning string }{
		{`"id":"` + leaf + `"`, `"id":"zq7m3h8t5w1n"`, "listed twice"},
		{`"group_id":"` + group + `"`, `"group_id":"` + leaf + `"`, "does not exist"},                                                     // a component as the parent of a component
		{`"group_id":"` + group + `"`, `"group_id":"nowhere"`, "does not exist"},                                                          // an unknown parent
		{`"group_id":null,"page_id":"h4d7q2m9x1tz","group":true`, `"group_id":"` + other + `","page_id":"h4d7q2m9x1tz","group":true`, ""}, // a group as its own parent, and as the parent of another
		{`"id":"k5t8l2z6w9bq"`, `"id":"x7c1r9m4g2hp"`, "listed twice"},
		{`"body":"`, `"body":"\u0000`, "character 0"},
		{`"shortlink":"https`, `"shortlink":"javascript`, "the link"},
		{`"start_date":"2025-11-03"`, `"start_date":"0000-00-00"`, "start date"},
		{`"url":"https://status`, `"url":"gopher://status`, "of the page is invalid"},
		{`"status":"identified"`, `"status":"completed"`, "cannot be stored"},
	} {
		fresh := newElsewhere(t)
		fresh.change(c.old, c.new)
		if _, err := g.Status.Pool().Exec(t.Context(), `truncate status.page cascade`); err != nil {
			t.Fatal(err)
		}
		again := newCopying(t, g, fresh.URL)
		out, err := again.Copy(t.Context())
		if err != nil {
			t.Errorf("%d: %v", i, err)
			continue
		}
		if !strings.Contains(strings.Join(out.Warnings, "\n"), c.warning) {
			t.Errorf("%d: warnings %q", i, out.Warnings)
		}
		if out, err = again.Copy(t.Context()); err != nil || out.Result.Changed != 0 {
			t.Errorf("%d: doing it again writes %+v, %v", i, out, err)
		}
		for _, name := range status.Documents() {
			if got := again.g.Get(t, "/api/v2/"+name); got.Status != http.StatusOK || strings.Contains(got.Body, "javascript:") {
				t.Errorf("%d: %s is answered %d %s", i, name, got.Status, got.Body)
			}
		}
	}
}

// TestGroupsChange converts groups to components and back, which the constraints allow in one order only.
func TestGroupsChange(t *testing.T) {
	t.Parallel()
	e, g := newElsewhere(t), testenv.Over(t, testenv.Empty.Fresh(t))
	c := newCopying(t, g, e.URL)
	c.round(t)
	const group = "9k2c7vwh3bpl"
	before := g.Get(t, "/api/v2/components.json").Body
	e.change(`"group_id":"`+group+`"`, `"group_id":null`)
	e.change(`"id":"`+group+`","name":"Mainnet","status":"degraded_performance","created_at":"2025-11-03T09:58:00.000Z","updated_at":"2025-11-03T09:58:00.000Z","position":1,"description":null,"showcase":false,"start_date":null,"group_id":null,"page_id":"h4d7q2m9x1tz","group":true`,
		`"id":"`+group+`","name":"Mainnet","status":"degraded_performance","created_at":"2025-11-03T09:58:00.000Z","updated_at":"2025-11-03T09:58:00.000Z","position":1,"description":null,"showcase":false,"start_date":null,"group_id":null,"page_id":"h4d7q2m9x1tz","group":false`)
	if n := c.round(t); n != 4 {
		t.Errorf("%d rows were written", n)
	}
	if got := g.Get(t, "/api/v2/components.json").Body; strings.Count(got, `"group":true`) != strings.Count(before, `"group":true`)-1 {
		t.Error(got)
	}
	e.change(`"id":"`+group+`","name":"Mainnet","status":"degraded_performance","created_at":"2025-11-03T09:58:00.000Z","updated_at":"2025-11-03T09:58:00.000Z","position":1,"description":null,"showcase":false,"start_date":null,"group_id":null,"page_id":"h4d7q2m9x1tz","group":false`,
		`"id":"`+group+`","name":"Mainnet","status":"degraded_performance","created_at":"2025-11-03T09:58:00.000Z","updated_at":"2025-11-03T09:58:00.000Z","position":1,"description":null,"showcase":false,"start_date":null,"group_id":null,"page_id":"h4d7q2m9x1tz","group":true`)
	c.round(t)
}
