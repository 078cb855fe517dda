// Package graph is the graph's code that is made of its schema, and what runs it.
package graph

import (
	"bytes"
	"context"
	_ "embed"
	"reflect"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// SDL is the schema as text, with descriptions.
//
//go:embed schema.graphql
var SDL string

// schema runs queries as the generated schema does, but for what that does more than is needed: it gathers the functions that read input objects,
// one for each input type, and prepares every query for many fields that are answered side by side, and for parts of an answer that come later.
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
	return (&query{schema: s, ec: newExecutionContext(oc, s.executableSchema, nil)}).respond
}

// query is a query that is answered.
type query struct {
	schema   *schema
	ec       *executionContext
	answered bool
	buf      bytes.Buffer
	response graphql.Response
}

// respond answers with all of the data; a second time there is nothing more to answer.
func (q *query) respond(ctx context.Context) *graphql.Response {
	if q.answered {
		return nil
	}
	q.answered = true
	ctx = graphql.WithUnmarshalerMap(ctx, q.schema.inputs)
	set := q.ec.Operation.SelectionSet
	if f := only(set); f != nil {
		q.ec.answerOne(ctx, f, &q.buf)
	} else {
		q.ec._Query(ctx, set).MarshalGQL(&q.buf)
	}
	q.response.Data = q.buf.Bytes()
	return &q.response
}

// only is the field that is all of a query, nil where there are others, or where it takes looking at the variables, or at the schema, to know.
func only(set ast.SelectionSet) *ast.Field {
	if len(set) != 1 {
		return nil
	}
	f, ok := set[0].(*ast.Field)
	if !ok || len(f.Directives) > 0 || strings.HasPrefix(f.Name, "__") {
		return nil
	}
	return f
}

// answerOne answers a query of one field.
func (ec *executionContext) answerOne(ctx context.Context, f *ast.Field, buf *bytes.Buffer) {
	ctx = graphql.WithFieldContext(ctx, &graphql.FieldContext{Object: "Query"})
	value, required := ec.rootField(ctx, graphql.CollectedField{Field: f, Selections: f.SelectionSet, IsNonDeferrable: true})
	if value == graphql.RequiredNull || required && value == graphql.Null {
		graphql.Null.MarshalGQL(buf)
		return
	}
	buf.WriteString(`{"`)
	buf.WriteString(f.Alias) // a name, in which nothing has to be escaped
	buf.WriteString(`":`)
	value.MarshalGQL(buf)
	buf.WriteByte('}')
}

// rootField answers a field of the query type; required tells that it must not be null.
func (ec *executionContext) rootField(ctx context.Context, f graphql.CollectedField) (value graphql.Marshaler, required bool) {
	defer func() {
		if p := recover(); p != nil {
			ec.Error(ctx, ec.Recover(ctx, p))
			value = graphql.RequiredNull
		}
	}()
	return ec.rootFieldByName(ctx, f)
}
