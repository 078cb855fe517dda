package statuspage

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// feedLength is the maximum number of notices in a feed.
const feedLength = 50

// entriesOf returns the notices of both kinds that were updated most recently.
func entriesOf(p *pageData) []notice {
	all := slices.Concat(p.Incidents.Nodes, p.Maintenances.Nodes)
	slices.SortStableFunc(all, func(a, b notice) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	return all[:min(len(all), feedLength)]
}

// entryHTML renders a notice with all its updates for feed readers.
func (s *Site) entryHTML(n *notice) (string, error) {
	var b strings.Builder
	err := s.templates.ExecuteTemplate(&b, "entry", viewOf(n))
	if err != nil {
		return "", fmt.Errorf("writing %s into a feed: %w", n.Code, err)
	}
	return b.String(), nil
}

// tagOf returns a permanent id of the notice that does not depend on its URL (RFC 4151).
func tagOf(p *pageData, n *notice) string {
	host := "localhost"
	if u, err := url.Parse(p.URL); err == nil && u.Hostname() != "" {
		host = u.Hostname()
	}
	return fmt.Sprintf("tag:%s,%s:status/%s/%s", host, p.CreatedAt.UTC().Format("2006-01-02"), p.Code, n.Code)
}

type atomFeed struct {
	XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
	Lang    string   `xml:"xml:lang,attr"`
	ID      string   `xml:"id"`
	Title   string   `xml:"title"`
	Updated string   `xml:"updated"`
	Links   []atomLink
	Author  atomAuthor  `xml:"author"`
	Entries []atomEntry `xml:"entry"`
}

type atomLink struct {
	XMLName xml.Name `xml:"link"`
	Rel     string   `xml:"rel,attr"`
	Type    string   `xml:"type,attr"`
	Href    string   `xml:"href,attr"`
}

type atomAuthor struct {
	Name string `xml:"name"`
}

type atomEntry struct {
	ID        string   `xml:"id"`
	Title     string   `xml:"title"`
	Link      atomLink `xml:"link"`
	Published string   `xml:"published"`
	Updated   string   `xml:"updated"`
	Category  atomTerm `xml:"category"`
	Content   atomText `xml:"content"`
}

type atomTerm struct {
	Term string `xml:"term,attr"`
}

type atomText struct {
	Type string `xml:"type,attr"`
	Text string `xml:",chardata"`
}

// atom renders the Atom feed (RFC 4287).
func (s *Site) atom(p *pageData) ([]byte, error) {
	f := atomFeed{
		Lang: p.Locale, ID: p.URL + "/history.atom", Title: p.Name + " status", Updated: p.UpdatedAt.Format(time.RFC3339), Author: atomAuthor{p.Name},
		Links: []atomLink{{Rel: "self", Type: "application/atom+xml", Href: p.URL + "/history.atom"}, {Rel: "alternate", Type: "text/html", Href: p.URL}},
	}
	for _, n := range entriesOf(p) {
		content, err := s.entryHTML(&n)
		if err != nil {
			return nil, err
		}
		f.Entries = append(f.Entries, atomEntry{
			ID: tagOf(p, &n), Title: n.Name, Link: atomLink{Rel: "alternate", Type: "text/html", Href: n.Shortlink}, Published: n.CreatedAt.Format(time.RFC3339),
			Updated: n.UpdatedAt.Format(time.RFC3339), Category: atomTerm{kindOf(&n)}, Content: atomText{"html", content},
		})
	}
	return document(f)
}

func kindOf(n *notice) string {
	if n.Planned() {
		return "maintenance"
	}
	return "incident"
}

type rssFeed struct {
	XMLName xml.Name   `xml:"rss"`
	Version string     `xml:"version,attr"`
	Atom    string     `xml:"xmlns:atom,attr"`
	Channel rssChannel `xml:"channel"`
}

type rssChannel struct {
	Title       string  `xml:"title"`
	Link        string  `xml:"link"`
	Self        rssSelf `xml:"atom:link"`
	Description string  `xml:"description"`
	Language    string  `xml:"language"`
	Built       string  `xml:"lastBuildDate"`
	Items       []rssItem
}

type rssSelf struct {
	Rel  string `xml:"rel,attr"`
	Type string `xml:"type,attr"`
	Href string `xml:"href,attr"`
}

type rssItem struct {
	XMLName     xml.Name `xml:"item"`
	Title       string   `xml:"title"`
	Link        string   `xml:"link"`
	GUID        rssGUID  `xml:"guid"`
	Published   string   `xml:"pubDate"`
	Category    string   `xml:"category"`
	Description string   `xml:"description"`
}

type rssGUID struct {
	Permanent bool   `xml:"isPermaLink,attr"`
	Text      string `xml:",chardata"`
}

// rss renders the RSS feed (RSS 2.0).
func (s *Site) rss(p *pageData) ([]byte, error) {
	f := rssFeed{Version: "2.0", Atom: "http://www.w3.org/2005/Atom", Channel: rssChannel{
		Title: p.Name + " status", Link: p.URL, Self: rssSelf{"self", "application/rss+xml", p.URL + "/history.rss"},
		Description: "Incidents and maintenances of " + p.Name,
		Language:    strings.ToLower(p.Locale), Built: p.UpdatedAt.Format(time.RFC1123Z),
	}}
	for _, n := range entriesOf(p) {
		content, err := s.entryHTML(&n)
		if err != nil {
			return nil, err
		}
		f.Channel.Items = append(f.Channel.Items, rssItem{
			Title: n.Name, Link: n.Shortlink, GUID: rssGUID{Text: tagOf(p, &n)}, Published: n.CreatedAt.Format(time.RFC1123Z), Category: kindOf(&n),
			Description: content,
		})
	}
	return document(f)
}

// document encodes a feed. It replaces characters that XML does not allow with the replacement character.
func document(feed any) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(xml.Header)
	if err := xml.NewEncoder(&b).Encode(feed); err != nil {
		return nil, fmt.Errorf("writing a feed: %w", err)
	}
	return b.Bytes(), nil
}
