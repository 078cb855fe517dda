// Package statuspage serves status pages as HTML: pages that work without JavaScript, feeds, badges and a banner for
// other sites. It renders the results of GraphQL documents, which it executes in process when a page has changed. The
// rendered pages are cached with the documents of the status API.
//
// No page loads resources of other hosts or contains inline scripts or styles. The content security policy enforces
// this.
package statuspage

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"math"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/maypok86/otter/v2"

	"heliograph/app/web/assets"
	"heliograph/graph/relay"
	"heliograph/graph/scalar"
	"heliograph/graph/server"
	"heliograph/internal/base/wrap"
	"heliograph/internal/domain/status"
	"heliograph/rest"
	"heliograph/rest/doccache"
)

var (
	//go:embed documents/*.graphql
	documentFiles embed.FS
	//go:embed templates/*.html
	templateFiles embed.FS
	//go:embed assets
	assetFiles embed.FS
)

// LiveDocument is the subscription of browsers. Gateways that accept trusted documents only must trust it.
//
//go:embed documents/live.graphql
var LiveDocument string

// Paths of the site.
const (
	incidentPrefix = "/incidents/"
	historyPath    = "/history"
	atomPath       = "/history.atom"
	rssPath        = "/history.rss"
	badgePath      = "/badge.svg"
	framePath      = "/embed/frame"
	embedPath      = "/embed.js"
	assetPrefix    = "/page-assets/"
)

// Options configure the site.
type Options struct {
	Server *server.Server
	// Cache has the page and the documents that it links to. Other notices and months are rendered on request.
	Cache *doccache.Cache
	// Now is the clock.
	Now func() time.Time
	// Static omits what a static web server does not have: live updates, and links to other parts of the gateway.
	Static bool
}

// Site serves status pages as HTML.
type Site struct {
	o         Options
	prepared  map[string]*server.Document
	templates *template.Template
	pageAssets
	headers *doccache.Headers
	cached  doccache.Part[map[string]*doccache.Document] // by path
	lazy    *otter.Cache[string, *lazyDocument]
	landing *doccache.Document
}

// lazyDocument is a document that was rendered on request.
type lazyDocument struct {
	revision int64
	day      status.Date
	document *doccache.Document
}

// maxLazy is the maximum number of cached documents that were rendered on request. They take a few megabytes.
const maxLazy = 512

// New returns the HTML site of all status pages. It prepares the documents and templates, and registers the rendering
// of pages with the cache of o. Of the pages it renders only the landing page. It fails if an embedded file is
// invalid.
func New(o Options) (*Site, error) {
	s := &Site{o: o, prepared: map[string]*server.Document{}, headers: doccache.NewHeaders("Accept-Encoding")}
	fragments, err := rest.Fragments(documentFiles)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"page", "feed", "history", "notice"} {
		text, err := fs.ReadFile(documentFiles, "documents/"+name+".graphql")
		if err != nil {
			return nil, fmt.Errorf("reading the document of the status page: %w", err)
		}
		if s.prepared[name], err = o.Server.Prepare(rest.WithFragments(string(text), fragments)); err != nil {
			return nil, fmt.Errorf("document %s of the status page: %w", name, err)
		}
	}
	s.templates, err = template.New("").Funcs(template.FuncMap{"state": stateName}).ParseFS(templateFiles,
		"templates/*.html")
	if err != nil {
		return nil, fmt.Errorf("reading the templates of the status page: %w", err)
	}
	if s.pageAssets, err = loadAssets(); err != nil {
		return nil, err
	}
	s.lazy = otter.Must(&otter.Options[string, *lazyDocument]{MaximumSize: maxLazy})
	h := s.head(nil, "Heliograph", "")
	if s.landing, err = s.render("landing", messagePage{
		h, "Heliograph",
		"A ledger's mirror database as one GraphQL graph, and as the mirror node REST API.",
	}); err != nil {
		return nil, err
	}
	s.cached = doccache.Register(o.Cache, "the HTML pages", s.renderAll)
	return s, nil
}

// pageAssets are style sheets, scripts and images, by path.
type pageAssets struct {
	files     map[string]*assets.File
	addresses map[string]string // URLs by file name
}

// loadAssets compresses the embedded files once per process. Their URLs contain a hash of the content, so that
// browsers can cache them permanently.
var loadAssets = sync.OnceValues(func() (s pageAssets, err error) {
	s = pageAssets{map[string]*assets.File{}, map[string]string{}}
	entries, err := fs.ReadDir(assetFiles, "assets")
	if err != nil {
		return s, fmt.Errorf("reading the assets of the status page: %w", err)
	}
	add := func(name string, content []byte) {
		sum := sha256.Sum256(content)
		base := strings.TrimSuffix(name, path.Ext(name))
		s.addresses[name] = assetPrefix + base + "-" + hex.EncodeToString(sum[:5]) + path.Ext(name)
		s.files[s.addresses[name]] = assets.Pack(content, assets.ContentTypes[path.Ext(name)], assets.Forever)
	}
	for _, e := range entries {
		content, err := fs.ReadFile(assetFiles, "assets/"+e.Name())
		if err != nil {
			return s, fmt.Errorf("reading the assets of the status page: %w", err)
		}
		add(e.Name(), content)
		if e.Name() == "embed.js" { // other sites use it by its permanent name
			s.files[embedPath] = assets.Pack(content, assets.ContentTypes[".js"], "public, max-age=300")
		}
	}
	for _, i := range status.Impacts() {
		icon := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">`+
			`<circle cx="16" cy="16" r="14" fill=%q/><circle cx="16" cy="16" r="6" fill="#fff"/></svg>`,
			badgeColour(i))
		add("icon-"+string(i)+".svg", []byte(icon))
	}
	return s, nil
})

// errGone is returned if a notice or page does not exist.
var errGone = errors.New("the notice or page does not exist")

// unlimited is the page size limit for documents of the site.
const unlimited = math.MaxInt32 - 1

// query runs one of the site's GraphQL documents in the process, without limits on pages, and decodes its data into
// into. It fails if the operation has errors or ctx ends. The memory of the data is reused afterwards.
func (s *Site) query(ctx context.Context, document string, variables map[string]any, into any) error {
	doc := s.prepared[document]
	res := s.o.Server.Run(ctx, server.Call{
		Document: doc, Operation: doc.Operations()[0].Name, Variables: variables, Style: scalar.Status,
		Limits: relay.Limits{Default: unlimited, Max: unlimited},
	})
	switch {
	case res == nil:
		return fmt.Errorf("running the document %s: %w", document, context.Cause(ctx))
	case len(res.Errors) > 0:
		return fmt.Errorf("running the document %s: %w", document, res.Errors)
	}
	defer s.o.Server.Done(res.Data)
	return wrap.Error(json.Unmarshal(res.Data, into), "decoding the result of the document %s", document)
}

// head returns the data of the head and frame that all HTML pages share. title is that of the browser, here marks
// an entry of the navigation. p is nil if there is no status page, or it is not known.
func (s *Site) head(p *pageData, title, here string) head {
	h := head{
		Static: s.o.Static, Title: title, Name: "Heliograph", Lang: "en", Here: here, Look: status.ImpactNone,
		Assets: s.addresses,
	}
	if p == nil {
		return h
	}
	h.Name, h.Revision, h.Zone, h.JSON, h.Look = p.Name, p.Revision, p.TimeZone, true, headlineOf(p).Indicator
	if s.o.Static {
		return h
	}
	// Two strings can always be encoded.
	variables, _ := json.Marshal(map[string]string{"page": p.Slug, "from": strconv.FormatInt(p.Revision, 10)})
	h.Live = "/graphql?" + url.Values{"query": {LiveDocument}, "variables": {string(variables)}}.Encode()
	return h
}

// render executes the template with the given name and returns the document to serve, compressed. It caches
// nothing.
func (s *Site) render(name string, data any) (*doccache.Document, error) {
	var b strings.Builder
	if err := s.templates.ExecuteTemplate(&b, name, data); err != nil {
		return nil, fmt.Errorf("rendering the %s page: %w", name, err)
	}
	return doccache.NewDocument([]byte(b.String()))
}

// Content security policies. All resources come from the site itself, and only the banner may be framed by other
// sites.
const (
	ownContent = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; " +
		"frame-ancestors "
	pagePolicy     = ownContent + "'none'"
	framePolicy    = ownContent + "*"
	documentPolicy = "default-src 'none'; style-src 'none'; frame-ancestors 'none'" // for feeds and images
)

// retryAfter is the value of Retry-After, in seconds, while no page can be served.
const retryAfter = "10"

// Paths returns the paths of the site as router patterns, in which * matches anything.
func Paths() []string {
	return []string{
		"/", historyPath, incidentPrefix + "*", atomPath, rssPath, badgePath, framePath, embedPath,
		assetPrefix + "*",
	}
}

// Has reports whether a path is one of [Paths], not whether there is a document at it.
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

// targets are the resources with a path of their own.
var targets = map[string]target{
	"/":         {media: htmlMedia, policy: pagePolicy},
	framePath:   {media: htmlMedia, policy: framePolicy},
	historyPath: {media: htmlMedia, policy: pagePolicy},
	atomPath:    {media: "application/atom+xml; charset=utf-8", policy: documentPolicy, open: true},
	rssPath:     {media: "application/rss+xml; charset=utf-8", policy: documentPolicy, open: true},
	badgePath:   {media: "image/svg+xml", policy: documentPolicy, open: true},
}

// targetOf returns the target of a request, or nil if it does not exist or is an embedded file. It reads nothing:
// whether a notice or a month exists is known when it is looked up or rendered.
func targetOf(r *http.Request) *target {
	path, query := r.URL.Path, r.URL.Query()
	t, known := targets[path]
	t.key = path
	code, isNotice := strings.CutPrefix(path, incidentPrefix)
	switch {
	case path == badgePath && query.Has("component"):
		t.key = badgeOf(query.Get("component"))
	case path == historyPath:
		month := query.Get("month")
		t.key = historyPath + "?month=" + month
		t.lazy = func(s *Site, ctx context.Context, p *status.Page) (*doccache.Document, error) {
			return s.history(ctx, p, month)
		}
	case isNotice && len(code) <= 64 && !strings.ContainsAny(code, "/\x00") && utf8.ValidString(code):
		t.media, t.policy = htmlMedia, pagePolicy
		t.lazy = func(s *Site, ctx context.Context, p *status.Page) (*doccache.Document, error) {
			return s.notice(ctx, p, code)
		}
	case !known:
		return nil
	}
	return &t
}

// ServeHTTP serves the HTML pages, feeds, badges and files of the status page that the host of the request selects.
// It responds with 404 if the path or the page does not exist, except for the path / without a page, at which it
// serves the landing page. It responds with 503 if the database cannot be read and no earlier document is cached, and
// with 405 to other methods than GET and HEAD.
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
		s.sendError(w, r, t, page, code, "The status cannot be read",
			"The database does not answer. Please try again in a moment.")
	case page == nil && t.key == "/":
		s.headers.Send(w, r, s.landing, []string{t.media})
	default:
		s.sendError(w, r, t, page, http.StatusNotFound, "There is nothing here",
			"The address may be wrong, or what was here has been taken away.")
	}
}

// find returns the document for a target of [targetOf] and its page, from the cache or rendered now from the database,
// and then kept in s.lazy. If there is none, v is nil, code is the status of the error, and page can be nil.
func (s *Site) find(r *http.Request, t *target) (v *doccache.Document, page *status.Page, code int) {
	documents, page, code := s.cached.Get(r)
	v = documents[t.key]
	switch {
	case page == nil:
		return nil, nil, code
	case v != nil:
		return v, page, http.StatusOK
	case t.lazy == nil:
		return nil, page, http.StatusNotFound
	}
	v, code = s.findLazy(r, t, page)
	return v, page, code
}

// findLazy returns a document that is rendered on request, and keeps it in s.lazy for the same revision and day. If
// the database is unavailable, it returns the document of an earlier revision, if there is one. Otherwise code is the
// status of the error, and after 404 nothing is kept.
func (s *Site) findLazy(r *http.Request, t *target, page *status.Page) (v *doccache.Document, code int) {
	key, day := page.Code+t.key, status.DateOf(s.o.Now().In(page.Zone))
	cached, _ := s.lazy.GetIfPresent(key)
	if cached != nil && cached.revision == page.Revision && cached.day == day {
		return cached.document, http.StatusOK
	}
	code = s.o.Cache.Render(r, func(ctx context.Context, p *status.Page) (err error) {
		page = p
		v, err = t.lazy(s, ctx, p)
		if errors.Is(err, errGone) {
			return nil
		}
		return err
	})
	switch {
	case v != nil:
		s.lazy.Set(key, &lazyDocument{page.Revision, day, v})
	case code != http.StatusServiceUnavailable:
		s.lazy.Invalidate(key)
		code = http.StatusNotFound
	case cached != nil:
		return cached.document, http.StatusOK
	}
	return v, code
}

// sendError writes an error in the format of the target: an HTML page, or one line for feeds and images, and if the
// page cannot be rendered. page is nil if it is not known.
func (s *Site) sendError(
	w http.ResponseWriter, r *http.Request, t *target, page *status.Page, code int, heading, text string,
) {
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
