package incremental_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"

	"heliograph/graph/incremental"
)

const schema = `
directive @defer(if: Boolean, label: String) on FRAGMENT_SPREAD | INLINE_FRAGMENT
type Item { a: Int b(n: Int): Int list: [Item!]! }
type Query { item: Item }
type Mutation { item: Item }
`

func parse(t *testing.T, document string) *ast.QueryDocument {
	t.Helper()
	s, err := gqlparser.LoadSchema(&ast.Source{Input: schema})
	if err != nil {
		t.Fatal(err)
	}
	doc, errs := gqlparser.LoadQueryWithRules(s, document, nil)
	if errs != nil {
		t.Fatal(errs)
	}
	return doc
}

// text returns the text of an operation on one line.
func text(op *ast.OperationDefinition) string {
	var b strings.Builder
	formatter.NewFormatter(&b).FormatQueryDocument(&ast.QueryDocument{Operations: ast.OperationList{op}})
	return strings.Join(strings.Fields(b.String()), " ")
}

// TestSplit tests the operations and the groups that documents are split into.
func TestSplit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		document  string
		variables map[string]any
		want      []string // the initial operation, then parent, path, base and operation of each group
	}{
		"fragment": {
			`query { item { a ... @defer(label: "x") { b } } }`, nil,
			[]string{`query { item { a } }`, `-1 [item] 0 query { item { ... { b } } }`},
		},
		"spread": {
			`query { item { list { a ...F @defer } } } fragment F on Item { b(n: 1) }`, nil,
			[]string{
				`query { item { list { a } } }`,
				`-1 [item list] 0 query { item { list { ... on Item { b(n: 1) } } } }`,
			},
		},
		"nested": {
			`query { item { ... @defer { a x: list { ... @defer { b } } } } }`, nil,
			[]string{
				`query { item }`, `-1 [item] 0 query { item { ... { a x: list } } }`,
				`0 [item x] 1 query { item { ... { x: list { ... { b } } } } }`,
			},
		},
		"conditions": {
			`query($on: Boolean, $off: Boolean) { item { ... @defer(if: $on) { a } ... @defer(if: $off) { b } } }`,
			map[string]any{"on": true, "off": false},
			[]string{
				`query ($on: Boolean, $off: Boolean) { item { ... { b } } }`,
				`-1 [item] 0 query ($on: Boolean, $off: Boolean) { item { ... { a } } }`,
			},
		},
		"null condition": {
			`query($on: Boolean) { item { a ... @defer(if: $on) { b } } }`,
			map[string]any{"on": nil},
			[]string{`query ($on: Boolean) { item { a } }`, `-1 [item] 0 query ($on: Boolean) { item { ... { b } } }`},
		},
		"nothing deferred": {
			`query($on: Boolean) { item { a ... @defer(if: $on) { b } } }`,
			map[string]any{"on": false},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc := parse(t, c.document)
			op := incremental.Extract(doc)[doc.Operations[0]]
			if op == nil {
				t.Fatal("the operation is not deferred")
			}
			split := op.Split(c.variables)
			var got []string
			if split != nil {
				got = append(got, text(split.Initial))
				for _, g := range split.Groups {
					got = append(got, fmt.Sprintf("%d %v %d %s", g.Parent, g.Path, g.Base, text(g.Operation)))
				}
			}
			if !slices.Equal(got, c.want) {
				t.Error(cmp.Diff(c.want, got))
			}
			if split != nil && (!split.Cached || op.Split(c.variables) != split) {
				t.Error("the split is not cached")
			}
		})
	}
}

// TestSplitCache tests that the number of cached splits is bounded.
func TestSplitCache(t *testing.T) {
	t.Parallel()
	doc := parse(t, `query($x: Boolean, $y: Boolean) { item { ... @defer(if: $x) { a } ... @defer(if: $y) { b } } }`)
	op := incremental.Extract(doc)[doc.Operations[0]]
	cached := 0
	for _, v := range [][2]bool{{true, true}, {true, false}, {false, true}} {
		if op.Split(map[string]any{"x": v[0], "y": v[1]}).Cached {
			cached++
		}
	}
	if cached != 2 {
		t.Errorf("%d splits are cached, want 2", cached)
	}
}

// TestExtract tests which operations are extracted, and that the document has no @defer afterwards.
func TestExtract(t *testing.T) {
	t.Parallel()
	if got := incremental.Extract(parse(t, `query { item { a } }`)); got != nil {
		t.Errorf("without @defer: %v", got)
	}
	doc := parse(t,
		`query A { item { ...F @defer } } query B { item { a } } mutation C { item { ... @defer { a } } } fragment `+
			`F on Item { ... @defer { a } }`)
	got := incremental.Extract(doc)
	if len(got) != 1 || got[doc.Operations[0]] == nil {
		t.Errorf("got %d operations", len(got))
	}
	var b strings.Builder
	formatter.NewFormatter(&b).FormatQueryDocument(doc)
	if strings.Contains(b.String(), "@defer") {
		t.Errorf("the document has @defer: %s", b.String())
	}
}

// TestSharedPositions tests that equal fields have the same position, and others do not.
func TestSharedPositions(t *testing.T) {
	t.Parallel()
	doc := parse(t, `query { item { x: b(n: 1) ... @defer { y: b(n: 1) z: b(n: 2) } } }`)
	split := incremental.Extract(doc)[doc.Operations[0]].Split(nil)
	fields := func(op *ast.OperationDefinition) ast.SelectionSet {
		return op.SelectionSet[0].(*ast.Field).SelectionSet
	}
	x := fields(split.Initial)[0].(*ast.Field)
	deferred := fields(split.Groups[0].Operation)[0].(*ast.InlineFragment).SelectionSet
	y, z := deferred[0].(*ast.Field), deferred[1].(*ast.Field)
	if x.Position != y.Position || y.Position == z.Position {
		t.Errorf("positions %p, %p, %p", x.Position, y.Position, z.Position)
	}
}

// TestMatch tests the objects of an initial response that a later response has too.
func TestMatch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		initial, later string
		path           []string
		want           []string
	}{
		"root":   {`{"a":1}`, `{"b":2}`, nil, []string{` {"b":2}`}},
		"object": {`{"item":{"a":1}}`, `{"item":{"b":2}}`, []string{"item"}, []string{`item {"b":2}`}},
		"list": {
			`{"x":[{},{},{}]}`, `{"x":[{"b":1},{},{"b":3}]}`,
			[]string{"x"},
			[]string{`x[0] {"b":1}`, `x[1] {}`, `x[2] {"b":3}`},
		},
		"nested lists": {
			`{"x":[[{}],[{}]]}`, `{"x":[[{"b":1}],[{"b":2}]]}`,
			[]string{"x"},
			[]string{`x[0][0] {"b":1}`, `x[1][0] {"b":2}`},
		},
		"list on the path": {
			`{"x":[{"y":{}},{"y":null}]}`, `{"x":[{"y":{"b":1}},{"y":null}]}`,
			[]string{"x", "y"},
			[]string{`x[0].y {"b":1}`},
		},
		"null object": {`{"x":{}}`, `{"x":null}`, []string{"x"}, []string{`x null`}},
		"null on the path": {
			`{"x":[{"y":{}},{"y":{}}]}`, `{"x":null}`,
			[]string{"x", "y"},
			[]string{`x[0].y null`, `x[1].y null`},
		},
		"null before":           {`{"x":null}`, `{"x":{"b":1}}`, []string{"x"}, nil},
		"null data":             {`{"x":{}}`, `null`, []string{"x"}, []string{`x null`}},
		"missing member":        {`{"x":{}}`, `{}`, []string{"x"}, nil},
		"missing member before": {`{}`, `{"x":{}}`, []string{"x"}, nil},
		"more elements":         {`{"x":[{}]}`, `{"x":[{"b":1},{"b":2}]}`, []string{"x"}, []string{`x[0] {"b":1}`}},
		"fewer elements":        {`{"x":[{},{}]}`, `{"x":[{"b":1}]}`, []string{"x"}, []string{`x[0] {"b":1}`}},
		"scalar":                {`{"x":1}`, `{"x":{"b":1}}`, []string{"x"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects, err := incremental.Find(nil, []byte(c.initial), c.path)
			if err != nil {
				t.Fatal(err)
			}
			later, err := incremental.Find(nil, []byte(c.later), c.path)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, o := range incremental.Match(objects, later) {
				if o.JSON == nil {
					o.JSON = []byte("null")
				}
				got = append(got, o.Path.String()+" "+string(o.JSON))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	if _, err := incremental.Find(nil, []byte(`{"x":`), []string{"x"}); err == nil {
		t.Error("invalid JSON is accepted")
	}
	objects, err := incremental.Find(nil, []byte(`{"x":[{"y":{"z":{}}},{"y":null}]}`), []string{"x"})
	if err == nil {
		objects, err = incremental.Descend(objects, []string{"y"})
	}
	if err == nil {
		objects, err = incremental.Descend(objects, []string{"z"})
	}
	if err != nil || len(objects) != 1 {
		t.Errorf("descending in steps: %v, %v", objects, err)
	}
}
