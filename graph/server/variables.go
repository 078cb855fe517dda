package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator"

	"heliograph/graph/scalar"
)

// coerce returns the variables of an operation of a client with their declared types and default values, or the error
// for the client, whose text begins like that of graphql-js. It may change values in given.
//
// The validator's VariableValues is not used: it accepts enum values in any letter case, strings for an Int, and
// numbers for a String, and reflection takes twice the time.
func coerce(schema *ast.Schema, def *ast.OperationDefinition, given map[string]any) (map[string]any, gqlerror.List) {
	variables := make(map[string]any, len(def.VariableDefinitions))
	for _, v := range def.VariableDefinitions {
		value, provided := given[v.Variable]
		problem := ""
		switch {
		case !provided && v.DefaultValue != nil:
			value, _ = v.DefaultValue.Value(nil) // valid, because the document is
		case !provided && v.Type.NonNull:
			problem = fmt.Sprintf("of required type %q was not provided.", v.Type)
		case !provided:
			continue
		case value == nil && v.Type.NonNull:
			problem = fmt.Sprintf("of non-null type %q must not be null.", v.Type)
		case value == nil:
			if typ := nonNullUse(def.SelectionSet, v.Variable, map[string]bool{}); typ != nil {
				problem = fmt.Sprintf("must not be null, because it is used where the type is %q.", typ)
			}
		}
		if problem == "" {
			coerced, m := coerceValue(schema, v.Type, value)
			if m == nil {
				variables[v.Variable] = coerced
				continue
			}
			problem = m.problem(v.Variable)
		}
		err := gqlerror.Errorf("Variable \"$%s\" %s", v.Variable, problem)
		if v.Position != nil {
			err.Locations = []gqlerror.Location{{Line: v.Position.Line, Column: v.Position.Column}}
		}
		return nil, badInput(gqlerror.List{err})
	}
	return variables, nil
}

// mismatch is a value inside of a variable that does not have the type of its place.
type mismatch struct {
	place  string // below the variable, such as ".a[0]"
	value  any
	reason string
}

// mismatched returns the mismatch of a value that is none of a scalar or enum type.
func mismatched(value any, typ string) *mismatch {
	kind := scalar.Kind(value)
	if kind == "number" {
		kind = "this number" // another one may fit
	}
	return &mismatch{"", value, "cannot use " + kind + " as " + typ}
}

// in returns m with the place in an enclosing value, in which step is the name or index of the inner one.
func (m *mismatch) in(step string) *mismatch {
	m.place = step + m.place
	return m
}

// problem returns the end of the message for clients about a variable with the mismatch. It quotes what they sent.
func (m *mismatch) problem(variable string) string {
	text := []byte("{…}")
	switch value := m.value.(type) {
	case map[string]any:
	case []any:
		text = []byte("[…]")
	case string:
		text, _ = json.Marshal(strings.ToValidUTF8(value[:min(len(value), maxMessage)], "")) // a string always encodes
	default:
		text, _ = json.Marshal(value) // so do numbers and booleans
	}
	place := ""
	if m.place != "" {
		place = fmt.Sprintf(" at %q", variable+m.place)
	}
	return fmt.Sprintf("got invalid value %s%s; %s.", text, place, truncate(m.reason))
}

// coerceValue returns a value with a declared type, or why it does not have it. A single value becomes a list where
// the type is one. Lists and objects are changed in place. Values of enums are case-sensitive, as in literals. The
// value of a scalar of the schema is not checked, because its reader does that.
func coerceValue(schema *ast.Schema, t *ast.Type, value any) (any, *mismatch) {
	if value == nil {
		if t.NonNull {
			return nil, &mismatch{"", nil, "cannot be null"}
		}
		return nil, nil
	}
	if t.Elem != nil {
		list, ok := value.([]any)
		if !ok {
			item, m := coerceValue(schema, t.Elem, value)
			return []any{item}, m
		}
		for i, item := range list {
			var m *mismatch
			if list[i], m = coerceValue(schema, t.Elem, item); m != nil {
				return nil, m.in("[" + strconv.Itoa(i) + "]")
			}
		}
		return list, nil
	}
	def := schema.Types[t.NamedType]
	switch {
	case def.Kind == ast.InputObject:
		return coerceObject(schema, def, value)
	case def.Kind == ast.Enum:
		switch name := value.(type) {
		case string:
			if def.EnumValues.ForName(name) == nil {
				return nil, &mismatch{"", value, name + " is not a valid " + def.Name}
			}
		case json.Number:
			return nil, &mismatch{"", value, string(name) + " is not a valid " + def.Name}
		default:
			return nil, mismatched(value, def.Name)
		}
	case def.BuiltIn:
		return coerceBuiltIn(def.Name, value)
	}
	return value, nil
}

// coerceObject is [coerceValue] for an input object.
func coerceObject(schema *ast.Schema, def *ast.Definition, value any) (any, *mismatch) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, &mismatch{"", value, "must be a " + def.Name + ", not a " + scalar.Kind(value)}
	}
	if def.Directives.ForName("oneOf") != nil &&
		(len(object) != 1 || slices.Contains(slices.Collect(maps.Values(object)), nil)) {
		return nil, &mismatch{"", value, def.Name + " must have exactly one field, which is not null"}
	}
	known, missing := 0, ""
	for _, f := range def.Fields {
		given, ok := object[f.Name]
		if !ok {
			if f.Type.NonNull && f.DefaultValue == nil {
				missing = f.Name
			}
			continue
		}
		known++
		coerced, m := coerceValue(schema, f.Type, given)
		if m != nil {
			return nil, m.in("." + f.Name)
		}
		object[f.Name] = coerced
	}
	if missing != "" {
		return nil, &mismatch{"", value, fmt.Sprintf("Field %q was not provided", missing)}
	}
	if known < len(object) {
		for _, name := range slices.Sorted(maps.Keys(object)) {
			if name != "__typename" && def.Fields.ForName(name) == nil {
				return nil, &mismatch{"", value, fmt.Sprintf("Field %q is not defined", name)}
			}
		}
	}
	return object, nil
}

// coerceBuiltIn is [coerceValue] for a scalar of the specification, which it names. An Int has 32 bits. Numbers are a
// [json.Number], or in default values an int64 or a float64.
func coerceBuiltIn(name string, value any) (any, *mismatch) {
	if number, ok := value.(json.Number); ok {
		switch name {
		case "Int":
			if n, err := number.Int64(); err == nil {
				value = n
			}
		case "Float":
			if f, err := number.Float64(); err == nil {
				value = f
			}
		}
	}
	ok := false
	switch v := value.(type) {
	case string:
		ok = name == "String" || name == "ID"
	case bool:
		ok = name == "Boolean"
	case int64:
		ok = name == "Float" || name == "ID" || name == "Int" && v == int64(int32(v))
	case float64:
		ok = name == "Float"
	case json.Number:
		ok = name == "ID"
	}
	if !ok {
		return nil, mismatched(value, name)
	}
	return value, nil
}

// nonNullUse returns the type of a place in a selection where a variable is used and null is not permitted, or nil.
// seen has the names of the fragments that were searched, and is changed.
func nonNullUse(set ast.SelectionSet, variable string, seen map[string]bool) *ast.Type {
	for _, selection := range set {
		var arguments ast.ArgumentList
		var directives ast.DirectiveList
		var below ast.SelectionSet
		switch s := selection.(type) {
		case *ast.Field:
			arguments, directives, below = s.Arguments, s.Directives, s.SelectionSet
		case *ast.InlineFragment:
			directives, below = s.Directives, s.SelectionSet
		case *ast.FragmentSpread:
			directives = s.Directives
			if !seen[s.Name] {
				seen[s.Name] = true
				below = s.Definition.SelectionSet
			}
		}
		for _, d := range directives {
			arguments = append(slices.Clip(arguments), d.Arguments...)
		}
		for _, a := range arguments {
			if typ := nonNullIn(a.Value, variable); typ != nil {
				return typ
			}
		}
		if typ := nonNullUse(below, variable, seen); typ != nil {
			return typ
		}
	}
	return nil
}

// nonNullIn is [nonNullUse] for a value of an argument: it returns the type of a place in the value, also inside of
// lists and objects, where the variable is used and null is not permitted, or nil if there is none.
func nonNullIn(v *ast.Value, variable string) *ast.Type {
	if v.Kind == ast.Variable && v.Raw == variable && v.ExpectedType != nil && v.ExpectedType.NonNull {
		return v.ExpectedType
	}
	for _, child := range v.Children {
		if typ := nonNullIn(child.Value, variable); typ != nil {
			return typ
		}
	}
	return nil
}

// checkNumbers returns a list with the error of the first number in a document that needs more than 32 bits for Int,
// or more than 64 bits elsewhere, or nil if there is none. The parser accepts such numbers, and reading their values
// would fail.
func checkNumbers(schema *ast.Schema, doc *ast.QueryDocument) (errs gqlerror.List) {
	var events validator.Events
	events.OnValue(func(_ *validator.Walker, v *ast.Value) {
		bits := 64
		if v.Definition != nil && v.Definition.Name == "Int" {
			bits = 32
		}
		var err error
		switch v.Kind { //nolint:exhaustive // the other kinds are no numbers
		case ast.IntValue:
			_, err = strconv.ParseInt(v.Raw, 10, bits)
		case ast.FloatValue:
			_, err = strconv.ParseFloat(v.Raw, 64)
		}
		if err != nil && errs == nil {
			errs = gqlerror.List{gqlerror.ErrorPosf(v.Position, "the number %s is out of range", v.Raw)}
		}
	})
	validator.Walk(schema, doc, &events)
	return errs
}
