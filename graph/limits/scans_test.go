package limits_test

import (
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"heliograph/graph/limits"
)

// TestScans checks that filters count if they are given and not null, as values in the document or by variables.
func TestScans(t *testing.T) {
	t.Parallel()
	null := map[string]any{"v": nil, "f": nil}
	given := map[string]any{"v": 5, "f": map[string]any{"slow": 5}}
	others := map[string]any{"v": nil, "f": map[string]any{"slow": nil, "fast": 5}}
	for query, c := range map[string]struct {
		variables map[string]any
		want      int
	}{
		`{ a }`:                                   {nil, 0},
		`{ a(filter: {slow: 1}) }`:                {nil, 1},
		`{ a(filter: {slow: {gt: $v}}) }`:         {null, 1},
		`{ a(filter: {slow: null}) }`:             {nil, 0},
		`{ a(filter: {fast: 1}) }`:                {given, 0},
		`{ a(filter: null) }`:                     {given, 0},
		`{ a(filter: {slow: $v}) }`:               {given, 1},
		`{ a(filter: {fast: 1, slow: $v}) }`:      {others, 0},
		`{ a(filter: {slow: $unknown}) }`:         {given, 0},
		`{ a(filter: $f) }`:                       {given, 1},
		`query{ a(filter: $f) }`:                  {null, 0},
		`query a{ a(filter: $f) }`:                {others, 0},
		`{ a(filter: $f) b: a(filter: {slow:1})}`: {given, 2},
		`{ ... { a(filter: {slow: 1}) } }`:        {nil, 1},
	} {
		doc, err := parser.ParseQuery(&ast.Source{Input: query})
		if err != nil {
			t.Fatal(query, err)
		}
		scans := func(list string, given func(string) bool) bool { return list == "a" && given("slow") }
		if got := limits.Scans(doc.Operations[0].SelectionSet, c.variables, scans); got != c.want {
			t.Errorf("%s with %v: %d scans, want %d", query, c.variables, got, c.want)
		}
	}
}
