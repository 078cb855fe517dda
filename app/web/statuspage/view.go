package statuspage

import (
	"bytes"
	"fmt"
	"html/template"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"

	"heliograph/internal/domain/status"
)

// head is the data that all pages share.
type head struct {
	Title  string
	Name   string // of the status page
	Lang   string
	Here   string // the current section for the navigation: status, history, or empty
	Look   status.Indicator
	Assets map[string]string // asset URLs by name
	// Live is the URL of the event stream that announces changes, or empty if there are none. Revision is the revision
	// of the page.
	Live     string
	Revision int64
	Zone     string // name of the time zone of all times
	JSON     bool   // whether documents and feeds exist to link to
	Static   bool   // see [Options]
}

// headlineOf returns the headline of a page: the rollup that its JSON documents have, or the worst impact of open
// incidents if that is worse.
func headlineOf(p *pageData) status.Rollup {
	i := p.EffectiveIndicator
	if i.WorseThan(p.Rollup.Indicator) && i != status.ImpactMaintenance {
		return status.Rollup{Indicator: i, Description: status.RollupOf(nil, i).Description}
	}
	return p.Rollup
}

type frontPage struct {
	head
	*pageData
	Headline   status.Rollup
	Components []component // those that are shown
	Days       []dayView
	Legend     bool // whether any uptime bars are shown
}

type noticePage struct {
	head
	Notice *notice
}

type historyPage struct {
	head
	Month        string
	Older, Newer string // months in URL format, or empty if there is none
	Days         []dayView
}

// messagePage is the data of a page that only shows a message, such as an error.
type messagePage struct {
	head
	Heading, Text string
}

// Said returns the Markdown text of an update as sanitized HTML. Templates call it.
func (u *update) Said() template.HTML { return said(u.Body) }

// Changes returns the affected components whose state changed, for templates. It does not modify the update.
func (u *update) Changes() []*status.AffectedComponent {
	return slices.DeleteFunc(slices.Clone(u.Affected), func(a *status.AffectedComponent) bool {
		return a.OldStatus == a.NewStatus
	})
}

// shown returns the components without those that are operational and have onlyShowIfDegraded. It does not modify
// list.
func shown(list []component) []component {
	return slices.DeleteFunc(slices.Clone(list), func(c component) bool {
		return c.OnlyShowIfDegraded &&
			c.Status == status.Operational
	})
}

// Shown returns the components of a group without those that [shown] omits, for templates. It does not modify c.
func (c *component) Shown() []component { return shown(c.Children) }

// Count returns how many components of a group are operational, such as "2 of 3 operational". Templates call it.
func (c *component) Count() string {
	well := 0
	for _, child := range c.Children {
		if child.Status == status.Operational {
			well++
		}
	}
	return fmt.Sprintf("%d of %d operational", well, len(c.Children))
}

// Chart returns the uptime chart of a component for templates, or nil if it does not show one.
func (c *component) Chart() *uptimeView {
	if !c.Showcase || c.Uptime == nil {
		return nil
	}
	return uptimeOf(c.Name, c.Uptime)
}

// hasUptime reports whether a chart of uptime is shown for one of the components or of their children. The page has a
// legend then.
func hasUptime(list []component) bool {
	return slices.ContainsFunc(shown(list), func(c component) bool {
		return c.Showcase && c.Uptime != nil ||
			hasUptime(c.Children)
	})
}

// The uptime chart has a bar for each day.
const (
	uptimeDays = 90
	barPace    = 4 // distance from one bar to the next
)

// uptimeView is the recent uptime of a component, as a chart and as text.
type uptimeView struct {
	Percent string
	Label   string // describes the chart in a sentence
	Bars    []bar
	Bad     []string // days with problems, in words
}

type bar struct {
	X     int
	State string // of the day, or empty if unknown
	Title string
}

// uptimeOf returns the chart of the component called name for the 90 days until the last day of u, which has 1 to 90
// days in ascending order. Days that u lacks have no data.
func uptimeOf(name string, u *status.Uptime) *uptimeView {
	v := &uptimeView{Percent: percent(u.Percent)}
	known := u.Days
	first := noon(u.Days[len(u.Days)-1].Date.Start(time.UTC)).AddDate(0, 0, 1-uptimeDays) // today is known
	for i := range uptimeDays {
		b := bar{X: i * barPace, Title: "No data"}
		if date := status.DateOf(first.AddDate(0, 0, i)); len(known) > 0 && known[0].Date == date {
			d := known[0]
			known = known[1:]
			b.State, b.Title = string(d.Worst), words(d)
			if d.Worst != status.Operational {
				v.Bad = append(v.Bad, b.Title)
			}
		}
		v.Bars = append(v.Bars, b)
	}
	v.Label = fmt.Sprintf("%s: %s %% uptime over %d days", name, v.Percent, len(u.Days))
	switch len(v.Bad) {
	case 0:
		v.Label += ", all of them without trouble"
	case 1:
		v.Label += ", one of them with trouble"
	default:
		v.Label += fmt.Sprintf(", %d of them with trouble", len(v.Bad))
	}
	return v
}

// words returns the availability of a day as text, such as "2 January 2006: 99.65 % up, 5 min of major outage".
func words(d *status.UptimeDay) string {
	var parts []string
	for _, p := range []struct {
		seconds int32
		what    string
	}{
		{d.OutageSeconds, "major outage"},
		{d.PartialSeconds, "partial outage"},
		{d.DegradedSeconds, "degraded performance"},
		{d.MaintenanceSeconds, "maintenance"},
	} {
		if p.seconds > 0 {
			parts = append(parts, fmt.Sprint(duration(p.seconds), " of ", p.what))
		}
	}
	if len(parts) == 0 {
		parts = []string{"no trouble"}
	}
	return fmt.Sprintf("%s: %s %% up, %s", d.Date.Start(time.UTC).Format("2 January 2006"), percent(d.Percent),
		strings.Join(parts, ", "))
}

// percent formats an uptime, from 0 to 100, with at most two decimals and without the sign. Only full uptime is 100.
func percent(p float64) string {
	if p > 99.99 && p < 100 {
		p = 99.99
	}
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(p, 'f', 2, 64), "0"), ".")
}

// duration formats a duration in hours and minutes, or in seconds if it is shorter than a minute.
func duration(seconds int32) string {
	switch h, m := seconds/3600, seconds/60%60; {
	case h > 0 && m > 0:
		return fmt.Sprintf("%d h %d min", h, m)
	case h > 0:
		return fmt.Sprintf("%d h", h)
	case m > 0:
		return fmt.Sprintf("%d min", m)
	default:
		return fmt.Sprintf("%d s", seconds)
	}
}

// dayView is a day with its notices, or a range of days without notices from First to Day. First equals Day for a
// single day.
type dayView struct {
	First, Day time.Time
	Notices    []notice
}

// daysOf returns the days from newest to oldest, the newest first, that have notices. With all, it also returns the
// other days, merged into ranges. newest and oldest are noons in the zone of the page. A notice of list belongs to the
// day of its RecentAt; others than in this period are omitted. The notices of a day are the newest first.
func daysOf(newest, oldest time.Time, list []notice, all bool) []dayView {
	var out []dayView
	for day := newest; !day.Before(oldest); day = day.AddDate(0, 0, -1) {
		v := dayView{First: day, Day: day}
		for i := range list {
			if at := list[i].RecentAt().In(day.Location()); status.DateOf(at) == status.DateOf(day) {
				v.Notices = append(v.Notices, list[i])
			}
		}
		slices.SortStableFunc(v.Notices, func(a, b notice) int { return b.RecentAt().Compare(a.RecentAt()) })
		switch last := len(out) - 1; {
		case len(v.Notices) > 0 || all && (last < 0 || len(out[last].Notices) > 0):
			out = append(out, v)
		case all:
			out[last].First = day
		}
	}
	return out
}

// stateName returns the display name of a component state, a notice state or an impact, "Unknown" if it is empty, and
// "No impact" for the impact none.
func stateName(v any) string {
	name := fmt.Sprint(v)
	switch name {
	case "":
		return "Unknown"
	case "none":
		return "No impact"
	}
	name = strings.ReplaceAll(name, "_", " ")
	return strings.ToUpper(name[:1]) + name[1:]
}

// Editors write plain text, Markdown or HTML, and imported pages can mix all three in one body. HTML blocks become
// Markdown, goldmark renders it, and bluemonday removes all but a few elements. Unknown tags are shown as text.
// docs/status-page.md has the list of what is supported.

// markdown renders texts. Each line break of a text is one of the page.
var markdown = goldmark.New(
	goldmark.WithParser(parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewListParser(), 300), util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
	)),
	goldmark.WithExtensions(extension.Linkify),
	goldmark.WithRendererOptions(html.WithHardWraps(),
		renderer.WithNodeRenderers(util.Prioritized(ownElements{}, 100))),
)

// policy permits the elements of texts.
var policy = func() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "b", "strong", "i", "em", "code", "pre", "ul", "ol", "li")
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.RequireParseableURLs(true)
	p.RequireNoFollowOnLinks(true)
	return p
}()

// ownElements renders headings as strong paragraphs, since texts are below the headings of the page, and unknown tags
// as text.
type ownElements struct{}

// inlineTag matches tags that the policy permits or removes with their content, and comments, which it removes.
var inlineTag = regexp.MustCompile(`(?i)^<(/?(b|strong|i|em|code|a|span|script|style)\b|!--)`)

// RegisterFuncs implements [renderer.NodeRenderer]: headings become bold paragraphs, and HTML tags outside of
// inlineTag are escaped.
func (ownElements) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHeading, func(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
		text := "</strong></p>\n"
		if entering {
			text = "<p><strong>"
		}
		_, err := w.WriteString(text)
		return ast.WalkContinue, err //nolint:wrapcheck // of a buffer
	})
	r.Register(ast.KindRawHTML, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus,
		error,
	) {
		if raw, ok := n.(*ast.RawHTML); ok && entering {
			tag := raw.Segments.Value(source)
			if !inlineTag.Match(tag) {
				tag = util.EscapeHTML(tag)
			}
			_, err := w.Write(tag)
			return ast.WalkSkipChildren, err //nolint:wrapcheck // of a buffer
		}
		return ast.WalkSkipChildren, nil
	})
}

// blockTag matches tags of blocks with the space around them.
var blockTag = regexp.MustCompile(`(?i)\s*<(/?)(p|div|ul|ol|li|h[1-6]|blockquote|br)\b[^<>]*>[ \t]*\n?`)

// said returns the text of an editor, which is Markdown with some HTML, as HTML that has only the elements and
// attributes of policy.
func said(body string) template.HTML {
	parts := strings.Split(strings.ReplaceAll(body, "\r\n", "\n"), "\n```")
	for i := 0; i < len(parts); i += 2 { // the others are code
		parts[i] = blockTag.ReplaceAllStringFunc(parts[i], func(tag string) string {
			switch tag = strings.ToLower(strings.TrimSpace(tag)); {
			case strings.HasPrefix(tag, "<br"):
				return "\n"
			case strings.HasPrefix(tag, "<li"):
				return "\n- "
			case tag == "</li>":
				return ""
			default:
				return "\n\n"
			}
		})
	}
	var b bytes.Buffer
	// Only writing could fail, and the buffer accepts everything.
	_ = markdown.Convert([]byte(strings.Join(parts, "\n```")), &b)
	return template.HTML(bytes.TrimSpace(policy.SanitizeBytes(b.Bytes()))) //nolint:gosec // sanitized
}
