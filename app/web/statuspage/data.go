package statuspage

import (
	"strings"
	"time"

	"heliograph/internal/domain/status"
)

// The types of query results. Field names are those of the GraphQL schema.

type pageData struct {
	Code, Slug, Name, URL, TimeZone, Locale string
	Vocabulary                              status.Vocabulary
	CreatedAt, UpdatedAt                    time.Time
	Revision                                int64
	Rollup                                  struct {
		Indicator   status.Indicator
		Description string
	}
	EffectiveIndicator status.Indicator

	Components           nodes[component]
	UnresolvedIncidents  nodes[notice]
	ActiveMaintenances   nodes[notice]
	UpcomingMaintenances nodes[notice]
	Incidents            nodes[notice]
	Maintenances         nodes[notice]
	Earliest             nodes[notice]
	EarliestMaintenance  nodes[notice]
}

// nodes is the result of a connection.
type nodes[T any] struct{ Nodes []T }

type component struct {
	Code, Name         string
	Description        string
	Status             status.ComponentStatus
	IsGroup            bool
	Showcase           bool
	OnlyShowIfDegraded bool
	Uptime             *uptime
	Children           []component
}

type uptime struct {
	Percent float64
	Days    []uptimeDay
}

type uptimeDay struct {
	Date                                                               status.Date
	Percent                                                            float64
	Worst                                                              status.ComponentStatus
	OutageSeconds, PartialSeconds, DegradedSeconds, MaintenanceSeconds int
}

type notice struct {
	Code, PageCode, Name, Shortlink string
	Lang                            string `json:"-"` // of what editors write; empty for that of the page
	Status                          status.State
	Impact                          status.Impact
	CreatedAt, UpdatedAt            time.Time
	ResolvedAt                      *time.Time
	ScheduledFor, ScheduledUntil    *time.Time // only of maintenances
	Updates                         []update
	Components                      []struct{ QualifiedName string }
}

type update struct {
	Code       string
	Status     status.State
	Body       string
	CreatedAt  time.Time
	DisplayAt  *time.Time
	Components []affected `json:"affectedComponents"`
}

type affected struct {
	Name                 string
	OldStatus, NewStatus status.ComponentStatus
}

// in converts all times to the time zone of the page. An offset alone does not identify the name of the zone.
func (p *pageData) in(zone *time.Location) *pageData {
	if p == nil {
		return nil
	}
	p.CreatedAt, p.UpdatedAt = p.CreatedAt.In(zone), p.UpdatedAt.In(zone)
	for _, list := range [][]notice{
		p.UnresolvedIncidents.Nodes, p.ActiveMaintenances.Nodes, p.UpcomingMaintenances.Nodes, p.Incidents.Nodes,
		p.Maintenances.Nodes, p.Earliest.Nodes, p.EarliestMaintenance.Nodes,
	} {
		for i := range list {
			list[i].in(zone, p.Locale)
		}
	}
	return p
}

func (n *notice) in(zone *time.Location, locale string) {
	if n.Lang = locale; strings.HasPrefix(locale, "en") {
		n.Lang = ""
	}
	n.CreatedAt, n.UpdatedAt = n.CreatedAt.In(zone), n.UpdatedAt.In(zone)
	for _, t := range []*time.Time{n.ResolvedAt, n.ScheduledFor, n.ScheduledUntil} {
		if t != nil {
			*t = t.In(zone)
		}
	}
	for i := range n.Updates {
		u := &n.Updates[i]
		u.CreatedAt = u.CreatedAt.In(zone)
		if u.DisplayAt != nil {
			*u.DisplayAt = u.DisplayAt.In(zone)
		}
	}
}

// Planned reports whether the notice is a maintenance.
func (n *notice) Planned() bool { return n.ScheduledFor != nil }

// At returns the display time of an update.
func (u *update) At() time.Time {
	if u.DisplayAt != nil {
		return *u.DisplayAt
	}
	return u.CreatedAt
}

// day returns the time by which lists of days contain the notice: when an incident began, or when a maintenance ended
// or is scheduled to begin.
func (n *notice) day() time.Time {
	switch {
	case n.ScheduledFor == nil:
		return n.CreatedAt
	case n.ResolvedAt != nil:
		return *n.ResolvedAt
	default:
		return *n.ScheduledFor
	}
}
