package status

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
)

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

// defaultTexts returns the texts for events if the page has none.
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

// Text returns the text for an event in the locale of the page.
func (p *Page) Text(e Event) string {
	return cmp.Or(p.Texts[p.Locale][e], p.Texts["en"][e], defaultTexts()[e])
}

// Events returns all events.
func Events() []Event { return slices.Sorted(maps.Keys(defaultTexts())) }

// Template is a template of a notice. Its title and body may contain placeholders such as {name}.
type Template struct {
	PageCode string
	Name     string
	Kind     Kind
	State    State
	Title    string
	Body     string
}

var placeholder = regexp.MustCompile(`\{[a-z][a-z0-9_]*\}`)

// Check fails if the template is invalid.
func (t *Template) Check() error {
	if err := CheckName("the template", t.Name); err != nil {
		return err
	}
	if t.Kind != Realtime && t.Kind != Scheduled {
		return Errorf(BadInput, "a template must be for an incident or a maintenance")
	}
	if !slices.Contains(States(t.Kind), t.State) {
		return Errorf(BadInput, "%q is not a state of this kind of notice", t.State)
	}
	if err := CheckName("the notice", t.Title); err != nil {
		return err
	}
	return checkBody(t.Body)
}

// Fill returns the title and the body with values for the placeholders. It fails if a value is missing or not used.
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
	for name := range values {
		if !used[name] {
			return "", "", Errorf(BadInput, "the template %s has no placeholder {%s}", t.Name, name)
		}
	}
	return title, body, nil
}
