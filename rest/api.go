package rest

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/graph/relay"
	"heliograph/graph/scalar"
	"heliograph/graph/server"
	"heliograph/internal/base/values"
	"heliograph/internal/base/wrap"
)

// API is a REST API: endpoints and the documents that they run.
type API struct {
	Prefix    string
	Endpoints []Endpoint
	Documents embed.FS
	Config    *Config
	Server    *server.Server
	Wording   Wording

	helpers helperFunc           // runs the helper operations of endpoints
	routes  map[outline][]*route // by the outlines of their paths, in the order in which they are tried
	ages    map[int][]string     // values of Cache-Control, by seconds
}

// Wording has the API's texts for typed errors of the graph.
type Wording struct {
	// Missing returns the text for an object that does not exist. Endpoints of the modern family use it.
	Missing func(*relay.Missing) string
	// Error returns the text of an error, or "" to use the graph's message.
	Error func(error) string
}

// prepared is the document of an endpoint.
type prepared struct {
	document *server.Document
	// roots are the aliases of the fields that form the body, by operation.
	roots map[string][]string
}

// Inside returns the first root field of an operation if its alias is [relay.InsideAlias], or nil. The fields that are
// selected in it, instead of the root fields, are the members of the REST body. The operation is valid, so it has a
// root field.
func Inside(op *ast.OperationDefinition) *ast.Field {
	if f, ok := op.SelectionSet[0].(*ast.Field); ok && f.Alias == relay.InsideAlias {
		return f
	}
	return nil
}

// Roots returns the fields of an operation that form the body of the response: those of the root, or those in the
// field that [Inside] returns. It skips fragments among them.
func Roots(op *ast.OperationDefinition) []*ast.Field {
	set := op.SelectionSet
	if f := Inside(op); f != nil {
		set = f.SelectionSet
	}
	var out []*ast.Field
	for _, s := range set {
		if f, ok := s.(*ast.Field); ok {
			out = append(out, f)
		}
	}
	return out
}

const fragmentFiles = "documents/fragments*.graphql"

// Fragments returns the text of each shared fragment by name, for [WithFragments]. It reads
// documents/fragments*.graphql of the embedded documents, and fails if one of these files cannot be read. Without such
// files, the map is empty.
func Fragments(documents fs.FS) (map[string]string, error) {
	names, err := fs.Glob(documents, fragmentFiles)
	if err != nil {
		return nil, fmt.Errorf("looking for shared fragments: %w", err)
	}
	all := map[string]string{}
	for _, n := range names {
		text, err := fs.ReadFile(documents, n)
		if err != nil {
			return nil, fmt.Errorf("reading shared fragments: %w", err)
		}
		for _, m := range fragmentSyntax.FindAllStringSubmatch(string(text)+"\n", -1) {
			all[m[1]] = m[0]
		}
	}
	return all, nil
}

// Init parses and validates all documents, caches them in the GraphQL server, registers the routes, and sets the
// document and the route of each of a.Endpoints. Call it once before the API serves requests. It fails if a document
// is missing or invalid. It panics if the grammar of a path is.
func (a *API) Init() error {
	a.routes, a.ages, a.helpers = map[outline][]*route{}, map[int][]string{}, a.runHelper
	byPath := map[string]*route{}
	fragments, err := Fragments(a.Documents)
	if err != nil {
		return err
	}
	read := map[string]*prepared{} // by document: endpoints may share one
	for i := range a.Endpoints {
		e := &a.Endpoints[i]
		if read[e.Document] == nil {
			if read[e.Document], err = a.prepare(e.Document, fragments); err != nil {
				return fmt.Errorf("%s: %w", e.Path, err)
			}
		}
		e.prepared = read[e.Document]
		for _, age := range []int{e.MaxAge, e.MaxAgeVolatile} {
			a.ages[age] = []string{"public, max-age=" + strconv.Itoa(age)}
		}
		if e.route = byPath[e.Path]; e.route == nil {
			e.route = newRoute(a.Prefix, e.Path)
			byPath[e.Path] = e.route
			alike := outlineOf(e.Path)
			a.routes[alike] = append(a.routes[alike], e.route)
		}
		if e.Body != nil {
			e.route.post = e
		} else {
			e.route.get = e
		}
	}
	for _, list := range a.routes { // literals first: a brace follows all letters
		slices.SortFunc(list, func(x, y *route) int { return strings.Compare(x.pattern, y.pattern) })
	}
	return nil
}

// prepare reads an embedded document, adds the fragments that it uses, and validates and caches it in the GraphQL
// server. It also returns the aliases of the root fields by operation, from which the body is built. A document with
// an operation that is not a query is an error.
func (a *API) prepare(name string, fragments map[string]string) (*prepared, error) {
	text, err := fs.ReadFile(a.Documents, path.Join("documents", name))
	if err != nil {
		return nil, fmt.Errorf("reading document %s: %w", name, err)
	}
	doc, err := a.Server.Prepare(WithFragments(string(text), fragments))
	if err != nil {
		return nil, fmt.Errorf("document %s: %w", name, err)
	}
	p := &prepared{document: doc, roots: map[string][]string{}}
	for _, op := range doc.Operations() {
		for _, f := range Roots(op) {
			p.roots[op.Name] = append(p.roots[op.Name], f.Alias)
		}
	}
	return p, nil
}

// Document returns the document of an endpoint of this API. Call Init first.
func (*API) Document(e *Endpoint) *server.Document { return e.prepared.document }

// fragmentSyntax matches a fragment, from its keyword at the start of a line to a closing brace on its own line.
var fragmentSyntax = regexp.MustCompile(`(?ms)^fragment (\w+) on .*?\n\}\n`)

var spreadSyntax = regexp.MustCompile(`\.{3}\s*(\w+)`)

// WithFragments returns a document followed by the shared fragments that it or one of these uses, sorted by name. It
// skips spreads of other names, which the document may define itself.
func WithFragments(text string, shared map[string]string) string {
	used := map[string]bool{}
	var add func(string)
	add = func(of string) {
		for _, m := range spreadSyntax.FindAllStringSubmatch(of, -1) {
			if fragment, ok := shared[m[1]]; ok && !used[m[1]] {
				used[m[1]] = true
				add(fragment)
			}
		}
	}
	add(text)
	var b strings.Builder
	b.WriteString(text)
	for _, name := range slices.Sorted(maps.Keys(used)) {
		b.WriteString("\n" + shared[name])
	}
	return b.String()
}

// ServeHTTP serves the paths below the prefix, for scripts of any origin. It responds to OPTIONS for any path. For
// other methods it checks the Basic credentials first, except for the modern family, which ignores them, then selects
// the endpoint. Invalid credentials are a 401, and an unknown path is a 404. It uses the route in the context if
// [API.Find] has found it. If the path does not support the method, the status is 405 in the modern family and 404 in
// the classic one.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	allowAnyOrigin(w.Header())
	if a.Config.ClusterID != "" {
		w.Header().Set("X-Cluster-Id", a.Config.ClusterID)
	}
	if r.Method == http.MethodOptions {
		a.preflight(w, r)
		return
	}
	at, found := routeKey.Of(r.Context())
	if !found {
		at = a.route(r.URL.EscapedPath())
	}
	limit, ok := a.Config.limitOf(r)
	if !ok && (at == nil || at.family() != Modern) {
		writeProblem(w, r, Classic, problem(http.StatusUnauthorized, "Invalid credentials"))
		return
	}
	if at == nil {
		a.notFound(w, r)
		return
	}
	e := at.by(r.Method)
	switch {
	case e != nil:
		a.serve(w, r, e, limit)
	case at.family() == Modern:
		w.Header().Set("Allow", at.allow())
		writeProblem(w, r, Modern, ModernProblem(http.StatusMethodNotAllowed,
			"Request method '"+r.Method+"' is not supported"))
	default:
		a.notFound(w, r)
	}
}

// route returns the endpoints of a path, or nil if the path is unknown. The caller has checked that it has the
// prefix.
func (a *API) route(escaped string) *route {
	path := a.relativePath(escaped)
	for _, at := range a.routes[outlineOf(path)] {
		if at.matches(path) {
			return at
		}
	}
	return nil
}

var routeKey = values.NewKey[*route]()

// Find returns the path pattern of a request such as /api/v1/accounts/{id}, and a value for the context of the
// request, with which the path is not looked up again. If the path is unknown, the value is empty and has no effect.
func (a *API) Find(r *http.Request) (pattern string, route values.Value) {
	at := a.route(r.URL.EscapedPath())
	if at == nil {
		return "", values.Value{}
	}
	return at.pattern, routeKey.Is(at)
}

// Pattern returns the path pattern of a request, such as /api/v1/accounts/{id}, or "" if the path is unknown.
func (a *API) Pattern(r *http.Request) string {
	pattern, _ := a.Find(r)
	return pattern
}

// relativePath returns the part of a path after the API's prefix, which it must have in any letter case, without
// one trailing slash.
func (a *API) relativePath(escaped string) string {
	return strings.TrimSuffix(escaped[min(len(a.Prefix), len(escaped)):], "/")
}

// notFound writes the 404 response for a path that is no endpoint, or for a method that a path of the classic family
// does not support. It has the form of the classic family, but that of the modern one for /topics/.
func (a *API) notFound(w http.ResponseWriter, r *http.Request) {
	// The modern family responds to the path of a collection of which only members are served.
	if p := r.URL.EscapedPath(); strings.EqualFold(p, a.Prefix+"/topics/") {
		text := "No static resource " + strings.TrimPrefix(strings.TrimSuffix(p, "/"), "/") + " for request '" +
			p + "'."
		writeProblem(w, r, Modern, ModernNotFound(text))
		return
	}
	writeProblem(w, r, Classic, NotFound("Not found"))
}

// preflight responds to a CORS preflight request with the methods that the old service of the path listed. All
// requested headers are allowed.
func (a *API) preflight(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	at := a.route(r.URL.EscapedPath())
	if requested := r.Header.Get("Access-Control-Request-Headers"); requested != "" {
		h.Set("Access-Control-Allow-Headers", requested)
	}
	h.Add("Vary", "Access-Control-Request-Headers")
	h.Set("Content-Length", "0")
	if at != nil && at.family() == Modern {
		h.Set("Access-Control-Allow-Methods", "GET,HEAD,POST")
		w.WriteHeader(http.StatusOK)
		return
	}
	h.Set("Access-Control-Allow-Methods", "GET,HEAD,PUT,PATCH,POST,DELETE")
	w.WriteHeader(http.StatusNoContent)
}

// helperFunc runs an operation that the validation of a request needs, and returns its data. An error is the problem
// of the response.
type helperFunc func(ctx context.Context, f Family, c server.Call) ([]byte, error)

// runHelper is the [helperFunc] of requests. It runs the operation in the graph at once, with the context of the
// request, and adds default values to c.Variables. The first error of the graph becomes the problem. If the time is
// up, or the client has disconnected, that is a 503.
func (a *API) runHelper(ctx context.Context, f Family, c server.Call) ([]byte, error) {
	res := a.Server.Run(ctx, c)
	switch {
	case res == nil: // the time is up, or the client has disconnected
		return nil, f.fail(http.StatusServiceUnavailable)
	case len(res.Errors) > 0:
		return nil, a.problemOf(f, res.Errors[0])
	}
	return res.Data, nil
}

// explainNothing is the [helperFunc] of requests that are explained: it runs nothing and returns a 400, which becomes
// the error of [API.Explain].
func explainNothing(context.Context, Family, server.Call) ([]byte, error) {
	return nil, Bad("the operation depends on rows of the database, which are not read here: use the ID instead of " +
		"an address, and a range of time with both ends")
}

// read returns the request of an endpoint with the variables of its document. It reads the body, the path and the
// query string, then calls Bind of the body and Finish, and stops at the first problem, which is the error. The error
// can also be a [Direct], which is a successful response. Endpoints with links get the variables limit and order.
// maxLimit is the maximum page size of the user. helpers runs the documents that the validation of some endpoints
// needs, so it can query the database.
func (a *API) read(r *http.Request, e *Endpoint, maxLimit int, helpers helperFunc) (*Request, error) {
	req := &Request{
		Config: a.Config, HTTP: r, Endpoint: e, maxLimit: maxLimit,
		path: a.relativePath(r.URL.EscapedPath()), Variables: map[string]any{},
		Limit: a.Config.LimitDefault, Desc: e.Desc, Next: e.Next, style: scalar.REST, runHelper: helpers,
	}
	readParams := req.readClassic
	if e.Family == Modern {
		req.style, readParams = scalar.RESTCompact, req.readModern
	}
	var body []byte
	if e.Body != nil {
		var err error
		if body, err = e.Body.readBody(r); err != nil {
			return nil, err
		}
	}
	if err := readParams(); err != nil {
		return nil, err
	}
	if e.Body != nil {
		if err := e.Body.Bind(req, body); err != nil {
			return nil, err
		}
	}
	if e.Next != nil {
		req.Variables["limit"] = req.Limit
		req.Variables["order"] = req.Order()
	}
	if e.Finish != nil {
		if err := e.Finish(req); err != nil {
			return nil, err
		}
	}
	return req, nil
}

// operation returns the name of the operation in the document that this request executes: the selected one, the
// one of the endpoint, or the first.
func (r *Request) operation() string {
	switch {
	case r.Selected != "":
		return r.Selected
	case r.Endpoint.Operation == nil:
		return r.Endpoint.prepared.document.Operations()[0].Name
	default:
		return r.Endpoint.Operation(r)
	}
}

// Explanation is the operation that a REST path runs.
type Explanation struct {
	// Query is the document. It requires the variables.
	Query string `json:"query"`
	// Standalone is the same document with the variables inlined.
	Standalone    string         `json:"-"`
	Variables     map[string]any `json:"variables"`
	OperationName string         `json:"operationName"`
	// DocumentID is the id of the operation as a trusted document. It takes the same variables.
	DocumentID string `json:"documentId"`
}

// Explain returns the operation that a REST path with its query string would run for a request with the given body; a
// nil body selects the example of the endpoint. The target can begin with "POST " to select the POST endpoint of a path
// that also has GET; for GET, the body is ignored. It runs nothing, not even the operations for validation. An unknown
// path is a 404. Other requests that would be rejected are the [*Problem] of the response, and those that need no
// operation, such as a [Direct] response, or a row of the database, a 400.
func (a *API) Explain(ctx context.Context, target string, body []byte) (*Explanation, error) {
	target, isPost := strings.CutPrefix(target, http.MethodPost+" ")
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, target, http.NoBody)
	if err != nil {
		return nil, Bad("not a path: " + target)
	}
	r.RequestURI = r.URL.RequestURI()
	r.Header.Set("Accept-Encoding", "gzip") // some paths require it
	escaped := r.URL.EscapedPath()
	if len(escaped) < len(a.Prefix) || !strings.EqualFold(escaped[:len(a.Prefix)], a.Prefix) {
		return nil, NotFound("no such path: " + escaped)
	}
	at := a.route(escaped)
	if at == nil {
		return nil, NotFound("no such path: " + escaped)
	}
	e := at.get
	if isPost || e == nil {
		e = at.post
	}
	if e == nil {
		return nil, NotFound("no such path for POST: " + escaped)
	}
	if e.Body != nil {
		if body == nil {
			body = e.Body.Example
		}
		r.Method, r.Body, r.ContentLength = http.MethodPost, io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Header.Set("Content-Type", e.Body.Types[0])
	}
	req, err := a.read(r, e, a.Config.LimitMax, explainNothing)
	var direct *Direct
	switch {
	case errors.As(err, &direct):
		return nil, Bad("the conditions contradict each other, so no operation runs; the response is " + direct.Body)
	case err != nil:
		return nil, err
	}
	return NewExplanation(a.Server, e.prepared.document, req.operation(), req.Variables)
}

// NewExplanation returns the explanation of an operation of a document, for [API.Explain] and that of package v2. It
// keeps the variables and does not run the operation. It fails if the document has no such operation.
func NewExplanation(
	s *server.Server, d *server.Document, operation string, variables map[string]any,
) (*Explanation, error) {
	x := &Explanation{
		Variables: variables, OperationName: operation,
		DocumentID: server.DocumentID(d.Text()) + "#" + operation,
	}
	var err error
	if x.Query, err = s.Standalone(d, operation, nil, false); err != nil {
		return nil, fmt.Errorf("explaining %s: %w", operation, err)
	}
	x.Standalone, err = s.Standalone(d, operation, variables, true)
	return x, wrap.Error(err, "explaining %s", operation)
}
