// Package graph is the executable schema: code that is generated from the GraphQL schema, and a faster execution of queries.
package graph

import (
	"bytes"
	"context"
	_ "embed"
	"reflect"
	"strings"
	"sync"

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
	together  func() (value values.Value, end func()) // of [Together]; nil if fields read by themselves
	few       [2]rootValue                            // used for up to two fields
}

// rootValue is the value of a root field. required reports whether the field is non-null.
type rootValue struct {
	graphql.Marshaler

	required bool
}

// respond returns the complete response. Further calls return nil.
func (q *query) respond(ctx context.Context) *graphql.Response {
	if q.responded {
		return nil
	}
	q.responded = true
	ctx = graphql.WithUnmarshalerMap(ctx, q.schema.inputs)
	if set := q.ec.Operation.SelectionSet; isPlain(set) {
		q.execute(graphql.WithFieldContext(ctx, &graphql.FieldContext{Object: "Query"}), set)
	} else {
		q.ec._Query(ctx, set).MarshalGQL(&q.buf)
	}
	q.response.Data = q.buf.Bytes()
	return &q.response
}

// isPlain reports whether all selections are fields with different aliases that do not depend on variables or the schema.
func isPlain(set ast.SelectionSet) bool {
	for i, s := range set {
		f, ok := s.(*ast.Field)
		if !ok || len(f.Directives) > 0 || strings.HasPrefix(f.Name, "__") {
			return false
		}
		for _, earlier := range set[:i] {
			if earlier.(*ast.Field).Alias == f.Alias {
				return false
			}
		}
	}
	return true
}

// readsTogether reports whether at most one field is a list: reading several takes longer one after another.
func readsTogether(set ast.SelectionSet) bool {
	lists := 0
	for _, s := range set {
		if strings.HasSuffix(s.(*ast.Field).Definition.Type.Name(), "Connection") {
			lists++
		}
	}
	return lists <= 1
}

// execute executes a query with plain root fields, concurrently.
func (q *query) execute(ctx context.Context, set ast.SelectionSet) {
	results := q.few[:min(len(set), len(q.few))]
	if len(set) > len(results) {
		results = make([]rootValue, len(set))
	}
	if len(set) == 1 {
		results[0] = q.resolve(ctx, set[0])
	} else {
		q.resolveAll(ctx, set, results)
	}
	next := byte('{')
	for i, r := range results {
		if r.Marshaler == graphql.RequiredNull || r.required && r.Marshaler == graphql.Null {
			q.buf.Reset()
			graphql.Null.MarshalGQL(&q.buf)
			return
		}
		q.buf.WriteByte(next)
		q.buf.WriteByte('"')
		q.buf.WriteString(set[i].(*ast.Field).Alias) // a GraphQL name, which needs no escaping
		q.buf.WriteString(`":`)
		r.MarshalGQL(&q.buf)
		next = ','
	}
	q.buf.WriteByte('}')
}

// resolveAll resolves several root fields.
func (q *query) resolveAll(ctx context.Context, set ast.SelectionSet, results []rootValue) {
	if readsTogether(set) {
		q.together = q.schema.together(len(set))
	}
	var others sync.WaitGroup
	for i := range len(set) - 1 {
		others.Add(1)
		concurrently(func() {
			defer others.Done()
			results[i] = q.resolve(ctx, set[i])
		})
	}
	results[len(set)-1] = q.resolve(ctx, set[len(set)-1])
	others.Wait()
}

func (q *query) resolve(ctx context.Context, s ast.Selection) (v rootValue) {
	if q.together != nil {
		value, end := q.together()
		defer end()
		ctx = values.Context(ctx, value)
	}
	f := s.(*ast.Field)
	v.Marshaler, v.required = q.ec.rootField(ctx, graphql.CollectedField{Field: f, Selections: f.SelectionSet, IsNonDeferrable: true})
	return v
}

// idle receives functions for goroutines that have run one before. Their stacks have grown: in a new goroutine that takes longer than the function itself.
// kept limits their number.
var idle, kept = make(chan func()), make(chan struct{}, 64)

// concurrently runs f in another goroutine.
func concurrently(f func()) {
	select {
	case idle <- f:
	default:
		go func() {
			f()
			select {
			case kept <- struct{}{}:
				for f := range idle {
					f()
				}
			default:
			}
		}()
	}
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
