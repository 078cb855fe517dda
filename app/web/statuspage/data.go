package statuspage

import (
	"strings"
	"time"

	"heliograph/internal/domain/status"
)

// The types of query results. They add to the types of the rules what only the graph has. Documents name the fields
// as these types do.

type pageData struct {
	status.Page
	Rollup             status.Rollup
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
	status.Component
	Uptime   *status.Uptime
	Children []component
}

type notice struct {
	status.Notice
	Lang       string `json:"-"` // of what editors write; empty for that of the page
	Updates    []update
	Components []struct{ QualifiedName string }
}

type update struct{ status.Update }

// in converts all times of p to the time zone of the page, in place, and returns p. An offset alone does not
// identify the name of the zone.
func (p *pageData) in(zone *time.Location) *pageData {
	status.InZone(zone, &p.CreatedAt, &p.UpdatedAt)
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

// in converts all times of the notice to the time zone of the page, and sets the language of its texts to locale,
// or to none for English. It changes n.
func (n *notice) in(zone *time.Location, locale string) {
	if n.Lang = locale; strings.HasPrefix(locale, "en") {
		n.Lang = ""
	}
	n.In(zone)
	for i := range n.Updates {
		n.Updates[i].In(zone)
	}
}

// Planned reports whether the notice is a maintenance, and not an incident. Templates call it.
func (n *notice) Planned() bool { return n.ScheduledFor.Valid }
