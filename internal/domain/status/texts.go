package status

// Event is something that a page says by itself.
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

// Texts are what pages say at events, by locale. What they lack is said in English.
type Texts map[string]map[Event]string

// defaultText is what a page says at an event that nobody has given it a text for.
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
		return "Automatic checks are failing. We are looking into it."
	case ProbePassed:
		return "Automatic checks succeed again."
	default:
		return string(e)
	}
}

// Text is what the page says at an event, in its own locale.
func (p *Page) Text(e Event) string {
	if text := p.Texts[p.Locale][e]; text != "" {
		return text
	}
	if text := p.Texts["en"][e]; text != "" {
		return text
	}
	return defaultText(e)
}

// Events returns all events, for what lets people give them texts.
func Events() []Event {
	return []Event{MaintenanceStarted, MaintenanceVerifying, MaintenanceCompleted, MaintenanceReminder, MaintenanceCancelled, IncidentResolved, ProbeFailed, ProbePassed}
}
