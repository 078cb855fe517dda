// Package graph is the executable schema: code that is generated from the GraphQL schema, and the execution of
// queries.
package graph

import (
	"bytes"
	"context"
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/graph/relay"
	"heliograph/graph/sdl"
	"heliograph/internal/base/values"
)

// SDL is the text of the schema, with descriptions.
//
//go:embed schema.graphql
var SDL string

// whenNeeded returns a function that calls load on its first call, lets fields without a description inherit that of
// the interface, and then always returns this schema. The variable parsedSchema of the generated code is its result.
func whenNeeded(load func() *ast.Schema) func() *ast.Schema {
	return sync.OnceValue(func() *ast.Schema { return sdl.Inherit(load()) })
}

// schema executes queries. gqlgen's code executes mutations, subscriptions, and the fields of objects without rows.
type schema struct {
	*executableSchema
	queries  QueryFields
	together Together
}

// Together combines what n concurrent root fields read first. The function that it returns is called for each: value
// is for the context of the field, and end is called at the end of the field.
type Together func(n int) func() (value values.Value, end func())

// NewSchema returns the executable schema of the GraphQL server. resolvers has the functions of mutations and
// subscriptions, and queries those of the fields of Query. together returns how the root fields of a query share a
// round trip to the database.
func NewSchema(resolvers ResolverRoot, queries QueryFields, together Together) graphql.ExecutableSchema {
	return &schema{NewExecutableSchema(Config{Resolvers: resolvers}).(*executableSchema), queries, together}
}

// Exec implements graphql.ExecutableSchema: it returns the function that executes the context's operation. Our
// code executes queries, and gqlgen's the others. Documents must not use @defer.
func (s *schema) Exec(ctx context.Context) graphql.ResponseHandler {
	oc := graphql.GetOperationContext(ctx)
	if oc.Operation.Operation != ast.Query {
		return s.executableSchema.Exec(ctx)
	}
	return (&query{schema: s, ec: newExecutionContext(oc, s.executableSchema, nil)}).respond
}

// query is a query in execution.
type query struct {
	schema   *schema
	ec       *executionContext
	together func() (value values.Value, end func()) // see [Together]; nil if fields read by themselves
	others   sync.WaitGroup                          // the root fields in other goroutines

	responded bool
	response  graphql.Response
	buf       bytes.Buffer // of the response
}

// rootField is a field of the query type. required reports whether it is non-null.
type rootField struct {
	resolve  func(*query, context.Context, graphql.CollectedField) graphql.Marshaler
	required bool
}

// respond is the [graphql.ResponseHandler] of the query: the first call executes it and returns the response, which
// belongs to q, and further calls return nil.
func (q *query) respond(ctx context.Context) *graphql.Response {
	if q.responded {
		return nil
	}
	q.responded, q.response.Data = true, q.execute(ctx)
	return &q.response
}

// execute executes the root fields concurrently, waits for all of them, and returns their JSON in the memory of q.buf.
// The result is null if a non-null field has no value. If several fields are lists, each field reads by itself.
func (q *query) execute(ctx context.Context) []byte {
	fields := q.fields()
	results := make([]graphql.Marshaler, len(fields))
	reading, lists := make([]int, 0, 8), 0
	for i, f := range fields {
		if q.isEmptyPage(f) {
			results[i] = q.resolve(ctx, f)
			continue
		}
		reading = append(reading, i)
		if strings.HasSuffix(f.Definition.Type.Name(), "Connection") {
			lists++
		}
	}
	if len(reading) > 1 && lists <= 1 { // reading several lists takes longer one after another
		q.together = q.schema.together(len(reading))
	}
	if last := len(reading) - 1; last >= 0 {
		for _, i := range reading[:last] {
			q.others.Go(func() { results[i] = q.resolve(ctx, fields[i]) })
		}
		// Usually a list, which takes most of the time: here, where the stack has grown.
		results[reading[last]] = q.resolve(ctx, fields[reading[last]])
	}
	q.others.Wait()
	q.buf.WriteByte('{')
	for i, r := range results {
		if r == graphql.RequiredNull {
			return []byte("null")
		}
		if i > 0 {
			q.buf.WriteByte(',')
		}
		q.buf.WriteString(`"` + fields[i].Alias + `":`) // a GraphQL name, which needs no escaping
		r.MarshalGQL(&q.buf)
	}
	q.buf.WriteByte('}')
	return q.buf.Bytes()
}

// isEmptyPage reports whether a field is a list whose page size is 0, which needs no goroutine: it reads nothing. It
// looks only at the argument first; an invalid one is not 0.
func (q *query) isEmptyPage(f graphql.CollectedField) bool {
	first := f.Arguments.ForName("first")
	if first == nil {
		return false
	}
	size, _ := first.Value.Value(q.ec.Variables) // the resolver reports the error
	return size == 0 || size == int64(0)
}

// fields returns the root fields of the operation that its directives permit. Fields with the same alias are merged.
func (q *query) fields() []graphql.CollectedField {
	set := q.ec.Operation.SelectionSet
	fields := make([]graphql.CollectedField, 0, len(set))
	for _, s := range set {
		f, isField := s.(*ast.Field)
		if !isField || len(f.Directives) > 0 || slices.ContainsFunc(fields, func(other graphql.CollectedField) bool {
			return other.Alias == f.Alias
		}) { // the general case, which allocates more than a small query does otherwise
			return graphql.CollectFields(q.ec.OperationContext, set, []string{"Query"})
		}
		fields = append(fields, graphql.CollectedField{Field: f, Selections: f.SelectionSet})
	}
	return fields
}

// resolve returns the value of a root field, [graphql.RequiredNull] if the field is non-null and has none. A panic
// becomes an error of the query, and the value null.
func (q *query) resolve(ctx context.Context, f graphql.CollectedField) (v graphql.Marshaler) {
	if q.together != nil {
		value, end := q.together()
		defer end()
		ctx = values.Context(ctx, value)
	}
	root := rootFields[f.Name]
	defer func() {
		if p := recover(); p != nil {
			q.ec.Error(ctx, q.ec.Recover(ctx, p))
			v = graphql.Null
		}
		if root.required && v == graphql.Null {
			v = graphql.RequiredNull
		}
	}()
	return root.resolve(q, ctx, f)
}

// typename resolves __typename of the query root. It never fails.
func (*query) typename(context.Context, graphql.CollectedField) graphql.Marshaler {
	return graphql.MarshalString("Query")
}

// ListArgs are the arguments of most lists.
type ListArgs[F any] struct {
	Filter F
	Order  relay.Order
	relay.Args
}

// arguments reads the arguments of a field.
type arguments struct {
	of        *ast.Field
	variables map[string]any
	err       error // of the first invalid argument
}

// argument returns the argument at an index of the field's definition: from the document, a variable or the default
// value (§6.4.1 of the GraphQL specification), converted by unmarshal. It returns the zero value if the argument is
// absent. The first error is recorded in in.err.
func argument[T any](
	ctx context.Context, in *arguments, at int, unmarshal func(context.Context, any) (T, error),
) (v T) {
	def := in.of.Definition.Arguments[at]
	raw, given, err := in.raw(def)
	if given && err == nil {
		if v, err = unmarshal(ctx, raw); err != nil { // read it again for the path of the invalid value
			v, err = unmarshal(graphql.WithPathContext(ctx, graphql.NewPathWithField(def.Name)), raw)
		}
	}
	if err != nil && in.err == nil {
		in.err = err
	}
	return v
}

// OrZero returns the value at a pointer, or the zero value for nil, which is an absent argument such as a filter.
func OrZero[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// raw returns the value of an argument before it is unmarshaled: from the document, a variable or the default
// value. given is false if the argument is absent.
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

// rootContext returns the context of a field of the query type without arguments: the generated code reads those
// itself. It never fails.
func rootContext(_ context.Context, f graphql.CollectedField) (*graphql.FieldContext, error) {
	return &graphql.FieldContext{Object: "Query", Field: f, IsMethod: true, IsResolver: true}, nil
}

// Subgraph returns the federation subgraph SDL. It is printed on the first call.
var Subgraph = sync.OnceValue(func() string { return sdl.Subgraph(parsedSchema()) })
