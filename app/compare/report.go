package compare

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Report groups differences by cause.
type Report struct {
	groups []*group
	byWhat map[Cause]*group

	// Requests is the number of compared requests.
	Requests int
	// Repeated is the number of requests whose responses were equal after a repetition.
	Repeated int
	// Newer is the number of requests whose responses differed only in rows that are newer than the start of the comparison.
	Newer int
	// Limited is the number of requests that were not compared because a service rejected them with status 429.
	Limited int
}

type group struct {
	Cause
	requests  int
	endpoints []string
	example   string
	from, to  string
}

// Add adds the differences of a request to an endpoint.
func (r *Report) Add(endpoint, request string, differences []Difference) {
	if r.byWhat == nil {
		r.byWhat = map[Cause]*group{}
	}
	for _, d := range differences {
		g := r.byWhat[d.Cause]
		if g == nil {
			g = &group{Cause: d.Cause, example: request, from: d.From, to: d.To}
			r.byWhat[d.Cause] = g
			r.groups = append(r.groups, g)
		}
		g.requests++
		if !slices.Contains(g.endpoints, endpoint) {
			g.endpoints = append(g.endpoints, endpoint)
		}
	}
}

// Causes returns the causes, the most frequent ones first.
func (r *Report) Causes() []Cause {
	slices.SortStableFunc(r.groups, func(a, b *group) int { return cmp.Compare(b.requests, a.requests) })
	var out []Cause
	for _, g := range r.groups {
		out = append(out, g.Cause)
	}
	return out
}

// maxShown limits the length of an example value.
const maxShown = 160

// WriteTo writes the causes with an example each.
func (r *Report) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	r.Causes() // sorts the groups
	for _, g := range r.groups {
		fmt.Fprintf(&b, "%s %s", g.Kind, cmp.Or(g.Where, "body"))
		if g.Before != "" || g.After != "" {
			fmt.Fprintf(&b, ": %s → %s", cmp.Or(g.Before, "none"), cmp.Or(g.After, "none"))
		}
		fmt.Fprintf(&b, "\n  %s in %s, such as %s\n", count(g.requests, "request"), count(len(g.endpoints), "endpoint"), g.example)
		if g.from != "" || g.to != "" {
			fmt.Fprintf(&b, "  - %s\n  + %s\n", shorten(g.from), shorten(g.to))
		}
	}
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// shorten returns a value in one line of limited length.
func shorten(text string) string {
	text = strings.ReplaceAll(strings.TrimSpace(text), "\n", " ")
	if len(text) > maxShown {
		text = strings.ToValidUTF8(text[:maxShown], "") + "…"
	}
	return text
}
