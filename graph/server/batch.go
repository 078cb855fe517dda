package server

import (
	"net/http"
	"strconv"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"heliograph/graph/fault"
	"heliograph/graph/rowplan"
	"heliograph/internal/base/respond"
)

// MaxBatch is the maximum number of operations in a batch.
const MaxBatch = 10

// serveBatch executes the operations in the array of a POST request, and writes an array with their responses, in the
// same order. Their costs are added. They run concurrently in the turn of the request, and share the connections and
// the maximum size of one operation. If the client cannot afford their cost, none of them runs, and each valid one
// has that error.
func (s *Server) serveBatch(w http.ResponseWriter, r *http.Request, raw []byte) {
	ops, responses, bad := s.readBatch(r, raw)
	if bad != nil {
		writeErrors(w, bad.status, gqlerror.List{bad.err})
		return
	}
	cost, scans := 0, false
	for _, op := range ops {
		if op != nil {
			cost, scans = cost+op.cost, scans || op.readsMuch()
		}
	}
	h := w.Header()
	h.Set(costHeader, strconv.Itoa(cost))
	h.Set(costLimitHeader, s.costLimit)
	refused := s.afford(r.Context(), "batch", cost)
	status := refusedStatus(h, refused, http.StatusOK)
	store, work := new(rowplan.Store), s.o.Work(r.Context(), scans, false /* event */)
	var running sync.WaitGroup
	for i, op := range ops {
		switch {
		case op == nil:
		case refused != nil:
			responses[i] = &graphql.Response{Errors: refused}
		default:
			running.Go(func() {
				resp := s.run(s.contextWith(r.Context(), store, work), op.oc)
				if resp == nil { // the time is up, or the client has disconnected
					resp = &graphql.Response{Errors: gqlerror.List{timedOut()}}
				}
				s.bound(resp)
				resp.Data, resp.Extensions = orNull(resp.Data), s.extensions(op)
				responses[i] = resp
			})
		}
	}
	running.Wait()
	s.writeBatch(w, r, status, responses)
}

// readBatch parses, resolves and validates the operations of a batch. It caches their documents and reports them to
// the observer, but executes and charges nothing. An operation that is not executed is nil, and has a response with
// its errors at the same index. A body that is not a batch of 1 to MaxBatch operations is rejected as a whole.
func (s *Server) readBatch(r *http.Request, raw []byte) ([]*operation, []*graphql.Response, *rejection) {
	var params []*graphql.RawParams
	var ids []string
	err := decode(raw, s.o.MaxValues, func(d *decoder) error {
		if _, err := d.ReadToken(); err != nil {
			return err //nolint:wrapcheck // undecoded describes it
		}
		return d.elements(func() error {
			p, id, err := d.params()
			params, ids = append(params, p), append(ids, id)
			return err
		})
	})
	if bad := undecoded(err, "each operation of a batch", s.o.MaxValues,
		" with query, operationName, variables and extensions"); bad != nil {
		return nil, nil, bad
	}
	if len(params) == 0 || len(params) > MaxBatch {
		return nil, nil, reject(http.StatusBadRequest, "a batch has 1 to %d operations, not %d", MaxBatch, len(params))
	}
	ops, responses := make([]*operation, len(params)), make([]*graphql.Response, len(params))
	for i, id := range ids {
		var errs gqlerror.List
		p, store, bad := s.resolve(r, params[i], id)
		if bad != nil {
			errs = gqlerror.List{bad.err}
		} else if ops[i], errs = s.validate(r.Context(), p, store); errs == nil {
			errs = unfit(ops[i])
		}
		if errs != nil {
			ops[i], responses[i] = nil, &graphql.Response{Errors: errs}
		}
	}
	return ops, responses, nil
}

// unfit returns the error of an operation that a batch cannot contain, or nil.
func unfit(op *operation) gqlerror.List {
	switch {
	case op.oc.Operation.Operation == ast.Subscription:
		return oneError(fault.BadUserInput, "a batch cannot contain a subscription: send it alone, with "+
			"Accept: "+mediaEvents+" or over a WebSocket")
	case op.split() != nil:
		return oneError(fault.BadUserInput, "a batch cannot contain @defer: send the operation alone")
	}
	return nil
}

// writeBatch writes the responses of a batch as an array and gives their memory back. If the database does not
// respond, it sets Retry-After, and if also no response has data, the status is 503. If the errors of one response
// cannot be encoded, it writes an internal error in place of all, and logs it.
func (s *Server) writeBatch(w http.ResponseWriter, r *http.Request, status int, responses []*graphql.Response) {
	var errs gqlerror.List
	var parts [][]byte
	empty, separator := true, []byte{'['}
	for _, resp := range responses {
		tail, err := responseTail(resp)
		if err != nil {
			s.writeInternalError(r.Context(), w, err)
			return
		}
		parts = append(parts, separator)
		if resp.Data == nil { // and there are errors
			tail[0] = '{'
		} else {
			parts = append(parts, dataMember, resp.Data)
			empty = empty && withoutData.Match(resp.Data)
		}
		parts = append(parts, tail)
		separator, errs = []byte{','}, append(errs, resp.Errors...)
	}
	if unavailable(errs) {
		w.Header().Set("Retry-After", retryAfter(errs))
		if empty {
			status = http.StatusServiceUnavailable
		}
	}
	w.Header()["Cache-Control"] = notStored
	respond.Write(w, r, status, "", append(parts, []byte{']'})...)
	for _, resp := range responses {
		s.Done(resp.Data)
	}
}
