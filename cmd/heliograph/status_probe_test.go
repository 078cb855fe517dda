package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestStatusProbes creates, tests, runs and deletes probes on the command line. Their findings are drafts that an
// editor publishes or discards.
func TestStatusProbes(t *testing.T) {
	t.Parallel()
	e := newStatusCLI(t)
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/ok" {
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	defer target.Close()
	closed := listen(t, "127.0.0.1:0")
	address := closed.Addr().String()
	_ = closed.Close() // the address refuses connections from now on
	ok := e.id("probe", "add", "http", "API", "--url", target.URL+"/ok")
	e.ok("component", "add", "Port")
	bad := e.id("probe", "add", "tcp", "Port", "--address", address, "--fail-after", "1", "--pass-after", "1",
		"--sets", "major-outage")
	beat := e.id("probe", "add", "heartbeat", "API", "--bad", "1h")
	e.fails(2, "needs a --url", "probe", "add", "http", "API")
	e.fails(2, "must have whole milliseconds, not 500µs",
		"probe", "add", "http", "API", "--url", target.URL, "--slow", "500us")
	e.fails(2, "must be 10s at most", "probe", "add", "http", "API", "--url", target.URL, "--timeout", "11s")
	e.fails(2, "is secret", "probe", "add", "http", "API", "--url", target.URL, "--header", "Authorization=Bearer x")
	e.fails(1, `component "Web" does not exist`, "probe", "add", "http", "Web", "--url", target.URL)
	e.fails(1, "probe 99 does not exist", "probe", "rm", "99")
	if got := e.ok("probe", "test", ok); !strings.HasPrefix(got, "good after ") ||
		!strings.HasSuffix(got, ": 200 OK") {
		t.Error(got)
	}
	if r := e.run("probe", "test", bad); r.code != 1 || !strings.Contains(r.stdout, "bad: ") ||
		!strings.Contains(r.stderr, "Port is bad") {
		t.Errorf("%+v", r)
	}
	e.ok("probe", "beat", beat)
	e.fails(1, "of the kind heartbeat", "probe", "beat", ok)
	if got := e.ok("probe", "test", beat); got != "good: the last heartbeat was 0s ago" {
		t.Error(got)
	}
	if r := e.run("probe", "run"); r.code != 0 || r.stdout != "3 probes were run\n" ||
		!strings.Contains(r.stderr, "probe.draft") {
		t.Errorf("%+v", r)
	}
	if got := e.ok("probe", "list"); !strings.Contains(got, "bad") || !strings.Contains(got, "refused") ||
		!strings.Contains(got, "200 OK") {
		t.Error(got)
	}
	draft := e.id("list", "drafts")
	if got := e.ok("list"); got != "" {
		t.Errorf("a draft is listed: %s", got)
	}
	e.ok("incident", "publish", draft)
	if got := e.ok("list"); !strings.HasPrefix(got, draft) || !strings.Contains(got, "Problems with Port") {
		t.Error(got)
	}
	if got := e.ok("audit", "--object", draft); !strings.Contains(got, "test     incident.publish") ||
		!strings.Contains(got, "probe 2  probe.draft") {
		t.Error(got)
	}
	if got := e.ok("audit", "--limit", "1", "--json"); !strings.Contains(got, `"action": "incident.publish"`) ||
		!strings.Contains(got, `"draft": true`) {
		t.Error(got)
	}
	e.ok("probe", "disable", ok)
	e.ok("probe", "enable", ok)
	e.ok("probe", "rm", bad)
	if got := e.ok("probe", "list", "--json"); strings.Contains(got, address) ||
		!strings.Contains(got, `"kind": "heartbeat"`) {
		t.Error(got)
	}
}

// TestStatusSeries schedules a recurring maintenance: all occurrences or none.
func TestStatusSeries(t *testing.T) {
	t.Parallel()
	e := newStatusCLI(t)
	schedule := []string{
		"maintenance", "schedule", "--name", "Work", "--body", "Soon.", "--from", "2026-10-25 09:00",
		"--for", "40m", "--affect", "API",
	}
	got := e.ok(append(schedule, "--repeat", "FREQ=WEEKLY;COUNT=3")...)
	for _, when := range []string{
		"2026-10-25 09:00 EDT to 2026-10-25 09:40 EDT",
		"2026-11-01 09:00 EST to 2026-11-01 09:40 EST", "2026-11-08 09:00 EST to 2026-11-08 09:40 EST",
	} {
		if strings.Count(got, when) != 1 {
			t.Errorf("got %s\nwant %s once", got, when)
		}
	}
	e.fails(2, "FREQ=HOURLY: it must be DAILY, WEEKLY or MONTHLY",
		append(schedule, "--repeat", "FREQ=HOURLY;COUNT=3")...)
	e.fails(2, "--repeat requires the status scheduled",
		append(schedule, "--repeat", "FREQ=DAILY;COUNT=3", "--status", "in_progress")...)
	if got := e.ok("list", "maintenances"); strings.Count(got, "\n") != 2 {
		t.Error(got)
	}
	if got := e.ok("audit"); strings.Count(got, "maintenance.schedule") != 3 {
		t.Error(got)
	}
	if got := e.ok(append(schedule, "--repeat", "FREQ=WEEKLY;COUNT=3", "--dry-run")...); strings.Count(got,
		`"2026-11-01T09:00:00.000-05:00"`) < 2 {
		t.Error(got)
	}
	e.fails(1, "revision 1 of page lantern-net is not saved: the saved revisions are []", "render", "summary.json",
		"--at", "1")
}
