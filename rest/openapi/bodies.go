package openapi

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/graph/limits"
	"heliograph/graph/scalar"
	"heliograph/internal/domain/ledger"
	"heliograph/rest"
)

// bodies derives the schemas of responses from the documents: the aliases are property names, and the types of the
// graph's fields determine the property types.
type bodies struct {
	graph *ast.Schema
	// shared are the schemas of fragments, by the fragment's name without the suffix "Object".
	shared map[string]*Schema
	// omitted are the members that the current endpoint omits if they are empty or null.
	omitted []string
	// keyed are the lists that the current endpoint writes as objects.
	keyed []string
	// err is the first error of the current endpoint.
	err error
}

// bodyOperations returns the operations of an endpoint's document that render its body as JSON: those with a root
// field that is spliced into it. Helper operations, which run before them, and those whose body is plain text are
// excluded. It is the first operation of the document if the endpoint does not choose one, or if none is spliced.
func bodyOperations(api *rest.API, e *rest.Endpoint) ast.OperationList {
	all := api.Document(e).Operations()
	if e.Operation == nil || len(all) == 1 {
		return all[:1]
	}
	var out ast.OperationList
	for _, op := range all {
		if !slices.Contains(e.TextOperations, op.Name) &&
			slices.ContainsFunc(rest.Roots(op), func(f *ast.Field) bool { return rest.IsSpliced(f.Alias) }) {
			out = append(out, op)
		}
	}
	if out == nil {
		return all[:1]
	}
	return out
}

// body returns the OpenAPI schema of an endpoint's response: the union of the bodies of its operations. It adds shared
// schemas to b, and sets the options of the endpoint in b. The first error is kept in b.err.
func (b *bodies) body(e *rest.Endpoint, operations ast.OperationList) *Schema {
	b.omitted, b.keyed = slices.Concat(e.OmitEmpty, slices.Concat(e.OmitNull...)), e.Keyed
	var all *Schema
	for _, op := range operations {
		s := newObject(false)
		for i, f := range rest.Roots(op) {
			if rest.IsSpliced(f.Alias) {
				b.selection(s, f.SelectionSet, f.Definition.Type.Name(), false)
				continue
			}
			value := b.field(f)
			if i == 0 {
				value = notNull(value) // otherwise the response is 404
			}
			s.put(f.Alias, value, isOptional(f.Directives))
		}
		all = union(all, s)
	}
	if len(e.Next) > 0 {
		all.put("links", &Schema{Ref: schemaRef + "Links"}, false)
	}
	return all
}

// selection adds the properties of a selection set on the type with the name on to the schema of an object. With
// optional, they are not required. Shared schemas and an error are kept in b.
func (b *bodies) selection(into *Schema, set ast.SelectionSet, on string, optional bool) {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			into.put(s.Alias, b.field(s), optional || isOptional(s.Directives) || slices.Contains(b.omitted, s.Alias))
		case *ast.InlineFragment:
			of := cmp.Or(s.TypeCondition, on)
			b.selection(into, s.SelectionSet, of, optional || isOptional(s.Directives) || b.narrows(on, of))
		case *ast.FragmentSpread:
			of := s.Definition.TypeCondition
			b.selection(into, s.Definition.SelectionSet, of, optional || isOptional(s.Directives) || b.narrows(on, of))
		}
	}
}

// narrows reports whether a condition on the type to excludes some objects of the type on. The properties selected
// under it are then optional.
func (b *bodies) narrows(on, to string) bool {
	return on != to && b.graph.Types[on] != nil && b.graph.Types[on].IsAbstractType()
}

// isOptional reports whether a field or fragment with these directives is missing in some responses: with @include or
// @skip.
func isOptional(directives ast.DirectiveList) bool {
	return directives.ForName("include") != nil || directives.ForName("skip") != nil
}

// nullInPast is the field that is null only at past moments, which REST does not read.
const nullInPast = "pendingReward"

// field returns the schema of a selected field, with the description of the GraphQL schema. A list in b.keyed has the
// schema of an object. Shared schemas and an error are kept in b.
func (b *bodies) field(f *ast.Field) *Schema {
	of := *f.Definition.Type
	of.NonNull = of.NonNull || f.Name == nullInPast
	s := *b.ofType(&of, f.SelectionSet)
	s.Description = oneLine(f.Definition.Description)
	if slices.Contains(b.keyed, f.Alias) {
		return b.keyedObject(f.Name, &s)
	}
	return &s
}

// keyedObject returns the schema of an object whose members are the items of the list of keys and values in a field.
// list is the schema of that list. If the items are not keys and values, it records the error in b.err and returns
// list.
func (b *bodies) keyedObject(field string, list *Schema) *Schema {
	key, hasKey := list.Items.Properties.Get("key")
	value, hasValue := list.Items.Properties.Get("value")
	if !hasKey || !hasValue {
		b.err = cmp.Or(b.err, fmt.Errorf("the items of field %s are not keys and values", field))
		return list
	}
	s := newObject(false)
	s.Description, s.PatternProperties = list.Description, Map[*Schema]{{key.Pattern, value}}
	if slices.Contains(list.Type, "null") {
		s = orNull(s)
	}
	return s
}

// ofType returns the schema of a value of a GraphQL type, of which set is selected. It may add shared schemas to
// b.
func (b *bodies) ofType(t *ast.Type, set ast.SelectionSet) (s *Schema) {
	if t.Elem != nil {
		s = &Schema{Type: Types{"array"}, Items: b.ofType(t.Elem, set)}
	} else {
		s = b.named(t.NamedType, set)
	}
	if !t.NonNull {
		s = orNull(s)
	}
	return s
}

// named returns the schema of a value of a named GraphQL type that is not null. It may add shared schemas to b. A
// scalar that scalars.json lacks has the schema of any value.
func (b *bodies) named(name string, set ast.SelectionSet) *Schema {
	def := b.graph.Types[name]
	switch def.Kind {
	case ast.Scalar:
		return cmp.Or(scalars[name], &Schema{})
	case ast.Enum:
		return enumSchema(def)
	default:
	}
	// A list that the current endpoint may omit has its own schema instead of the shared one.
	if spread := onlyFragment(set); spread != nil && spread.Definition.TypeCondition == name &&
		!limits.Selects(spread.Definition.SelectionSet, func(f *ast.Field) bool {
			return slices.Contains(b.omitted, f.Alias)
		}) {
		return b.fragment(spread)
	}
	s := newObject(false)
	b.selection(s, set, name, false)
	return s
}

// onlyFragment returns the fragment that is the whole selection set, or nil. The result is nil too if a directive can
// omit that fragment.
func onlyFragment(set ast.SelectionSet) *ast.FragmentSpread {
	if len(set) != 1 {
		return nil
	}
	spread, ok := set[0].(*ast.FragmentSpread)
	if !ok || isOptional(spread.Directives) {
		return nil
	}
	return spread
}

// fragment returns a reference to the shared schema of a fragment, and adds the schema to b on first use.
func (b *bodies) fragment(spread *ast.FragmentSpread) *Schema {
	name := strings.TrimSuffix(spread.Name, "Object")
	if b.shared[name] == nil {
		s := newObject(false)
		b.shared[name] = s
		s.Description = oneLine(b.graph.Types[spread.Definition.TypeCondition].Description)
		b.selection(s, spread.Definition.SelectionSet, spread.Definition.TypeCondition, false)
	}
	return &Schema{Ref: schemaRef + name}
}

// newObject returns the schema of an object. Unless it is open, it allows no properties but those added to it.
func newObject(open bool) *Schema {
	return &Schema{Type: Types{"object"}, AdditionalProperties: new(open)}
}

// put adds a property to the schema of an object, required unless optional. A property that is selected twice is
// required if one of the selections requires it, because both have the same value.
func (s *Schema) put(name string, value *Schema, optional bool) {
	if i := slices.IndexFunc(s.Properties, func(m Member[*Schema]) bool { return m.Name == name }); i >= 0 {
		s.Properties[i].Value = mergeSelections(s.Properties[i].Value, value)
	} else {
		s.Properties = append(s.Properties, Member[*Schema]{name, value})
	}
	if !optional && !slices.Contains(s.Required, name) {
		s.Required = append(s.Required, name)
	}
}

// mergeSelections returns the schema of a value that was selected twice, with the properties of both selections.
// Different schemas that have no properties or items become alternatives. It may change the properties of a.
func mergeSelections(a, b *Schema) *Schema {
	switch {
	case reflect.DeepEqual(a, b):
		return a
	case a.Properties != nil && b.Properties != nil:
		out := *a
		for _, p := range b.Properties {
			out.put(p.Name, p.Value, !slices.Contains(b.Required, p.Name))
		}
		return &out
	case a.Items != nil && b.Items != nil:
		out := *a
		out.Items = mergeSelections(a.Items, b.Items)
		return &out
	default:
		return &Schema{AnyOf: []*Schema{a, b}}
	}
}

// union returns the schema of values that match a or b, which it does not change. A property that only one of them has
// becomes optional. Different schemas that have no properties or items become alternatives. a can be nil, and matches
// nothing then.
func union(a, b *Schema) *Schema {
	switch {
	case a == nil || reflect.DeepEqual(a, b):
		return b
	case a.Properties != nil && b.Properties != nil:
		out := newObject(false)
		for _, p := range a.Properties {
			other, both := b.Properties.Get(p.Name)
			if both {
				out.put(p.Name, union(p.Value, other), !slices.Contains(a.Required, p.Name) ||
					!slices.Contains(b.Required, p.Name))
			} else {
				out.put(p.Name, p.Value, true)
			}
		}
		for _, p := range b.Properties {
			if _, both := a.Properties.Get(p.Name); !both {
				out.put(p.Name, p.Value, true)
			}
		}
		return out
	case a.Items != nil && b.Items != nil:
		out := *a
		out.Items = union(a.Items, b.Items)
		return &out
	default:
		return &Schema{AnyOf: []*Schema{a, b}}
	}
}

// orNull returns a copy of the schema s with null as another valid value, or s itself if it has neither a type nor a
// reference, and so matches any value.
func orNull(s *Schema) *Schema {
	if s.Type == nil {
		if s.Ref == "" {
			return s // the schema matches any value
		}
		return &Schema{AnyOf: []*Schema{s, typed("null")}}
	}
	out := *s
	out.Type = append(slices.Clone(s.Type), "null")
	if s.Enum != nil {
		out.Enum = append(slices.Clone(s.Enum), nil)
	}
	return &out
}

// notNull is the reverse of orNull: it returns a copy of the schema without null, or nil for nil. Of two alternatives,
// the second of which is null, it returns the first, with the description of s.
func notNull(s *Schema) *Schema {
	if s == nil {
		return nil
	}
	out := *s
	if len(s.AnyOf) == 2 && slices.Equal(s.AnyOf[1].Type, Types{"null"}) {
		out = *s.AnyOf[0]
		out.Description = s.Description
		return &out
	}
	out.Type = slices.DeleteFunc(slices.Clone(s.Type), func(t string) bool { return t == "null" })
	out.Enum = slices.DeleteFunc(slices.Clone(s.Enum), func(v any) bool { return v == nil })
	return &out
}

// oneLine returns a text with white space inside replaced by single spaces, and without that at its ends.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// enumSchema returns the schema of an enum as formatted in REST responses.
func enumSchema(def *ast.Definition) *Schema {
	s := typed("string")
	for _, v := range def.EnumValues {
		s.Enum = append(s.Enum, restName(def.Name, v.Name))
	}
	return s
}

// restName returns the spelling of an enum value of the graph in REST responses.
func restName(enum, value string) string {
	if enum != "KeyType" {
		return value
	}
	return strings.Trim(string(scalar.AppendKeyType(nil, ledger.KeyType(value), scalar.REST)), `"`)
}
