package v2

import (
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"strings"

	"heliograph/internal/status"
	"heliograph/rest"
)

// fixed are header values that never change, in the form that headers have them. Nobody writes to the lists.
type fixed struct {
	json, cache, vary, star, exposed, nosniff, gzip, allow []string
}

func newFixed() *fixed {
	return &fixed{
		json:  []string{"application/json; charset=utf-8"},
		cache: []string{"max-age=10, public, s-maxage=10, stale-while-revalidate=20, stale-if-error=3600"},
		vary:  []string{"Accept,Accept-Encoding"}, star: []string{"*"}, exposed: []string{"ETag"}, nosniff: []string{"nosniff"}, gzip: []string{"gzip"},
		allow: []string{"GET, HEAD, OPTIONS"},
	}
}

// retryAfter is for how many seconds clients should leave a gateway alone that has nothing to serve.
const retryAfter = "10"

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h["Access-Control-Allow-Origin"] = a.fixed.star
	h["Access-Control-Expose-Headers"] = a.fixed.exposed
	h["X-Content-Type-Options"] = a.fixed.nosniff
	h["X-Request-Id"] = []string{requestID()}
	i, known := a.index[r.URL.Path]
	if !known {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodOptions:
		h["Access-Control-Allow-Methods"] = a.fixed.allow
		if asked := r.Header.Get("Access-Control-Request-Headers"); asked != "" {
			h.Set("Access-Control-Allow-Headers", asked)
			h.Set("Vary", "Access-Control-Request-Headers")
		}
		h["Allow"] = a.fixed.allow
		w.WriteHeader(http.StatusNoContent)
		return
	default:
		h["Allow"] = a.fixed.allow
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	v, status := a.find(r, i)
	if v == nil {
		if status == http.StatusServiceUnavailable {
			h.Set("Retry-After", retryAfter)
		}
		w.WriteHeader(status)
		return
	}
	a.send(w, r, v)
}

// find finds the document of an endpoint for the host of a request, or the status that says why there is none.
func (a *API) find(r *http.Request, i int) (*volume, int) {
	if a.o.Source == nil {
		return nil, http.StatusNotFound
	}
	if a.o.CacheOff {
		return a.fresh(r, i)
	}
	e := a.current.Load()
	if e == nil {
		if err := a.refresh(r.Context()); err != nil {
			return nil, http.StatusServiceUnavailable
		}
		e = a.current.Load()
	}
	if a.failing.Load() && a.o.Now().Sub(e.at()) > maxStale {
		return nil, http.StatusServiceUnavailable
	}
	p := pageOf(e.pages, r)
	if p == nil {
		return nil, http.StatusNotFound
	}
	return e.shelf[p.Code].volumes[i], http.StatusOK
}

// pageOf is the page that a request is for.
func pageOf(pages status.Pages, r *http.Request) *status.Page {
	if len(pages) == 1 { // whatever the host is
		return pages[0]
	}
	return pages.ByHost(r.Host)
}

// fresh makes a document now.
func (a *API) fresh(r *http.Request, i int) (*volume, int) {
	v, err := a.makeFresh(r, i)
	switch {
	case err != nil:
		a.failures.Add(1)
		a.o.Logger.WarnContext(r.Context(), "a status document could not be made", "error", err)
		return nil, http.StatusServiceUnavailable
	case v == nil:
		return nil, http.StatusNotFound
	default:
		return v, http.StatusOK
	}
}

func (a *API) makeFresh(r *http.Request, i int) (*volume, error) {
	ctx, end, err := a.o.Source.Snapshot(r.Context())
	if err != nil {
		return nil, err
	}
	defer end()
	pages, err := a.o.Source.Pages(ctx)
	if err != nil {
		return nil, err
	}
	p := pageOf(pages, r)
	if p == nil {
		return nil, nil //nolint:nilnil // there is no page
	}
	a.builds.Add(1)
	return a.make(ctx, i, p)
}

// send sends a document, or says that the client has it already.
func (a *API) send(w http.ResponseWriter, r *http.Request, v *volume) {
	h := w.Header()
	h["Cache-Control"] = a.fixed.cache
	h["Etag"] = v.etag
	h["Vary"] = a.fixed.vary
	if given := r.Header["If-None-Match"]; given != nil && matches(given, v.tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h["Content-Type"] = a.fixed.json
	body, length := v.plain, v.length
	if v.zipped != nil && accepts(r.Header["Accept-Encoding"]) {
		h["Content-Encoding"] = a.fixed.gzip
		body, length = v.zipped, v.zippedCount
	}
	h["Content-Length"] = length
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // a client that has gone is no concern of ours
	}
}

// matches tells whether one of the tags of If-None-Match is this one, or is any. Weak and strong tags are alike.
func matches(given []string, tag string) bool {
	for _, line := range given {
		for item := range strings.SplitSeq(line, ",") {
			item = strings.TrimSpace(item)
			if item == "*" || strings.TrimPrefix(item, "W/") == tag {
				return true
			}
		}
	}
	return false
}

// accepts tells whether a client takes gzip.
func accepts(given []string) bool {
	switch {
	case len(given) == 0:
		return false
	case len(given) == 1 && (given[0] == "gzip" || given[0] == "gzip, deflate" || given[0] == "gzip, deflate, br"):
		return true
	default:
		return rest.Accepts(strings.Join(given, ","), "gzip")
	}
}

// requestID is a name for a request that logs and clients can tell each other.
func requestID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // which never fails
	return hex.EncodeToString(b[:])
}
