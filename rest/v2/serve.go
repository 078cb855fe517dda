package v2

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"time"

	"heliograph/graph/relay"
	"heliograph/graph/scalar"
	"heliograph/graph/server"
	"heliograph/internal/base/respond"
	"heliograph/internal/domain/status"
	"heliograph/rest/doccache"
	"heliograph/rest/rawjson"
)

// common are the headers of all responses. They are shared: do not change the values.
var common = http.Header{
	"Access-Control-Allow-Origin": {"*"}, "Access-Control-Expose-Headers": {"ETag"},
	"X-Content-Type-Options": {"nosniff"},
}

var jsonMedia = []string{"application/json; charset=utf-8"}

const methods = "GET, HEAD, OPTIONS"

// retryAfter is the Retry-After of 503 responses in seconds.
const retryAfter = "10"

// ServeHTTP serves the documents of status pages by path from the cache, for the page that the host selects, and
// responds to CORS preflight requests. An empty or disabled cache reads the database first. It responds with 404, 405
// or 503 without a body.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	maps.Copy(h, common)
	h["X-Request-Id"] = []string{respond.NewID()}
	if !a.Has(r.URL.Path) {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodOptions:
		h.Set("Access-Control-Allow-Methods", methods)
		if requested := r.Header.Get("Access-Control-Request-Headers"); requested != "" {
			h.Set("Access-Control-Allow-Headers", requested)
			h.Set("Vary", "Access-Control-Request-Headers")
		}
		h.Set("Allow", methods)
		w.WriteHeader(http.StatusNoContent)
		return
	default:
		h.Set("Allow", methods)
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	all, _, code := a.cached.Get(r)
	d := all[r.URL.Path]
	if d == nil {
		if code == http.StatusServiceUnavailable {
			h.Set("Retry-After", retryAfter)
		}
		w.WriteHeader(code)
		return
	}
	a.o.Cache.MarkStale(h)
	a.headers.Send(w, r, d, jsonMedia)
}

// Has reports whether one of the documents of the API has the path, which includes [Prefix].
func (a *API) Has(path string) bool {
	_, known := a.prepared[path]
	return known
}

// warnSize is the document size, in bytes, above which a warning is logged: some clients read at most 1 MB.
const warnSize = 900_000

// Render renders all documents of a page, by name. Use the context of a snapshot or of a write transaction, so that
// the documents are consistent. It fails if one of them fails. It neither reads nor fills the cache.
func (a *API) Render(ctx context.Context, p *status.Page) (map[string][]byte, error) {
	bodies := make(map[string][]byte, len(a.prepared))
	for _, name := range status.Documents() {
		body, err := a.run(ctx, a.prepared[Prefix+"/"+name], p.Slug)
		if err != nil {
			return nil, fmt.Errorf("rendering %s of page %s: %w", name, p.Slug, err)
		}
		bodies[name] = body
	}
	return bodies, nil
}

// renderAll renders all documents of a page, by their complete paths, for the cache, and passes them to the option
// Save, which stores them in the database. They are valid until the page changes: the returned time is always zero. It
// fails if rendering fails. An error of Save is logged only.
func (a *API) renderAll(ctx context.Context, p *status.Page) (map[string]*doccache.Document, time.Time, error) {
	bodies, err := a.Render(ctx, p)
	if err != nil {
		return nil, time.Time{}, err
	}
	all := make(map[string]*doccache.Document, len(bodies))
	for _, name := range status.Documents() {
		d, err := doccache.NewDocument(bodies[name])
		if err != nil {
			return nil, time.Time{}, err
		}
		if len(bodies[name]) > warnSize {
			a.o.Logger.WarnContext(ctx, "a status document is larger than some clients read", "document", name,
				"page", p.Slug, "bytes", len(bodies[name]))
		}
		all[Prefix+"/"+name] = d
	}
	if a.o.Save == nil {
		return all, time.Time{}, nil
	}
	if err := a.o.Save(ctx, p, bodies); err != nil { // the response is not affected
		a.o.Logger.DebugContext(ctx, "saving the documents of a revision failed", "page", p.Slug, "revision",
			p.Revision, "error", err)
	}
	return all, time.Time{}, nil
}

// unlimited is the maximum page size of lists in documents.
const unlimited = math.MaxInt32 - 1

// run runs the document of an endpoint for the page with a short name and returns the body from its data. It fails if
// the page does not exist. It fails too if the operation has errors or ctx ends.
func (a *API) run(ctx context.Context, doc *server.Document, slug string) ([]byte, error) {
	res := a.o.Server.Run(ctx, server.Call{
		Document: doc, Operation: doc.Operations()[0].Name, Variables: map[string]any{"page": slug},
		Style:  scalar.Status,
		Limits: relay.Limits{Default: unlimited, Max: unlimited},
	})
	switch {
	case res == nil:
		return nil, fmt.Errorf("running the document: %w", context.Cause(ctx))
	case len(res.Errors) > 0:
		return nil, fmt.Errorf("running the document: %w", res.Errors)
	}
	defer a.o.Server.Done(res.Data)
	return bodyOf(res.Data)
}

// errNoPage is the error of a document whose page does not exist.
var errNoPage = errors.New("the page does not exist")

// bodyOf returns a new body from the data of a document. It replaces the object "inside" by its members, and
// connections among these by their nodes. Only groups have a list of components. It fails with errNoPage if a member
// of the data is null.
func bodyOf(data []byte) ([]byte, error) {
	body := append(make([]byte, 0, len(data)), '{')
	for name, value := range rawjson.Members(data, "") {
		if string(value) == "null" {
			return nil, errNoPage
		}
		if string(name) != relay.InsideAlias {
			body = appendMember(body, name, value)
			continue
		}
		for name, value := range rawjson.Members(value, "") {
			if nodes, ok := rawjson.Sole(value, "nodes"); ok {
				value = nodes
			}
			body = appendMember(body, name, value)
		}
	}
	return rawjson.OmitNull(append(body, '}'), "components"), nil
}

// appendMember appends a member to a JSON object that lacks its closing brace, and returns the object.
func appendMember(object, name, value []byte) []byte {
	if len(object) > 1 {
		object = append(object, ',')
	}
	return append(append(append(append(object, '"'), name...), `":`...), value...)
}
