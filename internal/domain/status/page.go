package status

import (
	"net"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Pages are the pages of a gateway: the default page first, then by age.
type Pages []*Page

// Default is the page that is shown where nothing says another one, nil when there is none.
func (p Pages) Default() *Page {
	if len(p) == 0 {
		return nil
	}
	return p[0]
}

// ByCode is the page with a code, nil when there is none.
func (p Pages) ByCode(code string) *Page {
	return p.find(func(page *Page) bool { return page.Code == code })
}

// BySlug is the page with a short name, nil when there is none.
func (p Pages) BySlug(slug string) *Page {
	return p.find(func(page *Page) bool { return page.Slug == slug })
}

// ByHost is the page of a Host header, the default page where no page has the host, and nil when there is none at all. A port in the header does not count.
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

// hasHost tells whether the page is the one of a host name in lower case.
func (p *Page) hasHost(name string) bool {
	if slices.Contains(p.Hosts, name) {
		return true
	}
	u, err := url.Parse(p.URL)
	return err == nil && name != "" && strings.ToLower(u.Hostname()) == name
}

// Zone is the zone of the page with a code, UTC where there is none.
func (p Pages) Zone(code string) *time.Location {
	if page := p.ByCode(code); page != nil {
		return page.Zone
	}
	return time.UTC
}

// Vocabulary is the vocabulary of the page with a code.
func (p Pages) Vocabulary(code string) Vocabulary {
	if page := p.ByCode(code); page != nil {
		return page.Vocabulary
	}
	return Documented
}

// PageState is how a page is: its components with their states, in the order of documents, and its worst unresolved incident.
type PageState struct {
	Page       *Page
	Components []*Component
	// WorstOpen is the worst impact of unresolved incidents, the zero value where there are none.
	WorstOpen Impact

	byCode map[string]*Component
}

// NewPageState puts together what was read of a page. The components have been settled; see [Settle].
func NewPageState(p *Page, settled []*Component, worstOpen Impact) *PageState {
	s := &PageState{Page: p, Components: settled, WorstOpen: worstOpen, byCode: make(map[string]*Component, len(settled))}
	for _, c := range settled {
		s.byCode[c.Code] = c
	}
	return s
}

// Component is the component or group with a code, nil when there is none.
func (s *PageState) Component(code string) *Component { return s.byCode[code] }

// ComponentOfNode is the component that is a consensus node, nil when there is none.
func (s *PageState) ComponentOfNode(id int64) *Component {
	for _, c := range s.Components {
		if c.NodeID.Valid && c.NodeID.V == id {
			return c
		}
	}
	return nil
}

// Rollup is how the page as a whole is.
func (s *PageState) Rollup() Rollup {
	return s.rollup(func(c *Component) ComponentStatus { return c.Status })
}

// ShownRollup is the same in the vocabulary of the page.
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

// EffectiveIndicator is the worse of the rollup and of the worst unresolved incident.
func (s *PageState) EffectiveIndicator() Indicator {
	return EffectiveIndicator(s.Rollup(), s.WorstOpen)
}
