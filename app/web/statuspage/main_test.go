package statuspage_test

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"heliograph/storage/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// eventually polls until ok returns true, for at most 20 seconds.
func eventually(tb testing.TB, what string, ok func() bool) {
	tb.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			tb.Fatalf("timeout: %s", what)
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
