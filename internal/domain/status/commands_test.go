package status

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"heliograph/internal/domain/ledger"
)

// fakePage is a working copy that keeps what the rules return, in place of a database.
type fakePage struct {
	*WorkingCopy
	t       *testing.T
	notices map[string]*NoticeState
	changes []*Change
}

// newFakePage returns a page with the components api, web and db (web and db in the group g), and the node n.
func newFakePage(t *testing.T) *fakePage {
	t.Helper()
	p := &Page{
		Code: "page", Slug: "lantern", URL: "https://status.lantern.example", Locale: "en",
		Vocabulary: Statuspage, AutoPublish: true, Mode: Own,
	}
	at := time.Date(2026, 5, 17, 12, 0, 0, 0, zone(t, "Europe/Berlin"))
	codes := 0
	b := NewWorkingCopy(p, []*Component{
		{Code: "api", Name: "API", Position: 1, BaseStatus: Operational},
		{Code: "g", Name: "Group", Position: 2, IsGroup: true},
		{Code: "web", Name: "Web", Position: 1, GroupCode: ledger.Of("g"), BaseStatus: Operational},
		{Code: "db", Name: "DB", Position: 2, GroupCode: ledger.Of("g"), BaseStatus: DegradedPerformance},
		{Code: "n", Name: "Node", Position: 3, BaseStatus: Operational, NodeID: ledger.Of(int64(7))},
	}, nil)
	b.At, b.Origin, b.NewCode = at, FromOperator, func() string {
		codes++
		return fmt.Sprintf("code%d", codes)
	}
	return &fakePage{WorkingCopy: b, t: t, notices: map[string]*NoticeState{}}
}

// store keeps an effect and returns the notice.
func (p *fakePage) store(e *Effect, err error) *NoticeState {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
	s := p.notices[e.Notice.Code]
	if (s == nil) != e.New {
		p.t.Fatalf("notice %s is new: %t", e.Notice.Code, e.New)
	}
	if s == nil {
		s = &NoticeState{}
		p.notices[e.Notice.Code] = s
	}
	s.Notice = e.Notice
	if e.Attachments != nil {
		s.Attachments = e.Attachments
	}
	for _, u := range e.Updates {
		s.Updates = slices.DeleteFunc(s.Updates, func(old *Update) bool { return old.Code == u.Code })
		s.Updates = append(s.Updates, u)
	}
	p.changes = append(p.changes, e.Changes...)
	return s
}

func (p *fakePage) wait(d time.Duration) { p.At = p.At.Add(d) }

// statusesOf returns the first letters of the statuses of components.
func (p *fakePage) statusesOf(codes ...string) string {
	var out strings.Builder
	for _, c := range codes {
		out.WriteByte(p.Component(c).Status[0])
	}
	return out.String()
}

// story returns the states of the updates with the changes of components.
func story(s *NoticeState) string {
	out := make([]string, len(s.Updates))
	for i, u := range s.Updates {
		out[i] = string(u.State)
		for _, a := range u.Affected {
			out[i] += " " + a.Code + ":" + string(a.OldStatus[0]) + string(a.NewStatus[0])
		}
	}
	return strings.Join(out, "; ")
}

func assign(pairs ...string) []Assignment {
	var out []Assignment
	for p := range slices.Chunk(pairs, 2) {
		out = append(out, Assignment{p[0], ComponentStatus(p[1])})
	}
	return out
}

// wantError fails the test unless err is an [*Error] with a reason and words, or a [*TransitionError] if the reason is
// empty.
func wantError(t *testing.T, err error, reason Reason, words string) {
	t.Helper()
	var rejected *Error
	var transition *TransitionError
	ok := errors.As(err, &rejected) && rejected.Reason == reason || reason == "" && errors.As(err, &transition)
	if !ok || !strings.Contains(err.Error(), words) {
		t.Errorf("error %v, want %q with %q", err, reason, words)
	}
}

func TestIncidentLifecycle(t *testing.T) {
	t.Parallel()
	p := newFakePage(t)
	s := p.store(p.OpenIncident(NewIncident{
		Name: "Slow", Body: "We look.",
		Affected: assign("web", "partial_outage", "api", "degraded_performance"),
	}))
	n := s.Notice
	if n.State != Investigating || n.Impact != ImpactMajor || n.Version != 1 || !n.CreatedAt.Equal(p.At) ||
		!n.StartedAt.Equal(p.At) || n.Shortlink != "https://status.lantern.example/incidents/code1" {
		t.Errorf("after opening: %+v", n)
	}
	if got := p.statusesOf("api", "web", "db", "g"); got != "dpdp" {
		t.Errorf("statuses %s after opening", got)
	}
	p.wait(time.Minute)
	s = p.store(p.UpdateIncident(*s, NewUpdate{
		State: Monitoring, Body: "Better.",
		Affected: assign("api", "operational"),
	}))
	if n := s.Notice; n.Version != 2 || n.Impact != ImpactMajor || !n.MonitoringAt.V.Equal(p.At) ||
		n.ResolvedAt.Valid {
		t.Errorf("monitoring: %+v", n)
	}
	_, err := p.UpdateIncident(*s, NewUpdate{
		State: Resolved, Body: "Over.",
		Affected: assign("web", "partial_outage"),
	})
	wantError(t, err, BadInput, "keep the components")
	p.wait(time.Minute)
	s = p.store(p.UpdateIncident(*s, NewUpdate{State: Resolved, Body: "Over.", Keep: true}))
	resolved := p.At
	if got := p.statusesOf("api", "web", "db"); got != "opd" || p.Component("web").BaseStatus != PartialOutage ||
		!s.Notice.ResolvedAt.V.Equal(resolved) {
		t.Errorf("statuses %s after keeping, base %s", got, p.Component("web").BaseStatus)
	}
	for _, a := range s.Attachments {
		if a.HeldStatus != "" {
			t.Errorf("%s is still held", a.ComponentCode)
		}
	}
	p.wait(time.Minute)
	s = p.store(p.PublishPostmortem(*s, NewUpdate{Body: "It was a cable.", Notify: ledger.Of(false)}))
	s = p.store(p.UpdateIncident(*s, NewUpdate{State: Postmortem, Body: "It was two cables."}))
	last := s.Updates[len(s.Updates)-1]
	if len(s.Updates) != 4 || last.Body != "It was two cables." || last.DisplayAt.Valid || len(last.Affected) > 0 ||
		!s.Notice.ResolvedAt.V.Equal(resolved) {
		t.Errorf("postmortem: %+v of %d updates", last, len(s.Updates))
	}
	for words, in := range map[string]NewUpdate{
		"postmortem cannot change components": {Affected: assign("api", "operational")},
		"postmortems have no date":            {DisplayAt: ledger.Of(resolved)},
	} {
		in.State, in.Body = Postmortem, "It was three cables."
		_, err = p.UpdateIncident(*s, in)
		wantError(t, err, BadInput, words)
	}
	_, err = p.UpdateIncident(*s, NewUpdate{State: Identified, Body: "Again."})
	wantError(t, err, "", "unless it is reopened")
	s = p.store(p.ReopenIncident(*s, NewUpdate{
		State: Identified, Body: "Again.",
		Affected: assign("n", "major_outage"),
	}))
	if s.Notice.ResolvedAt.Valid || s.Notice.Impact != ImpactCritical || p.statusesOf("n") != "m" {
		t.Errorf("reopened: %+v", s.Notice)
	}
	if got, want := story(s),
		"investigating api:od web:op; monitoring api:do web:pp; resolved api:oo web:pp; postmortem; identified "+
			"api:oo web:pp n:om"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	changes := p.Release(n.Code)
	if len(changes) != 1 || changes[0].ComponentCode != "n" || changes[0].NewStatus != Operational ||
		changes[0].UpdateCode.Valid {
		t.Errorf("after the release: %+v", changes)
	}
}

func TestIncidentRejections(t *testing.T) {
	t.Parallel()
	p := newFakePage(t)
	past, future := ledger.Of(p.At.Add(-time.Hour)), ledger.Of(p.At.Add(time.Hour))
	for words, in := range map[string]NewIncident{
		"the name of the notice is empty": {Name: " ", Body: "x"},
		"more than one line":              {Name: "a\nb", Body: "x"},
		"the body is empty":               {Name: "x", Body: "\n"},
		"not an impact":                   {Name: "x", Body: "x", ImpactOverride: ledger.Of(Impact("bad"))},
		"list of hours":                   {Name: "x", Body: "x", Reminders: ledger.Of("soon")},
		"cannot start in the future":      {Name: "x", Body: "x", StartedAt: future},
		"backfill it":                     {Name: "x", Body: "x", State: Resolved},
		"is a group":                      {Name: "x", Body: "x", Affected: assign("g", "operational")},
		"not a component status":          {Name: "x", Body: "x", Affected: assign("api", "down")},
		"two statuses": {
			Name: "x", Body: "x",
			Affected: assign("api", "operational", "api", "operational"),
		},
		"cannot be a draft":           {Name: "x", Body: "x", Backfill: true, Draft: true},
		"needs its start and its end": {Name: "x", Body: "x", Backfill: true, StartedAt: past},
		"is resolved, not identified": {
			Name: "x", Body: "x", Backfill: true, StartedAt: past, ResolvedAt: past,
			State: Identified,
		},
		"must be after the start": {Name: "x", Body: "x", Backfill: true, StartedAt: past, ResolvedAt: past},
		"incident cannot end in the future": {
			Name: "x", Body: "x", Backfill: true, StartedAt: past,
			ResolvedAt: future,
		},
	} {
		_, err := p.OpenIncident(in)
		wantError(t, err, BadInput, words)
	}
	_, err := p.OpenIncident(NewIncident{Name: "x", Body: "x", Affected: assign("gone", "operational")})
	wantError(t, err, NotFound, "gone")
	_, err = p.OpenIncident(NewIncident{Name: "x", Body: "x", State: Postmortem})
	wantError(t, err, "", "an incident that is new cannot become postmortem")
	if got := p.statusesOf("api", "web", "db", "n"); got != "oodo" {
		t.Errorf("rejected incidents changed statuses to %s", got)
	}
}

func TestDrafts(t *testing.T) {
	t.Parallel()
	p := newFakePage(t)
	s := p.store(p.OpenIncident(NewIncident{
		Name: "Maybe", Body: "We look.", Draft: true, Notify: ledger.Of(false),
		Affected: assign("api", "major_outage", "db", "operational"),
	}))
	opened := p.At
	if p.statusesOf("api", "db") != "od" || len(p.changes) > 0 || story(s) != "investigating api:om db:dd" {
		t.Errorf("a draft changes components: %s, %s", p.statusesOf("api", "db"), story(s))
	}
	_, err := p.UpdateIncident(*s, NewUpdate{State: Identified, Body: "x"})
	wantError(t, err, BadState, "publish or discard it first")
	p.wait(time.Hour)
	// deleted meanwhile
	p.Components = slices.DeleteFunc(p.Components, func(c *Component) bool { return c.Code == "db" })
	s = p.store(p.PublishDraft(*s, VersionInput{}))
	n := s.Notice
	if n.Draft || n.State != Investigating || n.Version != 2 || !n.CreatedAt.Equal(p.At) ||
		!n.StartedAt.Equal(opened) || p.statusesOf("api") != "m" {
		t.Errorf("published: %+v", n)
	}
	if u := s.Updates[0]; len(s.Updates) != 1 || !u.DisplayAt.V.Equal(p.At) || u.DeliverNotifications ||
		story(s) != "investigating api:om" {
		t.Errorf("published: %s, %+v", story(s), s.Updates[0])
	}
	_, err = p.PublishDraft(*s, VersionInput{})
	wantError(t, err, BadState, "not a draft")
	wantError(t, CheckDraft(n), BadState, "not a draft")
}

func TestBackfill(t *testing.T) {
	t.Parallel()
	p := newFakePage(t)
	start, end := p.At.Add(-2*time.Hour), p.At.Add(-time.Hour)
	s := p.store(p.OpenIncident(NewIncident{
		Name: "Past", Body: "It broke.", Backfill: true,
		StartedAt: ledger.Of(start.UTC()), ResolvedAt: ledger.Of(end), Affected: assign("api", "major_outage"),
	}))
	n := s.Notice
	if n.State != Resolved || n.Version != 1 || n.Impact != ImpactCritical || !n.CreatedAt.Equal(start) ||
		!n.ResolvedAt.V.Equal(end) ||
		!n.UpdatedAt.Equal(p.At) || n.StartedAt.Location() != p.At.Location() {
		t.Errorf("%+v", n)
	}
	if story(s) != "investigating api:om; resolved api:mo" || s.Updates[1].Body != "This incident is over." ||
		p.statusesOf("api") != "o" || len(p.changes) > 0 {
		t.Errorf("%s; %q; api is %s", story(s), s.Updates[1].Body, p.statusesOf("api"))
	}
	// Reopened, it affects its components as other incidents do.
	s = p.store(p.ReopenIncident(*s, NewUpdate{
		State: Investigating, Body: "Again.", Affected: assign("api", "partial_outage"),
	}))
	if s.Notice.Backfilled || p.statusesOf("api") != "p" || len(p.changes) != 1 {
		t.Errorf("reopened: api is %s, %+v", p.statusesOf("api"), s.Notice)
	}
	s = p.store(p.UpdateIncident(*s, NewUpdate{State: Resolved, Body: "Over."}))
	const want = "investigating api:om; resolved api:mo; investigating api:op; resolved api:po"
	if got := story(s); got != want || p.statusesOf("api") != "o" {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestUpdateDates(t *testing.T) {
	t.Parallel()
	p := newFakePage(t)
	s := p.store(p.OpenIncident(NewIncident{Name: "x", Body: "x"}))
	// At the same instant: the second update is created later.
	s = p.store(p.UpdateIncident(*s, NewUpdate{
		State: Identified, Body: "x",
		DisplayAt: ledger.Of(p.At.Add(-1500 * time.Millisecond).UTC()),
	}))
	if u := s.Updates[1]; !u.CreatedAt.After(s.Updates[0].CreatedAt) ||
		!u.DisplayAt.V.Equal(p.At.Add(-2*time.Second)) ||
		u.DisplayAt.V.Location() != p.At.Location() {
		t.Errorf("%+v", u)
	}
	_, err := p.UpdateIncident(*s, NewUpdate{
		State: Identified, Body: "x",
		DisplayAt: ledger.Of(p.At.Add(time.Second)),
	})
	wantError(t, err, BadInput, "in the future")
}

func TestEditUpdate(t *testing.T) {
	t.Parallel()
	p := newFakePage(t)
	s := p.store(p.OpenIncident(NewIncident{Name: "x", Body: "first"}))
	for _, state := range []State{Monitoring, Monitoring, Resolved} {
		p.wait(time.Minute)
		s = p.store(p.UpdateIncident(*s, NewUpdate{State: state, Body: "later"}))
	}
	s = p.store(p.PublishPostmortem(*s, NewUpdate{Body: "why"}))
	earlier := p.At.Add(-time.Hour)
	dated := UpdateEdit{DisplayAt: ledger.Of(earlier)}
	for i, date := range []func(*Notice) time.Time{
		func(n *Notice) time.Time { return n.CreatedAt }, func(n *Notice) time.Time { return n.MonitoringAt.V }, nil,
		func(n *Notice) time.Time { return n.ResolvedAt.V },
	} {
		n, u, err := p.EditUpdate(*s, s.Updates[i].Code, dated)
		if err != nil || !u.DisplayAt.V.Equal(earlier) || n.Version != s.Notice.Version+1 ||
			s.Updates[i].DisplayAt.V.Equal(earlier) {
			t.Fatalf("%d: %+v, %v", i, u, err)
		}
		changed := 0
		for _, pair := range [][2]time.Time{
			{n.CreatedAt, s.Notice.CreatedAt},
			{n.MonitoringAt.V, s.Notice.MonitoringAt.V},
			{n.ResolvedAt.V, s.Notice.ResolvedAt.V},
		} {
			if !pair[0].Equal(pair[1]) {
				changed++
			}
		}
		if date == nil && changed != 0 || date != nil && (changed != 1 || !date(n).Equal(earlier)) {
			t.Errorf("update %d changes %d dates: %+v", i, changed, n)
		}
	}
	n, u, err := p.EditUpdate(*s, s.Updates[0].Code, UpdateEdit{Body: ledger.Of("better")})
	if err != nil || u.Body != "better" || !u.UpdatedAt.Equal(p.At) || !n.CreatedAt.Equal(s.Notice.CreatedAt) ||
		s.Updates[0].Body != "first" {
		t.Errorf("%+v, %v", u, err)
	}
	for words, c := range map[string]struct {
		code   string
		edit   UpdateEdit
		reason Reason
	}{
		"no update other":     {"other", dated, NotFound},
		"body is empty":       {s.Updates[0].Code, UpdateEdit{Body: ledger.Of("")}, BadInput},
		"in the future":       {s.Updates[0].Code, UpdateEdit{DisplayAt: ledger.Of(p.At.Add(time.Minute))}, BadInput},
		"postmortems have no": {s.Updates[4].Code, dated, BadInput},
	} {
		_, _, err := p.EditUpdate(*s, c.code, c.edit)
		wantError(t, err, c.reason, words)
	}
}

func TestEditNotice(t *testing.T) {
	t.Parallel()
	p := newFakePage(t)
	incident := &Notice{
		Kind: Realtime, Name: "Old", Impact: ImpactMajor, Version: 3,
		ReminderIntervals: ledger.Of("[1]"),
	}
	maintenance := &Notice{Kind: Scheduled, Name: "Old", Impact: ImpactMaintenance, AutoInProgress: true}
	given := []ComponentStatus{Operational, DegradedPerformance}
	n, err := p.EditNotice(incident, NoticeEdit{
		Name: ledger.Of("New"), ImpactOverride: ledger.Of(ImpactCritical),
		Reminders: ledger.Of(""),
	}, given)
	if err != nil || n.Name != "New" || n.Impact != ImpactCritical || n.ReminderIntervals.Valid || n.Version != 4 ||
		!n.UpdatedAt.Equal(p.At) || incident.Name != "Old" {
		t.Errorf("%+v, %v", n, err)
	}
	if n, err = p.EditNotice(n, NoticeEdit{ImpactOverride: ledger.Of(Impact(""))}, given); err != nil ||
		n.Impact != ImpactMinor || n.ImpactOverride.Valid {
		t.Errorf("%+v, %v", n, err)
	}
	if n, err = p.EditNotice(maintenance, NoticeEdit{AutoCompleted: ledger.Of(true), AutoInProgress: ledger.Of(false)},
		nil); err != nil ||
		n.AutoInProgress || !n.AutoCompleted {
		t.Errorf("%+v, %v", n, err)
	}
	for words, c := range map[string]struct {
		n    *Notice
		edit NoticeEdit
	}{
		"is empty":          {incident, NoticeEdit{Name: ledger.Of("")}},
		"not an impact":     {incident, NoticeEdit{ImpactOverride: ledger.Of(Impact("x"))}},
		"list of hours":     {incident, NoticeEdit{Reminders: ledger.Of("[2, 1]")}},
		"only incidents":    {maintenance, NoticeEdit{Reminders: ledger.Of("[1]")}},
		"only maintenances": {incident, NoticeEdit{AutoCompleted: ledger.Of(true)}},
	} {
		_, err := p.EditNotice(c.n, c.edit, nil)
		wantError(t, err, BadInput, words)
	}
	if err := CheckVersion("x", 0, 5); err != nil {
		t.Error(err)
	}
	wantError(t, CheckVersion("x", 4, 5), Conflict, "at version 5, not 4")
}

func TestMaintenanceLifecycle(t *testing.T) {
	t.Parallel()
	p := newFakePage(t)
	start, end := p.At.Add(time.Hour), p.At.Add(2*time.Hour)
	s := p.store(p.ScheduleMaintenance(NewMaintenance{
		Name: "Work", Body: "We work.", Start: start.UTC(), End: end, Components: []string{"api", "db"},
		AutoInProgress: true, AutoCompleted: true, AutoMaintenanceState: true,
		AutoOperationalState: true, RemindMinutes: ledger.Of(int32(10)), SilentAtEnd: true,
	}))
	if n := s.Notice; n.State != Planned || n.Impact != ImpactMaintenance ||
		n.ScheduledFor.V.Location() != p.At.Location() || p.statusesOf("api", "db") != "od" {
		t.Errorf("%+v", n)
	}
	_, err := p.UpdateIncident(*s, NewUpdate{State: Planned, Body: "x", Affected: assign("api", "under_maintenance")})
	wantError(t, err, BadInput, "has not started")
	_, err = p.RescheduleMaintenance(*s, Reschedule{Start: end, End: start})
	wantError(t, err, BadInput, "must be after the start")

	version := s.Notice.Version
	s = p.store(p.RescheduleMaintenance(*s, Reschedule{Start: start, End: end.Add(time.Hour)}))
	if len(s.Updates) != 1 || s.Notice.Version != version+1 || !s.Notice.ScheduledUntil.V.Equal(end.Add(time.Hour)) {
		t.Errorf("%+v", s.Notice)
	}
	p.At = start.Add(-5 * time.Minute)
	due := DueOf(s.Notice, p.At)
	if s = p.store(p.RunDue(*s, due)); due != ReminderDue || s.Updates[1].Origin != FromReminder ||
		s.Updates[1].State != Planned ||
		DueOf(s.Notice, p.At) != NothingDue {
		t.Errorf("%s: %+v", due, s.Updates[1])
	}
	s = p.store(p.RescheduleMaintenance(*s, Reschedule{
		Start: start.Add(time.Minute),
		End:   end, Body: "A minute later.", Notify: ledger.Of(false),
	}))
	if u := s.Updates[2]; u.Body != "A minute later." || u.DeliverNotifications ||
		DueOf(s.Notice, p.At) != NothingDue {
		t.Errorf("%+v", u)
	}
	later, err := p.RescheduleMaintenance(*s, Reschedule{Start: end, End: end.Add(time.Hour), Body: "An hour later."})
	if err != nil || DueOf(later.Notice, end.Add(-10*time.Minute)) != ReminderDue {
		t.Errorf("%+v, %v", later, err)
	}
	p.At = start.Add(time.Minute)
	s = p.store(p.RunDue(*s, DueOf(s.Notice, p.At)))
	if u := s.Updates[3]; s.Notice.State != InProgress || u.Body != "This maintenance has started." ||
		!u.DeliverNotifications || p.statusesOf("api", "db") != "ud" {
		t.Errorf("%+v: %s", u, p.statusesOf("api", "db"))
	}
	_, err = p.RescheduleMaintenance(*s, Reschedule{Start: start, End: end})
	wantError(t, err, BadState, "only its end")
	_, err = p.CancelMaintenance(*s, NewUpdate{})
	wantError(t, err, BadState, "complete it")
	s = p.store(p.MoveMaintenance(*s, NewUpdate{State: Verifying}))
	if u := s.Updates[4]; u.Body != "The work is done; results are being checked." ||
		!s.Notice.MonitoringAt.V.Equal(p.At) {
		t.Errorf("%+v", u)
	}
	p.At = end
	s = p.store(p.RunDue(*s, DueOf(s.Notice, p.At)))
	if u := s.Updates[5]; s.Notice.State != Completed || u.DeliverNotifications || p.statusesOf("api", "db") != "od" {
		t.Errorf("%+v: %s", u, p.statusesOf("api", "db"))
	}
	_, err = p.RescheduleMaintenance(*s, Reschedule{Start: start, End: end})
	wantError(t, err, "", "it is final")
	_, err = p.MoveMaintenance(*s, NewUpdate{State: Completed})
	wantError(t, err, "", "it is final")
	if got, want := story(s),
		"scheduled api:oo db:dd; scheduled; scheduled api:oo db:dd; in_progress api:ou db:dd; verifying api:uu "+
			"db:dd; completed api:uo db:dd"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	_, err = p.RescheduleMaintenance(NoticeState{Notice: &Notice{Kind: Realtime, State: Identified}},
		Reschedule{Start: start, End: end})
	wantError(t, err, BadInput, "only maintenances")
}

func TestMaintenanceVariants(t *testing.T) {
	t.Parallel()
	p := newFakePage(t)
	past, next := p.At.Add(-time.Hour), p.At.Add(time.Hour)
	s := p.store(p.ScheduleMaintenance(NewMaintenance{
		Name: "Now", Body: "x", Start: past, End: next, Components: []string{"api"}, State: InProgress,
		AutoMaintenanceState: true,
	}))
	if p.statusesOf("api") != "u" || story(s) != "in_progress api:ou" {
		t.Errorf("in progress: api is %s, %s", p.statusesOf("api"), story(s))
	}
	// Without AutoOperationalState the components keep their statuses.
	p.store(p.MoveMaintenance(*s, NewUpdate{State: Completed}))
	if c := p.Component("api"); c.BaseStatus != UnderMaintenance || c.Status != UnderMaintenance {
		t.Errorf("completed: %+v", c)
	}
	s = p.store(p.ScheduleMaintenance(NewMaintenance{
		Name: "Past", Body: "x", Start: past, End: p.At, Components: []string{"web"}, State: Completed,
		AutoMaintenanceState: true,
	}))
	if n := s.Notice; !n.Backfilled || !n.CreatedAt.Equal(past) || !n.StartedAt.Equal(past) ||
		!n.ResolvedAt.V.Equal(p.At) || p.statusesOf("web") != "o" ||
		n.Version != 1 {
		t.Errorf("completed in the past: %+v", n)
	}
	s = p.store(p.ScheduleMaintenance(NewMaintenance{Name: "Never", Body: "x", Start: next, End: next.Add(1e9)}))
	if s = p.store(p.CancelMaintenance(*s, NewUpdate{Notify: ledger.Of(false)})); s.Notice.State != Completed ||
		s.Updates[1].Body != "This maintenance will not take place." {
		t.Errorf("cancelled: %+v", s.Updates[1])
	}
	for words, in := range map[string]NewMaintenance{
		"name of the notice":    {Start: next, End: next.Add(1e9), Body: "x"},
		"must be after":         {Name: "x", Body: "x", Start: next, End: next},
		"over cannot end":       {Name: "x", Body: "x", Start: past, End: next, State: Completed},
		"progress cannot start": {Name: "x", Body: "x", Start: next, End: next.Add(1e9), State: InProgress},
		"is in the past":        {Name: "x", Body: "x", Start: past.Add(-1e9), End: past},
		"at least 1 minute": {
			Name: "x", Body: "x", Start: next, End: next.Add(1e9),
			RemindMinutes: ledger.Of(int32(0)),
		},
		"not an impact": {
			Name: "x", Body: "x", Start: next, End: next.Add(1e9),
			ImpactOverride: ledger.Of(Impact("x")),
		},
		"is a group": {
			Name: "x", Body: "x", Start: past, End: next, State: InProgress,
			Components: []string{"g"},
		},
		"the body is empty":     {Name: "x", Start: next, End: next.Add(1e9)},
		"Group is a group: its": {Name: "x", Body: "x", Start: next, End: next.Add(1e9), Components: []string{"g"}},
	} {
		_, err := p.ScheduleMaintenance(in)
		wantError(t, err, BadInput, words)
	}
	n := &Notice{Kind: Realtime, State: Identified}
	e, err := p.RunDue(NoticeState{Notice: n}, IncidentReminder)
	if err != nil || !e.Notice.RemindedAt.V.Equal(p.At) || n.RemindedAt.Valid || len(e.Updates) > 0 {
		t.Errorf("reminder: %+v, %v", e, err)
	}
}

func TestComponentCommands(t *testing.T) {
	t.Parallel()
	p := newFakePage(t)
	order := func() string {
		var out []string
		for _, c := range p.Components {
			out = append(out, fmt.Sprintf("%s%s%d", c.GroupCode.V, c.Code, c.Position))
		}
		return strings.Join(out, " ")
	}
	c, moved, err := p.AddComponent(NewComponent{Name: "New", Description: "About", Position: 2})
	if err != nil || c.Position != 2 || c.BaseStatus != Operational || c.StartDate.V != "2026-05-17" ||
		!c.Description.Valid || c.Origin != FromOperator {
		t.Fatalf("%+v, %v", c, err)
	}
	if len(moved) != 3 || moved[0] != c || moved[1].Code != "g" || moved[1].Position != 3 || moved[2].Code != "n" ||
		moved[2].Position != 4 {
		t.Errorf("moved %v", moved)
	}
	g, _, err := p.AddComponent(NewComponent{Name: "Empty", IsGroup: true})
	if err != nil || g.BaseStatus != "" || g.StartDate.Valid || g.Position != 4 {
		t.Errorf("%+v, %v", g, err)
	}

	p = newFakePage(t)
	moved, err = p.Move(p.Component("n"), "g", 1)
	if err != nil || len(moved) != 3 || p.Component("n").GroupCode.V != "g" {
		t.Errorf("%v, %v", moved, err)
	}
	p.compute()
	if got, want := order(), "api1 gn1 g2 gweb2 gdb3"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
	if moved, err = p.Move(p.Component("n"), "", 0); err != nil || len(moved) != 1 ||
		p.Component("n").GroupCode.Valid || p.Component("n").Position != 3 {
		t.Errorf("%v, %v", moved, err)
	}
	for words, f := range map[string]func() error{
		"not a group":        func() error { _, err := p.Move(p.Component("n"), "api", 0); return err },
		"groups do not nest": func() error { _, err := p.Move(p.Component("g"), "g", 0); return err },
		"1 or more":          func() error { _, err := p.Move(p.Component("n"), "", -1); return err },
		"not a component": func() error {
			_, _, err := p.AddComponent(NewComponent{Name: "x", Status: "x"})
			return err
		},
		"of the component": func() error { _, _, err := p.AddComponent(NewComponent{}); return err },
		"not a node number": func() error {
			_, _, err := p.AddComponent(NewComponent{Name: "x", NodeID: ledger.Of(int64(-2))})
			return err
		},
		"groups have only": func() error {
			_, err := p.EditComponent(p.Component("g"), ComponentEdit{Showcase: ledger.Of(true)})
			return err
		},
		"a component status": func() error {
			_, err := p.EditComponent(p.Component("n"), ComponentEdit{Status: "x"})
			return err
		},
		"computed from its": func() error {
			_, err := p.EditComponent(p.Component("g"), ComponentEdit{Status: Operational})
			return err
		},
		"name of the component": func() error {
			_, err := p.EditComponent(p.Component("n"), ComponentEdit{Name: ledger.Of("")})
			return err
		},
	} {
		p = newFakePage(t) // rejected edits change the copy
		wantError(t, f(), BadInput, words)
	}
	_, err = p.Move(p.Component("n"), "gone", 0)
	wantError(t, err, NotFound, "group gone")
	_, _, err = p.AddComponent(NewComponent{Name: "x", Group: "gone"})
	wantError(t, err, NotFound, "group gone")
	wantError(t, p.CheckRemove(p.Component("g")), BadState, "has 2 components")
	if err := p.CheckRemove(p.Component("api")); err != nil {
		t.Error(err)
	}

	p.store(p.OpenIncident(NewIncident{Name: "x", Body: "x", Affected: assign("n", "partial_outage")}))
	n := p.Component("n")
	changes, err := p.EditComponent(n, ComponentEdit{
		Status: DegradedPerformance, Name: ledger.Of("Node 7"), Description: ledger.Of(""),
		NodeID:    ledger.Of(int64(-1)),
		StartDate: ledger.Of(Date("")), OnlyShowIfDegraded: ledger.Of(true),
	})
	if err != nil || len(changes) != 0 || n.Status != PartialOutage || n.BaseStatus != DegradedPerformance ||
		n.Name != "Node 7" || n.NodeID.Valid ||
		n.StartDate.Valid || !n.OnlyShowIfDegraded {
		t.Errorf("%+v, %v, %v", n, changes, err)
	}
	if changes, err = p.EditComponent(n, ComponentEdit{Status: MajorOutage}); err != nil || len(changes) != 1 ||
		changes[0].OldStatus != PartialOutage || changes[0].NewStatus != MajorOutage {
		t.Errorf("%v, %v", changes, err)
	}
}

func TestPageSettings(t *testing.T) {
	t.Parallel()
	p, err := NewPage(Page{Name: "Lantern Net!", URL: "https://status.example.com/"})
	if err != nil || p.Slug != "lantern-net" || p.URL != "https://status.example.com" || p.TimeZone != "Etc/UTC" ||
		p.Locale != "en" || p.Vocabulary != Documented || p.Zone == nil {
		t.Fatalf("%+v, %v", p, err)
	}
	if _, err := NewPage(Page{Name: "x"}); err == nil {
		t.Error("a page without a URL is accepted")
	}
	after, err := p.WithSettings([]PageSetting{
		{"name", "N"},
		{"slug", "s"},
		{"url", "https://x.example/"},
		{"hosts", "A.example, b.example,,a.example"},
		{"default", "true"},
		{"time_zone", "Europe/Berlin"},
		{"locale", "de"},
		{"vocabulary", "statuspage"},
		{"auto_publish", "1"},
		{"text.de.maintenance_started", "Los."},
		{"text.en.probe_failed", "Oh."},
		{"text.en.probe_failed", " \n"},
	})
	if err != nil || after.Name != "N" || after.Slug != "s" || after.URL != "https://x.example" ||
		!slices.Equal(after.Hosts, []string{"a.example", "b.example"}) || !after.IsDefault ||
		after.Zone.String() != "Europe/Berlin" || after.Vocabulary != Statuspage || !after.AutoPublish ||
		after.Text(MaintenanceStarted) != "Los." ||
		len(after.Texts["en"]) > 0 || p.Texts != nil {
		t.Errorf("%+v, %v", after, err)
	}
	// A blank text that a page has from earlier would make each action fail that publishes it.
	blank := &Page{Locale: "de", Texts: Texts{"de": {}, "en": {}}}
	for _, e := range Events() {
		blank.Texts["de"][e], blank.Texts["en"][e] = " ", "\n"
		if got := blank.Text(e); got != defaultTexts()[e] {
			t.Errorf("%s: %q", e, got)
		}
	}
	for words, s := range map[string]PageSetting{
		"unknown setting": {"color", "red"}, "unknown setting \"text.de.x\"": {"text.de.x", "y"},
		"true or false": {"default", "maybe"}, "name of the page": {"name", ""}, "slug": {"slug", "A B"},
		"not a URL": {"url", "ftp://x"}, "not a time zone": {"time_zone", "Mars"}, "not a locale": {"locale", "!"},
		"not a vocabulary": {"vocabulary", "x"}, "not a host name": {"hosts", "a b"},
		"one page must be": {"default", "false"},
	} {
		_, err := after.WithSettings([]PageSetting{s})
		wantError(t, err, BadInput, words)
	}
	for _, host := range []string{"a.example:8080", "a.example.", "[::1]"} {
		_, err := after.WithSettings([]PageSetting{{"hosts", host}})
		wantError(t, err, BadInput, "not a host name")
	}
	for name, slug := range map[string]string{
		"ÄÖ":                            "status",
		strings.Repeat("a", 62) + "--b": strings.Repeat("a", 62),
	} {
		if got := Slug(name); got != slug {
			t.Errorf("slug of %s: %s", name, got)
		}
	}
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	tpl := Template{
		Name: "down", Kind: Realtime, State: Investigating, Title: "{what} is down",
		Body: "Since {since}: {what}. {Not} a {place holder}.",
	}
	if err := tpl.Check(); err != nil {
		t.Fatal(err)
	}
	title, body, err := tpl.Fill(map[string]string{"what": "API", "since": "noon"})
	if err != nil || title != "API is down" || body != "Since noon: API. {Not} a {place holder}." {
		t.Errorf("%q, %q, %v", title, body, err)
	}
	_, _, err = tpl.Fill(map[string]string{"what": "API"})
	wantError(t, err, BadInput, "since")
	_, _, err = tpl.Fill(map[string]string{"what": "API", "since": "noon", "x": "y"})
	wantError(t, err, BadInput, "x")
	for words, change := range map[string]func(*Template){
		"name of the template": func(t *Template) {
			t.Name = ""
		}, "incident or": func(t *Template) { t.Kind = "x" }, "not a state": func(t *Template) { t.State = Planned },
		"name of the notice": func(t *Template) { t.Title = "" }, "body is empty": func(t *Template) { t.Body = "" },
	} {
		other := tpl
		change(&other)
		wantError(t, other.Check(), BadInput, words)
	}
}

// TestRandomWrites applies random updates to several notices and checks the invariants.
func TestRandomWrites(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	codes := []string{"api", "web", "db", "n"}
	statuses := ComponentStatuses()
	for range 300 {
		p := newFakePage(t)
		kept := false
		start := map[string]ComponentStatus{}
		for _, c := range codes {
			start[c] = p.Component(c).Status
		}
		for range 25 {
			p.wait(time.Duration(random.IntN(3)) * time.Second)
			var affected []Assignment
			for _, i := range random.Perm(len(codes))[:random.IntN(3)] {
				affected = append(affected, Assignment{codes[i], statuses[random.IntN(len(statuses))]})
			}
			u := NewUpdate{
				State: States([]Kind{Realtime, Scheduled}[random.IntN(2)])[random.IntN(4)], Body: "x",
				Affected: affected, Keep: random.IntN(8) == 0,
			}
			before, beforeStatuses := len(p.changes), p.statuses()
			var e *Effect
			var err error
			var old *NoticeState
			if keys := slices.Sorted(maps.Keys(p.notices)); len(keys) > 2 || len(keys) > 0 && random.IntN(2) == 0 {
				old = p.notices[keys[random.IntN(len(keys))]]
				if old.Notice.State == Resolved && random.IntN(2) == 0 {
					e, err = p.ReopenIncident(*old, u)
				} else {
					e, err = p.UpdateIncident(*old, u)
				}
			} else if random.IntN(3) > 0 {
				e, err = p.OpenIncident(NewIncident{Name: "x", Body: "x", State: u.State, Affected: affected})
			} else {
				e, err = p.ScheduleMaintenance(NewMaintenance{
					Name: "x", Body: "x", Start: p.At.Add(time.Hour), End: p.At.Add(2 * time.Hour),
					Components: codes[:random.IntN(3)], AutoMaintenanceState: true,
					AutoOperationalState: true,
				})
			}
			if err != nil {
				if !reflect.DeepEqual(beforeStatuses, p.statuses()) {
					t.Fatalf("a rejected write changed statuses: %v", err)
				}
				continue
			}
			kept = kept || len(e.BaseChanged) > 0
			if old != nil && old.Notice.Kind == Realtime && old.Notice.Impact.WorseThan(e.Notice.Impact) {
				t.Fatalf("the impact fell from %s to %s", old.Notice.Impact, e.Notice.Impact)
			}
			s := p.store(e, err)
			newest := s.Updates[len(s.Updates)-1]
			if newest.State != s.Notice.State || s.Notice.ResolvedAt.Valid == s.Notice.State.Open() {
				t.Fatalf("notice %+v, newest update %+v", s.Notice, newest)
			}
			for i := 1; i < len(s.Updates); i++ {
				if !s.Updates[i].CreatedAt.After(s.Updates[i-1].CreatedAt) {
					t.Fatal("two updates were created at the same time")
				}
			}
			for _, a := range newest.Affected {
				if a.OldStatus != beforeStatuses[a.Code] || a.NewStatus != p.Component(a.Code).Status {
					t.Fatalf("%s was %s and is %s: %+v", a.Code, beforeStatuses[a.Code], p.Component(a.Code).Status, a)
				}
			}
			// The changes lead from the statuses before to those after, and the holds explain the statuses.
			for _, c := range p.changes[before:] {
				if c.OldStatus != beforeStatuses[c.ComponentCode] || c.OldStatus == c.NewStatus {
					t.Fatalf("change %+v", c)
				}
				beforeStatuses[c.ComponentCode] = c.NewStatus
			}
			for _, code := range codes {
				held := []ComponentStatus{}
				for _, other := range p.notices {
					for _, a := range other.Attachments {
						if a.ComponentCode == code && a.HeldStatus != "" {
							held = append(held, a.HeldStatus)
							if !other.Notice.State.Open() {
								t.Fatalf("%s holds %s and is over", other.Notice.Code, code)
							}
						}
					}
				}
				c := p.Component(code)
				if want := Worst(append(held, c.BaseStatus)...); c.Status != want || beforeStatuses[code] != want {
					t.Fatalf("%s is %s, after its changes %s, want %s", code, c.Status, beforeStatuses[code], want)
				}
			}
		}
		for code := range p.notices {
			p.Release(code)
		}
		for _, c := range codes {
			if got := p.Component(c).Status; !kept && got != start[c] {
				t.Fatalf("%s is %s after all notices were deleted, was %s", c, got, start[c])
			}
		}
	}
}
