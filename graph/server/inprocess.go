package server

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"heliograph/graph/limits"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/graph/scalar"
	"heliograph/internal/base/values"
)

// Document is a document of the REST side, parsed and validated once.
type Document struct {
	text string
	doc  *ast.QueryDocument
}

// Prepare parses and validates a document of the REST API or the status pages and caches it forever. It fails if
// the document is invalid or has an operation that is not a query. Call it at startup only.
func (s *Server) Prepare(text string) (*Document, error) {
	//nolint:staticcheck // its replacement needs the default rules as an argument
	doc, errs := gqlparser.LoadQuery(s.o.Schema.Schema(), text)
	if errs != nil {
		return nil, fmt.Errorf("validating a document: %w", errs)
	}
	for _, op := range doc.Operations {
		if op.Operation != ast.Query {
			return nil, fmt.Errorf("operation %s is not a query", op.Name)
		}
	}
	s.docs.pin(text, doc)
	return &Document{text: text, doc: doc}, nil
}

// Text returns the text of the document.
func (d *Document) Text() string { return d.text }

// Operations returns the operations of the document, which must not be changed.
func (d *Document) Operations() ast.OperationList { return d.doc.Operations }

// Done releases the memory of a response for reuse. The caller must not use data or a part of it afterwards. Calling
// Done is optional. It ignores nil.
func (s *Server) Done(data []byte) { s.o.Tables.Buffers.Put(data) }

// Result is the response to an operation. Callers can release the data with [Server.Done].
type Result struct {
	Data    []byte // the JSON of data
	Errors  gqlerror.List
	Outcome relay.Outcome
}

// Call is an operation to execute in process.
type Call struct {
	Document  *Document
	Operation string
	// Variables have the declared types, as decoded from JSON. [Server.Run] adds default values to the map, which must
	// not be nil therefore, nor be used by others.
	Variables map[string]any
	Style     scalar.Style // the zero value is that of the graph
	Limits    relay.Limits
}

// running has the state of an operation, in one allocation.
type running struct {
	result    Result
	operation graphql.OperationContext
	limits    relay.Limits
	store     rowplan.Store
}

// Run executes an operation of a prepared document in process, without limits of cost, with the page sizes and the
// style of c. The operation must be in the document: Run panics otherwise. It adds the default values of absent
// variables to c.Variables. It returns nil if ctx has ended. Errors of fields are in the result. The caller should call
// Done with its data. It replaces the executor, which would validate the document and the variables for each request.
func (s *Server) Run(ctx context.Context, c Call) *Result {
	op := c.Document.doc.Operations.ForName(c.Operation)
	for _, v := range op.VariableDefinitions {
		if _, given := c.Variables[v.Variable]; !given && v.DefaultValue != nil {
			c.Variables[v.Variable], _ = v.DefaultValue.Value(nil) // valid, because the document is
		}
	}
	r := &running{limits: c.Limits, operation: graphql.OperationContext{
		RawQuery: c.Document.text, OperationName: c.Operation, Doc: c.Document.doc, Operation: op,
		Variables: c.Variables, DisableIntrospection: true,
		RecoverFunc: recovered, ResolverMiddleware: s.middleware, RootResolverMiddleware: noMiddleware,
	}}
	if s.o.Observer != nil {
		var end func()
		ctx, end = s.o.Observer.Run(ctx, string(ast.Query), c.Operation) // Prepare accepts only queries
		defer end()
	}
	ctx = values.Context(ctx, s.envs[c.Style].Value(), r.limits.Value(), r.store.Value(), s.o.Operation(),
		r.result.Outcome.Value(),
		s.o.Work(ctx, limits.Scans(op.SelectionSet, c.Variables, s.o.Scans) > 0, false /* event */))
	resp := s.run(ctx, &r.operation)
	if ctx.Err() != nil {
		return nil
	}
	r.result.Data, r.result.Errors = resp.Data, resp.Errors
	return &r.result
}

// Standalone returns the text of one operation of d with the fragments that it uses, for people. With inline, the
// given variables become default values of the operation, so that the text can be executed without variables. It
// fails if the operation does not exist, and changes nothing.
func (s *Server) Standalone(d *Document, operation string, variables map[string]any, inline bool) (string, error) {
	op := d.doc.Operations.ForName(operation)
	if op == nil {
		return "", fmt.Errorf("the document has no operation %q", operation)
	}
	if inline {
		copied := *op
		copied.VariableDefinitions = nil
		for _, v := range op.VariableDefinitions {
			def := *v
			if given, ok := variables[v.Variable]; ok {
				def.DefaultValue = s.literal(v.Type, given)
			}
			copied.VariableDefinitions = append(copied.VariableDefinitions, &def)
		}
		op = &copied
	}
	alone := &ast.QueryDocument{Operations: ast.OperationList{op}}
	addFragments(alone, op.SelectionSet, map[string]bool{})
	var b strings.Builder
	formatter.NewFormatter(&b, formatter.WithIndent("  ")).FormatQueryDocument(alone)
	return b.String(), nil
}

// addFragments adds to doc the fragments that a selection set uses, directly or through other fragments. seen has
// the names of those that were added, and is changed.
func addFragments(doc *ast.QueryDocument, set ast.SelectionSet, seen map[string]bool) {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			addFragments(doc, s.SelectionSet, seen)
		case *ast.InlineFragment:
			addFragments(doc, s.SelectionSet, seen)
		case *ast.FragmentSpread:
			if !seen[s.Name] {
				seen[s.Name] = true
				doc.Fragments = append(doc.Fragments, s.Definition)
				addFragments(doc, s.Definition.SelectionSet, seen)
			}
		}
	}
}

// literal returns the literal of the GraphQL language for a variable's value of type t, for texts that are shown to
// people; operations are not executed with it. The value must fit the type: an unknown member of an input object
// panics. A value that is not null, a boolean, an int, a list or an object becomes an enum value if t is an enum,
// otherwise a string.
func (s *Server) literal(t *ast.Type, v any) *ast.Value {
	switch v := v.(type) {
	case nil:
		return &ast.Value{Kind: ast.NullValue, Raw: "null"}
	case bool:
		return &ast.Value{Kind: ast.BooleanValue, Raw: strconv.FormatBool(v)}
	case int:
		return &ast.Value{Kind: ast.IntValue, Raw: strconv.Itoa(v)}
	case []any:
		list := &ast.Value{Kind: ast.ListValue}
		for _, item := range v {
			list.Children = append(list.Children, &ast.ChildValue{Value: s.literal(t.Elem, item)})
		}
		return list
	case map[string]any:
		object := &ast.Value{Kind: ast.ObjectValue}
		fields := s.o.Schema.Schema().Types[t.Name()].Fields
		for _, n := range slices.Sorted(maps.Keys(v)) {
			object.Children = append(object.Children,
				&ast.ChildValue{Name: n, Value: s.literal(fields.ForName(n).Type, v[n])})
		}
		return object
	default:
		text := fmt.Sprint(v)
		if def := s.o.Schema.Schema().Types[t.Name()]; def != nil && def.Kind == ast.Enum {
			return &ast.Value{Kind: ast.EnumValue, Raw: text}
		}
		return &ast.Value{Kind: ast.StringValue, Raw: text}
	}
}
