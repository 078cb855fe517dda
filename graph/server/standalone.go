package server

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"
)

// Standalone returns the text of one operation with the fragments that it uses. With inline, the variables are replaced by default values, so that
// the text can be executed without variables.
func (s *Server) Standalone(d *Document, operation string, variables map[string]any, inline bool) (string, error) {
	op := d.doc.Operations.ForName(operation)
	if op == nil {
		return "", fmt.Errorf("the document has no operation %q", operation)
	}
	if inline {
		copied := *op
		copied.VariableDefinitions = nil
		for _, v := range op.VariableDefinitions {
			def := *v
			if given, ok := variables[v.Variable]; ok {
				def.DefaultValue = s.literal(v.Type, given)
			}
			copied.VariableDefinitions = append(copied.VariableDefinitions, &def)
		}
		op = &copied
	}
	alone := &ast.QueryDocument{Operations: ast.OperationList{op}}
	addFragments(alone, op.SelectionSet, map[string]bool{})
	var b strings.Builder
	formatter.NewFormatter(&b, formatter.WithIndent("  ")).FormatQueryDocument(alone)
	return b.String(), nil
}

// addFragments adds the fragments that a selection set uses, directly or through other fragments.
func addFragments(doc *ast.QueryDocument, set ast.SelectionSet, seen map[string]bool) {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			addFragments(doc, s.SelectionSet, seen)
		case *ast.InlineFragment:
			addFragments(doc, s.SelectionSet, seen)
		case *ast.FragmentSpread:
			if !seen[s.Name] {
				seen[s.Name] = true
				doc.Fragments = append(doc.Fragments, s.Definition)
				addFragments(doc, s.Definition.SelectionSet, seen)
			}
		}
	}
}

// literal converts the value of a variable to a literal.
func (s *Server) literal(t *ast.Type, v any) *ast.Value {
	switch v := v.(type) {
	case nil:
		return &ast.Value{Kind: ast.NullValue, Raw: "null"}
	case bool:
		return &ast.Value{Kind: ast.BooleanValue, Raw: strconv.FormatBool(v)}
	case int:
		return &ast.Value{Kind: ast.IntValue, Raw: strconv.Itoa(v)}
	case []any:
		list := &ast.Value{Kind: ast.ListValue}
		for _, item := range v {
			list.Children = append(list.Children, &ast.ChildValue{Value: s.literal(t.Elem, item)})
		}
		return list
	case map[string]any:
		object := &ast.Value{Kind: ast.ObjectValue}
		fields := s.o.Schema.Schema().Types[t.Name()].Fields
		for _, n := range slices.Sorted(maps.Keys(v)) {
			object.Children = append(object.Children, &ast.ChildValue{Name: n, Value: s.literal(fields.ForName(n).Type, v[n])})
		}
		return object
	default:
		text := fmt.Sprint(v)
		if def := s.o.Schema.Schema().Types[t.Name()]; def != nil && def.Kind == ast.Enum {
			return &ast.Value{Kind: ast.EnumValue, Raw: text}
		}
		return &ast.Value{Kind: ast.StringValue, Raw: text}
	}
}
