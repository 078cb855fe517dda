package status

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

// defaultText returns the text for an event if the page has none.
func defaultText(e Event) string {
	switch e {
	case MaintenanceStarted:
		return "This maintenance has started."
	case MaintenanceVerifying:
		return "The work is done; results are being checked."
	case MaintenanceCompleted:
		return "This maintenance is finished."
	case MaintenanceReminder:
		return "This maintenance will start soon."
	case MaintenanceCancelled:
		return "This maintenance will not take place."
	case IncidentResolved:
		return "This incident is over."
	case ProbeFailed:
		return "Automatic checks are failing: {reason}. We are looking into it."
	case ProbePassed:
		return "Automatic checks succeed again."
	default:
		return string(e)
	}
}

// Text returns the text for an event in the locale of the page.
func (p *Page) Text(e Event) string {
	if text := p.Texts[p.Locale][e]; text != "" {
		return text
	}
	if text := p.Texts["en"][e]; text != "" {
		return text
	}
	return defaultText(e)
}

// Events returns all events.
func Events() []Event {
	return []Event{
		MaintenanceStarted, MaintenanceVerifying, MaintenanceCompleted, MaintenanceReminder, MaintenanceCancelled, IncidentResolved, ProbeFailed,
		ProbePassed,
	}
}
