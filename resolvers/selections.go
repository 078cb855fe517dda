package resolvers

import (
	"context"
	"iter"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/graph/rowplan"
)

// selected are the fields of a selection, those in its fragments among them, whatever directives say of them.
func selected(set ast.SelectionSet) iter.Seq[*ast.Field] {
	return func(yield func(*ast.Field) bool) { eachSelected(set, yield) }
}

func eachSelected(set ast.SelectionSet, yield func(*ast.Field) bool) (goOn bool) {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			goOn = yield(s)
		case *ast.InlineFragment:
			goOn = eachSelected(s.SelectionSet, yield)
		case *ast.FragmentSpread:
			goOn = eachSelected(s.Definition.SelectionSet, yield)
		}
		if !goOn {
			return false
		}
	}
	return true
}

// asksForPageInfo tells whether somebody wants to know of the context's connection whether it goes on.
func asksForPageInfo(ctx context.Context) bool {
	if rowplan.InParts(ctx) {
		return true // a part that comes later may
	}
	for f := range selected(graphql.GetFieldContext(ctx).Field.Selections) {
		if f.Name == "pageInfo" {
			return true
		}
	}
	return false
}
