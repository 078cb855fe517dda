package status

import (
	"cmp"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"heliograph/internal/domain/ledger"
)

// EditUpdate returns changed copies of an update of a notice, and of the notice with the dates that follow from it
// and the next version. s and w do not change. An unknown code fails with [NotFound], an empty body, a date in the
// future, and a date of a postmortem with [BadInput].
func (w *WorkingCopy) EditUpdate(s NoticeState, code string, edit UpdateEdit) (*Notice, *Update, error) {
	updates := slices.SortedFunc(slices.Values(s.Updates), func(a, b *Update) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.Code, b.Code))
	})
	i := slices.IndexFunc(updates, func(u *Update) bool { return u.Code == code })
	if i < 0 {
		return nil, nil, Errorf(NotFound, "%s has no update %s", s.Notice.Code, code)
	}
	u := *updates[i]
	if edit.Body.Valid {
		u.Body = edit.Body.V
	}
	display, err := checkDisplayTime(edit.DisplayAt.V, w.At)
	err = cmp.Or(checkBody(u.Body), badIf(edit.DisplayAt.Valid && u.State == Postmortem, "postmortems have no date"),
		err)
	if err != nil {
		return nil, nil, err
	}
	if edit.DisplayAt.Valid {
		u.DisplayAt = ledger.Of(display)
	}
	u.UpdatedAt = w.At
	updates[i] = &u

	n := *s.Notice
	n.UpdatedAt = w.At
	n.Version++
	if edit.DisplayAt.Valid {
		n.setDates(updates)
	}
	return &n, &u, nil
}

// setDates sets the creation, monitoring and resolution times of n from its updates, oldest first. A backfilled notice
// keeps its creation time, and one that is not over gets no resolution time.
func (n *Notice) setDates(updates []*Update) {
	var last State
	for i, u := range updates {
		display := u.DisplayAt.Or(u.CreatedAt)
		if i == 0 && !n.Backfilled {
			n.CreatedAt = display
		}
		if u.State != last && (u.State == Monitoring || u.State == Verifying) {
			n.MonitoringAt = ledger.Of(display)
		}
		if !u.State.Open() && n.ResolvedAt.Valid && (last == NoState || last.Open()) {
			n.ResolvedAt = ledger.Of(display)
		}
		last = u.State
	}
}

// EditNotice returns a changed copy of a notice with the next version. Settings that are not given stay. given are the
// statuses that its updates gave to components, which determine the impact if the edit removes the override. Invalid
// settings fail with [BadInput]; then the copy must not be used.
func (w *WorkingCopy) EditNotice(n *Notice, edit NoticeEdit, given []ComponentStatus) (*Notice, error) {
	after := *n
	after.Name = edit.Name.Or(n.Name)
	if edit.ImpactOverride.Valid {
		after.ImpactOverride = ledger.NonZero(edit.ImpactOverride.V)
		after.Impact = ImpactOf(n.Kind, after.ImpactOverride.V, given...)
	}
	reminders := ledger.NonZero(edit.Reminders.V)
	if edit.Reminders.Valid {
		after.ReminderIntervals = reminders
	}
	after.AutoInProgress, after.AutoCompleted = edit.AutoInProgress.Or(n.AutoInProgress),
		edit.AutoCompleted.Or(n.AutoCompleted)
	after.UpdatedAt = w.At
	after.Version++
	return &after, cmp.Or(CheckName("the notice", after.Name), checkImpact(ledger.NonZero(edit.ImpactOverride.V)),
		badIf(edit.Reminders.Valid && n.Kind != Realtime, "only incidents have reminders for editors"),
		checkReminders(reminders),
		badIf((edit.AutoInProgress.Valid || edit.AutoCompleted.Valid) && n.Kind != Scheduled,
			"only maintenances start and end automatically"))
}

// checkReminders fails with [BadInput] if hours, the times of reminders, is neither null nor an ascending JSON list
// such as [3, 6, 12, 24].
func checkReminders(hours ledger.Null[string]) error {
	if !hours.Valid {
		return nil
	}
	_, err := ParseReminders(hours.V)
	return err
}

// Due is an action that is due for a notice.
type Due string

// The actions.
const (
	NothingDue       Due = ""
	StartDue         Due = "start"
	EndDue           Due = "end"
	ReminderDue      Due = "reminder"
	IncidentReminder Due = "incident reminder"
)

// DueOf returns the action that is due for a notice at an instant, or [NothingDue], as for drafts and notices that
// are over. Another one may be due after it: a missed start precedes a missed end.
func DueOf(n *Notice, now time.Time) Due {
	if n.Draft || !n.State.Open() {
		return NothingDue
	}
	if n.Kind == Realtime {
		if at, ok := nextReminder(n); ok && !now.Before(at) {
			return IncidentReminder
		}
		return NothingDue
	}
	started := !now.Before(n.ScheduledFor.V)
	remindAt := n.ScheduledFor.V.Add(-time.Duration(n.RemindMinutes.V) * time.Minute)
	switch {
	case n.State == Planned && n.AutoInProgress && started:
		return StartDue
	case n.State != Planned && n.AutoCompleted && !now.Before(n.ScheduledUntil.V):
		return EndDue
	case n.State == Planned && !started && n.RemindMinutes.Valid && !n.RemindedAt.Valid && !now.Before(remindAt) &&
		!n.CreatedAt.After(remindAt): // otherwise the announcement is the reminder
		return ReminderDue
	default:
		return NothingDue
	}
}

// Overdue reports whether a maintenance without automatic transitions is past its planned start or end.
func (n *Notice) Overdue(now time.Time) bool {
	if n.Kind != Scheduled || n.Draft {
		return false
	}
	switch n.State {
	case Planned:
		return !n.AutoInProgress && now.After(n.ScheduledFor.V)
	case InProgress, Verifying:
		return !n.AutoCompleted && now.After(n.ScheduledUntil.V)
	default:
		return false
	}
}

// ParseReminders parses the times at which editors are reminded of an incident, in hours after it was created: an
// ascending JSON list such as [3, 6, 12, 24]. It fails with [BadInput] for other text and for more than 8760
// hours.
func ParseReminders(text string) ([]time.Duration, error) {
	var hours []float64
	if err := json.Unmarshal([]byte(text), &hours); err != nil || len(hours) == 0 {
		return nil, Errorf(BadInput, "%q is not a list of hours such as [3, 6, 12, 24]", text)
	}
	out := make([]time.Duration, len(hours))
	for i, h := range hours {
		if h <= 0 || h > 8760 || i > 0 && h <= hours[i-1] {
			return nil, Errorf(BadInput, "%q is not an ascending list of hours such as [3, 6, 12, 24]", text)
		}
		out[i] = time.Duration(h * float64(time.Hour))
	}
	return out, nil
}

// nextReminder returns the time of the next reminder of an incident that has not been sent. It returns false if there
// is none, or if the times have another format than [ParseReminders] reads, as imported ones can.
func nextReminder(n *Notice) (time.Time, bool) {
	if !n.ReminderIntervals.Valid {
		return time.Time{}, false
	}
	list, err := ParseReminders(n.ReminderIntervals.V)
	if err != nil { // imported in another format
		return time.Time{}, false
	}
	for _, after := range list {
		if at := n.CreatedAt.Add(after); !n.RemindedAt.Valid || n.RemindedAt.V.Before(at) {
			return at, true
		}
	}
	return time.Time{}, false
}

// Event is an event for which a page publishes a text automatically.
type Event string

// The events.
const (
	MaintenanceStarted   Event = "maintenance_started"
	MaintenanceVerifying Event = "maintenance_verifying"
	MaintenanceCompleted Event = "maintenance_completed"
	MaintenanceReminder  Event = "maintenance_reminder"
	MaintenanceCancelled Event = "maintenance_cancelled"
	IncidentResolved     Event = "incident_resolved"
	ProbeFailed          Event = "probe_failed"
	ProbePassed          Event = "probe_passed"
)

// Texts are the texts of a page for events, by locale. English texts are the default.
type Texts map[string]map[Event]string

// reasonPlaceholder is what [ProbeFailed] texts have in place of what failed.
const reasonPlaceholder = "{reason}"

// defaultTexts returns the built-in English texts for events, which apply if the page has none.
func defaultTexts() map[Event]string {
	return map[Event]string{
		MaintenanceStarted:   "This maintenance has started.",
		MaintenanceVerifying: "The work is done; results are being checked.",
		MaintenanceCompleted: "This maintenance is finished.",
		MaintenanceReminder:  "This maintenance will start soon.",
		MaintenanceCancelled: "This maintenance will not take place.",
		IncidentResolved:     "This incident is over.",
		ProbeFailed:          "Automatic checks are failing: {reason}. We are looking into it.",
		ProbePassed:          "Automatic checks succeed again.",
	}
}

// Text returns the text for an event: that of the page in its locale, else in English, else the built-in one. Blank
// texts do not count, because updates cannot have them. It is empty for no event.
func (p *Page) Text(e Event) string {
	return cmp.Or(strings.TrimSpace(p.Texts[p.Locale][e]), strings.TrimSpace(p.Texts["en"][e]), defaultTexts()[e])
}

// Events returns the events for which a page can have texts, sorted.
func Events() []Event { return slices.Sorted(maps.Keys(defaultTexts())) }

// Template is a template of a notice. The tags for the command line describe the fields.
type Template struct {
	PageCode string `kong:"-"`
	Name     string `arg:"" help:"Name of the template."`
	Kind     Kind   `kong:"-"`
	State    State  `name:"status" default:"investigating" help:"Status of the incident or maintenance that the template is for."`
	Title    string `required:"" help:"Title, with placeholders such as {name}."`
	Body     string `required:"" help:"Text, with placeholders such as {name}."`
}

var placeholder = regexp.MustCompile(`\{[a-z][a-z0-9_]*\}`)

// Check fails with [BadInput] if the name, kind, state, title or body of the template is invalid.
func (t *Template) Check() error {
	return cmp.Or(CheckName("the template", t.Name),
		badIf(t.Kind != Realtime && t.Kind != Scheduled, "a template must be for an incident or a maintenance"),
		badIf(!slices.Contains(States(t.Kind), t.State), "%q is not a state of this kind of notice", t.State),
		CheckName("the notice", t.Title), checkBody(t.Body))
}

// Fill returns the title and the body with values for the placeholders. It fails with [BadInput] if a value is
// missing or not used. The template does not change.
func (t *Template) Fill(values map[string]string) (title, body string, err error) {
	var missing []string
	used := map[string]bool{}
	fill := func(text string) string {
		return placeholder.ReplaceAllStringFunc(text, func(found string) string {
			name := strings.Trim(found, "{}")
			value, given := values[name]
			if used[name] = true; !given && !slices.Contains(missing, name) {
				missing = append(missing, name)
			}
			return value
		})
	}
	title, body = fill(t.Title), fill(t.Body)
	if len(missing) > 0 {
		return "", "", Errorf(BadInput, "the template %s needs values for %s", t.Name, strings.Join(missing, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !used[name] {
			return "", "", Errorf(BadInput, "the template %s has no placeholder {%s}", t.Name, name)
		}
	}
	return title, body, nil
}
