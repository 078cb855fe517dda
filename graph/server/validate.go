package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"heliograph/graph/fault"
	"heliograph/graph/limits"
)

// maxErrors is the maximum number of validation errors in a response.
const maxErrors = 20

// document returns the validated document with the given text. It checks the size of the document before it validates the document against the schema,
// because validation takes more than linear time.
func (s *Server) document(text string) (*entry, gqlerror.List) {
	if e, ok := s.docs.lookup(text); ok {
		return e, nil
	}
	if s.o.OnlyTrusted {
		return nil, gqlerror.List{coded(fault.Forbidden, "this server executes trusted documents only; send the id of one")}
	}
	if len(text) > s.o.Bounds.Bytes {
		return nil, gqlerror.List{coded(fault.TooComplex, fmt.Sprintf("the document is longer than %d bytes; send long values as variables", s.o.Bounds.Bytes))}
	}
	doc, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: text}, s.o.Bounds.Tokens)
	if err != nil {
		return nil, gqlerror.List{s.syntaxError(err)}
	}
	if len(doc.Operations) == 0 {
		return nil, gqlerror.List{coded(fault.BadUserInput, "the document has no operation")}
	}
	if exceeded := s.o.Bounds.Check(doc); exceeded != nil {
		return nil, gqlerror.List{coded(exceeded.Code, exceeded.Message)}
	}
	errs := validator.ValidateWithRules(s.Schema(), doc, rulesWithoutSuggestions())
	if len(errs) > 0 && !s.o.SuggestionsOff && !s.o.IntrospectionOff && canSuggest(errs) {
		errs = validator.ValidateWithRules(s.Schema(), doc, rules.NewDefaultRules())
	}
	if len(errs) > 0 {
		return nil, badInput(errs[:min(len(errs), maxErrors)])
	}
	if s.o.IntrospectionOff && slices.ContainsFunc(doc.Operations, func(op *ast.OperationDefinition) bool { return introspects(op.SelectionSet) }) {
		return nil, gqlerror.List{coded(fault.Forbidden, "introspection is disabled on this server")}
	}
	return s.docs.add(text, doc), nil
}

func (s *Server) syntaxError(err error) *gqlerror.Error {
	var e *gqlerror.Error
	if !errors.As(err, &e) {
		return coded(fault.BadUserInput, "the document cannot be parsed")
	}
	if strings.HasPrefix(e.Message, "exceeded token limit") {
		return coded(fault.TooComplex, fmt.Sprintf("the document has more than %d tokens", s.o.Bounds.Tokens))
	}
	return badInput(gqlerror.List{e})[0]
}

// canSuggest reports whether errors are few and short. Computing suggestions for many or long names takes too long.
func canSuggest(errs gqlerror.List) bool {
	return len(errs) <= maxErrors && !slices.ContainsFunc(errs, func(e *gqlerror.Error) bool { return len(e.Message) > maxMessage })
}

// rulesWithoutSuggestions returns the validation rules of the specification, in variants that compute no suggestions.
func rulesWithoutSuggestions() *rules.Rules {
	r := rules.NewDefaultRules()
	for _, replaced := range []struct {
		name string
		rule validator.Rule
	}{
		{rules.FieldsOnCorrectTypeRule.Name, rules.FieldsOnCorrectTypeRuleWithoutSuggestions},
		{rules.KnownArgumentNamesRule.Name, rules.KnownArgumentNamesRuleWithoutSuggestions},
		{rules.KnownTypeNamesRule.Name, rules.KnownTypeNamesRuleWithoutSuggestions},
		{rules.ScalarLeafsRule.Name, rules.ScalarLeafsRuleWithoutSuggestions},
		{rules.ValuesOfCorrectTypeRule.Name, rules.ValuesOfCorrectTypeRuleWithoutSuggestions},
	} {
		r.ReplaceRule(replaced.name, replaced.rule.RuleFunc)
	}
	return r
}

// onlyIntrospects reports whether the response to an operation depends on the schema only.
func onlyIntrospects(op *ast.OperationDefinition) bool {
	return len(op.VariableDefinitions) == 0 && !slices.ContainsFunc(op.SelectionSet, func(selection ast.Selection) bool {
		f, ok := selection.(*ast.Field)
		return !ok || !strings.HasPrefix(f.Name, "__")
	})
}

func introspects(set ast.SelectionSet) bool {
	for f := range limits.Fields(set) {
		if f.Name == "__schema" || f.Name == "__type" || introspects(f.SelectionSet) {
			return true
		}
	}
	return false
}

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
