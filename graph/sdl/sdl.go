// Package sdl prints the schema, for people, for programs and for routers of federated graphs, and tells what changes of it break clients.
package sdl

import (
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"
)

// Print is a schema as text.
func Print(s *ast.Schema) string {
	var b strings.Builder
	formatter.NewFormatter(&b, formatter.WithIndent("  ")).FormatSchema(s)
	return b.String()
}

// link imports what a subgraph of a federation says of its types.
const link = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])` + "\n\n"

// Subgraph is a schema as a subgraph of Apollo Federation 2: every type with a global id can be referred to by it, and what is an entity of the ledger by its id
// there too. Pages have the same form in all graphs.
func Subgraph(s *ast.Schema) string {
	copied := *s
	copied.Types = make(map[string]*ast.Definition, len(s.Types))
	for name, def := range s.Types {
		if strings.HasPrefix(name, "_") && !strings.HasPrefix(name, "__") { // the federation's own, which its router adds
			continue
		}
		d := *def
		switch {
		case def == s.Query:
			d.Fields = slices.DeleteFunc(slices.Clone(def.Fields), func(f *ast.FieldDefinition) bool { return strings.HasPrefix(f.Name, "_") })
			copied.Query = &d
		case name == "PageInfo":
			d.Directives = append(slices.Clone(def.Directives), &ast.Directive{Name: "shareable"})
		case def.Kind == ast.Object && slices.Contains(def.Interfaces, "Node"):
			d.Directives = append(slices.Clone(def.Directives), key("id"))
			if slices.Contains(def.Interfaces, "Entity") {
				d.Directives = append(d.Directives, key("entityId"))
			}
		}
		copied.Types[name] = &d
	}
	return link + Print(&copied)
}

func key(fields string) *ast.Directive {
	return &ast.Directive{Name: "key", Arguments: ast.ArgumentList{{Name: "fields", Value: &ast.Value{Kind: ast.StringValue, Raw: fields}}}}
}
