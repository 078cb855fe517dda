package server

import (
	"context"
	"fmt"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"heliograph/graph/fault"
	"heliograph/graph/incremental"
	"heliograph/graph/limits"
	"heliograph/internal/base/admission"
	"heliograph/internal/base/list"
	"heliograph/internal/base/values"
)

// operation is a validated operation of a client.
type operation struct {
	*entry
	oc    *graphql.OperationContext
	cost  int
	scans int // lists that are scans
}

// work returns the value of [Options.Work] for the contexts of the operation: what the queue has to know of it, which
// follows from its selection.
func (o *operation) work(ctx context.Context, s *Server) values.Value {
	return s.o.Work(ctx, o.readsMuch(), o.oc.Operation.Operation == ast.Subscription)
}

// readsMuch reports whether one of the lists of the operation is a scan, or one of its fields below a past state is
// ([limits.ScansPast]), so that its statements run in the share of scans.
func (o *operation) readsMuch() bool {
	return o.scans > 0 || limits.ScansPast(o.oc.Operation.SelectionSet)
}

// split returns the operation split into its initial part and its deferred fragments, or nil if nothing is deferred.
// Requests share the result, which callers must not change.
func (o *operation) split() *incremental.Split {
	d := o.deferred[o.oc.Operation]
	if d == nil {
		return nil
	}
	return d.Split(o.oc.Variables)
}

// prepare validates the document, the variables and the cost of an operation, and charges the client for the cost. It
// calls store if the document is valid. An operation that is too expensive or exceeds the rate limit is returned with
// the error; other errors come without an operation, and nothing is charged.
func (s *Server) prepare(ctx context.Context, params *graphql.RawParams, store func()) (*operation, gqlerror.List) {
	op, errs := s.validate(ctx, params, store)
	if errs != nil {
		return nil, errs
	}
	return op, s.afford(ctx, "operation", op.cost)
}

// afford fails if the cost of an operation or of a batch exceeds the limit, or if the rate limit of the client does
// not permit it. Otherwise it charges the client for the cost: one point per [CostPerPoint], rounded down. what is
// the noun in the message.
func (s *Server) afford(ctx context.Context, what string, cost int) gqlerror.List {
	if cost > s.o.Bounds.Cost {
		return gqlerror.List{tooExpensive(what, cost, s.o.Bounds.Cost)}
	}
	if limited := charge(ctx, cost/CostPerPoint); limited != nil {
		return gqlerror.List{limited}
	}
	return nil
}

// validate returns an operation with its document, coerced variables and cost. It is [Server.prepare] without the
// limits of the cost. It caches a valid document and calls store, and reports the operation to the observer. It
// executes nothing.
func (s *Server) validate(ctx context.Context, params *graphql.RawParams, store func()) (*operation, gqlerror.List) {
	e, errs := s.document(params.Query)
	if errs != nil {
		return nil, errs
	}
	store()
	def := e.doc.Operations.ForName(params.OperationName)
	if def == nil {
		return nil, oneError(fault.BadUserInput, missingOperation(e.doc, params.OperationName))
	}
	variables, errs := coerce(s.Schema(), def, params.Variables)
	if errs != nil {
		return nil, errs
	}
	oc := &graphql.OperationContext{
		RawQuery: params.Query, OperationName: params.OperationName, Doc: e.doc, Operation: def, Variables: variables,
		Extensions: params.Extensions,
		Headers:    params.Headers, RecoverFunc: recovered, ResolverMiddleware: s.middleware,
		RootResolverMiddleware: noMiddleware,
	}
	if def.Operation == ast.Subscription && len(graphql.CollectFields(oc, def.SelectionSet, nil)) != 1 {
		return nil, oneError(fault.BadUserInput,
			"a subscription needs one field; @skip and @include leave none or several")
	}
	if s.o.Observer != nil {
		s.o.Observer.Received(ctx, string(oc.Operation.Operation), oc.Operation.Name)
	}
	op := &operation{entry: e, oc: oc, scans: limits.Scans(def.SelectionSet, variables, s.o.Scans)}
	op.cost = e.costs[def].Of(variables) + op.scans*limits.ScanCost
	return op, nil
}

// noMiddleware is the middleware of root fields that gqlgen requires. It only calls next.
func noMiddleware(ctx context.Context, next graphql.RootResolver) graphql.Marshaler { return next(ctx) }

// missingOperation returns the error message for a document without an operation of the given name.
func missingOperation(doc *ast.QueryDocument, name string) string {
	names := list.Map(doc.Operations, func(op *ast.OperationDefinition) string { return op.Name })
	if name == "" {
		return "operationName is missing; the operations of the document are " + strings.Join(names, ", ")
	}
	return fmt.Sprintf("the document has no operation %q; its operations are %s", name, strings.Join(names, ", "))
}

// run executes a query or mutation in a context of its operation and returns its response, or nil if the context has
// ended before. It and [Server.start] replace the executor of gqlgen, which would look up the document and its
// operation once more, and run chains of extensions that are empty.
func (s *Server) run(ctx context.Context, oc *graphql.OperationContext) *graphql.Response {
	if ctx.Err() != nil {
		return nil
	}
	ctx = graphql.WithResponseContext(graphql.WithOperationContext(ctx, oc), s.presenter, recovered)
	resp := s.o.Schema.Exec(ctx)(ctx)
	resp.Errors = append(resp.Errors, graphql.GetErrors(ctx)...)
	return resp
}

// start prepares the execution of an operation of any kind: a subscription starts at once, a query or mutation in the
// first call of next. next returns the next response, or nil after the last one or if the context has ended. The caller
// calls next with of, or a context below it, and waits there. A subscription that cannot start has one response, with
// the errors.
func (s *Server) start(
	ctx context.Context, oc *graphql.OperationContext,
) (next graphql.ResponseHandler, of context.Context) {
	ctx = graphql.WithOperationContext(ctx, oc)
	first := graphql.WithResponseContext(ctx, s.presenter, recovered)
	responses := s.o.Schema.Exec(first)
	if errs := graphql.GetErrors(first); errs != nil { // a subscription that failed to start
		return graphql.OneShot(&graphql.Response{Errors: errs}), ctx
	}
	return func(ctx context.Context) *graphql.Response {
		if ctx.Err() != nil {
			return nil
		}
		ctx = graphql.WithResponseContext(ctx, s.presenter, recovered)
		resp := responses(ctx)
		if resp != nil {
			resp.Errors = append(resp.Errors, graphql.GetErrors(ctx)...)
		}
		return resp
	}, ctx
}

// extensions returns the extensions of the response to an operation: the cost, if the request selects it with its
// extension cost, otherwise nil.
func (s *Server) extensions(op *operation) map[string]any {
	if requested, _ := op.oc.Extensions["cost"].(bool); !requested {
		return nil
	}
	return map[string]any{"cost": costExtension(op.cost, s.o.Bounds.Cost)}
}

// FieldOf returns the path of the field that a context belongs to, for the plans that clients request (package
// profile). It is empty while the arguments of a root field are read.
func FieldOf(ctx context.Context) string { return graphql.GetPath(ctx).String() }

// costExtension returns the extension cost of a response: the cost of an operation and the maximum.
func costExtension(cost, limit int) map[string]int {
	return map[string]int{"requested": cost, "limit": limit}
}

// tooExpensive returns the QUERY_TOO_COMPLEX error for an operation or a batch whose cost exceeds the limit, with both
// numbers as its extension cost. what is the noun in the message.
func tooExpensive(what string, cost, limit int) *gqlerror.Error {
	e := coded(fault.TooComplex,
		fmt.Sprintf("the %s costs %d, because its response can have so many objects, and the limit is %d: "+
			"request smaller pages or fewer nested objects", what, cost, limit))
	e.Extensions["cost"] = costExtension(cost, limit)
	return e
}

// CostPerPoint is the cost of an operation that counts as one point towards the rate limit.
const CostPerPoint = 100

// charge counts points towards the rate limit of the client whose turn ctx has. It returns an error RATE_LIMITED
// if the limit is exceeded. Without a turn or a limit it does nothing.
func charge(ctx context.Context, points int) *gqlerror.Error {
	if t := admission.Of(ctx); t != nil && t.Charge != nil && points > 0 && !t.Charge(points) {
		return coded(fault.RateLimited, "too many requests, or too expensive ones: retry after a minute")
	}
	return nil
}
