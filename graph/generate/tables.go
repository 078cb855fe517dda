package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/codegen/config"
	"github.com/vektah/gqlparser/v2/ast"
)

// Lists returns the shapes of interfaces and unions of which root fields return lists.
func (f *fields) Lists() []string {
	var out []string
	for _, one := range f.QueryRoot.Fields {
		ref := one.TypeReference
		if !ref.IsSlice() || !isAbstract(ref) {
			continue
		}
		if shape := f.anyOf(ref.Elem()); !slices.Contains(out, shape) {
			out = append(out, shape)
		}
	}
	return out
}

// Child is the function that returns the table of a field's object, empty for other types.
func (f *fields) Child(ref *config.TypeReference) string {
	name := ref.Definition.Name
	if ref.Definition.Kind != ast.Object || f.Rows[name] == nil {
		return ""
	}
	return fmt.Sprintf("func() *rowplan.Object[*%s] { return o.%s }", goType(f.Rows[name].Type), name)
}

// Shape is the shape of a field's values, empty if they cannot be written.
func (f *fields) Shape(ref *config.TypeReference) string {
	if ref.IsSlice() {
		element := f.Shape(ref.Elem())
		switch {
		case element == "":
			return ""
		case ref.GQL.NonNull:
			return "rowplan.ListOf(" + element + ")"
		default:
			return "rowplan.NullableListOf(" + element + ")"
		}
	}
	if child := f.Child(ref); child != "" {
		return "rowplan.ObjectOf(" + child + ")"
	}
	if isAbstract(ref) {
		return f.anyOf(ref)
	}
	write := appendFunction(ref)
	switch {
	case write == "":
		return ""
	case ref.IsPtr():
		return "rowplan.PointerOf(" + write + ")"
	default:
		return "rowplan.ScalarOf(" + write + ")"
	}
}

// anyOf is the shape of an interface or union.
func (f *fields) anyOf(ref *config.TypeReference) string {
	var b strings.Builder
	b.WriteString("rowplan.AnyOf(")
	for _, n := range f.Names {
		for _, possible := range f.Schema.PossibleTypes[ref.Definition.Name] {
			if possible.Name == n {
				fmt.Fprintf(&b, "rowplan.CaseOf[%s](func() *rowplan.Object[*%s] { return o.%s }), ", goType(ref.GO), goType(f.Rows[n].Type), n)
			}
		}
	}
	b.WriteString(")")
	return b.String()
}

func isAbstract(ref *config.TypeReference) bool {
	return ref.Definition.Kind == ast.Interface || ref.Definition.Kind == ast.Union
}
