package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/graph/relay"
)

// ListArgs are the arguments of most lists.
type ListArgs[F any] struct {
	Filter *F
	Order  relay.Order
	relay.Args
}

// arguments reads the arguments of a field.
type arguments struct {
	of        *ast.Field
	variables map[string]any
	err       error // of the first invalid argument
}

// argument reads the argument at an index of the field's definition: from the document, a variable or the default value (§6.4.1 of the GraphQL specification).
// It returns the zero value if the argument is absent.
func argument[T any](ctx context.Context, in *arguments, at int, unmarshal func(context.Context, any) (T, error)) (v T) {
	raw, given, err := in.raw(in.of.Definition.Arguments[at])
	if given && err == nil {
		v, err = unmarshal(ctx, raw)
	}
	if err != nil && in.err == nil {
		in.err = err
	}
	return v
}

// raw returns the value of an argument before it is unmarshaled.
func (in *arguments) raw(def *ast.ArgumentDefinition) (v any, given bool, err error) {
	if arg := in.of.Arguments.ForName(def.Name); arg != nil {
		if arg.Value.Kind != ast.Variable {
			v, err = arg.Value.Value(in.variables)
			return v, true, err //nolint:wrapcheck // the client's own value
		}
		if v, given = in.variables[arg.Value.Raw]; given {
			return v, true, nil
		}
	}
	if def.DefaultValue == nil {
		return nil, false, nil
	}
	v, err = def.DefaultValue.Value(in.variables)
	return v, true, err //nolint:wrapcheck // as above
}

// rootContext returns the context of a field of the query type after its arguments have been read.
func rootContext(_ context.Context, f graphql.CollectedField) (*graphql.FieldContext, error) {
	return &graphql.FieldContext{Object: "Query", Field: f, IsMethod: true, IsResolver: true}, nil
}
