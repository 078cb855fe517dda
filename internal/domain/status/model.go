// Package status contains the model and the rules of status pages: the statuses of components and of a page, the
// states of incidents and maintenances, what updates and probes change, and how documents of other status pages are
// read. It has no access to databases or clocks: all functions depend only on their arguments.
//
// A notice is an incident or a maintenance. A code is the id of an object in documents and URLs. A component has a
// status, a notice has a state.
package status

import (
	"time"

	"heliograph/internal/domain/ledger"
)

// Pages, components and updates are in rows_gen.go. Instants in all rows have millisecond precision and the time zone
// of their page. Lists contain pointers, as the row plan of the graph requires.

// QualifiedName returns the name, prefixed with that of the group, which [ComputeStatuses] has set.
func (c *Component) QualifiedName() string { return QualifiedName(c.GroupName, c.Name) }

// QualifiedName returns the name of a component, prefixed with that of its group unless that is empty.
func QualifiedName(group, name string) string {
	if group == "" {
		return name
	}
	return group + " - " + name
}

// Notice is an incident or a maintenance.
type Notice struct {
	node
	Code              string
	Seq               int64 // id of the notice in feeds
	PageCode          string
	Kind              Kind
	Name              string
	State             State
	Impact            Impact
	ImpactOverride    ledger.Null[Impact]
	Shortlink         string
	StartedAt         time.Time
	CreatedAt         time.Time
	UpdatedAt         time.Time
	MonitoringAt      ledger.Null[time.Time]
	ResolvedAt        ledger.Null[time.Time]
	ReminderIntervals ledger.Null[string]

	// The fields down to RemindedAt are those of maintenances; incidents have only RemindedAt.

	ScheduledFor         ledger.Null[time.Time]
	ScheduledUntil       ledger.Null[time.Time]
	AutoInProgress       bool
	AutoCompleted        bool
	AutoMaintenanceState bool
	AutoOperationalState bool
	NotifyAtStart        bool
	NotifyAtEnd          bool
	RemindMinutes        ledger.Null[int32]
	RemindedAt           ledger.Null[time.Time]

	Backfilled bool
	Draft      bool
	Origin     Origin
	ProbeID    ledger.Null[int64]
	Version    int64
}

// In converts the instants of the notice to a zone, in place.
func (n *Notice) In(zone *time.Location) {
	InZone(zone, &n.StartedAt, &n.CreatedAt, &n.UpdatedAt, &n.MonitoringAt.V, &n.ResolvedAt.V, &n.ScheduledFor.V,
		&n.ScheduledUntil.V, &n.RemindedAt.V)
}

// In converts the instants of the update to a zone, in place.
func (u *Update) In(zone *time.Location) { InZone(zone, &u.CreatedAt, &u.UpdatedAt, &u.DisplayAt.V) }

// At returns the time that is displayed: the one that an editor chose, or the creation time.
func (u *Update) At() time.Time { return u.DisplayAt.Or(u.CreatedAt) }

// InZone converts the instants at the given pointers to a zone, in place.
func InZone(zone *time.Location, list ...*time.Time) {
	for _, t := range list {
		*t = t.In(zone)
	}
}

// RecentAt returns the instant by which lists of the newest notices are ordered: when an incident was created, or when
// a maintenance ended or, before that, is scheduled to begin.
func (n *Notice) RecentAt() time.Time {
	switch {
	case n.Kind == Realtime || !n.ScheduledFor.Valid:
		return n.CreatedAt
	case n.ResolvedAt.Valid:
		return n.ResolvedAt.V
	default:
		return n.ScheduledFor.V
	}
}

// Incident is a notice of a disruption.
type Incident struct{ Notice }

// Maintenance is a notice of planned work.
type Maintenance struct{ Notice }

// Start returns the planned start, which every maintenance has.
func (m *Maintenance) Start() time.Time { return m.ScheduledFor.V }

// End returns the planned end, which every maintenance has.
func (m *Maintenance) End() time.Time { return m.ScheduledUntil.V }

// Attachment is a component that an update of a notice has listed. HeldStatus is the status in which the notice holds
// it, or empty.
type Attachment struct {
	NoticeCode    string
	ComponentCode string
	HeldStatus    ComponentStatus
}

// node marks the types of the graph that have a global id.
type node struct{}

// IsNode marks the types that implement the interface Node of the schema. It does nothing.
func (*node) IsNode() {}

// IsStatusNotice marks a type of the union of notices in the schema. It does nothing.
func (*Incident) IsStatusNotice() {}

// IsStatusNotice marks a type of the union of notices in the schema. It does nothing.
func (*Maintenance) IsStatusNotice() {}
