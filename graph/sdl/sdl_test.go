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

// TestPrinted says that the schema that is checked in is the one that there is; go run ./graph/generate writes it.
func TestPrinted(t *testing.T) {
	t.Parallel()
	got, err := os.ReadFile("../schema.graphql")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != sdl.Print(current()) {
		t.Error("graph/schema.graphql is not the schema; go run ./graph/generate writes it")
	}
}

// TestReleased says that clients of the last release are served as before.
func TestReleased(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../released.graphql")
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range sdl.Breaking(load(t, string(text)), current()) {
		t.Errorf("clients of the last release break: %s", change)
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

// TestBreaking changes a schema in one place, and says what that does to clients.
func TestBreaking(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ from, to, want string }{
		"nothing":                      {"", "", ""},
		"another order":                {"type B { b: Int }\nunion U = A | B", "union U = B | A\ntype B { b: Int }", ""},
		"a new field":                  {"type B { b: Int }", "type B { b: Int c: Int! }", ""},
		"a new type":                   {"scalar S", "scalar S scalar T", ""},
		"a new enum value":             {"M KM }", "M KM CM }", ""},
		"a new union member":           {"type B { b: Int }\nunion U = A | B", "type B { b: Int } type C { c: Int }\nunion U = A | B | C", ""},
		"never null any more":          {"list: [Int!]", "list: [Int!]!", ""},
		"a new argument":               {"exact: Boolean)", "exact: Boolean, more: Int)", ""},
		"a new argument with default":  {"exact: Boolean)", "exact: Boolean, more: Int! = 1)", ""},
		"an argument that may be null": {"ids: [ID!]!", "ids: [ID]", ""},
		"a field is gone":              {"name: String! ", "", "A.name is gone"},
		"a field may be null":          {"name: String!", "name: String", "A.name is String and was String!"},
		"elements may be null":         {"list: [Int!]", "list: [Int]", "A.list is [Int] and was [Int!]"},
		"a list is none":               {"list: [Int!]", "list: Int", "A.list is Int and was [Int!]"},
		"another type":                 {"b: Int }\nunion", "b: String }\nunion", "B.b is String and was Int"},
		"an argument is gone":          {", exact: Boolean", "", "A.size has no argument exact any more"},
		"an argument must be given":    {"exact: Boolean", "exact: Boolean!", "A.size(exact:) takes Boolean! and took Boolean"},
		"a new one must be":            {"exact: Boolean)", "exact: Boolean, more: Int!)", "A.size(more:) is new and must be given"},
		"another default":              {"Unit! = M", "Unit! = KM", "A.size(unit:) is KM by default and was M"},
		"no default":                   {"Unit! = M", "Unit!", "A.size(unit:) is nothing by default and was M"},
		"elements must be given":       {"ids: [ID!]!", "ids: ID!", "Query.a(ids:) takes ID! and took [ID!]!"},
		"an enum value is gone":        {" KM }", " }", "the enum Unit has no KM any more"},
		"a union member is gone":       {"A | B", "A", "the union U has no B any more"},
		"an input field is gone":       {"input F { a: Int ", "input F { ", "the input F has no a any more"},
		"an input must be given":       {"input F { a: Int ", "input F { a: Int! ", "F.a takes Int! and took Int"},
		"a new input must be":          {"b: Int! }", "b: Int! c: Int! }", "F.c is new and must be given"},
		"an interface is gone":         {"type A implements Thing", "type A", "the type A does not implement Thing any more"},
		"a type is gone":               {"scalar S\ntype Query { a(f: F, ids: [ID!]!): A u: U s: S }", "type Query { a(f: F, ids: [ID!]!): A u: U }", "Query.s is gone; the type S is gone"},
		"another kind":                 {"scalar S", "enum S { X }", "the type S is ENUM and was SCALAR"},
		"a directive is gone":          {"directive @mark(a: Int = 1) on FIELD | QUERY", "", "the directive @mark is gone"},
		"a place is gone":              {"FIELD | QUERY", "FIELD", "the directive @mark may not stand at QUERY any more"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(old, c.from) {
				t.Fatalf("%q is not in the schema", c.from)
			}
			if got := strings.Join(sdl.Breaking(load(t, old), load(t, strings.Replace(old, c.from, c.to, 1))), "; "); got != c.want {
				t.Errorf("told %q, want %q", got, c.want)
			}
		})
	}
	if got := sdl.Breaking(load(t, old+"type Mutation { a: Int }"), load(t, old)); !slices.Contains(got, "the root of every mutation is not Mutation any more") {
		t.Errorf("told %q", got)
	}
}

// TestDescribed says that everything in the schema is described.
func TestDescribed(t *testing.T) {
	t.Parallel()
	s := current()
	need := func(what, description string) {
		if len(strings.TrimSpace(description)) < 5 {
			t.Errorf("%s is not described", what)
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
			text := f.Description
			for _, i := range def.Interfaces { // what an interface says holds for its types
				if g := s.Types[i].Fields.ForName(f.Name); text == "" && g != nil {
					text = g.Description
				}
			}
			need(name+"."+f.Name, text)
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

// TestSubgraph says which types other graphs of a federation may refer to, and how.
func TestSubgraph(t *testing.T) {
	t.Parallel()
	text := sdl.Subgraph(current())
	for _, part := range []string{
		`@link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])`,
		`type Account implements Node & Entity @key(fields: "id") @key(fields: "entityId") {`, `type PageInfo @shareable {`, ` @key(fields: "id") {`,
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in the subgraph's schema", part)
		}
	}
	for _, part := range []string{"_entities", "_Service", "_Any"} {
		if strings.Contains(text, part) {
			t.Errorf("%q is in the subgraph's schema", part)
		}
	}
	if sdl.Print(current()) == text || strings.Contains(sdl.Print(current()), "@key") {
		t.Error("the schema itself has been changed")
	}
	entities := current().Types["_Entity"].Types
	for name, def := range current().Types {
		if def.Kind == ast.Object && slices.Contains(def.Interfaces, "Node") != slices.Contains(entities, name) {
			t.Errorf("%s: with a global id and an entity of the federation is not the same", name)
		}
	}
}
