package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// arguments are those of a field of the query type while they are read.
type arguments struct {
	ec  *executionContext
	of  *ast.Field
	bad bool // one of them cannot be read: gqlgen's own function for the field tells why
}

// argument reads the argument at a place in the field's definition: what the document, a variable or the definition says, in this order (§6.4.1 of
// the GraphQL specification). It is the zero value where none of them says anything.
func argument[T any](ctx context.Context, in *arguments, at int, unmarshal func(context.Context, any) (T, error)) (v T) {
	raw, given, err := in.raw(in.of.Definition.Arguments[at])
	if given && err == nil {
		v, err = unmarshal(ctx, raw)
	}
	if err != nil {
		in.bad = true
	}
	return v
}

// raw is what is said of an argument.
func (in *arguments) raw(def *ast.ArgumentDefinition) (v any, given bool, err error) {
	variables := in.ec.Variables
	if arg := in.of.Arguments.ForName(def.Name); arg != nil {
		if arg.Value.Kind != ast.Variable {
			v, err = arg.Value.Value(variables)
			return v, true, err //nolint:wrapcheck // it is not told
		}
		if v, given = variables[arg.Value.Raw]; given {
			return v, true, nil
		}
	}
	if def.DefaultValue == nil {
		return nil, false, nil
	}
	v, err = def.DefaultValue.Value(variables)
	return v, true, err //nolint:wrapcheck // it is not told
}

// rootContext is the context of a field of the query type whose arguments have been read.
func rootContext(_ context.Context, f graphql.CollectedField) (*graphql.FieldContext, error) {
	return &graphql.FieldContext{Object: "Query", Field: f, IsMethod: true, IsResolver: true}, nil
}
