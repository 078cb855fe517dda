// Package graph is the graph's code that is made of its schema, and what runs it.
package graph

import (
	"bytes"
	"context"
	"reflect"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// schema runs queries as the generated schema does, but does once what that does for each of them: it gathers the functions that read input
// objects, one for each input type.
type schema struct {
	*executableSchema
	inputs map[reflect.Type]reflect.Value
}

// NewSchema makes the graph with its resolvers.
func NewSchema(resolvers ResolverRoot) graphql.ExecutableSchema {
	e := NewExecutableSchema(Config{Resolvers: resolvers}).(*executableSchema)
	return &schema{e, inputsOf(newExecutionContext(&graphql.OperationContext{}, e, nil))}
}

// Exec implements graphql.ExecutableSchema. Documents must not defer parts of an answer.
func (s *schema) Exec(ctx context.Context) graphql.ResponseHandler {
	oc := graphql.GetOperationContext(ctx)
	if oc.Operation.Operation != ast.Query {
		return s.executableSchema.Exec(ctx)
	}
	ec := newExecutionContext(oc, s.executableSchema, nil)
	answered := false
	return func(ctx context.Context) *graphql.Response {
		if answered {
			return nil
		}
		answered = true
		var buf bytes.Buffer
		ec._Query(graphql.WithUnmarshalerMap(ctx, s.inputs), oc.Operation.SelectionSet).MarshalGQL(&buf)
		return &graphql.Response{Data: buf.Bytes()}
	}
}
