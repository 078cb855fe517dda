package server

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator"
)

// coerce returns the variables of an operation of a client with their declared types and default values, or the
// errors for the client. Values of enums are case-sensitive, as in literals. It may change values in given.
func coerce(schema *ast.Schema, def *ast.OperationDefinition, given map[string]any) (map[string]any, gqlerror.List) {
	for _, v := range def.VariableDefinitions {
		if value, isGiven := given[v.Variable]; isGiven && value == nil && !v.Type.NonNull {
			if typ := nonNullUse(def.SelectionSet, v.Variable, map[string]bool{}); typ != nil {
				return nil, badInput(variableErrors(def, given, gqlerror.List{nullError(v, typ)}))
			}
		}
		path := ast.Path{ast.PathName("variable"), ast.PathName(v.Variable)}
		// Before the validator, which accepts enum values in any letter case, and changes the variables.
		if err := checkValues(schema, v.Type, given[v.Variable], path); err != nil {
			return nil, badInput(variableErrors(def, given, gqlerror.List{err}))
		}
	}
	variables, err := validator.VariableValues(schema, def, given)
	if err != nil {
		return nil, badInput(variableErrors(def, given, gqlerror.List{gqlerror.WrapIfUnwrapped(err)}))
	}
	return variables, nil
}

// nullError returns the error for null as the value of a variable with a default value that is used where null is not
// permitted. used is the type there. Documents with such variables are valid.
func nullError(v *ast.VariableDefinition, used *ast.Type) *gqlerror.Error {
	const text = "Variable \"$%s\" must not be null, because it is used where the type is %q."
	e := gqlerror.Errorf(text, v.Variable, used)
	if v.Position != nil {
		e.Locations = []gqlerror.Location{{Line: v.Position.Line, Column: v.Position.Column}}
	}
	return e
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

// checkValues fails if a value at a path has a string that is no value of the enum at its place, a string for an Int
// or a number for a String, which the validator accepts, or an Int of more than 32 bits, or an object with @oneOf that
// does not have one field. It ignores other values that do not have the given type.
func checkValues(schema *ast.Schema, t *ast.Type, value any, path ast.Path) *gqlerror.Error {
	if list, ok := value.([]any); ok && t.Elem != nil {
		for i, item := range list {
			if err := checkValues(schema, t.Elem, item, append(path, ast.PathIndex(i))); err != nil {
				return err
			}
		}
		return nil
	}
	def := schema.Types[t.Name()] // the type of the items if the value is the only item of a list
	switch value := value.(type) {
	case string:
		if def.Kind == ast.Enum && def.EnumValues.ForName(value) == nil {
			return gqlerror.ErrorPathf(path, "%s is not a valid %s", value, def.Name)
		}
		if def.Name == "Int" {
			return gqlerror.ErrorPathf(path, "cannot use string as Int")
		}
	case json.Number:
		n, err := value.Float64()
		switch {
		case def.Kind == ast.Enum:
			return gqlerror.ErrorPathf(path, "%s is not a valid %s", value, def.Name)
		case def.Name == "String":
			return gqlerror.ErrorPathf(path, "cannot use number as String")
		case def.Name == "Int" && (err != nil || n < math.MinInt32 || n > math.MaxInt32):
			return gqlerror.ErrorPathf(path, "cannot use number as Int")
		}
	case map[string]any:
		if def.Kind != ast.InputObject {
			return nil
		}
		if def.Directives.ForName("oneOf") != nil &&
			(len(value) != 1 || slices.Contains(slices.Collect(maps.Values(value)), nil)) {
			return gqlerror.ErrorPathf(path, "%s must have exactly one field, which is not null", def.Name)
		}
		for _, field := range def.Fields {
			name := ast.PathName(field.Name)
			if err := checkValues(schema, field.Type, value[field.Name], append(path, name)); err != nil {
				return err
			}
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
