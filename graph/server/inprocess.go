package server

import (
	"context"
	"fmt"
	"reflect"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator"

	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/graph/scalar"
	"heliograph/internal/base/values"
)

// Document is an operation document of the REST side, parsed and checked once.
type Document struct {
	text     string
	doc      *ast.QueryDocument
	defaults map[string]map[string]any // by operation, the values of variables that may be left out
}

// Prepare parses and checks a document, and keeps it for good.
func (s *Server) Prepare(text string) (*Document, error) {
	doc, errs := gqlparser.LoadQuery(s.o.Schema.Schema(), text) //nolint:staticcheck // its replacement takes the same rules as an argument
	if errs != nil {
		return nil, fmt.Errorf("checking a document: %w", errs)
	}
	d := &Document{text: text, doc: doc, defaults: map[string]map[string]any{}}
	for _, op := range doc.Operations {
		if op.Operation != ast.Query {
			return nil, fmt.Errorf("operation %s is not a query", op.Name)
		}
		given := map[string]any{}
		for _, v := range op.VariableDefinitions {
			if v.DefaultValue == nil {
				continue
			}
			value, err := v.DefaultValue.Value(nil)
			if err != nil {
				return nil, fmt.Errorf("default value of $%s of operation %s: %w", v.Variable, op.Name, err)
			}
			given[v.Variable] = value
		}
		d.defaults[op.Name] = given
	}
	s.docs.pin(text, doc)
	return d, nil
}

// Text is the document as it was written.
func (d *Document) Text() string { return d.text }

// Operations are the operations of the document.
func (d *Document) Operations() ast.OperationList { return d.doc.Operations }

// complete adds the default values of variables that were left out.
func (d *Document) complete(operation string, variables map[string]any) map[string]any {
	for name, value := range d.defaults[operation] {
		if _, given := variables[name]; !given {
			variables[name] = value
		}
	}
	return variables
}

// Done hands back the memory of an answer that has been sent: neither data nor a part of it may be used any more. Answers that are not handed
// back are left to the garbage collector.
func (s *Server) Done(data []byte) { s.o.Tables.Buffers.Give(data) }

// Result is the answer to a document. Who is done with the data may say so with [Server.Done].
type Result struct {
	Data   []byte // the JSON of data
	Errors gqlerror.List
	Hints  relay.Hints
}

// Call says how to run a document.
type Call struct {
	Document  *Document
	Operation string
	// Variables have the types that the operation says, as decoded JSON would have them. Default values are added to them.
	Variables map[string]any
	Style     scalar.Style
	Limits    relay.Limits
}

// running is what an operation in process needs, in one piece of memory.
type running struct {
	result    Result
	operation graphql.OperationContext
	limits    relay.Limits
	store     rowplan.Store
}

// Run runs a document in process. A nil result means that the caller has gone.
//
// It does what the executor does for clients, less what Prepare has done already and what needs no doing for documents of our own: variables are
// not checked, unless [Options.CheckVariables] asks for it.
func (s *Server) Run(ctx context.Context, c Call) *Result {
	r := &running{limits: c.Limits, operation: graphql.OperationContext{
		RawQuery: c.Document.text, OperationName: c.Operation, Doc: c.Document.doc, Operation: c.Document.doc.Operations.ForName(c.Operation),
		Variables: c.Document.complete(c.Operation, c.Variables), DisableIntrospection: true,
		RecoverFunc: recovered, ResolverMiddleware: s.middleware, RootResolverMiddleware: answersAlone,
	}}
	res, oc := &r.result, &r.operation
	if s.o.CheckVariables {
		if err := s.check(oc); err != nil {
			res.Errors = gqlerror.List{gqlerror.Wrap(err)}
			return res
		}
	}
	if s.o.Observer != nil {
		var end func()
		ctx, end = s.o.Observer.Run(ctx, string(ast.Query), c.Operation) // see [Server.Prepare]
		defer end()
	}
	ctx = values.Context(ctx, s.restEnvs[c.Style].Value(), r.limits.Value(), r.store.Value(), s.o.Operation(), res.Hints.Value())
	ctx = graphql.WithResponseContext(graphql.WithOperationContext(ctx, oc), s.presenter, recovered)
	resp := s.o.Schema.Exec(ctx)(ctx)
	if ctx.Err() != nil {
		return nil
	}
	res.Data, res.Errors = resp.Data, graphql.GetErrors(ctx)
	return res
}

// check makes sure that an operation has the variables that it would have if a client had sent them.
func (s *Server) check(oc *graphql.OperationContext) error {
	want, err := validator.VariableValues(s.Schema(), oc.Operation, oc.Variables)
	if err != nil {
		return fmt.Errorf("operation %s: %w", oc.OperationName, err)
	}
	for name, value := range want {
		if !reflect.DeepEqual(oc.Variables[name], value) {
			return fmt.Errorf("operation %s: $%s is %#v and should be %#v", oc.OperationName, name, oc.Variables[name], value)
		}
	}
	return nil
}
