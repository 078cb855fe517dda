package status

import (
	"time"

	"heliograph/internal/domain/ledger"
)

// Instants of all rows have milliseconds, and the zone of their page: time.Time.Location is it. Lists hold pointers because the graph's rows are.

// Page is a status page.
type Page struct {
	Code      string
	Slug      string
	Name      string
	URL       string   // without a slash at the end
	Hosts     []string // lower case, besides that of the URL
	IsDefault bool
	TimeZone  string // IANA name
	// Zone is the zone of that name, UTC where this system does not know it. It is never nil.
	Zone        *time.Location
	Locale      string
	Vocabulary  Vocabulary
	Mode        Mode
	AutoPublish bool
	Texts       Texts
	// Revision is raised by every write.
	Revision  int64
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Component is a part of what a page is about, or a group of such parts.
type Component struct {
	Code     string
	PageCode string
	IsGroup  bool
	// GroupCode is the group it is in, unknown for groups and where it is in none.
	GroupCode          ledger.Null[string]
	Name               string
	Description        ledger.Null[string]
	Position           int32 // from 1 on, within its group
	ListIndex          int32
	Showcase           bool
	OnlyShowIfDegraded bool
	StartDate          ledger.Null[Date]
	NodeID             ledger.Null[int64] // of the ledger's address book
	Origin             Origin
	Version            int64
	CreatedAt          time.Time
	UpdatedAt          time.Time

	// BaseStatus is what editors and probes say; none for groups.
	BaseStatus ComponentStatus
	// Status is how it is: the worst of BaseStatus and of what open notices hold; of a group, of its components.
	Status ComponentStatus
	// Shown is Status in the vocabulary of the page.
	Shown ComponentStatus
	// GroupName is the name of its group, empty where it is in none.
	GroupName string
	// Children are the codes of a group's components in their order; nil for what is no group.
	Children []string
}

// QualifiedName is the name with that of the group in front.
func (c *Component) QualifiedName() string { return QualifiedName(c.GroupName, c.Name) }

// QualifiedName is a component's name with that of its group in front. An empty group is none.
func QualifiedName(group, name string) string {
	if group == "" {
		return name
	}
	return group + " - " + name
}

// Notice is an incident or a maintenance.
type Notice struct {
	Code              string
	Seq               int64 // names the notice in feeds
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

	// What follows is of maintenances.

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

// RecentAt is the instant by which a list of the newest has the notice.
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

// Incident is a notice of something that went wrong.
type Incident struct{ Notice }

// Maintenance is a notice of work that was planned.
type Maintenance struct{ Notice }

// Start is when the work is to begin.
func (m *Maintenance) Start() time.Time { return m.ScheduledFor.V }

// End is when the work is to end.
func (m *Maintenance) End() time.Time { return m.ScheduledUntil.V }

// Update is something that was said of a notice.
type Update struct {
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
	// EmptyAffected makes an update without components show an empty list in place of null: it was imported so.
	EmptyAffected bool
	Origin        Origin
	// Revision is that of the page that wrote it last, unknown for what is older than revisions are kept.
	Revision ledger.Null[int64]
	// Affected is what it did to components, nil where it did not say anything of any.
	Affected []*AffectedComponent
}

// AffectedComponent is a component of an update, as it was called and was then.
type AffectedComponent struct {
	PageCode   string
	UpdateCode string
	Ordinal    int32
	Code       string
	Name       string // with that of the group in front
	OldStatus  ComponentStatus
	NewStatus  ComponentStatus
	// OldShown and NewShown are the same in the vocabulary of the page.
	OldShown ComponentStatus
	NewShown ComponentStatus
}

// Attachment is a component that was ever attached to a notice. HeldStatus is the state in which the notice holds it, none when it has let go.
type Attachment struct {
	NoticeCode    string
	ComponentCode string
	HeldStatus    ComponentStatus
}

// Change is a change of a component's state.
type Change struct {
	ComponentCode string
	At            time.Time
	OldStatus     ComponentStatus // none where it was not known
	NewStatus     ComponentStatus
	UpdateCode    ledger.Null[string]
	Origin        Origin
	// Revision is that of the page that wrote it, unknown for what is older than revisions are kept.
	Revision ledger.Null[int64]

	// What follows is there where the changes of a revision were read.

	PageCode string
	Name     string // with that of the group in front
	// OldShown and NewShown are the states in the vocabulary of the page.
	OldShown ComponentStatus
	NewShown ComponentStatus
}

// Revision is a write to a page.
type Revision struct {
	PageCode string
	Number   int64
	At       time.Time
}

// IsNode marks what has a global id in the graph.
func (*Page) IsNode() {}

// IsNode marks what has a global id in the graph.
func (*Component) IsNode() {}

// IsNode marks what has a global id in the graph.
func (*Incident) IsNode() {}

// IsStatusNotice marks notices of either kind.
func (*Incident) IsStatusNotice() {}

// IsNode marks what has a global id in the graph.
func (*Maintenance) IsNode() {}

// IsStatusNotice marks notices of either kind.
func (*Maintenance) IsStatusNotice() {}

// IsNode marks what has a global id in the graph.
func (*Update) IsNode() {}
