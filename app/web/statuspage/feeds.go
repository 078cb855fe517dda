package statuspage

import (
	"bytes"
	_ "embed"
	"encoding/xml"
	"fmt"
	"net/url"
	"slices"
	"strings"
	texttemplate "text/template"
)

// feedLength is the maximum number of notices in a feed.
const feedLength = 50

//go:embed templates/feeds.xml
var feedTemplates string

// Entries returns the notices of both kinds that were updated most recently.
func (p *pageData) Entries() []notice {
	all := slices.Concat(p.Incidents.Nodes, p.Maintenances.Nodes)
	slices.SortStableFunc(all, func(a, b notice) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	return all[:min(len(all), feedLength)]
}

// Tag returns a permanent id of a notice that does not depend on its URL (RFC 4151).
func (p *pageData) Tag(n *notice) string {
	host := "localhost"
	if u, err := url.Parse(p.URL); err == nil && u.Hostname() != "" {
		host = u.Hostname()
	}
	return fmt.Sprintf("tag:%s,%s:status/%s/%s", host, p.CreatedAt.UTC().Format("2006-01-02"), p.Code, n.Code)
}

// feed renders a feed: atom (RFC 4287) or rss (RSS 2.0). The lines of the templates are joined.
func (s *Site) feed(name string, p *pageData) ([]byte, error) {
	t, err := texttemplate.New("").Funcs(texttemplate.FuncMap{
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
	if err != nil {
		return nil, fmt.Errorf("writing a feed: %w", err)
	}
	return b.Bytes(), nil
}
