package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"heliograph/storage/pgtest"
	"heliograph/storage/pgtest/tables"
)

// TestStatusSync mirrors a page on the command line. Its documents are printed unchanged, it cannot be edited, and it
// can be converted to a local page.
func TestStatusSync(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../rest/v2/testdata/ledgerlight.json")
	if err != nil {
		t.Fatal(err)
	}
	var documents map[string]json.RawMessage
	if err := json.Unmarshal(text, &documents); err != nil {
		t.Fatal(err)
	}
	var slow atomic.Bool
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if slow.Load() {
			time.Sleep(900 * time.Millisecond)
		}
		if documents[r.URL.Path] == nil {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(documents[r.URL.Path])
	}))
	defer source.Close()
	e := &statusCLI{t: t, url: tables.Status.Fresh(t), now: "2026-03-12T09:42:10.118Z"}
	e.fails(2, "not the URL of a page", "sync", "status.example.com")
	e.fails(2, "at least 15s", "sync", source.URL, "--every", "1s")
	e.fails(2, "--url requires --import", "sync", source.URL, "--url", "https://x.example")
	e.fails(1, "cannot read "+source.URL+"/nothing/api/v2/summary.json: the server responds with 404 Not Found",
		"sync", source.URL+"/nothing")
	e.fails(1, "connection refused", "sync", "http://127.0.0.1:1")
	got := e.ok("sync", source.URL, "--dry-run") // everything is added
	if want := "+" + strings.Join(lines(documents["/api/v2/summary.json"]), "+"); !strings.Contains(got, want) ||
		regexp.MustCompile(`(?m)^-[ {}]`).MatchString(got) {
		t.Errorf("a dry run prints %.300s", got)
	}
	e.fails(1, "there is no status page", "list")
	if got := e.ok("sync",
		source.URL); got != "h4d7q2m9x1tz ledgerlight-network, mode mirror, revision 1: 13 components and notices "+
		"were written" {
		t.Error(got)
	}
	slow.Store(true)
	r := e.run("sync", source.URL)
	if !strings.Contains(r.stdout, "revision 1: 0 components and notices") || r.stderr != "reading documents\n" {
		t.Errorf("a sync of more than two seconds prints no progress: %+v", r)
	}
	slow.Store(false)
	for path, want := range documents {
		if got := e.run("render", strings.TrimPrefix(path, "/api/v2/")).stdout; got != string(want) {
			t.Errorf("%s: %s\nwant %s", path, got, want)
		}
	}
	e.fails(3, "is a mirror of another page and cannot be edited", "incident", "resolve", "d8s3q7v2n5xk")
	if got := e.ok("check"); !strings.Contains(got, "has no problems") {
		t.Error(got)
	}
	e.now = "2026-03-12T10:42:10.118Z"
	if r := e.run("check"); r.code != 1 ||
		!strings.Contains(r.stderr, "was last read 1h0m0s ago, but the interval is 1m0s") {
		t.Errorf("%+v", r)
	}
	if got := e.ok("sync", source.URL, "--import", "--url", "https://status.own.example"); !strings.Contains(got,
		"mode import, revision 2") {
		t.Error(got)
	}
	e.ok("incident", "resolve", "d8s3q7v2n5xk")
	if r := e.run("check"); strings.Contains(r.stderr, "the import left") {
		t.Errorf("%+v", r)
	}
	// Imports of earlier versions changed base statuses and held no components.
	pgtest.Exec(t, pgtest.Connect(t, e.url),
		`update status.component set base_status = 'degraded_performance' where id = 'zq7m3h8t5w1n'`,
		`update status.component_change set origin = 'sync'`)
	e.fails(1, "left Mirror Node REST degraded_performance", "check")
	e.ok("component", "set", "zq7m3h8t5w1n", "--status", "operational")
	if r := e.run("check"); strings.Contains(r.stderr, "the import left") {
		t.Errorf("%+v", r)
	}
	e.fails(3, "would overwrite the edits", "sync", source.URL, "--import")
	e.fails(3, "is edited here", "sync", source.URL, "--every", "60s")
}

// TestStatusSyncWarnings checks that warnings are printed even if the source cannot be recorded.
func TestStatusSyncWarnings(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../rest/v2/testdata/ledgerlight.json")
	if err != nil {
		t.Fatal(err)
	}
	var documents map[string]json.RawMessage
	if err := json.Unmarshal(text, &documents); err != nil {
		t.Fatal(err)
	}
	zone := regexp.MustCompile(`"time_zone":"[^"]*"`)
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(zone.ReplaceAll(documents[r.URL.Path], []byte(`"time_zone":"Mars"`)))
	}))
	defer source.Close()
	e := &statusCLI{t: t, url: tables.Status.Fresh(t), now: "2026-03-12T09:42:10.118Z"}
	pgtest.Exec(t, pgtest.Connect(t, e.url), `alter table status.sync_source add check (false)`)
	if r := e.run("sync", source.URL); r.code != 1 || !strings.Contains(r.stderr, `warning: the time zone "Mars"`) ||
		!strings.Contains(r.stderr, "recording the read of") {
		t.Errorf("%+v", r)
	}
}
