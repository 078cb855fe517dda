package statuspages_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/storage/statuspages"
)

// tick advances the clock to the given time and returns the actions that were executed.
func (n *editorTest) tick(at time.Time) string {
	n.t.Helper()
	n.wait(at.Sub(n.clock()))
	done, err := n.RunDue(n.t.Context())
	must(n.t, done, err)
	var out []string
	for _, h := range done {
		out = append(out, string(h.Due))
	}
	return strings.Join(out, " ")
}

func (n *editorTest) planned(start, end time.Time) string {
	n.t.Helper()
	return must2(n.t)(n.ScheduleMaintenance(n.t.Context(), editor, n.page, status.NewMaintenance{
		Name: "Work", Body: "Soon.", Start: start, End: end, Components: []string{n.api()}, AutoInProgress: true,
		AutoCompleted: true, AutoMaintenanceState: true,
		AutoOperationalState: true, RemindMinutes: ledger.Of(int32(60)), SilentAtEnd: true,
	}))
}

func TestDue(t *testing.T) {
	t.Parallel()
	n := newEditorTest(t, "Etc/UTC")
	start := n.clock().Add(2 * time.Hour)
	code := n.planned(start, start.Add(time.Hour))
	for _, c := range []struct {
		after time.Duration
		want  string
	}{
		{-time.Hour - time.Second, ""},
		{-time.Hour, "reminder"},
		{-time.Hour + time.Second, ""},
		{-time.Second, ""},
		{0, "start"},
		{10 * time.Second, ""},
		{-time.Minute, ""}, // the clock is set back
		{time.Hour - 1, ""},
		{time.Hour, "end"},
		{2 * time.Hour, ""},
	} {
		if got := n.tick(start.Add(c.after)); got != c.want {
			t.Errorf("%s after the start: %q, want %q", c.after, got, c.want)
		}
	}
	// A reminder does not affect components. The automatic updates have the scheduled times.
	if got := n.history(code); got != "scheduled oo; scheduled; in_progress ou; completed uo" {
		t.Error(got)
	}
	if got := one[string](t, n,
		`select string_agg(origin || ' ' || deliver_notifications || ' ' || body, '; ' order by created_at)
from status.incident_update where incident_id = $1`, code); got !=
		"operator true Soon.; reminder true This maintenance will start soon.; schedule true This maintenance has "+
			"started.; schedule false This maintenance is finished." {
		t.Error(got)
	}
	if got := one[string](t, n,
		`select string_agg(action, ' ' order by id) from status.audit where actor = 'schedule'`); got != "schedule."+
		"reminder schedule.start schedule.end" {
		t.Error(got)
	}
}

// TestDueAfterDowntime executes overdue actions once and in order, and drops a reminder that is too late.
func TestDueAfterDowntime(t *testing.T) {
	t.Parallel()
	n := newEditorTest(t, "Etc/UTC")
	start := n.clock().Add(2 * time.Hour)
	first := n.planned(start, start.Add(time.Hour))
	manual := must2(t)(n.ScheduleMaintenance(t.Context(), editor, n.page, status.NewMaintenance{
		Name: "Manual", Body: "x", Start: start,
		End: start.Add(time.Hour), RemindMinutes: ledger.Of(int32(60)),
	}))
	later := start.Add(5 * time.Hour)
	if got := n.tick(later); got != "start end" {
		t.Error(got)
	}
	if got := n.history(first) + " | " + n.history(
		manual); got != "scheduled oo; in_progress ou; completed uo | scheduled" {
		t.Error(got)
	}
	if !one[bool](t, n, `select resolved_at = $2 from status.incident where id = $1`, first, later) {
		t.Error("the update is not dated when it was executed")
	}
	if got := n.tick(later.Add(time.Second)); got != "" {
		t.Error(got)
	}
	// The state verifying also ends automatically.
	second := n.planned(n.clock().Add(time.Minute), n.clock().Add(time.Hour))
	n.tick(n.clock().Add(time.Minute))
	must2(t)(n.MoveMaintenance(t.Context(), editor, second, status.NewUpdate{State: status.Verifying}))
	if got := n.tick(n.clock().Add(time.Hour)); got != "end" {
		t.Error(got)
	}
	// A new start time schedules the reminder again.
	third := n.planned(n.clock().Add(time.Hour), n.clock().Add(2*time.Hour))
	if got := n.tick(n.clock()); got != "reminder" {
		t.Error(got)
	}
	must2(t)(n.RescheduleMaintenance(t.Context(), editor, third, status.Reschedule{
		Start: n.clock().Add(3 * time.Hour), End: n.clock().Add(4 * time.Hour), Body: "Later.",
	}))
	if got := n.tick(n.clock().Add(2 * time.Hour)); got != "reminder" {
		t.Error(got)
	}
}

func TestIncidentReminders(t *testing.T) {
	t.Parallel()
	n := newEditorTest(t, "Etc/UTC")
	begin := n.clock()
	code := must2(t)(n.OpenIncident(t.Context(), editor, n.page,
		status.NewIncident{Name: "Slow", Body: "x", Reminders: ledger.Of("[1, 3]")}))
	for after, want := range []string{"", "incident reminder", "", "incident reminder", "", ""} {
		if got := n.tick(begin.Add(time.Duration(after) * time.Hour)); got != want {
			t.Errorf("after %d hours: %q, want %q", after, got, want)
		}
	}
	if got := n.history(code); got != "investigating" {
		t.Errorf("published updates: %s", got)
	}
}

// TestDueAcrossClockChanges starts and ends maintenance across daylight saving changes at the times that editors
// chose.
func TestDueAcrossClockChanges(t *testing.T) {
	t.Parallel()
	zone, err := status.LoadZone("America/New_York")
	must(t, zone, err)
	for day, hours := range map[string]float64{"2026-11-01": 3, "2027-03-14": 1} {
		n := newEditorTest(t, "America/New_York")
		from, err := status.ParseTime(day+" 00:30", zone)
		must(t, from, err)
		if day == "2027-03-14" {
			from, err = status.ParseTime(day+" 01:30", zone)
			must(t, from, err)
		}
		until, err := status.ParseTime(day+" "+map[string]string{"2026-11-01": "02:30", "2027-03-14": "03:30"}[day],
			zone)
		must(t, until, err)
		if got := until.Sub(from).Hours(); got != hours {
			t.Errorf("%s: %v hours", day, got)
		}
		n.planned(from, until)
		for _, c := range []struct {
			at   time.Time
			want string
		}{
			{from.Add(-time.Hour), "reminder"},
			{from.Add(-1e6), ""},
			{from, "start"},
			{until.Add(-1e6), ""},
			{until, "end"},
		} {
			if got := n.tick(c.at); got != c.want {
				t.Errorf("%s: %q at %s, want %q", day, got, c.at, c.want)
			}
		}
	}
}

// TestConcurrentSchedulers checks that several gateways execute each due action exactly once.
func TestConcurrentSchedulers(t *testing.T) {
	t.Parallel()
	n := newEditorTest(t, "Etc/UTC")
	start := n.clock().Add(time.Minute)
	var codes []string
	for range 5 {
		codes = append(codes, n.planned(start, start.Add(time.Minute)))
	}
	other := statuspages.NewEditor(openStatus(t, n.url), n.clock)
	for _, d := range []time.Duration{time.Minute, 2 * time.Minute} {
		n.wait(d)
		var group sync.WaitGroup
		for _, ed := range []*statuspages.Editor{n.Editor, other, n.Editor, other} {
			group.Go(func() {
				if _, err := ed.RunDue(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
	}
	for _, c := range codes {
		if got := n.history(c); !strings.HasPrefix(got, "scheduled oo; in_progress ") || strings.Count(got, ";") != 2 {
			t.Error(got)
		}
	}
	if got := n.states(n.api()); got != "o" {
		t.Errorf("status after the end: %s", got)
	}
}
