// Package graph is the executable schema: code that is generated from the GraphQL schema, and a faster execution of
// queries.
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

	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/graph/sdl"
	"heliograph/internal/base/values"
)

// SDL is the text of the schema, with descriptions.
//
//go:embed schema.graphql
var SDL string

// whenNeeded returns a function that loads the schema on its first call. The generated code has its result,
// parsedSchema.
func whenNeeded(load func() *ast.Schema) func() *ast.Schema {
	return sync.OnceValue(func() *ast.Schema { return sdl.Inherit(load()) })
}

// schema executes queries without two steps of the generated code that are not needed per query: collecting the
// functions that unmarshal input objects, and preparing for concurrent root fields and deferred fragments.
type schema struct {
	*executableSchema
	inputs   map[reflect.Type]reflect.Value
	together Together
}

// Together combines what n concurrent root fields read first. The function that it returns is called for each: value
// is for the context of the field, and end is called at the end of the field.
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
	together  func() (value values.Value, end func()) // see [Together]; nil if fields read by themselves
}

// respond returns the complete response. Further calls return nil.
func (q *query) respond(ctx context.Context) *graphql.Response {
	if q.responded {
		return nil
	}
	q.responded = true
	ctx = graphql.WithUnmarshalerMap(ctx, q.schema.inputs)
	set := q.ec.Operation.SelectionSet
	if plain, lists := isPlain(set); plain {
		if len(set) > 1 && lists <= 1 { // reading several lists takes longer one after another
			q.together = q.schema.together(len(set))
		}
		q.execute(graphql.WithFieldContext(ctx, &graphql.FieldContext{Object: "Query"}), set)
	} else {
		q.ec._Query(ctx, set).MarshalGQL(&q.buf)
	}
	q.response.Data = q.buf.Bytes()
	return &q.response
}

// isPlain reports whether all selections are fields with different aliases that do not depend on variables or the
// schema, and how many are lists.
func isPlain(set ast.SelectionSet) (ok bool, lists int) {
	aliases := map[string]bool{}
	for _, s := range set {
		f, ok := s.(*ast.Field)
		if !ok || len(f.Directives) > 0 || strings.HasPrefix(f.Name, "__") || aliases[f.Alias] {
			return false, 0
		}
		aliases[f.Alias] = true
		if strings.HasSuffix(f.Definition.Type.Name(), "Connection") {
			lists++
		}
	}
	return len(set) > 0, lists // without selections if all are deferred
}

// execute executes a query with plain root fields, concurrently.
func (q *query) execute(ctx context.Context, set ast.SelectionSet) {
	results, last := make([]graphql.Marshaler, len(set)), len(set)-1
	var others sync.WaitGroup
	for i := range last {
		others.Go(func() { results[i] = q.resolve(ctx, set[i]) })
	}
	results[last] = q.resolve(ctx, set[last])
	others.Wait()
	next := `{"`
	for i, r := range results {
		if r == graphql.RequiredNull {
			q.buf.Reset()
			graphql.Null.MarshalGQL(&q.buf)
			return
		}
		q.buf.WriteString(next)
		q.buf.WriteString(set[i].(*ast.Field).Alias) // a GraphQL name, which needs no escaping
		q.buf.WriteString(`":`)
		r.MarshalGQL(&q.buf)
		next = `,"`
	}
	q.buf.WriteByte('}')
}

// resolve returns the value of a root field, [graphql.RequiredNull] if the field is non-null and has none.
func (q *query) resolve(ctx context.Context, s ast.Selection) graphql.Marshaler {
	if q.together != nil {
		value, end := q.together()
		defer end()
		ctx = values.Context(ctx, value)
	}
	f := s.(*ast.Field)
	v, required := q.ec.rootField(ctx, graphql.CollectedField{
		Field: f, Selections: f.SelectionSet,
		IsNonDeferrable: true,
	})
	if required && v == graphql.Null {
		return graphql.RequiredNull
	}
	return v
}

// rootField resolves a field of the query type. required reports whether the field is non-null.
func (ec *executionContext) rootField(
	ctx context.Context, f graphql.CollectedField,
) (value graphql.Marshaler, required bool) {
	defer func() {
		if p := recover(); p != nil {
			ec.Error(ctx, ec.Recover(ctx, p))
			value = graphql.RequiredNull
		}
	}()
	return ec.rootFieldByName(ctx, f)
}

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

// argument reads the argument at an index of the field's definition: from the document, a variable or the default
// value (§6.4.1 of the GraphQL specification). It returns the zero value if the argument is absent.
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

// EntityReader reads entities that other subgraphs of a federation reference.
type EntityReader interface {
	// ReadEntities reads entities by __typename and the fields of one of their keys. It returns one node and one error
	// per reference. The node is nil if the entity does not exist, and the error is nil on success. References can be
	// of any type.
	ReadEntities(ctx context.Context, references []any) ([]relay.Node, []error)
}

// maxReferences is the maximum number of references per request.
const maxReferences = 100

// subgraph returns the federation subgraph SDL. It is printed on the first call.
var subgraph = sync.OnceValue(func() string { return sdl.Subgraph(parsedSchema()) })

// __resolve__service resolves the root field _service. The generated code calls it by this name.
func (*executionContext) __resolve__service(
	context.Context,
) (*relay.Service, error) { //nolint:unparam // the generated code expects an error
	return &relay.Service{SDL: subgraph()}, nil
}

// __resolve_entities resolves the root field _entities. An entity that cannot be read is null, with an error of its
// own.
func (ec *executionContext) __resolve_entities(ctx context.Context, references []any) []relay.Node {
	if len(references) > maxReferences {
		graphql.AddError(ctx, fault.Input("give at most %d references", maxReferences))
		return nil
	}
	reader, ok := ec.Resolvers.(EntityReader)
	if !ok {
		return make([]relay.Node, len(references))
	}
	out, errs := reader.ReadEntities(ctx, references)
	for i, err := range errs {
		if err != nil {
			graphql.AddError(graphql.WithPathContext(ctx, graphql.NewPathWithIndex(i)), err)
		}
	}
	return out
}
