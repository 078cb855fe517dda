package statuspages_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/storage"
	"heliograph/storage/pgtest"
	"heliograph/storage/pgtest/tables"
	"heliograph/storage/statuspages"
)

// editorTest is an editor with a page and a clock that the test sets.
type editorTest struct {
	*statuspages.Editor
	t    *testing.T
	db   *statuspages.DB
	url  string
	page string

	mu  sync.Mutex
	now time.Time
}

var editor = statuspages.Author{Name: "test"}

func newEditorTest(t *testing.T, zone string) *editorTest {
	t.Helper()
	n := &editorTest{t: t, url: tables.Status.Fresh(t), now: time.Date(2026, 5, 17, 12, 34, 56, 789_000_000, time.UTC)}
	n.db = openStatus(t, n.url)
	n.Editor = statuspages.NewEditor(n.db, n.clock)
	page, err := n.InitPage(t.Context(), editor, status.Page{
		Name: "Lantern Net",
		URL:  "https://status.lantern.example/", TimeZone: zone,
	}, "API")
	n.page = must(t, page, err)
	return n
}

func openStatus(t *testing.T, url string) *statuspages.DB {
	t.Helper()
	db, err := statuspages.Open(t.Context(), storage.PoolOptions{
		URL:              pgtest.Pooled(t, url),
		StatementTimeout: 30 * time.Second, MaxConnections: 8,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

func (n *editorTest) clock() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.now
}

func (n *editorTest) wait(d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.now = n.now.Add(d)
}

func (n *editorTest) at(text string) time.Time {
	n.t.Helper()
	t, err := time.Parse(time.RFC3339, text)
	return must(n.t, t, err)
}

func must[T any](t *testing.T, v T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// one queries a single value.
func one[T any](t *testing.T, n *editorTest, sql string, args ...any) T {
	t.Helper()
	rows, err := n.db.Pool().Query(t.Context(), sql, args...)
	if err != nil {
		t.Fatal(err)
	}
	v, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[T])
	return must(t, v, err)
}

// api returns the code of the first component.
func (n *editorTest) api() string {
	return one[string](n.t, n, `select id from status.component order by created_at, id limit 1`)
}

// states returns the first letters of the current states of components, which must be those that documents have.
func (n *editorTest) states(codes ...string) string {
	n.t.Helper()
	p, err := n.db.PageByCode(n.t.Context(), n.page)
	if err != nil {
		n.t.Fatal(err)
	}
	published, err := n.db.Components(n.t.Context(), p)
	if err != nil {
		n.t.Fatal(err)
	}
	var out strings.Builder
	for _, code := range codes {
		now := one[string](n.t, n, `select status::text from status.component_now where id = $1`, code)
		for _, c := range published {
			if c.Code == code && string(c.Status) != now {
				n.t.Errorf("component %s is published as %s, and is %s in component_now", code, c.Status, now)
			}
		}
		out.WriteString(now[:1])
	}
	return out.String()
}

// history returns the updates of a notice, oldest first: the state and the component changes.
func (n *editorTest) history(code string) string {
	n.t.Helper()
	return one[string](n.t, n, `select string_agg(u.state || coalesce((select ' ' || string_agg(left(old_status::text, 1) || left(new_status::text, 1), ',' order by ordinal)
  from status.update_component where update_id = u.id), ''), '; ' order by u.created_at, u.id) from status.incident_update u where incident_id = $1`, code)
}

func (n *editorTest) notice(code string) string {
	n.t.Helper()
	return one[string](n.t, n, `select state || ' ' || impact || ' v' || version from status.incident where id = $1`,
		code)
}

func (n *editorTest) revision() int64 {
	n.t.Helper()
	return one[int64](n.t, n, `select revision from status.page where id = $1`, n.page)
}

// wantReason fails unless err is a [status.Error] with the reason and the words.
func wantReason(t *testing.T, err error, reason status.Reason, words string) {
	t.Helper()
	var r *status.Error
	if !errors.As(err, &r) || r.Reason != reason || !strings.Contains(r.Text, words) {
		t.Errorf("error %v, want %s with %q", err, reason, words)
	}
}

func set(pairs ...string) []status.Assignment {
	var out []status.Assignment
	for p := range slices.Chunk(pairs, 2) {
		out = append(out, status.Assignment{Component: p[0], Status: status.ComponentStatus(p[1])})
	}
	return out
}

func TestIncident(t *testing.T) {
	t.Parallel()
	n := newEditorTest(t, "Etc/UTC")
	ctx, api, ok := t.Context(), n.api(), must2(t)
	code := ok(n.OpenIncident(ctx, editor, n.page,
		status.NewIncident{Name: "Slow", Body: "We are investigating.", Affected: set(api, "partial_outage")}))
	if got := n.states(api) + " " + n.notice(code); got != "p investigating major v1" {
		t.Error(got)
	}
	n.wait(time.Minute)
	ok(n.UpdateIncident(ctx, editor, code, status.NewUpdate{
		State: status.Monitoring, Body: "Better.",
		Affected: set(api, "degraded_performance"), ExpectedVersion: 1,
	}))
	n.wait(time.Minute)
	// The impact does not decrease, and resolving restores the component.
	ok(n.UpdateIncident(ctx, editor, code, status.NewUpdate{State: status.Resolved, Body: "Over."}))
	if got := n.states(api) + " " + n.notice(code); got != "o resolved major v3" {
		t.Error(got)
	}
	n.wait(time.Hour)
	ok(n.PublishPostmortem(ctx, editor, code, status.NewUpdate{Body: "It was the disk."}))
	ok(n.PublishPostmortem(ctx, editor, code, status.NewUpdate{Body: "It was the network."}))
	if got, want := n.history(code), "investigating op; monitoring pd; resolved do; postmortem"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := one[bool](t, n, `select resolved_at = $2 and monitoring_at = $3 and shortlink = 'https://status.lantern.example/incidents/' || id and created_at = started_at
  and (select display_at is null and body = 'It was the network.' from status.incident_update u where u.incident_id = i.id and u.state = 'postmortem')
from status.incident i where id = $1`, code, time.Date(2026, 5, 17, 12, 36, 56, 789e6, time.UTC), time.Date(2026, 5, 17, 12, 35, 56, 789e6, time.UTC)); !got {
		t.Error("unexpected dates, link or postmortem")
	}
	ok(n.ReopenIncident(ctx, editor, code, status.NewUpdate{
		State: status.Identified, Body: "Again.",
		Affected: set(api, "major_outage"),
	}))
	if got := n.states(api) + " " + n.notice(code); got != "m identified critical v6" {
		t.Error(got)
	}
	if !one[bool](t, n, `select resolved_at is null from status.incident where id = $1`, code) {
		t.Error("a reopened incident has an end")
	}
	ok(n.UpdateIncident(ctx, editor, code, status.NewUpdate{State: status.Resolved, Body: "Over again.", Keep: true}))
	if got := n.states(api); got != "m" {
		t.Errorf("kept as %s", got)
	}
	// The history contains every change in order, and the audit log contains every write.
	if got := one[string](t, n,
		`select string_agg(left(old_status::text, 1) || left(new_status::text, 1), ' ' order by changed_at)
from status.component_change`); got != "op pd do om" {
		t.Errorf("changes %s", got)
	}
	if got := one[string](t, n,
		`select string_agg(action || case when before is null then '+' else '' end, ' ' order by id) from `+
			`status.audit`); got !=
		"page.init+ incident.open+ incident.update incident.update incident.postmortem incident.postmortem "+
			"incident.reopen incident.update" {
		t.Errorf("audit %s", got)
	}
	if got := n.revision(); got != 8 {
		t.Errorf("revision %d", got)
	}
}

// TestIllegalSteps checks that invalid transitions are rejected and change nothing.
func TestIllegalSteps(t *testing.T) {
	t.Parallel()
	n := newEditorTest(t, "Etc/UTC")
	ctx, api := t.Context(), n.api()
	incident := must2(t)(n.OpenIncident(ctx, editor, n.page,
		status.NewIncident{Name: "Slow", Body: "We are investigating."}))
	work := must2(t)(n.ScheduleMaintenance(ctx, editor, n.page, status.NewMaintenance{
		Name: "Work", Body: "Soon.", Start: n.clock().Add(time.Hour),
		End: n.clock().Add(2 * time.Hour),
	}))
	before := n.revision()
	var step *status.TransitionError
	for name, err := range map[string]error{
		"postmortem of an open incident": e(n.PublishPostmortem(ctx, editor, incident, status.NewUpdate{Body: "x"})),
		"reopening an open incident": e(n.ReopenIncident(ctx, editor, incident,
			status.NewUpdate{State: status.Identified, Body: "x"})),
		"an incident in progress": e(n.UpdateIncident(ctx, editor, incident,
			status.NewUpdate{State: status.InProgress, Body: "x"})),
		"checking before the start": e(n.MoveMaintenance(ctx, editor, work,
			status.NewUpdate{State: status.Verifying})),
	} {
		if !errors.As(err, &step) {
			t.Errorf("%s: %v", name, err)
		}
	}
	wantReason(t, e(n.UpdateIncident(ctx, editor, incident, status.NewUpdate{State: status.Resolved, Body: " "})),
		status.BadInput, "empty")
	wantReason(t, e(n.UpdateIncident(ctx, editor, incident,
		status.NewUpdate{State: status.Monitoring, Body: "x", ExpectedVersion: 7})), status.Conflict, "version 1")
	wantReason(t, e(n.UpdateIncident(ctx, editor, incident,
		status.NewUpdate{State: status.Monitoring, Body: "x", Affected: set("nothing", "operational")})),
		status.NotFound, "does not exist")
	wantReason(t, e(n.UpdateIncident(ctx, editor, incident,
		status.NewUpdate{State: status.Monitoring, Body: "x", Affected: set(api, "sleepy")})), status.BadInput,
		"not a component status")
	wantReason(t, e(n.UpdateIncident(ctx, editor, incident,
		status.NewUpdate{State: status.Monitoring, Body: "x", Affected: set(api, "operational", api, "operational")})),
		status.BadInput, "two statuses")
	wantReason(t, e(n.UpdateIncident(ctx, editor, incident,
		status.NewUpdate{State: status.Resolved, Body: "x", Affected: set(api, "major_outage")})), status.BadInput,
		"keep")
	wantReason(t, e(n.UpdateIncident(ctx, editor, incident, status.NewUpdate{
		State: status.Monitoring, Body: "x",
		DisplayAt: ledger.Of(n.clock().Add(time.Second)),
	})), status.BadInput, "future")
	wantReason(t, e(n.UpdateIncident(ctx, editor, work, status.NewUpdate{State: status.Monitoring, Body: "x"})),
		status.NotFound, "incident")
	wantReason(t, e(n.UpdateIncident(ctx, editor, "no such; code",
		status.NewUpdate{State: status.Monitoring, Body: "x"})), status.NotFound, "incident")
	wantReason(t, e(n.OpenIncident(ctx, editor, "none", status.NewIncident{Name: "x", Body: "x"})), status.NotFound,
		"does not exist")
	wantReason(t, e(n.OpenIncident(ctx, editor, n.page, status.NewIncident{Name: " ", Body: "x"})), status.BadInput,
		"name")
	wantReason(t, e(n.RescheduleMaintenance(ctx, editor, work, status.Reschedule{Start: n.clock(), End: n.clock()})),
		status.BadInput, "after the start")
	if after := n.revision(); after != before || n.notice(incident) != "investigating none v1" ||
		n.notice(work) != "scheduled maintenance v1" {
		t.Errorf("revision %d, was %d; %s; %s", after, before, n.notice(incident), n.notice(work))
	}
}

// e returns the error of a write.
func e(_ string, err error) error { return err }

// must2 returns a function that returns the code of a write, or fails the test.
func must2(t *testing.T) func(string, error) string {
	t.Helper()
	return func(code string, err error) string {
		t.Helper()
		return must(t, code, err)
	}
}

// TestOverlaps tests an incident and a maintenance that affect the same component, in both orders of ending.
func TestOverlaps(t *testing.T) {
	t.Parallel()
	for _, maintenanceEndsFirst := range []bool{true, false} {
		n := newEditorTest(t, "Etc/UTC")
		ctx, api := t.Context(), n.api()
		ok := must2(t)
		incident := ok(n.OpenIncident(ctx, editor, n.page,
			status.NewIncident{Name: "Down", Body: "x", Affected: set(api, "major_outage")}))
		work := ok(n.ScheduleMaintenance(ctx, editor, n.page, status.NewMaintenance{
			Name: "Work", Body: "x", Start: n.clock().Add(time.Hour), End: n.clock().Add(2 * time.Hour),
			Components: []string{api}, AutoMaintenanceState: true,
			AutoOperationalState: true,
		}))
		n.wait(time.Hour)
		ok(n.MoveMaintenance(ctx, editor, work, status.NewUpdate{State: status.InProgress}))
		if got := n.states(api); got != "m" {
			t.Errorf("a maintenance hides the outage: %s", got)
		}
		n.wait(time.Hour)
		endWork := func() {
			ok(n.MoveMaintenance(ctx, editor, work, status.NewUpdate{State: status.Verifying}))
			ok(n.MoveMaintenance(ctx, editor, work, status.NewUpdate{State: status.InProgress}))
			ok(n.MoveMaintenance(ctx, editor, work, status.NewUpdate{State: status.Completed}))
		}
		endIncident := func() {
			ok(n.UpdateIncident(ctx, editor, incident, status.NewUpdate{State: status.Resolved, Body: "x"}))
		}
		between, story := "m", "scheduled mm; in_progress mm; verifying mm; in_progress mm; completed mm"
		if maintenanceEndsFirst {
			endWork()
		} else {
			endIncident()
			between, story = "u", "scheduled mm; in_progress mm; verifying uu; in_progress uu; completed uo"
		}
		if got := n.states(api); got != between {
			t.Errorf("maintenance ends first %v: %s between", maintenanceEndsFirst, got)
		}
		if maintenanceEndsFirst {
			endIncident()
		} else {
			endWork()
		}
		if got := n.states(api); got != "o" {
			t.Errorf("maintenance ends first %v: %s at the end", maintenanceEndsFirst, got)
		}
		if got := n.history(work); got != story {
			t.Errorf("%s, want %s", got, story)
		}
		var step *status.TransitionError
		if err := e(n.MoveMaintenance(ctx, editor, work, status.NewUpdate{State: status.InProgress})); !errors.As(err,
			&step) {
			t.Errorf("a finished maintenance begins again: %v", err)
		}
	}
}
