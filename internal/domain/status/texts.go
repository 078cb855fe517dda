package status

import (
	"cmp"
	"maps"
	"slices"
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
