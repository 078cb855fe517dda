package server

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// variableErrors gives errors about variables the texts and the location that graphql-js gives them. Other errors remain.
func variableErrors(op *ast.OperationDefinition, variables map[string]any, errs gqlerror.List) gqlerror.List {
	for _, e := range errs {
		if len(e.Path) < 2 || e.Path[0] != ast.PathName("variable") || op == nil {
			continue
		}
		name, _ := e.Path[1].(ast.PathName)
		v := op.VariableDefinitions.ForName(string(name))
		if v == nil {
			continue
		}
		given, provided := variables[v.Variable]
		switch {
		case !provided:
			e.Message = fmt.Sprintf("Variable \"$%s\" of required type %q was not provided.", v.Variable, v.Type)
		case given == nil:
			e.Message = fmt.Sprintf("Variable \"$%s\" of non-null type %q must not be null.", v.Variable, v.Type)
		default:
			e.Message = invalidValue(v, given, e)
		}
		e.Path = nil
		if v.Position != nil {
			e.Locations = []gqlerror.Location{{Line: v.Position.Line, Column: v.Position.Column}}
		}
	}
	return errs
}

// invalidValue returns the message for a value that does not have the type of its variable.
func invalidValue(v *ast.VariableDefinition, value any, e *gqlerror.Error) string {
	place, steps, reason := v.Variable, e.Path[2:], e.Message
	for i, step := range steps {
		field, ok := step.(ast.PathName)
		switch object, _ := value.(map[string]any); {
		case ok && object != nil && i == len(steps)-1 && e.Message == "must be defined":
			reason = fmt.Sprintf("Field %q was not provided", string(field))
			continue
		case ok && object != nil && i == len(steps)-1 && e.Message == "unknown field":
			reason = fmt.Sprintf("Field %q is not defined", string(field))
			continue
		case ok && object != nil:
			value = object[string(field)]
			place += "." + string(field)
		}
		if index, ok := step.(ast.PathIndex); ok {
			if list, _ := value.([]any); int(index) < len(list) {
				value = list[index]
			}
			place = fmt.Sprintf("%s[%d]", place, index)
		}
	}
	text := []byte("{…}")
	switch s := value.(type) {
	case map[string]any:
	case []any:
		text = []byte("[…]")
	case string:
		text, _ = json.Marshal(strings.ToValidUTF8(s[:min(len(s), maxMessage)], "")) // a string always encodes
	default:
		text, _ = json.Marshal(value) // so do numbers and booleans
	}
	if place != v.Variable {
		place = fmt.Sprintf(" at %q", place)
	} else {
		place = ""
	}
	return fmt.Sprintf("Variable \"$%s\" got invalid value %s%s; %s.", v.Variable, text, place, truncate(reason))
}
