// Package sdl prints the schema, also as a subgraph of a federation. Its tests find breaking changes between two
// versions of it.
package sdl

import (
	"maps"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"
)

// Inherit changes the schema: fields of types that have no description get those of their interfaces, which
// introspection does not do. It returns s, which must be valid: a type without a field of its interface panics.
func Inherit(s *ast.Schema) *ast.Schema {
	for _, def := range s.Types {
		for _, name := range def.Interfaces {
			for _, f := range s.Types[name].Fields {
				if own := def.Fields.ForName(f.Name); own.Description == "" {
					own.Description = f.Description
				}
			}
		}
	}
	return s
}

// Print returns the text of a schema as SDL. It includes @defer, which is part of the parser's schemas, but not of
// the specification. s is not changed.
func Print(s *ast.Schema) string {
	copied := *s
	copied.Directives = maps.Clone(s.Directives)
	if d := s.Directives["defer"]; d != nil {
		declared := *d
		declared.Position = nil // the formatter omits directives from the source of the parser
		copied.Directives[d.Name] = &declared
	}
	return formatted(&copied)
}

// formatted returns a schema as SDL, with indents of two blanks.
func formatted(s *ast.Schema) string {
	var b strings.Builder
	formatter.NewFormatter(&b, formatter.WithIndent("  ")).FormatSchema(s)
	return b.String()
}

// link imports the federation directives.
const link = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])` +
	"\n\n"

// shared are the fields of Query that other subgraphs of a federation can also have: those of the Relay specification.
var shared = []string{"node", "nodes"}

// Subgraph returns the text of a schema as a subgraph of Apollo Federation 2. Types with a global id have it as a
// key. Entities of the ledger also have their entity id as a key. Types and fields of Query that begin with _ are
// left out, and so is @oneOf. s is not changed. PageInfo is shareable, and so are the fields of Query that Relay
// defines.
func Subgraph(s *ast.Schema) string {
	copied := *s
	copied.Types = make(map[string]*ast.Definition, len(s.Types))
	for name, def := range s.Types {
		// the router adds the types of the federation
		if strings.HasPrefix(name, "_") && !strings.HasPrefix(name, "__") {
			continue
		}
		d := *def
		switch {
		case def == s.Query:
			d.Fields = slices.DeleteFunc(slices.Clone(def.Fields), func(f *ast.FieldDefinition) bool {
				return strings.HasPrefix(f.Name, "_")
			})
			for i, f := range d.Fields {
				if slices.Contains(shared, f.Name) {
					also := *f
					also.Directives = append(slices.Clone(f.Directives), &ast.Directive{Name: "shareable"})
					d.Fields[i] = &also
				}
			}
			copied.Query = &d
		case def.Kind == ast.InputObject: // composition does not know @oneOf, which this server checks itself
			d.Directives = slices.DeleteFunc(slices.Clone(def.Directives), func(d *ast.Directive) bool {
				return d.Name == "oneOf"
			})
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
	return link + formatted(&copied)
}

// key returns the federation directive @key for a selection of fields, such as id.
func key(fields string) *ast.Directive {
	return &ast.Directive{
		Name:      "key",
		Arguments: ast.ArgumentList{{Name: "fields", Value: &ast.Value{Kind: ast.StringValue, Raw: fields}}},
	}
}
