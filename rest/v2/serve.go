package v2

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http"

	"heliograph/internal/domain/status"
	"heliograph/rest/doccache"
)

// headers are header values that are shared between responses: do not change them.
type headers struct {
	*doccache.Headers

	json, star, exposed, nosniff, allow []string
}

func newHeaders() *headers {
	return &headers{
		Headers: doccache.NewHeaders("Accept,Accept-Encoding"),
		json:    []string{"application/json; charset=utf-8"}, star: []string{"*"}, exposed: []string{"ETag"}, nosniff: []string{"nosniff"},
		allow: []string{"GET, HEAD, OPTIONS"},
	}
}

// retryAfter is the Retry-After of 503 responses in seconds.
const retryAfter = "10"

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h["Access-Control-Allow-Origin"] = a.headers.star
	h["Access-Control-Expose-Headers"] = a.headers.exposed
	h["X-Content-Type-Options"] = a.headers.nosniff
	h["X-Request-Id"] = []string{requestID()}
	i, known := a.index[r.URL.Path]
	if !known {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodOptions:
		h["Access-Control-Allow-Methods"] = a.headers.allow
		if requested := r.Header.Get("Access-Control-Request-Headers"); requested != "" {
			h.Set("Access-Control-Allow-Headers", requested)
			h.Set("Vary", "Access-Control-Request-Headers")
		}
		h["Allow"] = a.headers.allow
		w.WriteHeader(http.StatusNoContent)
		return
	default:
		h["Allow"] = a.headers.allow
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	d, code := a.find(r, i)
	if d == nil {
		if code == http.StatusServiceUnavailable {
			h.Set("Retry-After", retryAfter)
		}
		w.WriteHeader(code)
		return
	}
	a.o.Cache.MarkStale(h)
	a.headers.Send(w, r, d, a.headers.json)
}

// Has reports whether a document exists at a path.
func (a *API) Has(path string) bool {
	_, known := a.index[path]
	return known
}

// find returns the document of an endpoint for the host of a request, or the status of the error.
func (a *API) find(r *http.Request, i int) (d *doccache.Document, code int) {
	if a.o.Cache.Disabled() {
		code = a.o.Cache.Render(r, func(ctx context.Context, p *status.Page) (err error) {
			d, err = a.render(ctx, i, p)
			return err
		})
		return d, code
	}
	all, page, code := a.cached.Get(r)
	if page == nil {
		return nil, code
	}
	return all[i], code
}

// requestID returns a random id for logs and responses.
func requestID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
