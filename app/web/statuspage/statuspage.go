// Package statuspage serves status pages as HTML: pages that work without JavaScript, feeds, badges and a banner for other sites.
// It renders the results of GraphQL documents, which it executes in process when a page has changed. The rendered pages are cached with the documents of
// the status API.
//
// No page loads resources of other hosts or contains inline scripts or styles. The content security policy enforces this.
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
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/maypok86/otter/v2"

	"heliograph/app/web/assets"
	"heliograph/graph/relay"
	"heliograph/graph/scalar"
	"heliograph/graph/server"
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

// New returns a new site.
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
	s.templates, err = template.New("").Funcs(template.FuncMap{"state": stateName}).ParseFS(templateFiles, "templates/*.html")
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
		"A ledger's mirror database as one GraphQL graph, and as the REST API that is known from before.",
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

// loadAssets compresses the embedded files once per process. Their URLs contain a hash of the content, so that browsers can cache them permanently.
var loadAssets = sync.OnceValues(func() (s pageAssets, err error) {
	s = pageAssets{map[string]*assets.File{}, map[string]string{}}
	entries, err := fs.ReadDir(assetFiles, "assets")
	if err != nil {
		return s, fmt.Errorf("reading the assets of the status page: %w", err)
	}
	add := func(name string, content []byte) {
		kind := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}[path.Ext(name)]
		sum := sha256.Sum256(content)
		base := strings.TrimSuffix(name, path.Ext(name))
		s.addresses[name] = assetPrefix + base + "-" + hex.EncodeToString(sum[:5]) + path.Ext(name)
		s.files[s.addresses[name]] = assets.Pack(content, kind, assets.Forever)
	}
	for _, e := range entries {
		content, err := fs.ReadFile(assetFiles, "assets/"+e.Name())
		if err != nil {
			return s, fmt.Errorf("reading the assets of the status page: %w", err)
		}
		add(e.Name(), content)
		if e.Name() == "embed.js" { // other sites use it by its permanent name
			s.files[embedPath] = assets.Pack(content, "text/javascript; charset=utf-8", "public, max-age=300")
		}
	}
	for _, i := range status.Impacts() {
		icon := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">`+
			`<circle cx="16" cy="16" r="14" fill=%q/><circle cx="16" cy="16" r="6" fill="#fff"/></svg>`, badgeColour(i))
		add("icon-"+string(i)+".svg", []byte(icon))
	}
	return s, nil
})

// errGone is returned if a notice or page does not exist.
var errGone = errors.New("the notice or page does not exist")

// unlimited is the page size limit for documents of the site.
const unlimited = math.MaxInt32 - 1

// query executes a document and decodes its data.
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
	if err := json.Unmarshal(res.Data, into); err != nil {
		return fmt.Errorf("decoding the result of the document %s: %w", document, err)
	}
	return nil
}

// head returns the common data of a page. p is nil if there is no status page.
func (s *Site) head(p *pageData, title, here string) head {
	h := head{Static: s.o.Static, Title: title, Name: "Heliograph", Lang: "en", Here: here, Look: status.ImpactNone, Assets: s.addresses}
	if p == nil {
		return h
	}
	h.Name, h.Revision, h.Zone, h.JSON, h.Look = p.Name, p.Revision, p.TimeZone, true, headlineOf(p).Indicator
	if s.o.Static {
		return h
	}
	variables, err := json.Marshal(map[string]string{"page": p.Slug, "from": strconv.FormatInt(p.Revision, 10)})
	if err == nil { // never fails for two strings
		h.Live = "/graphql?" + url.Values{"query": {LiveDocument}, "variables": {string(variables)}}.Encode()
	}
	return h
}

func (s *Site) render(name string, data any) (*doccache.Document, error) {
	var b strings.Builder
	if err := s.templates.ExecuteTemplate(&b, name, data); err != nil {
		return nil, fmt.Errorf("rendering the %s page: %w", name, err)
	}
	return doccache.NewDocument([]byte(b.String()))
}
