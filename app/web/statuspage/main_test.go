package statuspage_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"heliograph/app/testing/testenv"
	"heliograph/rest"
	"heliograph/storage/pgtest"
	"heliograph/storage/statuspages"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// cached enables the cache, as in production.
func cached() testenv.Option { return testenv.REST(func(c *rest.Config) { c.Cache = true }) }

var byTest = statuspages.Author{Name: "test"}

// editor returns an editor of the status pages of a gateway. Its clock advances by a minute on each call.
func editor(g *testenv.Gateway) *statuspages.Editor {
	now := testenv.Now()
	return statuspages.NewEditor(g.Status, func() time.Time {
		now = now.Add(time.Minute)
		return now
	}, nil)
}

// eventually polls until ok returns true, for at most 5 seconds.
func eventually(tb testing.TB, what string, ok func() bool) {
	tb.Helper()
	for end := time.Now().Add(5 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			tb.Fatalf("after some seconds still not: %s", what)
		}
	}
}

// ready waits until a gateway with a cache has rendered its pages.
func ready(tb testing.TB, g *testenv.Gateway) {
	tb.Helper()
	for end := time.Now().Add(15 * time.Second); g.Get(tb, "/").Status != http.StatusOK; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			tb.Fatal("there is no page")
		}
	}
}

// element is an HTML element with its text.
type element struct {
	*html.Node
	attributes map[string]string
	text       string
}

// elements returns all matching elements of a page with their attributes and the text of their descendants.
func elements(tb testing.TB, page string, match func(e *element) bool) []*element {
	tb.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		tb.Fatal(err)
	}
	var out []*element
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		e := &element{Node: n, attributes: map[string]string{}}
		for _, a := range n.Attr {
			e.attributes[a.Key] = a.Val
		}
		var text strings.Builder
		for d := range n.Descendants() {
			if d.Type == html.TextNode {
				text.WriteString(d.Data)
			}
		}
		e.text = strings.Join(strings.Fields(text.String()), " ")
		if match(e) {
			out = append(out, e)
		}
	}
	return out
}

// ofClass matches elements by name and class.
func ofClass(name, class string) func(e *element) bool {
	return func(e *element) bool {
		return e.Data == name && (class == "" || strings.Contains(" "+e.attributes["class"]+" ", " "+class+" "))
	}
}
