package statuspage

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"heliograph/app/web/assets"
	"heliograph/internal/domain/status"
	"heliograph/rest/doccache"
)

// Content security policies. All resources come from the site itself, and only the banner may be framed by other sites.
const (
	ownContent = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; " +
		"frame-ancestors "
	pagePolicy     = ownContent + "'none'"
	framePolicy    = ownContent + "*"
	documentPolicy = "default-src 'none'; style-src 'none'; frame-ancestors 'none'" // for feeds and images
)

// retryAfter is the value of Retry-After, in seconds, while no page can be served.
const retryAfter = "10"

// Paths returns the paths of the site as router patterns, in which * matches anything.
func Paths() []string {
	return []string{"/", historyPath, incidentPrefix + "*", atomPath, rssPath, badgePath, framePath, embedPath, assetPrefix + "*"}
}

// Has reports whether the site serves a path.
func Has(path string) bool {
	return slices.ContainsFunc(Paths(), func(pattern string) bool {
		prefix, open := strings.CutSuffix(pattern, "*")
		return path == pattern || open && strings.HasPrefix(path, prefix)
	})
}

// target is the resource that a request addresses.
type target struct {
	key    string // key among the cached documents
	media  string
	policy string
	open   bool // whether scripts of other origins may read it
	// lazy renders a document that is not rendered in advance. Nil if it is.
	lazy func(s *Site, ctx context.Context, p *status.Page) (*doccache.Document, error)
}

const htmlMedia = "text/html; charset=utf-8"

// targetOf returns the target of a request, or nil if it does not exist.
func targetOf(r *http.Request) *target {
	query := r.URL.Query()
	switch path := r.URL.Path; {
	case path == "/":
		return &target{key: path, media: htmlMedia, policy: pagePolicy}
	case path == framePath:
		return &target{key: path, media: htmlMedia, policy: framePolicy}
	case path == atomPath:
		return &target{key: path, media: "application/atom+xml; charset=utf-8", policy: documentPolicy, open: true}
	case path == rssPath:
		return &target{key: path, media: "application/rss+xml; charset=utf-8", policy: documentPolicy, open: true}
	case path == badgePath && query.Has("component"):
		return &target{key: badgeOf(query.Get("component")), media: "image/svg+xml", policy: documentPolicy, open: true}
	case path == badgePath:
		return &target{key: path, media: "image/svg+xml", policy: documentPolicy, open: true}
	case path == historyPath:
		month := query.Get("month")
		render := func(s *Site, ctx context.Context, p *status.Page) (*doccache.Document, error) {
			return s.history(ctx, p, month)
		}
		return &target{key: historyPath + "?month=" + month, media: htmlMedia, policy: pagePolicy, lazy: render}
	case strings.HasPrefix(path, incidentPrefix) && len(path) <= len(incidentPrefix)+64 && !strings.ContainsAny(path[len(incidentPrefix):], "/\x00") &&
		utf8.ValidString(path):
		code := path[len(incidentPrefix):]
		render := func(s *Site, ctx context.Context, p *status.Page) (*doccache.Document, error) {
			return s.notice(ctx, p, code)
		}
		return &target{key: path, media: htmlMedia, policy: pagePolicy, lazy: render}
	default:
		return nil
	}
}

// ServeHTTP implements [http.Handler].
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	t := targetOf(r)
	if t == nil {
		if file := s.files[r.URL.Path]; file != nil {
			if assets.Guard(w, r, documentPolicy) {
				file.ServeHTTP(w, r)
			}
			return
		}
		t = &target{key: "", media: htmlMedia, policy: pagePolicy}
	}
	if !assets.Guard(w, r, t.policy) {
		return
	}
	if t.open {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Access-Control-Expose-Headers", "ETag")
	}
	v, page, code := s.find(r, t)
	switch {
	case v != nil:
		s.headers.Send(w, r, s.stale(w, v, t, page), []string{t.media})
	case code == http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", retryAfter)
		s.sendError(w, r, t, page, code, "The status cannot be read", "The database does not answer. Please try again in a moment.")
	case page == nil && t.key == "/":
		s.headers.Send(w, r, s.landing, []string{t.media})
	default:
		s.sendError(w, r, t, page, http.StatusNotFound, "There is nothing here", "The address may be wrong, or what was here has been taken away.")
	}
}

// find returns the requested document and its page. If there is none, code is the status of the error, and page can be nil.
func (s *Site) find(r *http.Request, t *target) (v *doccache.Document, page *status.Page, code int) {
	if s.o.Cache.Disabled() {
		var gone bool
		code = s.o.Cache.Render(r, func(ctx context.Context, p *status.Page) error {
			page = p
			err := error(nil)
			if t.lazy != nil {
				v, err = t.lazy(s, ctx, p)
			} else if documents, _, failed := s.renderAll(ctx, p); failed != nil {
				err = failed
			} else {
				v = documents[t.key]
			}
			if gone = errors.Is(err, errGone); gone {
				return nil
			}
			return err
		})
		if v == nil && code == http.StatusOK {
			code = http.StatusNotFound
		}
		return v, page, code
	}
	documents, page, code := s.cached.Get(r)
	if page == nil {
		return nil, nil, code
	}
	v = documents[t.key]
	if v != nil {
		return v, page, http.StatusOK
	}
	if t.lazy == nil {
		return nil, page, http.StatusNotFound
	}
	v, code = s.findLazy(r, t, page)
	return v, page, code
}

// findLazy returns a document that is rendered on request. If rendering fails, it returns the cached document of an earlier revision, if there is one.
func (s *Site) findLazy(r *http.Request, t *target, page *status.Page) (*doccache.Document, int) {
	key, day := page.Code+t.key, status.DateOf(s.o.Now().In(page.Zone))
	cached, _ := s.lazy.GetIfPresent(key)
	if cached != nil && cached.revision == page.Revision && cached.day == day {
		return cached.document, http.StatusOK
	}
	var v *doccache.Document
	gone := false
	code := s.o.Cache.Render(r, func(ctx context.Context, p *status.Page) error {
		var err error
		v, err = t.lazy(s, ctx, p)
		if gone = errors.Is(err, errGone); gone {
			return nil
		}
		if err == nil {
			s.lazy.Set(key, &lazyDocument{p.Revision, day, v})
		}
		return err
	})
	switch {
	case v != nil:
		return v, http.StatusOK
	case gone:
		s.lazy.Invalidate(key)
		return nil, http.StatusNotFound
	case cached != nil && code == http.StatusServiceUnavailable:
		return cached.document, http.StatusOK
	default:
		return nil, code
	}
}

// sendError writes an error in the format of the target: an HTML page, or one line for feeds and images.
func (s *Site) sendError(w http.ResponseWriter, r *http.Request, t *target, page *status.Page, code int, heading, text string) {
	if t.media != htmlMedia {
		http.Error(w, heading+".", code)
		return
	}
	h := s.head(nil, heading, "")
	if page != nil {
		h.Name, h.JSON = page.Name, true
	}
	v, err := s.render("message", messagePage{h, heading, text})
	if err != nil { // does not happen: tests render the template
		http.Error(w, heading+".", code)
		return
	}
	v.SendError(w, r, code, t.media)
}
