package limits_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"heliograph/graph/fault"
	"heliograph/graph/limits"
)

// check parses a document, without validation, and checks it.
func check(t *testing.T, l limits.Limits, document string) *fault.Error {
	t.Helper()
	doc, err := parser.ParseQuery(&ast.Source{Input: document})
	if err != nil {
		t.Fatal(err)
	}
	return l.Check(doc)
}

// TestCheck tests each limit with a document that reaches it, and with one that exceeds it by one.
func TestCheck(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limit    func(*limits.Limits) *int
		max      int
		ok, over string
		message  string
	}{
		"depth": {
			func(l *limits.Limits) *int { return &l.Depth }, 3, `{ a { b { c } } }`, `{ a { b { c { d } } } }`,
			"the document is nested 4 fields deep; the maximum is 3",
		},
		"depth, fragments": {
			func(l *limits.Limits) *int {
				return &l.Depth
			}, 3, `{ a { ...F ... on X { b } } } fragment F on X { b { c } }`,
			`{ a { ...F } } fragment F on X { b { ... on Y { c { d } } } }`,
			"the document is nested 4 fields deep; the maximum is 3",
		},
		"depth, unused fragment": {
			func(l *limits.Limits) *int {
				return &l.Depth
			}, 2, `{ a } fragment F on X { b { c } }`, `{ a } fragment F on X { b { c { d } } }`,
			"the document is nested 3 fields deep; the maximum is 2",
		},
		"fields": {
			func(l *limits.Limits) *int { return &l.Fields }, 4, `{ a b c d }`, `{ a b c { d e } }`,
			"the document has 5 fields, counting fragments once for each spread; the maximum is 4",
		},
		"fields, two operations": {
			func(l *limits.Limits) *int {
				return &l.Fields
			}, 4, `query A { a b } query B { c d }`, `query A { a b } query B { c d e }`,
			"the document has 5 fields, counting fragments once for each spread; the maximum is 4",
		},
		"fields, fragments": {
			func(l *limits.Limits) *int {
				return &l.Fields
			}, 5, `{ a { ...F } b { ...F } } fragment F on X { c }`,
			`{ a { ...F } b { ...F } } fragment F on X { c d }`,
			"the document has 6 fields, counting fragments once for each spread; the maximum is 5",
		},
		"spreads": {
			func(l *limits.Limits) *int {
				return &l.Fields
			}, 3, `{ ...F ...F ...F }`, `{ ...F ...F ... on X { ...F } }`,
			"the document has 4 fields, counting fragments once for each spread; the maximum is 3",
		},
		"root fields": {
			func(l *limits.Limits) *int {
				return &l.RootFields
			}, 3, `{ a ... on Query { b } c { d e f } }`,
			`{ a ...F ...F } fragment F on Query { b ... on Query { c } }`,
			"the operation has 5 root fields; the maximum is 3",
		},
		"aliases": {
			func(l *limits.Limits) *int { return &l.Aliases }, 2, `{ a: x b: x y { c: x } }`, `{ a: x b: x x y }`,
			`the field "x" is selected more than 2 times in one selection set`,
		},
		"aliases, fragment": {
			func(l *limits.Limits) *int {
				return &l.Aliases
			}, 1, `{ x ...F } fragment F on X { x }`, `{ ...F } fragment F on X { a: x b: x }`,
			`the field "x" is selected more than 1 times in one selection set`,
		},
		"aliases, unused fragment": {
			func(l *limits.Limits) *int {
				return &l.Aliases
			}, 1, `{ x } fragment F on X { x }`, `{ x } fragment F on X { a: x b: x }`,
			`the field "x" is selected more than 1 times in one selection set`,
		},
		"aliases, long name": {
			func(l *limits.Limits) *int {
				return &l.Aliases
			}, 1, `{ x }`, `{ ` + strings.Repeat(strings.Repeat("x", 61)+" ", 2) + `}`,
			`the field "` + strings.Repeat("x", 60) + `…" is selected more than 1 times in one selection set`,
		},
		"directives": {
			func(l *limits.Limits) *int {
				return &l.Directives
			}, 4, `query($v: Int @a) @b { x @c ... @d { y } }`,
			`query($v: Int @a) @b { x @c ...F @d } fragment F on X @e { y }`,
			"the document has 5 directives; the maximum is 4",
		},
		"directives, unused fragment": {
			func(l *limits.Limits) *int {
				return &l.Directives
			}, 1, `{ x } fragment F on X @a { y }`, `{ x } fragment F on X @a { y @b }`,
			"the document has 2 directives; the maximum is 1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := limits.Default()
			*c.limit(&l) = c.max
			if err := check(t, l, c.ok); err != nil {
				t.Errorf("%s: %v", c.ok, err)
			}
			err := check(t, l, c.over)
			if err == nil || err.Code != fault.TooComplex || err.Message != c.message {
				t.Errorf("%s: got %v, want %s", c.over, err, c.message)
			}
			*c.limit(&l) = 100
			if err := check(t, l, c.over); err != nil {
				t.Errorf("%s, with a limit of 100: %v", c.over, err)
			}
		})
	}
}

// TestCheckCycles tests fragments that spread themselves. The check must end, whether or not an operation uses them.
func TestCheckCycles(t *testing.T) {
	t.Parallel()
	for _, document := range []string{
		`{ ...A } fragment A on X { a ...A }`,
		`{ ...A } fragment A on X { ...B } fragment B on X { b { ...A } }`,
		`{ a } fragment A on X { ...B } fragment B on X { ... on X { ...A } }`,
	} {
		err := check(t, limits.Default(), document)
		if err == nil || err.Code != fault.BadUserInput || !strings.HasSuffix(err.Message, " spreads itself") {
			t.Errorf("%s: got %v", document, err)
		}
	}
}

// TestCheckUnknownFragment tests that an unknown fragment is left to validation.
func TestCheckUnknownFragment(t *testing.T) {
	t.Parallel()
	if err := check(t, limits.Default(), `{ a ...Unknown }`); err != nil {
		t.Error(err)
	}
}

// TestCheckExponential tests a document whose fragments double its size a hundred times.
func TestCheckExponential(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("{ x { ...F0 } }")
	for i := range 100 {
		fmt.Fprintf(&b, " fragment F%d on X { ...F%d ...F%d }", i, i+1, i+1)
	}
	b.WriteString(" fragment F100 on X { a }")
	err := check(t, limits.Default(), b.String())
	if err == nil || !strings.HasPrefix(err.Message, "the document has more than 2 billion fields") {
		t.Errorf("got %v", err)
	}
	err = check(t, limits.Default(), strings.Replace(b.String(), "{ x { ...F0 } }", "{ ...F0 }", 1))
	if err == nil || !strings.HasPrefix(err.Message, "the operation has more than 2 billion root fields") {
		t.Errorf("got %v", err)
	}
}
