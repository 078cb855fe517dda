package statuspage

import (
	"bytes"
	_ "embed"
	"encoding/xml"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"text/template"

	"heliograph/internal/base/wrap"
	"heliograph/internal/domain/status"
)

// feedLength is the maximum number of notices in a feed.
const feedLength = 50

//go:embed templates/feeds.xml
var feedTemplates string

// Entries returns the entries of a feed: the notices of both kinds, the most recently updated first, at most
// feedLength. Templates of feeds call it. It does not change p.
func (p *pageData) Entries() []notice {
	all := slices.Concat(p.Incidents.Nodes, p.Maintenances.Nodes)
	slices.SortStableFunc(all, func(a, b notice) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	return all[:min(len(all), feedLength)]
}

// Tag returns the permanent id of a notice in a feed, which depends on the host of the page but not on the URL of the
// notice (RFC 4151). The host is localhost if the URL of the page has none.
func (p *pageData) Tag(n *notice) string {
	host := "localhost"
	if u, err := url.Parse(p.URL); err == nil && u.Hostname() != "" {
		host = u.Hostname()
	}
	return fmt.Sprintf("tag:%s,%s:status/%s/%s", host, p.CreatedAt.UTC().Format("2006-01-02"), p.Code, n.Code)
}

// feed renders a feed from p and returns its XML. name is atom (RFC 4287) or rss (RSS 2.0). The lines of the templates
// are joined. The XML beside an error is incomplete.
func (s *Site) feed(name string, p *pageData) ([]byte, error) {
	t, err := template.New("").Funcs(template.FuncMap{
		"lower": strings.ToLower,
		// Characters that XML does not allow become the replacement character.
		"xml": func(text string) (string, error) {
			var b strings.Builder
			err := xml.EscapeText(&b, []byte(text))
			return b.String(), err
		},
		"content": func(n *notice) (string, error) {
			var b strings.Builder
			err := s.templates.ExecuteTemplate(&b, "entry", n)
			return b.String(), err
		},
	}).Parse(strings.ReplaceAll(feedTemplates, "\n", ""))
	b := bytes.NewBufferString(xml.Header)
	if err == nil {
		err = t.ExecuteTemplate(b, name, p)
	}
	return b.Bytes(), wrap.Error(err, "writing a feed")
}

// badgeColour returns the background colour of a badge as #rrggbb, or "" for an unknown indicator. White text has
// a contrast of at least 4.5 on each of them.
func badgeColour(indicator status.Indicator) string {
	return map[status.Indicator]string{
		status.ImpactNone: "#176f42", status.ImpactMaintenance: "#2854bd", status.ImpactMinor: "#8a5800",
		status.ImpactMajor:    "#ad430c",
		status.ImpactCritical: "#b71f2a",
	}[indicator]
}

// indicatorOf returns the page indicator that corresponds to a component state, for the colour of its badge.
func indicatorOf(s status.ComponentStatus) status.Indicator {
	if s == status.UnderMaintenance {
		return status.ImpactMaintenance
	}
	return status.ImpactOf(status.Realtime, "", s)
}

// widthOf returns the estimated width in pixels of a badge's text at 11 pixels in a common sans-serif font. The
// image sets it as textLength, so that the text fits with other fonts.
func widthOf(text string) int {
	width := 0.0
	for _, r := range text {
		switch {
		case r == 'i' || r == 'l' || r == 'j' || r == '.' || r == ',' || r == '\'' || r == '|' || r == ':':
			width += 3.4
		case r == ' ' || r == 't' || r == 'f' || r == 'r' || r == 'I' || r == '-' || r == '(' || r == ')':
			width += 4.3
		case r == 'm' || r == 'w' || r == 'M' || r == 'W':
			width += 10
		case r >= 'A' && r <= 'Z':
			width += 7.7
		case r < 0x2E80:
			width += 6.6
		default: // such as CJK characters, which are as wide as they are high
			width += 11
		}
	}
	return int(width + 0.5)
}

// badgeTemplate uses text/template, because html/template does not support SVG documents. All texts are escaped with
// the html function.
var badgeTemplate = template.Must(template.New("badge").Parse(
	`<svg xmlns="http://www.w3.org/2000/svg" width="{{.Width}}" height="20" role="img" aria-label="{{html .Left}}: ` +
		`{{html .Right}}">` +
		`<title>{{html .Left}}: {{html .Right}}</title><clipPath id="r"><rect width="{{.Width}}" height="20" ` +
		`rx="4"/></clipPath>` +
		`<g clip-path="url(#r)"><path fill="#3a4450" d="M0 0h{{.LeftWidth}}v20H0z"/>` +
		`<path fill="{{.Colour}}" d="M{{.LeftWidth}} 0h{{.RightWidth}}v20H{{.LeftWidth}}z"/></g>` +
		`<g fill="#fff" text-anchor="middle" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11">` +
		`<text x="{{.LeftMiddle}}" y="14" textLength="{{.LeftText}}">{{html .Left}}</text>` +
		`<text x="{{.RightMiddle}}" y="14" textLength="{{.RightText}}">{{html .Right}}</text></g></svg>`))

// makeBadge renders an SVG image with a label on the left, a state on the right, and the colour of the indicator.
// Long texts are cut.
func makeBadge(left, right string, indicator status.Indicator) ([]byte, error) {
	const margin = 16
	left, right = clip(left), clip(right)
	leftText, rightText := widthOf(left), widthOf(right)
	var out bytes.Buffer
	err := badgeTemplate.Execute(&out, map[string]any{
		"Left": left, "Right": right, "Colour": badgeColour(indicator), "LeftText": leftText, "RightText": rightText,
		"LeftWidth": leftText + margin, "RightWidth": rightText + margin, "Width": leftText + rightText + 2*margin,
		"LeftMiddle": (leftText + margin) / 2, "RightMiddle": leftText + margin + (rightText+margin)/2,
	})
	return out.Bytes(), wrap.Error(err, "rendering a badge")
}

// clip cuts a text of a badge to 60 characters, of which the last one is then an ellipsis.
func clip(text string) string {
	const most = 60
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
