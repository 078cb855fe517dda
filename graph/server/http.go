package server

import (
	"bytes"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"heliograph/graph/fault"
	"heliograph/graph/limits"
	"heliograph/internal/base/accept"
	"heliograph/internal/base/admission"
	"heliograph/internal/base/respond"
)

// ServeHTTP serves GraphQL over HTTP (specification draft of 2023, §5 and §6), WebSockets, server-sent events and
// exports.
//
// gqlgen's transport.GET and transport.POST are not used: they read bodies without limits on size and number of
// values, echo them in errors, report invalid documents to clients of application/json with 422, and have no place for
// cached responses, their tags and the headers of the cost.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if isWebSocket(r) {
		s.serveWebSocket(w, r)
		return
	}
	switch media := responseMedia(r.Header); media {
	case mediaEvents:
		s.serveEvents(w, r)
	case mediaCSV, mediaNDJSON:
		s.serveExport(w, r, exportFormats[media])
	default:
		s.serveHTTP(w, r, media)
	}
}

// OpensPage reports whether a browser opens the endpoint as a page: a GET request without an operation that prefers
// HTML.
func OpensPage(r *http.Request) bool {
	if r.Method != http.MethodGet ||
		accept.Best(r.Header["Accept"], mediaJSON, mediaGraphQL, "text/html") != "text/html" {
		return false
	}
	q := r.URL.Query()
	return !q.Has("query") && !q.Has("documentId") && !q.Has("extensions")
}

// serveHTTP serves a GET or POST request with JSON of the given media type, from the response cache if possible: then
// nothing is executed, and the client is not charged for the cost. Otherwise it executes the operation, which can
// store the response in the cache and keep a persisted query. A POST request can also be a batch.
func (s *Server) serveHTTP(w http.ResponseWriter, r *http.Request, media string) {
	w.Header().Add("Vary", "Accept")
	w.Header()["Content-Type"] = contentTypes[media]
	raw, bad := s.receive(w, r)
	if bad != nil {
		writeErrors(w, bad.status, gqlerror.List{bad.err})
		return
	}
	if r.Method == http.MethodPost && bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte{'['}) {
		s.serveBatch(w, r, raw)
		return
	}
	key := ""
	if admission.Of(r.Context()).Recorded() == nil { // nobody else may receive a plan
		key = s.responses.key(r.Context(), r.Method, raw)
	}
	if c := s.responses.get(key); c != nil {
		if s.o.Observer != nil {
			s.o.Observer.Received(r.Context(), string(ast.Query), c.operation) // only queries are cached
		}
		c.write(w, r, s.costLimit)
		return
	}
	params, store, bad := s.params(r, raw)
	if bad != nil {
		if bad.status == http.StatusOK {
			bad.status = errorStatus(media)
		}
		writeErrors(w, bad.status, gqlerror.List{bad.err})
		return
	}
	s.execute(w, r, params, media, store, key)
}

// execute executes the operation of a GET or POST request and writes the response, in parts if parts are deferred.
// store, which keeps a persisted query, is called if the document is valid. A response without errors is cached under
// key, unless that is empty, its lifetime is 0 or its plan is recorded. One that depends on the schema only is cached
// without the timestamp in the key. If the client has disconnected, it writes nothing.
func (s *Server) execute(
	w http.ResponseWriter, r *http.Request, params *graphql.RawParams, media string, store func(), key string,
) {
	h := w.Header()
	op, errs := s.prepare(r.Context(), params, store)
	if op == nil {
		writeErrors(w, errorStatus(media), errs)
		return
	}
	kind := op.oc.Operation.Operation
	if r.Method != http.MethodPost && kind != ast.Query {
		h.Set("Allow", "POST")
		writeErrors(w, http.StatusMethodNotAllowed,
			oneError(fault.BadUserInput, "a "+string(kind)+" requires POST"))
		return
	}
	costText := strconv.Itoa(op.cost)
	h.Set(costHeader, costText)
	h.Set(costLimitHeader, s.costLimit)
	if errs != nil {
		writeErrors(w, refusedStatus(h, errs, errorStatus(media)), errs)
		return
	}
	if kind == ast.Subscription {
		writeErrors(w, http.StatusNotAcceptable, oneError(fault.BadUserInput,
			"a subscription requires Accept: "+mediaEvents+", or a WebSocket with the subprotocol "+subprotocol))
		return
	}
	extensions := s.extensions(op)
	ctx := s.context(r.Context(), op)
	if acceptsParts(r) {
		if split := op.split(); split != nil {
			s.serveParts(ctx, w, op, split, extensions)
			return
		}
	}
	static := onlyIntrospects(op.oc.Operation)
	if static {
		key = strings.TrimLeft(key, "-0123456789") // without the timestamp
		if c := s.responses.get(key); c != nil {
			c.write(w, r, s.costLimit)
			return
		}
	}
	resp := s.run(ctx, op.oc)
	if resp == nil { // the client has disconnected
		return
	}
	defer s.Done(resp.Data)
	s.bound(resp)
	resp.Extensions = extensions
	plan := admission.Of(ctx).Recorded()
	if plan != nil {
		plan.Finish(ctx, admission.Of(ctx).Waited(), len(resp.Data))
		resp.Extensions = map[string]any{"plan": plan}
		maps.Copy(resp.Extensions, extensions)
	}
	tail, err := responseTail(resp)
	if err != nil {
		s.writeInternalError(ctx, w, err)
		return
	}
	data, status := orNull(resp.Data), http.StatusOK
	if unavailable(resp.Errors) {
		h.Set("Retry-After", retryAfter(resp.Errors))
		if withoutData.Match(data) {
			status = http.StatusServiceUnavailable
		}
	}
	age := op.ages[op.oc.Operation]
	if len(resp.Errors) > 0 || age == 0 || plan != nil || key == "" && r.Method == http.MethodPost {
		h["Cache-Control"] = notStored
		respond.Write(w, r, status, "", dataMember, append(data, tail...))
		return
	}
	if age > limits.ShortAge && hasNullField(data) {
		age = limits.ShortAge
	}
	body := append(append(append(make([]byte, 0, len(dataMember)+len(data)+len(tail)), dataMember...), data...),
		tail...)
	c := &cachedResponse{body: body, cost: costText, tag: respond.WeakTag(body), age: age, static: static}
	if s.o.Observer != nil {
		c.operation = strings.Clone(op.oc.Operation.Name) // a substring would retain the whole document
	}
	s.responses.put(key, c)
	c.write(w, r, s.costLimit)
}
