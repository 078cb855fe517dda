package server

import (
	"context"
	"fmt"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"heliograph/graph/fault"
	"heliograph/graph/incremental"
)

// operation is a validated operation of a client.
type operation struct {
	*entry
	oc   *graphql.OperationContext
	cost int
}

// split returns the operation split into its initial part and its deferred fragments, or nil if nothing is deferred.
func (o *operation) split() *incremental.Split {
	d := o.deferred[o.oc.Operation]
	if d == nil {
		return nil
	}
	return d.Split(o.oc.Variables)
}

// prepare validates the document, the variables and the cost of an operation. It calls store if the document is valid. An operation that is too expensive
// or exceeds the rate limit is returned with the error; other errors come without an operation.
func (s *Server) prepare(ctx context.Context, params *graphql.RawParams, store func()) (*operation, gqlerror.List) {
	e, errs := s.document(params.Query)
	if errs != nil {
		return nil, errs
	}
	store()
	oc, errs := s.exec.CreateOperationContext(ctx, params)
	if errs != nil {
		return nil, badInput(variableErrors(oc.Operation, params.Variables, errs))
	}
	oc.ResolverMiddleware, oc.RootResolverMiddleware = s.middleware, noMiddleware // faster than the executor's chains, which are empty
	if s.o.Observer != nil {
		s.o.Observer.Received(ctx, string(oc.Operation.Operation), oc.Operation.Name)
	}
	op := &operation{entry: e, oc: oc, cost: e.cost(oc.Operation, s.o.Limits).Of(oc.Variables)}
	if op.cost > s.o.Bounds.Cost {
		return op, gqlerror.List{tooExpensive(op.cost, s.o.Bounds.Cost)}
	}
	if limited := charge(ctx, op.cost/costPerPoint); limited != nil {
		return op, gqlerror.List{limited}
	}
	return op, nil
}

// noMiddleware is the middleware of root fields. It does nothing.
func noMiddleware(ctx context.Context, next graphql.RootResolver) graphql.Marshaler { return next(ctx) }

// costExtension is the value of extensions.cost in responses and errors.
func costExtension(cost, limit int) map[string]int {
	return map[string]int{"requested": cost, "limit": limit}
}

// tooExpensive returns the error for an operation whose cost exceeds the limit.
func tooExpensive(cost, limit int) *gqlerror.Error {
	e := coded(fault.TooComplex, fmt.Sprintf("the operation costs %d, the maximum number of objects in its response; the limit is %d: request smaller pages "+
		"or fewer nested objects", cost, limit))
	e.Extensions["cost"] = costExtension(cost, limit)
	return e
}
