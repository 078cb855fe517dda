// Package status contains the model and the rules of status pages: the statuses of components and of a page, the states of incidents and maintenances, what
// updates and probes change, and how documents of other status pages are read. It has no access to databases or clocks: all functions depend only on their
// arguments.
//
// A notice is an incident or a maintenance. A code is the id of an object in documents and URLs. A component has a status, a notice has a state.
package status

import (
	"time"

	"heliograph/internal/domain/ledger"
)

// Instants in all rows have millisecond precision and the time zone of their page. Lists contain pointers, as the row plan of the graph requires.

// Page is a status page.
type Page struct {
	node
	Code      string
	Slug      string
	Name      string
	URL       string   // without a trailing slash
	Hosts     []string // lower case; the host of the URL is not included
	IsDefault bool
	TimeZone  string // IANA name
	// Zone is the zone with that name, or UTC if the system does not have it. It is never nil.
	Zone        *time.Location
	Locale      string
	Vocabulary  Vocabulary
	Mode        Mode
	AutoPublish bool
	Texts       Texts
	// Revision is incremented by every write.
	Revision  int64
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Component is a part of the system that a page reports on, or a group of components.
type Component struct {
	node
	Code     string
	PageCode string
	IsGroup  bool
	// GroupCode is the code of the group, or null for groups and components at the top level.
	GroupCode          ledger.Null[string]
	Name               string
	Description        ledger.Null[string]
	Position           int32 // within the group; the first is 1
	ListIndex          int32
	Showcase           bool
	OnlyShowIfDegraded bool
	StartDate          ledger.Null[Date]
	KnownFrom          ledger.Null[time.Time] // start of the known history of an imported component; null for CreatedAt
	NodeID             ledger.Null[int64]     // the consensus node of the ledger that the component represents
	Origin             Origin
	Version            int64
	CreatedAt          time.Time
	UpdatedAt          time.Time

	// BaseStatus is the status that editors and probes set; empty for groups.
	BaseStatus ComponentStatus
	// Status is the worst of BaseStatus and the statuses in which open notices hold the component; of a group, the worst of its components.
	Status ComponentStatus
	// Shown is Status in the vocabulary of the page.
	Shown ComponentStatus
	// GroupName is the name of the group, or empty.
	GroupName string
	// Children are the codes of a group's components in order; nil for other components.
	Children []string
}

// QualifiedName returns the name, prefixed with that of the group.
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

// RecentAt returns the instant by which lists of the newest notices are ordered.
func (n *Notice) RecentAt() time.Time {
	switch {
	case n.Kind == Realtime:
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

// Start returns the planned start.
func (m *Maintenance) Start() time.Time { return m.ScheduledFor.V }

// End returns the planned end.
func (m *Maintenance) End() time.Time { return m.ScheduledUntil.V }

// Update is an update of a notice.
type Update struct {
	node
	Code                 string
	NoticeCode           string
	State                State
	Body                 string
	CreatedAt            time.Time
	UpdatedAt            time.Time
	DisplayAt            ledger.Null[time.Time] // null for postmortems only
	DeliverNotifications bool
	CustomTweet          ledger.Null[string]
	TweetID              ledger.Null[string]
	// EmptyAffected makes an update without components show an empty list instead of null, as its source does.
	EmptyAffected bool
	Origin        Origin
	// Revision is the revision of the page that last wrote the update, or null for rows older than the list of revisions.
	Revision ledger.Null[int64]
	// Affected are the components of the update, or nil if it has none.
	Affected []*AffectedComponent
}

// Attachment is a component that an update of a notice has listed. HeldStatus is the status in which the notice holds it, or empty.
type Attachment struct {
	NoticeCode    string
	ComponentCode string
	HeldStatus    ComponentStatus
}

// node marks the types of the graph that have a global id.
type node struct{}

// IsNode implements the interface of these types.
func (*node) IsNode() {}

// IsStatusNotice marks the types of notices.
func (*Incident) IsStatusNotice() {}

// IsStatusNotice marks the types of notices.
func (*Maintenance) IsStatusNotice() {}
