package rest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/graph/scalar"
	"heliograph/graph/server"
	"heliograph/internal/base/respond"
	"heliograph/rest/rawjson"
)

// limitOf returns the maximum page size of a request, which depends on the user of its Basic credentials: LimitMax, or
// that of the user. Without credentials, it is LimitMax and ok is true. ok is false if the credentials are invalid,
// and limit is then LimitMax.
func (c *Config) limitOf(r *http.Request) (limit int, ok bool) {
	name, password, given := r.BasicAuth()
	if !given {
		return c.LimitMax, true
	}
	limit = c.LimitMax
	for _, u := range c.Users {
		// The hashes have the same length, so the comparison takes constant time.
		userName, givenName := sha256.Sum256([]byte(u.Username)), sha256.Sum256([]byte(name))
		userPassword, givenPassword := sha256.Sum256([]byte(u.Password)), sha256.Sum256([]byte(password))
		if subtle.ConstantTimeCompare(userName[:], givenName[:])&subtle.ConstantTimeCompare(userPassword[:],
			givenPassword[:]) == 1 {
			ok = true
			if u.Limit > 0 {
				limit = u.Limit
			}
		}
	}
	return limit, ok
}

// serve responds to a request for an endpoint: it reads the request, runs its document, and writes the body with the
// next link and the headers for caches. maxLimit is the maximum page size. It writes nothing if the client has
// disconnected, and 503 if the time of the request is up. The memory of the body is reused afterwards. If Admit,
// [API.read] or the graph rejects the request, it writes the problem, or the body of a [Direct] with status 200.
func (a *API) serve(w http.ResponseWriter, r *http.Request, e *Endpoint, maxLimit int) {
	if e.Family == Modern {
		a.cacheFor(w.Header(), e.MaxAge) // errors too
	}
	if e.Admit != nil {
		if p := e.Admit(a.Config); p != nil {
			a.writeError(w, r, e, p)
			return
		}
		r = r.WithContext(relay.WithAdmission(r.Context()))
	}
	req, err := a.read(r, e, maxLimit, a.helpers)
	if err != nil {
		if e.ExistsFirst {
			err = a.unlessMissing(r, e, maxLimit, err)
		}
		a.writeError(w, r, e, err)
		return
	}
	var res *server.Result
	if e.Stream == nil {
		res = a.run(r.Context(), req)
	} else {
		var written bool
		if res, written = e.Stream(w, req, func(ctx context.Context) *server.Result {
			return a.run(ctx, req)
		}); written {
			return
		}
	}
	switch {
	case res != nil:
	case errors.Is(r.Context().Err(), context.DeadlineExceeded):
		a.writeError(w, r, e, e.Family.fail(http.StatusServiceUnavailable))
		return
	default: // the client disconnected
		return
	}
	defer a.Server.Done(res.Data)
	body, link, err := a.body(req, res)
	if err != nil {
		a.writeError(w, r, e, err)
		return
	}
	if slices.Contains(e.TextOperations, req.operation()) {
		w.Header().Set("Content-Type", "text/plain;charset=UTF-8")
		body, _ = rawjson.Sole(body, "text")
		body = bytes.Trim(body, `"`)
	}
	age := e.MaxAge
	if res.Outcome.Volatile && e.MaxAgeVolatile > 0 {
		age = e.MaxAgeVolatile
	}
	a.cacheFor(w.Header(), age)
	if link != "" && !strings.ContainsAny(link, "\"\\\r\n") { // a value with escapes is not a valid header value
		w.Header().Set("Link", "<"+link+`>; rel="next"`)
	}
	status := http.StatusOK
	if res.Outcome.Partial {
		status = http.StatusPartialContent
	}
	writeBody(w, r, e.Family, status, body)
}

// unlessMissing returns the error to report for a request that was rejected with bad: that, or the error of the
// request without its query string, such as not found if the object of the path does not exist. It runs the document
// without the query string to find out, but not if bad is no *Problem or the query string cannot be parsed.
func (a *API) unlessMissing(r *http.Request, e *Endpoint, maxLimit int, bad error) error {
	var problem *Problem
	if _, unreadable := parseQuery(r.URL.RawQuery, a.Config.MaxRepeats); unreadable != nil ||
		!errors.As(bad, &problem) {
		return bad
	}
	plain := r.Clone(r.Context())
	plain.URL.RawQuery = ""
	req, err := a.read(plain, e, maxLimit, a.helpers)
	if err != nil {
		return err
	}
	if res := a.run(plain.Context(), req); res != nil {
		if _, _, err := a.body(req, res); err != nil {
			return err
		}
	}
	return bad
}

// writeError writes the response of a request that was rejected with err: the problem, or the body of a [Direct]
// with status 200. Other errors are 500.
func (a *API) writeError(w http.ResponseWriter, r *http.Request, e *Endpoint, err error) {
	var problem *Problem
	var direct *Direct
	if !errors.As(err, &problem) && !errors.As(err, &direct) {
		problem = e.Family.fail(http.StatusInternalServerError)
	}
	if e.ErrorData && problem != nil {
		problem = problem.withData()
	}
	switch {
	case errors.As(err, &direct):
		a.cacheFor(w.Header(), e.MaxAge)
		writeBody(w, r, e.Family, http.StatusOK, []byte(direct.Body))
	default:
		writeProblem(w, r, e.Family, problem)
	}
}

// run runs the operation of a request with its page size. Other lists of the document may ask for up to
// TokensOfAccount rows. Run adds the default values of absent variables of the document to req.Variables. It returns
// nil if the client disconnected or the time is up.
func (a *API) run(ctx context.Context, req *Request) *server.Result {
	return a.Server.Run(ctx, server.Call{
		Document: req.Endpoint.prepared.document, Operation: req.operation(), Variables: req.Variables,
		Style:  req.style,
		Limits: relay.Limits{Default: req.Limit, Max: max(req.Limit, a.Config.TokensOfAccount)},
	})
}

// body returns the body of a result, in the memory of its data, which it overwrites, and the link to the next page.
// The link is "" unless the page is full or a range was cut. The first error of the operation, or a missing object,
// becomes a problem.
func (a *API) body(req *Request, res *server.Result) (body []byte, link string, err error) {
	e := req.Endpoint
	if len(res.Errors) > 0 {
		return nil, "", a.problemOf(e.Family, res.Errors[0])
	}
	body, found := bodyOf(res.Data, e.prepared.roots[req.operation()])
	if !found || !res.Outcome.Found() {
		return nil, "", a.notFoundProblem(req, &res.Outcome)
	}
	for _, name := range e.OmitEmpty {
		body = rawjson.OmitEmpty(body, name)
	}
	for _, group := range e.OmitNull {
		body = rawjson.OmitNull(body, group...)
	}
	for _, name := range e.Keyed {
		body = rawjson.Keyed(body, name)
	}
	if e.Next == nil {
		return body, "", nil
	}
	switch {
	case res.Outcome.Rows > 0 && res.Outcome.Rows == req.Limit:
		link = req.next(res.Outcome.Last)
	case req.Cut != nil && (res.Outcome.Rows > 0 || !e.EmptyEnds):
		link = req.afterCut(res.Outcome.Last)
	}
	return withLink(body, link), link, nil
}

// notFoundProblem returns the 404 of a response without the requested object, in the words of the endpoint. The
// NotFound of the endpoint can read the database.
func (a *API) notFoundProblem(req *Request, o *relay.Outcome) *Problem {
	switch e := req.Endpoint; {
	case e.NotFound != nil:
		return e.NotFound(req, o)
	case e.Family != Modern:
		return NotFound("Not found")
	case o.Missing != nil && a.Wording.Missing != nil:
		return ModernNotFound(a.Wording.Missing(o.Missing))
	default:
		return ModernNotFound("")
	}
}

// statuses are the statuses of responses to operations that failed. Others have 500.
var statuses = map[fault.Code]int{
	fault.BadUserInput: http.StatusBadRequest, fault.TooComplex: http.StatusBadRequest,
	fault.NotFound: http.StatusNotFound, fault.RateLimited: http.StatusTooManyRequests,
	fault.SchemaMismatch: http.StatusNotImplemented,
	fault.Forbidden:      http.StatusNotImplemented, // the operator has disabled the field
	fault.Timeout:        http.StatusServiceUnavailable, fault.Unavailable: http.StatusServiceUnavailable,
}

// problemOf returns the problem for an error of an operation, with the status and the words of the family. Internal
// errors, timeouts, an unavailable database and disabled fields have a general text. That of an unavailable database
// has a Retry-After of at least one second.
func (a *API) problemOf(f Family, err *gqlerror.Error) *Problem {
	name, _ := err.Extensions["code"].(string)
	code, text := fault.Code(name), a.text(err)
	status := cmp.Or(statuses[code], http.StatusInternalServerError)
	switch {
	case code == fault.Forbidden || status == http.StatusServiceUnavailable || status == http.StatusInternalServerError:
		p := f.fail(status)
		if code == fault.Unavailable {
			seconds, _ := err.Extensions["retryAfter"].(int)
			p.Retry = max(1, seconds)
		}
		return p
	case f == Modern:
		return ModernProblem(status, text)
	case code == fault.NotFound:
		return NotFound("Not found")
	default:
		return problem(status, text)
	}
}

// text returns the API's text for an error of the graph, or the graph's own message, for the problem of a response.
func (a *API) text(err *gqlerror.Error) string {
	if a.Wording.Error != nil {
		if text := a.Wording.Error(err); text != "" {
			return text
		}
	}
	return err.Message
}

// bodyOf assembles the body from the data of an operation, in the memory of data, which it overwrites. roots are the
// aliases of the fields that form the body, at least one, in the order of the document. The members of a root field
// that [IsSpliced] reports become members of the body; others are members themselves. found is false if the first root
// field, or the object around all of them, is null, or if the only root field is an empty list.
func bodyOf(data []byte, roots []string) (body []byte, found bool) {
	if fields, ok := rawjson.Sole(data, relay.InsideAlias); ok {
		if string(fields) == "null" {
			return nil, false
		}
		data = fields
	}
	if len(roots) == 1 {
		value, _ := rawjson.Sole(data, roots[0])
		if IsSpliced(roots[0]) {
			return value, value[0] == '{'
		}
		return data, string(value) != "null" && string(value) != "[]"
	}
	body = data[:1] // what has been read is overwritten: the body is not longer
	body[0] = '{'
	first := true
	for name, value := range rawjson.Members(data, roots[len(roots)-1]) {
		switch {
		case first && string(value) == "null":
			return nil, false
		case len(body) > 1:
			body = append(body, ',')
		}
		first = false
		if IsSpliced(string(name)) {
			body = append(body, value[1:len(value)-1]...)
			continue
		}
		body = append(append(append(append(body, '"'), name...), `":`...), value...)
	}
	return append(body, '}'), true
}

// IsSpliced reports whether the members of a root field's value become members of the body: if its alias in the
// document is page or body.
func IsSpliced(alias string) bool { return alias == relay.PageAlias || alias == relay.BodyAlias }

// withLink returns a body with the member links, which has the next link or null. It overwrites the memory after
// the body.
func withLink(body []byte, link string) []byte {
	body = body[:len(body)-1]
	if len(body) > 1 {
		body = append(body, ',')
	}
	body = append(body, `"links":{"next":`...)
	if link == "" {
		body = append(body, "null"...)
	} else {
		body = scalar.AppendString(body, link, scalar.REST)
	}
	return append(body, "}}"...)
}

// NotFoundHandler responds to unknown paths with the 404 of the classic family. Scripts of any origin may read it.
func NotFoundHandler(w http.ResponseWriter, r *http.Request) {
	Reject(w, r, http.StatusNotFound, "Not found")
}

// Reject responds to a request that is rejected before it is parsed, with the status and message in the form of
// the classic family. Scripts of any origin may read the response.
func Reject(w http.ResponseWriter, r *http.Request, status int, message string) {
	allowAnyOrigin(w.Header())
	writeProblem(w, r, Classic, problem(status, message))
}

// Unavailable responds with 503 and Retry-After in seconds, in the form of the family of the path. The gateway
// calls it for requests that the queue refuses.
func (a *API) Unavailable(w http.ResponseWriter, r *http.Request, seconds int) {
	allowAnyOrigin(w.Header())
	f := Classic
	if at := a.route(r.URL.EscapedPath()); at != nil {
		f = at.family()
	}
	b := busy[f]
	maps.Copy(w.Header(), b.header)
	w.Header()["Retry-After"] = []string{strconv.Itoa(seconds)}
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = w.Write(b.body) // the client may have disconnected
}

// busy are the responses of [API.Unavailable] by family. They are made in advance, because a server that is busy sends
// many of them.
var busy = func() (all [Modern + 1]struct {
	header http.Header
	body   []byte
},
) {
	for f := range all {
		b := &all[f]
		b.body = Family(f).fail(http.StatusServiceUnavailable).body()
		b.header = http.Header{"Content-Type": classicContentType, "Content-Length": {strconv.Itoa(len(b.body))}}
		if Family(f) == Modern {
			b.header["Content-Type"] = modernContentType
		}
	}
	return all
}()

// writeProblem writes an error response in the form of a family, with Retry-After if the problem has it.
func writeProblem(w http.ResponseWriter, r *http.Request, f Family, p *Problem) {
	if p.Retry > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(p.Retry))
	}
	writeBody(w, r, f, p.Status, p.body())
}

// writeBody writes a response with content type and ETag of its family, compressed if the client accepts that and
// without the body for HEAD, or 304 instead of a success that the client has. The modern family keeps a content type
// that the caller has set. It does not set Cache-Control.
func writeBody(w http.ResponseWriter, r *http.Request, f Family, status int, body []byte) {
	h := w.Header()
	var tag string
	if f == Modern {
		tag = respond.Tag(body)
		if h["Content-Type"] == nil {
			h["Content-Type"] = modernContentType
		}
	} else {
		tag = respond.WeakTag(body)
		h["Content-Type"] = classicContentType
	}
	respond.Write(w, r, status, tag, body)
}

// Values of common headers. They are shared between responses: replace them, do not change them.
var (
	anyOrigin          = []string{"*"}
	classicContentType = []string{"application/json; charset=utf-8"}
	modernContentType  = []string{"application/json;charset=UTF-8"}
)

// allowAnyOrigin sets the header in h that allows scripts of all origins to read the response.
func allowAnyOrigin(h http.Header) { h["Access-Control-Allow-Origin"] = anyOrigin }

// cacheFor sets Cache-Control in h: clients and proxies may cache the response for a number of seconds, which must be
// one that an endpoint declares. For another number, the response has no such header.
func (a *API) cacheFor(h http.Header, seconds int) { h["Cache-Control"] = a.ages[seconds] }
