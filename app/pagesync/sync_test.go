package pagesync_test

import (
	"context"
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

// source is a server with the documents of a page.
type source struct {
	*httptest.Server
	mu        sync.Mutex
	documents map[string]string // by path
	requested []string          // paths, followed by * if the ETag matched
	handlers  map[string]http.HandlerFunc
}

func newSource(t *testing.T) *source {
	t.Helper()
	e := &source{documents: map[string]string{}, handlers: map[string]http.HandlerFunc{}}
	text, err := os.ReadFile("../../rest/v2/testdata/ledgerlight.json")
	if err != nil {
		t.Fatal(err)
	}
	var documents map[string]json.RawMessage
	testenv.Decode(t, string(text), &documents)
	for path, d := range documents {
		e.documents[path] = string(d)
	}
	e.Server = httptest.NewServer(e)
	t.Cleanup(e.Close)
	return e
}

func (e *source) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	body, handler := e.documents[r.URL.Path], e.handlers[r.URL.Path]
	tag := fmt.Sprintf(`W/"%d-%d"`, len(body), strings.Count(body, "e"))
	known := r.Header.Get("If-None-Match") == tag
	e.requested = append(e.requested, strings.TrimPrefix(r.URL.Path, "/api/v2/")+map[bool]string{true: "*"}[known])
	e.mu.Unlock()
	switch {
	case handler != nil:
		handler(w, r)
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
func (e *source) change(before, after string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for path, d := range e.documents {
		e.documents[path] = strings.ReplaceAll(d, before, after)
	}
}

// handle serves a document with a handler, or normally if it is nil.
func (e *source) handle(path string, h http.HandlerFunc) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.handlers["/api/v2/"+path] = h
}

// requests returns the paths requested since the last call.
func (e *source) requests() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer func() { e.requested = nil }()
	return strings.Join(e.requested, " ")
}

// mirror is a follower with a gateway and a clock that the test sets.
type mirror struct {
	*pagesync.Follower
	g   *testenv.Gateway
	now time.Time
}

func newMirror(t *testing.T, g *testenv.Gateway, url string) *mirror {
	t.Helper()
	c := &mirror{g: g, now: time.Date(2026, 3, 12, 10, 0, 0, 0, time.UTC)}
	f, err := pagesync.New(pagesync.Options{
		URL: url, Every: time.Minute, DB: g.Status, Logger: slog.New(slog.DiscardHandler),
		Now:    func() time.Time { return c.now },
		Import: status.ImportOptions{Mode: status.Mirror, Vocabulary: status.Statuspage},
	})
	if err != nil {
		t.Fatal(err)
	}
	c.Follower = f
	return c
}

// poll runs a successful poll and returns the number of rows it wrote, or -1 if the documents have not changed.
func (c *mirror) poll(t *testing.T) int {
	t.Helper()
	out, polled, next, err := c.Poll(t.Context())
	if err != nil || !polled {
		t.Fatalf("polled %v, error %v", polled, err)
	}
	if got := next.Sub(c.now); got != time.Minute {
		t.Errorf("the next poll is after %s", got)
	}
	c.now = next
	if out.Result == nil {
		return -1
	}
	return out.Result.Changed
}

// fails runs a poll that must fail and returns the time until the next one.
func (c *mirror) fails(t *testing.T, words string) time.Duration {
	t.Helper()
	_, _, next, err := c.Poll(t.Context())
	if err == nil || !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want %q", err, words)
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

// TestMirror mirrors an example page. All eight documents are equal in values and order except for the modification
// time of the page. A second poll writes nothing.
func TestMirror(t *testing.T) {
	t.Parallel()
	e, g := newSource(t), testenv.Over(t, testenv.Empty.Fresh(t))
	c := newMirror(t, g, e.URL+"/")
	if n := c.poll(t); n != 13 {
		t.Errorf("%d rows were written", n)
	}
	if got := e.requests(); got != "summary.json incidents.json scheduled-maintenances.json" {
		t.Error(got)
	}
	for path, want := range e.documents {
		want = strings.Replace(want, `"updated_at":"2026-03-12T09:42:10.118Z"`,
			`"updated_at":"2026-03-12T10:00:00.000Z"`, 1)
		if got := g.Get(t, path).Body; got != want {
			t.Errorf("%s: %s\nwant %s", path, got, want)
		}
	}
	if n := c.poll(t); n != -1 || e.requests() != "summary.json*" {
		t.Errorf("unchanged documents: %d rows were written", n)
	}
	again := newMirror(t, g, e.URL)
	if out, err := again.Copy(t.Context()); err != nil || out.Result.Changed != 0 { // copies all documents again
		t.Errorf("%+v, %v", out, err)
	}
	if got := pages(t, g.Status); got != "1 ledgerlight-network@1" {
		t.Error(got)
	}
	e.requests()

	// A component gets worse: one write.
	e.change(`"status":"degraded_performance"`, `"status":"major_outage"`)
	c.now = c.now.Add(time.Minute)
	if n := c.poll(t); n != 1 {
		t.Errorf("%d rows were written", n)
	}
	if got := g.Get(t, "/api/v2/status.json").Body; !strings.Contains(got, `"indicator":"major"`) {
		t.Error(got)
	}
	var audit struct{ n int }
	if err := g.Status.Pool().QueryRow(t.Context(),
		`select count(*)::int from status.audit where actor = 'sync' and action = 'page.sync'`).Scan(
		&audit.n); err != nil || audit.n != 2 {
		t.Errorf("%d rows in the audit log, %v", audit.n, err)
	}
	if c.Age() != time.Minute || c.URL() != e.URL {
		t.Errorf("URL %s, age %s", c.URL(), c.Age())
	}
}

// TestMixedRevisions checks that documents of different revisions are read again.
func TestMixedRevisions(t *testing.T) {
	t.Parallel()
	e, g := newSource(t), testenv.Over(t, testenv.Empty.Fresh(t))
	c := newMirror(t, g, e.URL)
	e.documents["/api/v2/incidents.json"] = strings.Replace(e.documents["/api/v2/incidents.json"], "09:42:10.118Z",
		"09:41:10.118Z", 1)
	c.poll(t)
	e.requests()
	if n := c.poll(t); n != 0 || strings.Contains(e.requests(), "*") {
		t.Error("documents of different revisions were not read again")
	}
}

// TestFailures tests all kinds of server failures. No partial import occurs, the copy remains, and the interval
// increases.
func TestFailures(t *testing.T) {
	t.Parallel()
	e, g := newSource(t), testenv.Over(t, testenv.Empty.Fresh(t))
	c := newMirror(t, g, e.URL)
	const last = "scheduled-maintenances.json"
	cut := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte(`{"page":`))
	}
	e.handle(last, cut)
	if got := c.fails(t,
		"cannot read "+e.URL+"/api/v2/scheduled-maintenances.json: unexpected EOF"); got != 2*time.Minute {
		t.Errorf("the next poll is after %s", got)
	}
	if got := pages(t, g.Status); got != "0" {
		t.Errorf("a part was imported: %s", got)
	}
	if got := c.fails(t, "unexpected EOF"); got != 4*time.Minute {
		t.Errorf("the next poll is after %s", got)
	}
	e.handle(last, nil)
	c.poll(t)
	before := pages(t, g.Status)
	e.change("Slow historical queries", "Very slow historical queries")
	for i, f := range []struct {
		want    string
		handler http.HandlerFunc
		after   time.Duration
	}{
		{
			"the server responds with 503 Service Unavailable",
			func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
			2 * time.Minute,
		},
		{"the server responds with 404 Not Found", http.NotFound, 4 * time.Minute},
		{
			"the server responds with 204 No Content",
			func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, 8 * time.Minute,
		},
		{"unexpected EOF", cut, 10 * time.Minute},
		{
			"cannot be mirrored: reading scheduled-maintenances.json: invalid character '<'",
			func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }, 10 * time.Minute,
		},
		{"redirects to another host", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.2:9/x", http.StatusFound)
		}, 10 * time.Minute},
		{"redirects more than 3 times", func(w http.ResponseWriter,
			r *http.Request,
		) {
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}, 10 * time.Minute},
		{"larger than 16 MiB", func(w http.ResponseWriter, _ *http.Request) {
			_,
				_ = w.Write(make([]byte, status.LongestDocument+2))
		}, 10 * time.Minute},
	} {
		e.handle(last, f.handler)
		if got := c.fails(t, f.want); got != f.after {
			t.Errorf("failure %d: the next round is after %s, want %s", i, got, f.after)
		}
	}
	if got := pages(t, g.Status); got != before || strings.Contains(g.Get(t, "/api/v2/summary.json").Body, "Very") {
		t.Errorf("%s, before the failures %s", got, before)
	}
	if s, err := g.Status.SourceOf(t.Context(), "h4d7q2m9x1tz"); err != nil || s.Failures != 8 ||
		!strings.Contains(s.Error, "16 MiB") || s.OKAt.IsZero() {
		t.Errorf("%+v, %v", s, err)
	}
	e.handle(last, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/moved", http.StatusFound) })
	e.mu.Lock()
	e.documents["/moved"] = e.documents["/api/v2/"+last]
	e.mu.Unlock()
	if n := c.poll(t); n != 1 {
		t.Errorf("%d rows were written after the failures", n)
	}
}

// writerFunc is a log whose lines a function gets.
type writerFunc func(line string)

func (f writerFunc) Write(p []byte) (int, error) {
	f(string(p))
	return len(p), nil
}

// TestLogOfUnrecordedPoll checks that an import is logged even if the poll cannot be recorded.
func TestLogOfUnrecordedPoll(t *testing.T) {
	t.Parallel()
	e, g := newSource(t), testenv.Over(t, testenv.Empty.Fresh(t))
	if _, err := g.Status.Pool().Exec(t.Context(), `alter table status.sync_source add check (false)`); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	logged := false
	f, err := pagesync.New(pagesync.Options{
		URL: e.URL, DB: g.Status, Now: testenv.Now, Import: status.ImportOptions{Mode: status.Mirror},
		Logger: slog.New(slog.NewTextHandler(writerFunc(func(line string) {
			if strings.Contains(line, "a status page was mirrored") {
				logged = true
				cancel()
			}
		}), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	f.Run(ctx)
	if !logged {
		t.Error("the import is not logged")
	}
}

// TestLease checks that one of several gateways reads the page, and that another takes over if it stops or its clock
// was wrong.
func TestLease(t *testing.T) {
	t.Parallel()
	e, g := newSource(t), testenv.Over(t, testenv.Empty.Fresh(t))
	first, second := newMirror(t, g, e.URL), newMirror(t, g, e.URL)
	first.poll(t)
	if out, polled, next, err := second.Poll(t.Context()); out != nil || polled || err != nil ||
		!next.Equal(first.now) {
		t.Errorf("second gateway: polled %v, next %s, %v", polled, next, err)
	}
	second.now = first.now
	var group sync.WaitGroup
	polls := make([]bool, 2)
	for i, c := range []*mirror{first, second} {
		group.Go(func() {
			_, polled, _, err := c.Poll(t.Context())
			polls[i] = polled && err == nil
		})
	}
	group.Wait()
	if polls[0] == polls[1] {
		t.Errorf("polled by %v, want one", polls)
	}
	// A clock that is set back by a day must not stop the mirroring for a day.
	second.now = second.now.AddDate(0, 0, -1)
	second.poll(t)
}

// TestEditing checks that mirrors reject editors until they are converted to local pages.
func TestEditing(t *testing.T) {
	t.Parallel()
	e, g := newSource(t), testenv.Over(t, testenv.Empty.Fresh(t))
	c := newMirror(t, g, e.URL)
	c.poll(t)
	ed, by, ctx := statuspages.NewEditor(g.Status, testenv.Now), statuspages.Author{Name: "test"}, t.Context()
	const page, incident, component = "h4d7q2m9x1tz", "d8s3q7v2n5xk", "b1x4d9r7kq2c"
	update := status.NewUpdate{State: status.Resolved, Body: "x"}
	writes := map[string]func() error{
		"incident.update": func() error { _, err := ed.UpdateIncident(ctx, by, incident, update); return err },
		"incident.open": func() error {
			_, err := ed.OpenIncident(ctx, by, page, status.NewIncident{Name: "x", Body: "x"})
			return err
		},
		"component.set": func() error {
			_, err := ed.RemoveComponent(ctx, by, component, status.VersionInput{})
			return err
		},
		"notice.delete": func() error {
			_, err := ed.DeleteNotice(ctx, by, incident, status.VersionInput{})
			return err
		},
	}
	for name, write := range writes {
		var rejected *status.Error
		if err := write(); !errors.As(err, &rejected) || rejected.Reason != status.BadState ||
			!strings.Contains(rejected.Text, "is a mirror of another page") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := pages(t, g.Status); got != "1 ledgerlight-network@1" {
		t.Error(got)
	}
	imported, err := pagesync.New(pagesync.Options{
		URL: e.URL, DB: g.Status, Logger: slog.New(slog.DiscardHandler), Now: testenv.Now,
		Import: status.ImportOptions{Mode: status.Imported, URL: "https://status.own.example"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := imported.Copy(ctx); err != nil {
		t.Fatal(err)
	}
	if got := g.Get(t, "/api/v2/incidents.json").Body; strings.Contains(got, "ledgerlight.example") ||
		!strings.Contains(got, "https://status.own.example/incidents/"+incident) {
		t.Error(got)
	}
	if _, err := imported.Copy(ctx); err != nil {
		t.Errorf("import of a page that was not edited: %v", err)
	}
	if err := writes["incident.update"](); err != nil {
		t.Error(err)
	}
	var rejected *status.Error
	if _, err := imported.Copy(ctx); !errors.As(err, &rejected) ||
		!strings.Contains(rejected.Text, "would overwrite the edits") {
		t.Errorf("import of an edited page: %v", err)
	}
	c.now = c.now.Add(time.Hour)
	if _, _, _, err := c.Poll(ctx); !errors.As(err, &rejected) || !strings.Contains(rejected.Text, "is edited here") {
		t.Errorf("mirroring an edited page: %v", err)
	}
}

// TestInvalidDocuments reads invalid documents. They are rejected with a one-line error, or their invalid parts are
// dropped.
func TestInvalidDocuments(t *testing.T) {
	t.Parallel()
	e, g := newSource(t), testenv.Over(t, testenv.Empty.Fresh(t))
	summary := e.documents["/api/v2/summary.json"]
	for _, c := range []struct{ old, new, want string }{
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
		out, err := newMirror(t, g, e.URL).Copy(t.Context())
		if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 400 ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%.60s: %+v, %v", c.new, out, err)
		}
	}
	if got := pages(t, g.Status); got != "0" {
		t.Errorf("got %s, want no pages", got)
	}
	const leaf, group, other = "b1x4d9r7kq2c", "9k2c7vwh3bpl", "t5n8jz1gq6xr"
	for i, c := range []struct{ old, new, warning string }{
		{`"id":"` + leaf + `"`, `"id":"zq7m3h8t5w1n"`, "listed twice"},
		// a component as the parent of a component
		{`"group_id":"` + group + `"`, `"group_id":"` + leaf + `"`, "does not exist"},
		// an unknown parent
		{`"group_id":"` + group + `"`, `"group_id":"nowhere"`, "does not exist"},
		// a group as its own parent, and as the parent of another
		{
			`"group_id":null,"page_id":"h4d7q2m9x1tz","group":true`,
			`"group_id":"` + other + `","page_id":"h4d7q2m9x1tz","group":true`, "",
		},
		{`"id":"k5t8l2z6w9bq"`, `"id":"x7c1r9m4g2hp"`, "listed twice"},
		{`"body":"`, `"body":"\u0000`, "character 0"},
		{`"shortlink":"https`, `"shortlink":"javascript`, "the link"},
		{`"start_date":"2025-11-03"`, `"start_date":"0000-00-00"`, "start date"},
		{`"url":"https://status`, `"url":"gopher://status`, "of the page is invalid"},
		{`"status":"identified"`, `"status":"completed"`, "cannot be stored"},
		{
			`"status":"operational"`, `"status":"full_outage"`,
			`the status "full_outage" is unknown; major_outage is used`,
		},
		{`"impact":"minor"`, `"impact":"severe"`, `the impact "severe" is unknown; critical is used`},
	} {
		fresh := newSource(t)
		fresh.change(c.old, c.new)
		if _, err := g.Status.Pool().Exec(t.Context(), `truncate status.page cascade`); err != nil {
			t.Fatal(err)
		}
		again := newMirror(t, g, fresh.URL)
		out, err := again.Copy(t.Context())
		if err != nil {
			t.Errorf("%d: %v", i, err)
			continue
		}
		if !strings.Contains(strings.Join(out.Warnings, "\n"), c.warning) {
			t.Errorf("%d: warnings %q", i, out.Warnings)
		}
		if out, err = again.Copy(t.Context()); err != nil || out.Result.Changed != 0 {
			t.Errorf("%d: second import: %+v, %v", i, out, err)
		}
		for _, name := range status.Documents() {
			if got := again.g.Get(t, "/api/v2/"+name); got.Status != http.StatusOK ||
				strings.Contains(got.Body, "javascript:") {
				t.Errorf("%d: %s: status %d, %s", i, name, got.Status, got.Body)
			}
		}
	}
}

// TestGroups converts groups to components and back, which the constraints allow in one order only.
func TestGroups(t *testing.T) {
	t.Parallel()
	e, g := newSource(t), testenv.Over(t, testenv.Empty.Fresh(t))
	c := newMirror(t, g, e.URL)
	c.poll(t)
	const group = "9k2c7vwh3bpl"
	const row = `"id":"` + group +
		`","name":"Mainnet","status":"degraded_performance","created_at":"2025-11-03T09:58:00.000Z",` +
		`"updated_at":"2025-11-03T09:58:00.000Z","position":1,"description":null,"showcase":false,` +
		`"start_date":null,"group_id":null,` +
		`"page_id":"h4d7q2m9x1tz","group":`
	before := g.Get(t, "/api/v2/components.json").Body
	e.change(`"group_id":"`+group+`"`, `"group_id":null`)
	e.change(row+"true", row+"false")
	if n := c.poll(t); n != 4 {
		t.Errorf("%d rows were written", n)
	}
	if got := g.Get(t, "/api/v2/components.json").Body; strings.Count(got, `"group":true`) != strings.Count(before,
		`"group":true`)-1 {
		t.Error(got)
	}
	e.change(row+"false", row+"true")
	c.poll(t)
}
