package status

import "slices"

// ComponentStatus is the state of a component, as documents and the database write it. The zero value is none, which only groups have.
type ComponentStatus string

// The states of components.
const (
	Operational         ComponentStatus = "operational"
	UnderMaintenance    ComponentStatus = "under_maintenance"
	DegradedPerformance ComponentStatus = "degraded_performance"
	PartialOutage       ComponentStatus = "partial_outage"
	MajorOutage         ComponentStatus = "major_outage"
)

// ComponentStatuses returns the states of components, the best first.
func ComponentStatuses() []ComponentStatus {
	return []ComponentStatus{Operational, UnderMaintenance, DegradedPerformance, PartialOutage, MajorOutage}
}

// rank is the place of a state among all, from the best on; -1 for what is no state.
func (s ComponentStatus) rank() int { return slices.Index(ComponentStatuses(), s) }

// Valid tells whether s is one of the states.
func (s ComponentStatus) Valid() bool { return s.rank() >= 0 }

// WorseThan tells whether s is a worse state than other. Every state is worse than none.
func (s ComponentStatus) WorseThan(other ComponentStatus) bool { return s.rank() > other.rank() }

// Worst is the worst of some states, none where there are none.
func Worst(states ...ComponentStatus) ComponentStatus {
	var worst ComponentStatus
	for _, s := range states {
		if s.WorseThan(worst) {
			worst = s
		}
	}
	return worst
}

// Vocabulary says which words the documents of a page use.
type Vocabulary string

// The vocabularies. Documented leaves maintenance out of the states of components and of the page: it shows as a scheduled maintenance only.
const (
	Documented Vocabulary = "documented"
	Statuspage Vocabulary = "statuspage"
)

// Valid tells whether v is one of the vocabularies.
func (v Vocabulary) Valid() bool { return v == Documented || v == Statuspage }

// Shown is a component's state in the words of a vocabulary.
func (s ComponentStatus) Shown(v Vocabulary) ComponentStatus {
	if s == UnderMaintenance && v != Statuspage {
		return Operational
	}
	return s
}

// Impact is how bad a notice is.
type Impact string

// The impacts.
const (
	ImpactNone        Impact = "none"
	ImpactMaintenance Impact = "maintenance"
	ImpactMinor       Impact = "minor"
	ImpactMajor       Impact = "major"
	ImpactCritical    Impact = "critical"
)

// Impacts returns all impacts, the least first.
func Impacts() []Impact {
	return []Impact{ImpactNone, ImpactMaintenance, ImpactMinor, ImpactMajor, ImpactCritical}
}

// Valid tells whether i is one of the impacts.
func (i Impact) Valid() bool { return slices.Contains(Impacts(), i) }

// WorseThan tells whether i is worse than other. Every impact is worse than the zero value.
func (i Impact) WorseThan(other Impact) bool {
	return slices.Index(Impacts(), i) > slices.Index(Impacts(), other)
}

// Indicator is how a page as a whole is. Its values are those of impacts.
type Indicator = Impact

// Kind tells incidents from maintenances.
type Kind string

// The kinds of notices.
const (
	Realtime  Kind = "realtime"
	Scheduled Kind = "scheduled"
)

// State is how far a notice is. Incidents have the first five, maintenances the others.
type State string

// The states of notices.
const (
	Investigating State = "investigating"
	Identified    State = "identified"
	Monitoring    State = "monitoring"
	Resolved      State = "resolved"
	Postmortem    State = "postmortem"

	Planned    State = "scheduled"
	InProgress State = "in_progress"
	Verifying  State = "verifying"
	Completed  State = "completed"
)

// States returns the states of a kind of notice, in their usual order.
func States(k Kind) []State {
	if k == Scheduled {
		return []State{Planned, InProgress, Verifying, Completed}
	}
	return []State{Investigating, Identified, Monitoring, Resolved, Postmortem}
}

// Kind is the kind of notice that a state belongs to.
func (s State) Kind() Kind {
	if slices.Contains(States(Scheduled), s) {
		return Scheduled
	}
	return Realtime
}

// Valid tells whether s is one of the states.
func (s State) Valid() bool { return slices.Contains(States(s.Kind()), s) }

// Open tells whether a notice in this state is not over.
func (s State) Open() bool { return s.Valid() && s != Resolved && s != Postmortem && s != Completed }

// Origin is who wrote something.
type Origin string

// The origins.
const (
	FromOperator Origin = "operator"
	FromSchedule Origin = "schedule"
	FromReminder Origin = "reminder"
	FromProbe    Origin = "probe"
	FromSync     Origin = "sync"
)

// Mode is who a page belongs to.
type Mode string

// The modes. A mirror is a copy of a page elsewhere, which nobody edits here; an imported page was one.
const (
	Own      Mode = "own"
	Imported Mode = "import"
	Mirror   Mode = "mirror"
)
