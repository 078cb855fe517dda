package status

import (
	"net"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Pages are the pages of a gateway: the default page first, then oldest first.
type Pages []*Page

// Default returns the default page, or nil if there are no pages.
func (p Pages) Default() *Page {
	if len(p) == 0 {
		return nil
	}
	return p[0]
}

// ByCode returns the page with a code, or nil.
func (p Pages) ByCode(code string) *Page {
	return p.find(func(page *Page) bool { return page.Code == code })
}

// BySlug returns the page with a slug, or nil.
func (p Pages) BySlug(slug string) *Page {
	return p.find(func(page *Page) bool { return page.Slug == slug })
}

// ByHost returns the page for a Host header. It ignores the port, and returns the default page if no page has the host.
func (p Pages) ByHost(host string) *Page {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if page := p.find(func(page *Page) bool { return page.hasHost(host) }); page != nil {
		return page
	}
	return p.Default()
}

func (p Pages) find(is func(*Page) bool) *Page {
	if i := slices.IndexFunc(p, is); i >= 0 {
		return p[i]
	}
	return nil
}

// NoticeURL returns the URL of a notice of the page.
func (p *Page) NoticeURL(code string) string { return noticeURL(p.URL, code) }

func noticeURL(page, code string) string { return page + "/incidents/" + code }

// hasHost reports whether a host name, in lower case, is one of the page.
func (p *Page) hasHost(name string) bool {
	if slices.Contains(p.Hosts, name) {
		return true
	}
	u, err := url.Parse(p.URL)
	return err == nil && name != "" && strings.ToLower(u.Hostname()) == name
}

// Zone returns the time zone of the page with a code, or UTC.
func (p Pages) Zone(code string) *time.Location {
	if page := p.ByCode(code); page != nil {
		return page.Zone
	}
	return time.UTC
}

// Vocabulary returns the vocabulary of the page with a code, or [Documented].
func (p Pages) Vocabulary(code string) Vocabulary {
	if page := p.ByCode(code); page != nil {
		return page.Vocabulary
	}
	return Documented
}

// PageState is the status of a page: its components with their statuses, in the order of documents, and its worst unresolved incident.
type PageState struct {
	Page       *Page
	Components []*Component
	// WorstOpen is the worst impact of unresolved incidents, or empty if there are none.
	WorstOpen Impact

	byCode map[string]*Component
}

// NewPageState returns the state of a page. components are the result of [ComputeStatuses].
func NewPageState(p *Page, components []*Component, worstOpen Impact) *PageState {
	s := &PageState{Page: p, Components: components, WorstOpen: worstOpen, byCode: make(map[string]*Component, len(components))}
	for _, c := range components {
		s.byCode[c.Code] = c
	}
	return s
}

// Component returns the component or group with a code, or nil.
func (s *PageState) Component(code string) *Component { return s.byCode[code] }

// ComponentOfNode returns the component that represents a consensus node, or nil.
func (s *PageState) ComponentOfNode(id int64) *Component {
	for _, c := range s.Components {
		if c.NodeID.Valid && c.NodeID.V == id {
			return c
		}
	}
	return nil
}

// Rollup returns the rollup of the page.
func (s *PageState) Rollup() Rollup {
	return s.rollup(func(c *Component) ComponentStatus { return c.Status })
}

// ShownRollup returns the rollup in the vocabulary of the page.
func (s *PageState) ShownRollup() Rollup {
	return s.rollup(func(c *Component) ComponentStatus { return c.Shown })
}

func (s *PageState) rollup(state func(*Component) ComponentStatus) Rollup {
	var leaves []ComponentStatus
	for _, c := range s.Components {
		if !c.IsGroup {
			leaves = append(leaves, state(c))
		}
	}
	return RollupOf(leaves, s.WorstOpen)
}

// EffectiveIndicator returns the worse of the rollup and of the worst unresolved incident.
func (s *PageState) EffectiveIndicator() Indicator {
	return EffectiveIndicator(s.Rollup(), s.WorstOpen)
}

// Rollup is the overall status of a page.
type Rollup struct {
	Indicator   Indicator
	Description string
}

// The descriptions of rollups.
const (
	allOperational    = "All Systems Operational"
	majorSystem       = "Major System Outage"
	partialSystem     = "Partial System Outage"
	minorService      = "Minor Service Outage"
	degradedService   = "Degraded System Service"
	partiallyDegraded = "Partially Degraded Service"
	underMaintenance  = "Service Under Maintenance"
)

// RollupOf returns the rollup of a page from the statuses of its components, without groups. worstOpen is the worst impact of unresolved incidents; it is used
// only if there are no components.
func RollupOf(leaves []ComponentStatus, worstOpen Impact) Rollup {
	if len(leaves) == 0 {
		leaves = map[Impact][]ComponentStatus{ImpactCritical: {MajorOutage}, ImpactMajor: {PartialOutage}, ImpactMinor: {PartialOutage, Operational}}[worstOpen]
	}
	count := map[ComponentStatus]int{}
	for _, s := range leaves {
		count[s]++
	}
	switch all := len(leaves); {
	case all == 0:
		return Rollup{ImpactNone, allOperational}
	case count[MajorOutage] == all:
		return Rollup{ImpactCritical, majorSystem}
	case count[MajorOutage] > 0, count[PartialOutage] == all:
		return Rollup{ImpactMajor, partialSystem}
	case count[PartialOutage] > 0:
		return Rollup{ImpactMinor, minorService}
	case count[DegradedPerformance] == all && all > 1:
		return Rollup{ImpactMinor, degradedService}
	case count[DegradedPerformance] > 0:
		return Rollup{ImpactMinor, partiallyDegraded}
	case count[UnderMaintenance] > 0:
		return Rollup{ImpactMaintenance, underMaintenance}
	default:
		return Rollup{ImpactNone, allOperational}
	}
}

// EffectiveIndicator returns the worse of a rollup and of the worst impact of unresolved incidents, which a rollup ignores.
func EffectiveIndicator(r Rollup, worstOpen Impact) Indicator {
	if worstOpen.WorseThan(r.Indicator) {
		return worstOpen
	}
	return r.Indicator
}
