package sdl_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/graph"
	"heliograph/graph/sdl"
)

func load(t *testing.T, text string) *ast.Schema {
	t.Helper()
	s, err := gqlparser.LoadSchema(&ast.Source{Input: text})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func current() *ast.Schema { return graph.NewExecutableSchema(graph.Config{}).Schema() }

// TestPrinted tests that the generated file has the current schema.
func TestPrinted(t *testing.T) {
	t.Parallel()
	got, err := os.ReadFile("../schema.graphql")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != sdl.Print(current()) {
		t.Error("graph/schema.graphql is not the current schema; run go run ./graph/generate")
	}
}

// TestReleased tests that the schema has no breaking changes since the last release.
func TestReleased(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../released.graphql")
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range breaking(load(t, string(text)), current()) {
		t.Errorf("breaking change: %s", change)
	}
}

const old = `
directive @mark(a: Int = 1) on FIELD | QUERY
interface Thing { id: ID! }
type A implements Thing { id: ID! name: String! size(unit: Unit! = M, exact: Boolean): Int list: [Int!] }
type B { b: Int }
union U = A | B
enum Unit { M KM }
input F { a: Int b: Int! }
scalar S
type Query { a(f: F, ids: [ID!]!): A u: U s: S }
`

// TestBreaking tests the changes reported for schemas that differ in one place.
func TestBreaking(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ from, to, want string }{
		"no change": {"", "", ""},
		"different order": {
			"type B { b: Int }\nunion U = A | B", "union U = B | A\ntype B { b: Int }",
			"",
		},
		"a new field":      {"type B { b: Int }", "type B { b: Int c: Int! }", ""},
		"a new type":       {"scalar S", "scalar S scalar T", ""},
		"a new enum value": {"M KM }", "M KM CM }", ""},
		"a new union member": {
			"type B { b: Int }\nunion U = A | B",
			"type B { b: Int } type C { c: Int }\nunion U = A | B | C", "",
		},
		"non-null output":             {"list: [Int!]", "list: [Int!]!", ""},
		"a new argument":              {"exact: Boolean)", "exact: Boolean, more: Int)", ""},
		"a new argument with default": {"exact: Boolean)", "exact: Boolean, more: Int! = 1)", ""},
		"nullable argument":           {"ids: [ID!]!", "ids: [ID]", ""},
		"removed field":               {"name: String! ", "", "A.name was removed"},
		"nullable output": {
			"name: String!", "name: String",
			"the type of A.name changed from String! to String",
		},
		"nullable elements": {
			"list: [Int!]", "list: [Int]",
			"the type of A.list changed from [Int!] to [Int]",
		},
		"list to single value": {
			"list: [Int!]", "list: Int",
			"the type of A.list changed from [Int!] to Int",
		},
		"different type": {
			"b: Int }\nunion", "b: String }\nunion",
			"the type of B.b changed from Int to String",
		},
		"removed argument": {", exact: Boolean", "", "A.size no longer has the argument exact"},
		"non-null argument": {
			"exact: Boolean", "exact: Boolean!",
			"the type of A.size(exact:) changed from Boolean to Boolean!",
		},
		"new required argument": {
			"exact: Boolean)", "exact: Boolean, more: Int!)",
			"A.size(more:) is new and required",
		},
		"different default": {
			"Unit! = M", "Unit! = KM",
			"the default of A.size(unit:) changed from M to KM",
		},
		"removed default": {"Unit! = M", "Unit!", "the default of A.size(unit:) changed from M to none"},
		"list argument to single value": {
			"ids: [ID!]!", "ids: ID!",
			"the type of Query.a(ids:) changed from [ID!]! to ID!",
		},
		"removed enum value":   {" KM }", " }", "the enum Unit no longer has KM"},
		"removed union member": {"A | B", "A", "the union U no longer has B"},
		"removed input field":  {"input F { a: Int ", "input F { ", "the input F no longer has a"},
		"non-null input field": {
			"input F { a: Int ", "input F { a: Int! ",
			"the type of F.a changed from Int to Int!",
		},
		"new required input field": {"b: Int! }", "b: Int! c: Int! }", "F.c is new and required"},
		"removed interface": {
			"type A implements Thing", "type A",
			"the type A no longer implements Thing",
		},
		"removed type": {
			"scalar S\ntype Query { a(f: F, ids: [ID!]!): A u: U s: S }",
			"type Query { a(f: F, ids: [ID!]!): A u: U }", "Query.s was removed; the type S was removed",
		},
		"different kind": {"scalar S", "enum S { X }", "the type S changed from SCALAR to ENUM"},
		"removed directive": {
			"directive @mark(a: Int = 1) on FIELD | QUERY",
			"", "the directive @mark was removed",
		},
		"removed directive location": {
			"FIELD | QUERY", "FIELD",
			"the directive @mark is no longer allowed at QUERY",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(old, c.from) {
				t.Fatalf("%q is not in the schema", c.from)
			}
			if got := strings.Join(breaking(load(t, old), load(t, strings.Replace(old, c.from, c.to, 1))),
				"; "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	if got := breaking(load(t, old+"type Mutation { a: Int }"), load(t, old)); !slices.Contains(got,
		"the root type of mutation is no longer Mutation") {
		t.Errorf("got %q", got)
	}
}

// TestDescribed tests that all elements of the schema have descriptions.
func TestDescribed(t *testing.T) {
	t.Parallel()
	s := current()
	need := func(what, description string) {
		if len(strings.TrimSpace(description)) < 5 {
			t.Errorf("%s has no description", what)
		}
	}
	for name, def := range s.Types {
		if def.BuiltIn {
			continue
		}
		need(name, def.Description)
		for _, f := range def.Fields {
			if strings.HasPrefix(f.Name, "__") {
				continue
			}
			need(name+"."+f.Name, f.Description)
			for _, a := range f.Arguments {
				need(name+"."+f.Name+"("+a.Name+":)", a.Description)
			}
		}
		for _, v := range def.EnumValues {
			need(name+"."+v.Name, v.Description)
		}
	}
	for name, d := range s.Directives {
		if d.Position == nil || d.Position.Src == nil || d.Position.Src.BuiltIn {
			continue
		}
		need("@"+name, d.Description)
		for _, a := range d.Arguments {
			need("@"+name+"("+a.Name+":)", a.Description)
		}
	}
}

// TestSubgraph tests the federation directives of the subgraph.
func TestSubgraph(t *testing.T) {
	t.Parallel()
	text := sdl.Subgraph(current())
	for _, part := range []string{
		`@link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])`,
		`type Account implements Node & Entity @key(fields: "id") @key(fields: "entityId") {`,
		`type PageInfo @shareable {`, ` @key(fields: "id") {`, `): Node @shareable`, `): [Node]! @shareable`,
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the subgraph lacks %q", part)
		}
	}
	for _, part := range []string{"_entities", "_Service", "_Any"} {
		if strings.Contains(text, part) {
			t.Errorf("the subgraph has %q", part)
		}
	}
	if sdl.Print(current()) == text || strings.Contains(sdl.Print(current()), "@key") {
		t.Error("the schema was modified")
	}
	entities := current().Types["_Entity"].Types
	for name, def := range current().Types {
		if def.Kind == ast.Object && slices.Contains(def.Interfaces, "Node") != slices.Contains(entities, name) {
			t.Errorf("%s must implement Node if and only if it is a member of _Entity", name)
		}
	}
}
