package status

import "slices"

// ComponentStatus is the status of a component, as in documents and in the database. It is empty if there is none.
type ComponentStatus string

// The statuses of components.
const (
	Operational         ComponentStatus = "operational"
	UnderMaintenance    ComponentStatus = "under_maintenance"
	DegradedPerformance ComponentStatus = "degraded_performance"
	PartialOutage       ComponentStatus = "partial_outage"
	MajorOutage         ComponentStatus = "major_outage"
)

// ComponentStatuses returns all statuses, best first.
func ComponentStatuses() []ComponentStatus {
	return []ComponentStatus{Operational, UnderMaintenance, DegradedPerformance, PartialOutage, MajorOutage}
}

const noComponentStatus = "%q is not a component status: use one of operational, under_maintenance, " +
	"degraded_performance, partial_outage, major_outage"

// rank returns the index of a status among all, best first, or -1.
func (s ComponentStatus) rank() int { return slices.Index(ComponentStatuses(), s) }

// Valid reports whether s is a defined status.
func (s ComponentStatus) Valid() bool { return s.rank() >= 0 }

// WorseThan reports whether s is worse than other. Every defined status is worse than the empty one; undefined ones
// count as empty.
func (s ComponentStatus) WorseThan(other ComponentStatus) bool { return s.rank() > other.rank() }

// Worst returns the worst of the statuses, or the empty one if none of them is defined.
func Worst(states ...ComponentStatus) ComponentStatus {
	var worst ComponentStatus
	for _, s := range states {
		if s.WorseThan(worst) {
			worst = s
		}
	}
	return worst
}

// Vocabulary selects the statuses that the documents of a page use.
type Vocabulary string

// The vocabularies. Documented shows components under maintenance as operational: maintenance appears only in
// scheduled maintenances.
const (
	Documented Vocabulary = "documented"
	Statuspage Vocabulary = "statuspage"
)

// Valid reports whether v is a defined vocabulary.
func (v Vocabulary) Valid() bool { return v == Documented || v == Statuspage }

// Shown returns the status in a vocabulary: under maintenance counts as operational except in [Statuspage].
func (s ComponentStatus) Shown(v Vocabulary) ComponentStatus {
	if s == UnderMaintenance && v != Statuspage {
		return Operational
	}
	return s
}

// Impact is the severity of a notice.
type Impact string

// The impacts.
const (
	ImpactNone        Impact = "none"
	ImpactMaintenance Impact = "maintenance"
	ImpactMinor       Impact = "minor"
	ImpactMajor       Impact = "major"
	ImpactCritical    Impact = "critical"
)

// Impacts returns all impacts, least severe first.
func Impacts() []Impact {
	return []Impact{ImpactNone, ImpactMaintenance, ImpactMinor, ImpactMajor, ImpactCritical}
}

// Valid reports whether i is a defined impact.
func (i Impact) Valid() bool { return slices.Contains(Impacts(), i) }

// WorseThan reports whether i is worse than other. Every defined impact is worse than the empty one; undefined ones
// count as empty.
func (i Impact) WorseThan(other Impact) bool {
	return slices.Index(Impacts(), i) > slices.Index(Impacts(), other)
}

// Indicator is the overall status of a page. It has the values of [Impact].
type Indicator = Impact

// Kind is the kind of a notice: incident or maintenance.
type Kind string

// The kinds of notices.
const (
	Realtime  Kind = "realtime"
	Scheduled Kind = "scheduled"
)

// State is the state of a notice. The first five are those of incidents, the others those of maintenances.
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

// States returns the states of a kind of notice in their usual order.
func States(k Kind) []State {
	if k == Scheduled {
		return []State{Planned, InProgress, Verifying, Completed}
	}
	return []State{Investigating, Identified, Monitoring, Resolved, Postmortem}
}

// OpenStates returns the states of a kind of notice that is not over, in their usual order.
func OpenStates(k Kind) []State {
	return slices.DeleteFunc(States(k), func(s State) bool { return !s.Open() })
}

// Kind returns the kind of notice that has this state. Unknown states count as those of incidents.
func (s State) Kind() Kind {
	if slices.Contains(States(Scheduled), s) {
		return Scheduled
	}
	return Realtime
}

// Valid reports whether s is a defined state.
func (s State) Valid() bool { return slices.Contains(States(s.Kind()), s) }

// Open reports whether a notice in this state is not over. [NoState] and undefined states are not open.
func (s State) Open() bool { return s.Valid() && s != Resolved && s != Postmortem && s != Completed }

// Origin is the source of a write.
type Origin string

// The origins.
const (
	FromOperator Origin = "operator"
	FromSchedule Origin = "schedule"
	FromReminder Origin = "reminder"
	FromProbe    Origin = "probe"
	FromSync     Origin = "sync"
)

// Mode is where a page is edited.
type Mode string

// The modes. A mirror follows another status page and cannot be edited here. An imported page was copied once and can
// be edited.
const (
	Own      Mode = "own"
	Imported Mode = "import"
	Mirror   Mode = "mirror"
)
