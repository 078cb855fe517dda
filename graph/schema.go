// Package graph is the executable schema: code that is generated from the GraphQL schema, and a faster execution of queries.
package graph

import (
	"bytes"
	"context"
	_ "embed"
	"reflect"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/internal/base/values"
)

// SDL is the text of the schema, with descriptions.
//
//go:embed schema.graphql
var SDL string

// schema executes queries without two steps of the generated code that are not needed per query: collecting the functions that unmarshal input objects, and
// preparing for concurrent root fields and deferred fragments.
type schema struct {
	*executableSchema
	inputs   map[reflect.Type]reflect.Value
	together Together
}

// Together combines what n concurrent root fields read first. The function that it returns is called for each: value is for the context of the field, and end
// is called at the end of the field.
type Together func(n int) func() (value values.Value, end func())

// NewSchema returns the executable schema with its resolvers.
func NewSchema(resolvers ResolverRoot, together Together) graphql.ExecutableSchema {
	e := NewExecutableSchema(Config{Resolvers: resolvers}).(*executableSchema)
	return &schema{e, inputsOf(newExecutionContext(&graphql.OperationContext{}, e, nil)), together}
}

// Exec implements graphql.ExecutableSchema. Documents must not use @defer.
func (s *schema) Exec(ctx context.Context) graphql.ResponseHandler {
	oc := graphql.GetOperationContext(ctx)
	if oc.Operation.Operation != ast.Query {
		return s.executableSchema.Exec(ctx)
	}
	return (&query{schema: s, ec: newExecutionContext(oc, s.executableSchema, nil)}).respond
}

// query is a query in execution.
type query struct {
	schema    *schema
	ec        *executionContext
	responded bool
	buf       bytes.Buffer
	response  graphql.Response
}

// respond returns the complete response. Further calls return nil.
func (q *query) respond(ctx context.Context) *graphql.Response {
	if q.responded {
		return nil
	}
	q.responded = true
	ctx = graphql.WithUnmarshalerMap(ctx, q.schema.inputs)
	set := q.ec.Operation.SelectionSet
	if f := only(set); f != nil {
		q.ec.executeOne(ctx, f, &q.buf)
	} else {
		if readsTogether(set) {
			begin := q.schema.together(len(set))
			q.ec.RootResolverMiddleware = func(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
				value, end := begin()
				defer end()
				return next(values.Context(ctx, value))
			}
		}
		q.ec._Query(ctx, set).MarshalGQL(&q.buf)
	}
	q.response.Data = q.buf.Bytes()
	return &q.response
}

// only returns the only field of a query. It returns nil if there are more fields, or if the selection depends on variables or the schema.
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

// readsTogether reports whether all selections are fields that are executed, and at most one is a list: reading several takes longer one after another.
func readsTogether(set ast.SelectionSet) bool {
	lists, aliases := 0, map[string]bool{}
	for i := range set {
		f := only(set[i : i+1])
		if f == nil || aliases[f.Alias] {
			return false
		}
		aliases[f.Alias] = true
		if strings.HasSuffix(f.Definition.Type.Name(), "Connection") {
			lists++
		}
	}
	return len(set) > 1 && lists <= 1
}

// executeOne executes a query with one root field.
func (ec *executionContext) executeOne(ctx context.Context, f *ast.Field, buf *bytes.Buffer) {
	ctx = graphql.WithFieldContext(ctx, &graphql.FieldContext{Object: "Query"})
	value, required := ec.rootField(ctx, graphql.CollectedField{Field: f, Selections: f.SelectionSet, IsNonDeferrable: true})
	if value == graphql.RequiredNull || required && value == graphql.Null {
		graphql.Null.MarshalGQL(buf)
		return
	}
	buf.WriteString(`{"`)
	buf.WriteString(f.Alias) // a GraphQL name, which needs no escaping
	buf.WriteString(`":`)
	value.MarshalGQL(buf)
	buf.WriteByte('}')
}

// rootField resolves a field of the query type. required reports whether the field is non-null.
func (ec *executionContext) rootField(ctx context.Context, f graphql.CollectedField) (value graphql.Marshaler, required bool) {
	defer func() {
		if p := recover(); p != nil {
			ec.Error(ctx, ec.Recover(ctx, p))
			value = graphql.RequiredNull
		}
	}()
	return ec.rootFieldByName(ctx, f)
}
