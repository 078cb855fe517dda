package server_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/app/testing/testenv"
	"heliograph/graph"
	"heliograph/internal/base/breadth"
)

// objects returns the selections of objects below a type, down to a depth, each with one scalar. Members of interfaces
// and unions are selected one by one.
func (m *meaning) objects(def *ast.Definition, depth int) []string {
	var out []string
	for _, f := range def.Fields {
		inner := m.schema.Types[f.Type.Name()]
		if inner.IsLeafType() || isList(f) {
			continue
		}
		for _, member := range m.schema.GetPossibleTypes(inner) {
			before, after := "", ""
			if inner.IsAbstractType() {
				before, after = "... on "+member.Name+" { ", " }"
			}
			below := []string{"__typename"}
			if scalars := m.leaves(member); len(scalars) > 0 {
				below = scalars[:1]
			}
			if depth > 1 {
				below = append(below, m.objects(member, depth-1)...)
			}
			for _, text := range below {
				if one, ok := m.field(f, before+text+after); ok {
					out = append(out, one)
				}
			}
		}
	}
	return out
}

// TestReadAhead reads objects with relations that can be read together with them, beside each other object below
// them. The objects are the same as without these relations, for all values in the demo network.
func TestReadAhead(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	schema, err := gqlparser.LoadSchema(&ast.Source{Input: graph.SDL})
	if err != nil {
		t.Fatal(err)
	}
	m := &meaning{schema: schema, samples: sampleValues(t, g)}
	for _, c := range []struct {
		root, typ, list, key, ahead string
		depth                       int
	}{
		{
			"account(id: %q)", "Account", `accounts(first: 30, filter: {id: {gte: "0.0.1001"}})`, "entityId",
			"nfts(first: 1) { nodes { serialNumber } }", 3,
		},
		{"schedule(id: %q)", "Schedule", "schedules(first: 10)", "entityId", "signatures { signature }", 3},
		{"contractResult(hash: %q)", "ContractResult", "contractResults(first: 10)", "hash", "logs { index }", 2},
	} {
		t.Run(c.root, func(t *testing.T) {
			t.Parallel()
			var data map[string]struct{ Nodes []map[string]string }
			g.Data(t, fmt.Sprintf("{ list: %s { nodes { key: %s } } }", c.list, c.key), nil, &data)
			read := func(selection string) (values []any) {
				for some := range slices.Chunk(data["list"].Nodes, 10) { // the cost is limited
					var document strings.Builder
					for i, node := range some {
						fmt.Fprintf(&document, "a%d: "+c.root+" { %s }\n", i, node["key"], selection)
					}
					var v any
					text := responseText(t, g, "{ "+document.String()+" }", nil, false)
					if err := json.Unmarshal([]byte(text), &v); err != nil {
						t.Fatalf("%s: %v", selection, err)
					}
					values = append(values, v)
				}
				return values
			}
			all := m.objects(schema.Types[c.typ], c.depth)
			for i, selection := range all {
				if i%breadth.Of(10, 1) != 0 && !strings.Contains(selection, "... on") {
					continue
				}
				if alone := read(selection); !isPart(alone, read(c.ahead+" "+selection)) {
					t.Errorf("%s is not the same beside %s", selection, c.ahead)
				}
			}
			t.Logf("%d selections of %d objects", len(all), len(data["list"].Nodes))
		})
	}
}
