package status

import (
	"cmp"
	"maps"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
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
	return list.Find(p, func(page *Page) bool { return page.Code == code })
}

// BySlug returns the page with a slug, or nil.
func (p Pages) BySlug(slug string) *Page {
	return list.Find(p, func(page *Page) bool { return page.Slug == slug })
}

// ByHost returns the page for a Host header. It ignores the port, and returns the default page if no page has the
// host, or nil without pages.
func (p Pages) ByHost(host string) *Page {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return cmp.Or(list.Find(p, func(page *Page) bool { return page.hasHost(host) }), p.Default())
}

// NoticeURL returns the URL of a notice of the page.
func (p *Page) NoticeURL(code string) string { return noticeURL(p.URL, code) }

// noticeURL returns the URL of a notice below the URL of its page.
func noticeURL(page, code string) string { return page + "/incidents/" + code }

// hasHost reports whether a host name, in lower case and without a port, is one of the page: of its hosts, or that of
// its URL.
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

// PageState is the status of a page: its components with their statuses, in the order of documents, and its worst
// unresolved incident.
type PageState struct {
	Page       *Page
	Components []*Component
	// WorstOpen is the worst impact of unresolved incidents, or empty if there are none.
	WorstOpen Impact

	byCode map[string]*Component
}

// NewPageState returns the state of a page. components are the result of [ComputeStatuses], and are kept. worstOpen
// is the worst impact of unresolved incidents, or empty.
func NewPageState(p *Page, components []*Component, worstOpen Impact) *PageState {
	return &PageState{Page: p, Components: components, WorstOpen: worstOpen, byCode: list.By(components, codeOf)}
}

// codeOf returns the code of a component, as a key of maps.
func codeOf(c *Component) string { return c.Code }

// Component returns the component or group with a code, or nil.
func (s *PageState) Component(code string) *Component { return s.byCode[code] }

// ComponentOfNode returns the component of the page that represents the consensus node with a number, or nil.
func (s *PageState) ComponentOfNode(id int64) *Component {
	return list.Find(s.Components, func(c *Component) bool { return c.NodeID == ledger.Of(id) })
}

// Rollup returns the summary of the page: an indicator and an English description, from the statuses of its
// components.
func (s *PageState) Rollup() Rollup {
	return s.rollup(func(c *Component) ComponentStatus { return c.Status })
}

// ShownRollup computes the status of the page as [PageState.Rollup] does, with the statuses that its vocabulary shows.
// It changes nothing.
func (s *PageState) ShownRollup() Rollup {
	return s.rollup(func(c *Component) ComponentStatus { return c.Shown })
}

// rollup returns the summary of all components that are not groups. state selects which status of each counts.
func (s *PageState) rollup(state func(*Component) ComponentStatus) Rollup {
	var leaves []ComponentStatus
	for _, c := range s.Components {
		if !c.IsGroup {
			leaves = append(leaves, state(c))
		}
	}
	return RollupOf(leaves, s.WorstOpen)
}

// EffectiveIndicator returns the worse of the indicator of [PageState.Rollup] and the worst impact of unresolved
// incidents.
func (s *PageState) EffectiveIndicator() Indicator {
	return EffectiveIndicator(s.Rollup(), s.WorstOpen)
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

// RollupOf returns the rollup of a page from the statuses of its components, without groups. worstOpen is the worst
// impact of unresolved incidents; it is used only if there are no components.
func RollupOf(leaves []ComponentStatus, worstOpen Impact) Rollup {
	if len(leaves) == 0 {
		leaves = map[Impact][]ComponentStatus{
			ImpactCritical: {MajorOutage}, ImpactMajor: {PartialOutage},
			ImpactMinor: {PartialOutage, Operational},
		}[worstOpen]
	}
	count := map[ComponentStatus]int{}
	for _, s := range leaves {
		count[s]++
	}
	all := len(leaves)
	for _, r := range []struct {
		Rollup
		holds bool
	}{
		{Rollup{ImpactCritical, majorSystem}, all > 0 && count[MajorOutage] == all},
		{Rollup{ImpactMajor, partialSystem}, count[MajorOutage] > 0 || all > 0 && count[PartialOutage] == all},
		{Rollup{ImpactMinor, minorService}, count[PartialOutage] > 0},
		{Rollup{ImpactMinor, degradedService}, count[DegradedPerformance] == all && all > 1},
		{Rollup{ImpactMinor, partiallyDegraded}, count[DegradedPerformance] > 0},
		{Rollup{ImpactMaintenance, underMaintenance}, count[UnderMaintenance] > 0},
	} {
		if r.holds {
			return r.Rollup
		}
	}
	return Rollup{ImpactNone, allOperational}
}

// EffectiveIndicator returns the worse of a rollup and of the worst impact of unresolved incidents, which a rollup
// ignores.
func EffectiveIndicator(r Rollup, worstOpen Impact) Indicator {
	if worstOpen.WorseThan(r.Indicator) {
		return worstOpen
	}
	return r.Indicator
}

var (
	slugForm   = regexp.MustCompile(`^[a-z0-9-]{1,63}$`)
	hostForm   = regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)*$`)
	localeForm = regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$`)
)

// Slug returns a slug for a name: at most 63 lower-case letters, digits and hyphens, or "status" if nothing is
// left.
func Slug(name string) string {
	slug := strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(name), "-"), "-")
	if slug = strings.Trim(slug[:min(len(slug), 63)], "-"); slug == "" {
		return "status"
	}
	return slug
}

// NewPage returns a copy of in with defaults for settings that are empty. It fails with [BadInput] if the settings are
// invalid; then the result must not be used. It stores nothing.
func NewPage(in Page) (*Page, error) {
	in.Slug = cmp.Or(in.Slug, Slug(in.Name))
	in.TimeZone, in.Locale, in.Vocabulary = cmp.Or(in.TimeZone, defaultZone), cmp.Or(in.Locale, "en"),
		cmp.Or(in.Vocabulary, Documented)
	return &in, CheckPage(&in)
}

// WithSettings returns a copy of the page with changed settings. p does not change. It fails with [BadInput] for
// unknown or invalid ones; then the result must not be used. A page cannot stop being the default.
func (p *Page) WithSettings(settings []PageSetting) (*Page, error) {
	after := *p
	for _, s := range settings {
		err := after.Set(s.Key, s.Value)
		if err != nil {
			return nil, err
		}
	}
	return &after, cmp.Or(CheckPage(&after), badIf(p.IsDefault && !after.IsDefault,
		"one page must be the default page: make another page the default instead"))
}

// CheckPage fails with [BadInput] if the settings of a page are invalid, but does not check the hosts: [Page.Set] does,
// which alone sets them. It writes into p: it removes trailing slashes from the URL and sets the zone.
func CheckPage(p *Page) error {
	p.URL = strings.TrimRight(p.URL, "/")
	var unknownZone error
	p.Zone, unknownZone = LoadZone(p.TimeZone)
	return cmp.Or(CheckName("the page", p.Name),
		badIf(!slugForm.MatchString(p.Slug), "the slug %q is not 1 to 63 lower-case letters, digits and hyphens",
			p.Slug),
		badIf(!IsWebURL(p.URL, false), "%q is not a URL such as https://status.example.com", p.URL),
		badIf(unknownZone != nil, "%v", unknownZone),
		badIf(!localeForm.MatchString(p.Locale), "%q is not a locale such as en or pt-BR", p.Locale),
		badIf(!p.Vocabulary.Valid(), "%q is not a vocabulary: use %s or %s", p.Vocabulary, Documented, Statuspage))
}

// IsWebURL reports whether a text is a URL with http or https and a host, without user, fragment, spaces, quotes and
// angle brackets. query permits a query string.
func IsWebURL(text string, query bool) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil &&
		u.Fragment == "" && (query || u.RawQuery == "") && !strings.ContainsAny(text, " \"'<>")
}

// Set changes a setting of the page: name, slug, url, hosts (separated by commas), default, time_zone, locale,
// vocabulary, auto_publish, or text.<locale>.<event>, for which a blank text restores the default. It fails with
// [BadInput] for unknown keys, hosts that [Pages.ByHost] cannot find, and if default or auto_publish is not a Boolean,
// but stores all other values unchecked: call [CheckPage] afterwards.
func (p *Page) Set(key, value string) error {
	texts := map[string]*string{
		"name": &p.Name, "slug": &p.Slug, "url": &p.URL, "time_zone": &p.TimeZone, "locale": &p.Locale,
		"vocabulary": (*string)(&p.Vocabulary),
	}
	if into := texts[key]; into != nil {
		*into = value
		return nil
	}
	switch key {
	case "hosts":
		p.Hosts = nil
		for h := range strings.SplitSeq(strings.ToLower(value), ",") {
			h = strings.TrimSpace(h)
			switch {
			case h == "" || slices.Contains(p.Hosts, h):
			case !hostForm.MatchString(h):
				return Errorf(BadInput, "%q is not a host name: requests are compared without port and final dot", h)
			default:
				p.Hosts = append(p.Hosts, h)
			}
		}
	case "default":
		return setSwitch(&p.IsDefault, key, value)
	case "auto_publish":
		return setSwitch(&p.AutoPublish, key, value)
	default:
		rest, isText := strings.CutPrefix(key, "text.")
		locale, event, _ := strings.Cut(rest, ".")
		if !isText || !localeForm.MatchString(locale) || !slices.Contains(Events(), Event(event)) {
			return Errorf(BadInput,
				"unknown setting %q: there are name, slug, url, hosts, default, time_zone, locale, vocabulary, "+
					"auto_publish and "+
					"text.<locale>.<event>", key)
		}
		p.setText(locale, Event(event), value)
	}
	return nil
}

// setSwitch sets *into from the text of a Boolean setting. It fails with [BadInput] for other text; key names the
// setting in the error.
func setSwitch(into *bool, key, value string) error {
	on, err := strconv.ParseBool(value)
	if err != nil {
		return Errorf(BadInput, "%s must be true or false, not %q", key, value)
	}
	*into = on
	return nil
}

// setText sets the text that the page publishes automatically for an event in a locale. A blank text removes it. The
// page's map is replaced, because copies of the page share it.
func (p *Page) setText(locale string, e Event, text string) {
	texts := Texts{}
	for l, by := range p.Texts {
		texts[l] = maps.Clone(by)
	}
	if texts[locale] == nil {
		texts[locale] = map[Event]string{}
	}
	if texts[locale][e] = text; strings.TrimSpace(text) == "" {
		delete(texts[locale], e)
	}
	p.Texts = texts
}
