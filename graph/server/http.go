package server

import (
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"heliograph/graph/fault"
	"heliograph/graph/limits"
	"heliograph/internal/base/etag"
)

const (
	mediaJSON    = "application/json"
	mediaGraphQL = "application/graphql-response+json"
)

// ServeHTTP answers GET and POST as the GraphQL over HTTP specification says (draft of 2023, §5 and §6): request errors have no data member,
// and are 200 to clients that know only application/json. Bodies other than application/json are refused, so no HTML form can send one.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case wantsWebSocket(r):
		s.serveWebSocket(w, r)
		return
	case wantsEvents(r):
		s.serveEvents(w, r)
		return
	}
	h := w.Header()
	h.Add("Vary", "Accept")
	media := accepted(r.Header.Values("Accept"))
	h.Set("Content-Type", media+"; charset=utf-8")

	raw, bad := s.receive(w, r)
	if bad != nil {
		writeErrors(w, bad.status, gqlerror.List{bad.err})
		return
	}
	key := s.responses.key(r.Context(), r.Method, raw)
	if a := s.responses.get(key); a != nil {
		if s.o.Observer != nil {
			s.o.Observer.Received(r.Context(), string(ast.Query), a.operation) // of nothing else answers are kept
		}
		a.write(w, r, s.costLimit)
		return
	}
	params, keep, bad := s.params(r, raw)
	if bad != nil {
		if bad.status == http.StatusOK {
			bad.status = statusOf(media)
		}
		writeErrors(w, bad.status, gqlerror.List{bad.err})
		return
	}
	s.run(w, r, params, media, keep, key)
}

// params reads what a request asks for. keep keeps the document once it turned out to be good. The status of a refusal is 200 where that of a bad
// document fits.
func (s *Server) params(r *http.Request, raw []byte) (params *graphql.RawParams, keep func(), bad *refusal) {
	params = &graphql.RawParams{Headers: r.Header}
	params.ReadTime.Start = graphql.Now()
	var documentID string
	if r.Method == http.MethodPost {
		documentID, bad = readBody(raw, s.o.MaxValues, params)
	} else {
		documentID, bad = readQuery(string(raw), s.o.MaxValues, params)
	}
	if bad != nil {
		return nil, nil, bad
	}
	keep, unknown := s.resolve(params, documentID)
	switch {
	case unknown != nil:
		return nil, nil, &refusal{http.StatusOK, unknown}
	case params.Query == "":
		return nil, nil, refuse(http.StatusBadRequest, "query is missing")
	}
	params.ReadTime.End = graphql.Now()
	return params, keep, nil
}

// receive reads what a request asks, as it is.
func (s *Server) receive(w http.ResponseWriter, r *http.Request) ([]byte, *refusal) {
	h := w.Header()
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		return []byte(r.URL.RawQuery), nil
	case http.MethodPost:
		if r.ContentLength > s.o.MaxBody {
			h.Set("Connection", "close") // what is not read must not be taken for the next request
			return nil, tooLarge(s.o.MaxBody)
		}
		return receiveBody(http.MaxBytesReader(w, r.Body, s.o.MaxBody), r.ContentLength, r.Header.Get("Content-Type"))
	default:
		h.Set("Allow", "GET, HEAD, POST")
		return nil, refuse(http.StatusMethodNotAllowed, "only GET and POST are supported")
	}
}

// operation is what a client asked for, found good.
type operation struct {
	*entry
	oc   *graphql.OperationContext
	cost int
}

// split is the operation split into what is answered at once and what it defers; nil where it defers nothing.
func (o *operation) split() *split {
	d := o.deferrals[o.oc.Operation]
	if d == nil {
		return nil
	}
	return d.split(o.oc.Variables)
}

// prepare checks what a client asks for. keep is called when the document turned out to be good. With errors, an operation that is not nil was refused for its cost.
func (s *Server) prepare(ctx context.Context, params *graphql.RawParams, keep func()) (*operation, gqlerror.List) {
	e, errs := s.document(params.Query)
	if errs != nil {
		return nil, errs
	}
	keep()
	oc, errs := s.exec.CreateOperationContext(ctx, params)
	if errs != nil {
		return nil, withCodes(errs)
	}
	oc.ResolverMiddleware, oc.RootResolverMiddleware = s.middleware, answersAlone // without the executor's chains of what it has none of
	s.received(ctx, oc.Operation)
	op := &operation{entry: e, oc: oc, cost: e.cost(oc.Operation, s.o.Limits).Of(oc.Variables)}
	if op.cost > s.o.Bounds.Cost {
		return op, gqlerror.List{tooCostly(op.cost, s.o.Bounds.Cost)}
	}
	return op, nil
}

// run runs what a request asks for. keep is called when the document turned out to be good; a good answer is kept under the key.
func (s *Server) run(w http.ResponseWriter, r *http.Request, params *graphql.RawParams, media string, keep func(), key string) {
	h := w.Header()
	ctx := s.context(r.Context())
	op, errs := s.prepare(ctx, params, keep)
	if op == nil {
		writeErrors(w, statusOf(media), errs)
		return
	}
	e, oc, cost := op.entry, op.oc, op.cost
	if r.Method != http.MethodPost && oc.Operation.Operation != ast.Query {
		h.Set("Allow", "POST")
		writeErrors(w, http.StatusMethodNotAllowed, gqlerror.List{coded(fault.BadUserInput, "GET runs queries only; send a "+string(oc.Operation.Operation)+" with POST")})
		return
	}
	costText := strconv.Itoa(cost)
	h[costHeader], h[costLimitHeader] = []string{costText}, []string{s.costLimit}
	if errs != nil {
		writeErrors(w, statusOf(media), errs)
		return
	}
	if oc.Operation.Operation == ast.Subscription {
		writeErrors(w, http.StatusNotAcceptable, gqlerror.List{coded(fault.BadUserInput,
			"a subscription has many answers: accept "+mediaEvents+", or use a WebSocket with the subprotocol "+subprotocol)})
		return
	}
	var extensions map[string]any
	if asked, _ := params.Extensions["cost"].(bool); asked {
		extensions = map[string]any{"cost": costOf(cost, s.o.Bounds.Cost)}
	}
	if wantsParts(r) {
		if sp := op.split(); sp != nil {
			s.writeParts(ctx, w, op, sp, extensions)
			return
		}
	}
	run, ctx := s.exec.DispatchOperation(ctx, oc)
	resp := run(ctx)
	if resp == nil { // the client has gone
		return
	}
	defer s.Done(resp.Data)
	resp.Extensions = extensions
	tail, err := tailOf(resp)
	if err != nil {
		s.unwritten(ctx, w, err)
		return
	}
	data := orNull(resp.Data)
	age := e.age(oc.Operation)
	if len(resp.Errors) > 0 || age == 0 || key == "" && r.Method == http.MethodPost {
		h.Set("Cache-Control", "no-store")
		writeResponse(w, data, tail)
		return
	}
	if age > limits.ShortAge && incomplete(data) {
		age = limits.ShortAge
	}
	body := append(append(append(make([]byte, 0, len(dataMember)+len(data)+len(tail)), dataMember...), data...), tail...)
	a := &answer{body: body, cost: costText, tag: etag.Of(body), age: age}
	if s.o.Observer != nil {
		a.operation = strings.Clone(oc.Operation.Name) // or the whole document would be kept with the answer
	}
	s.responses.put(key, a)
	a.write(w, r, s.costLimit)
}

// The headers that tell what an operation costs, and what it may cost, spelled as net/http keeps them.
const (
	costHeader      = "X-Query-Cost"
	costLimitHeader = "X-Query-Cost-Limit"
)

// costOf is what extensions tell of an operation's cost.
func costOf(cost, limit int) map[string]int { return map[string]int{"requested": cost, "limit": limit} }

// tooCostly refuses an operation for its cost.
func tooCostly(cost, limit int) *gqlerror.Error {
	e := coded(fault.TooComplex, fmt.Sprintf("the operation costs %d, which is how many objects its answer can hold; at most %d are allowed: ask for smaller pages, or for less in each row", cost, limit))
	e.Extensions["cost"] = costOf(cost, limit)
	return e
}

// Refuse answers a request of a client of the graph that is not even read.
func Refuse(w http.ResponseWriter, r *http.Request, status int, code fault.Code, message string) {
	w.Header().Add("Vary", "Accept")
	w.Header().Set("Content-Type", accepted(r.Header.Values("Accept"))+"; charset=utf-8")
	writeErrors(w, status, gqlerror.List{coded(code, message)})
}

// refusal is why a request is not run.
type refusal struct {
	status int
	err    *gqlerror.Error
}

func refuse(status int, message string) *refusal {
	return &refusal{status, coded(fault.BadUserInput, message)}
}

// accepted chooses the media type of the answer. application/json stands for clients that do not say.
func accepted(accept []string) string {
	best, quality := mediaJSON, -1.0
	for _, header := range accept {
		for item := range strings.SplitSeq(header, ",") {
			media, params, err := mime.ParseMediaType(strings.TrimSpace(item))
			if err != nil {
				continue
			}
			q := 1.0
			if text, ok := params["q"]; ok {
				if q, err = strconv.ParseFloat(text, 64); err != nil {
					continue
				}
			}
			switch media {
			case mediaGraphQL:
			case mediaJSON, "application/*", "*/*":
				media = mediaJSON
			default:
				continue
			}
			if q > quality && q > 0 {
				best, quality = media, q
			}
		}
	}
	return best
}

// cut ends a text where it gets too long to be read.
func cut(text string) string { return strings.ToValidUTF8(text[:longestMessage], "") + "…" }

// longestMessage is where a text is cut that repeats what the client has sent.
const longestMessage = 300

// withCodes gives every error of a request that is not run our code for it, gqlgen has others; and a text that can be read.
func withCodes(errs gqlerror.List) gqlerror.List {
	for _, e := range errs {
		if len(e.Message) > longestMessage {
			e.Message = cut(e.Message)
		}
		for i, step := range e.Path {
			if name, ok := step.(ast.PathName); ok && len(name) > longestMessage {
				e.Path[i] = ast.PathName(cut(string(name)))
			}
		}
		if e.Extensions == nil {
			e.Extensions = map[string]any{}
		}
		e.Extensions["code"] = string(fault.BadUserInput)
	}
	return errs
}

// writeErrors writes an answer without data.
func writeErrors(w http.ResponseWriter, status int, errs gqlerror.List) {
	b, err := json.Marshal(struct {
		Errors gqlerror.List `json:"errors"`
	}{errs})
	if err != nil {
		status, b = http.StatusInternalServerError, []byte(`{"errors":[{"message":"internal error"}]}`)
	}
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(b) // a client that has gone is no concern of ours
}

// unwritten answers where an answer could not be written.
func (s *Server) unwritten(ctx context.Context, w http.ResponseWriter, err error) {
	s.o.Logger.ErrorContext(ctx, "an answer could not be written", "error", err)
	writeErrors(w, http.StatusInternalServerError, gqlerror.List{coded(fault.Internal, "internal error")})
}

// tailOf is what follows the data in an answer.
func tailOf(resp *graphql.Response) ([]byte, error) {
	var tail []byte
	for _, part := range []struct {
		name string
		v    any
		on   bool
	}{{"errors", resp.Errors, len(resp.Errors) > 0}, {"extensions", resp.Extensions, len(resp.Extensions) > 0}} {
		if !part.on {
			continue
		}
		b, err := json.Marshal(part.v)
		if err != nil {
			return nil, fmt.Errorf("writing %s: %w", part.name, err)
		}
		tail = append(append(append(append(tail, `,"`...), part.name...), `":`...), b...)
	}
	return append(tail, '}'), nil
}

// writeResponse writes an answer; its data is written as it is.
func writeResponse(w http.ResponseWriter, data, tail []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(dataMember)+len(data)+len(tail)))
	w.WriteHeader(http.StatusOK)
	for _, b := range [][]byte{[]byte(dataMember), data, tail} {
		_, _ = w.Write(b)
	}
}

// dataMember is how an answer begins.
const dataMember = `{"data":`
