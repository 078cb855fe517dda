package server

import (
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
	if s.o.IntrospectionOff && introspects(doc) {
		return nil, gqlerror.List{coded(fault.Forbidden, "introspection is disabled on this server")}
	}
	return s.docs.add(text, doc), nil
}

// syntaxError returns the error for a document that cannot be parsed.
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

// introspects reports whether a document selects __schema or __type.
func introspects(doc *ast.QueryDocument) bool {
	var in func(ast.SelectionSet) bool
	in = func(set ast.SelectionSet) bool {
		return slices.ContainsFunc(set, func(selection ast.Selection) bool {
			switch s := selection.(type) {
			case *ast.Field:
				return s.Name == "__schema" || s.Name == "__type" || in(s.SelectionSet)
			case *ast.InlineFragment:
				return in(s.SelectionSet)
			default: // a fragment spread; fragments are visited below
				return false
			}
		})
	}
	return slices.ContainsFunc(doc.Operations, func(op *ast.OperationDefinition) bool { return in(op.SelectionSet) }) ||
		slices.ContainsFunc(doc.Fragments, func(f *ast.FragmentDefinition) bool { return in(f.SelectionSet) })
}
