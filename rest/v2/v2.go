// Package v2 is the status API: the eight documents under /api/v2, which [status.Documents] lists. Each has a GraphQL
// document with the same path in the folder documents, which runs in process after the page has changed. The rendered
// bytes are cached, so requests for an unchanged page need no database query.
package v2

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"strings"

	"heliograph/graph/server"
	"heliograph/internal/domain/status"
	"heliograph/rest"
	"heliograph/rest/doccache"
)

//go:embed documents/*.graphql documents/*/*.graphql
var documents embed.FS

// Prefix is where the documents are served.
const Prefix = "/api/v2"

// Options configure an [API].
type Options struct {
	Server *server.Server
	// Cache has the rendered documents.
	Cache *doccache.Cache
	// Save stores the documents of a page's revision by name after rendering. If it is nil, only the newest documents
	// are available.
	Save   func(ctx context.Context, p *status.Page, documents map[string][]byte) error
	Logger *slog.Logger
}

// API serves the status documents.
type API struct {
	o        Options
	prepared map[string]*server.Document // by complete path
	headers  *doccache.Headers
	cached   doccache.Part[map[string]*doccache.Document] // by complete path
}

// New returns the API /api/v2 of status pages and registers its documents with the cache of o. They are rendered when
// the cache starts to run, or on the first request. It fails if an embedded document is invalid.
func New(o Options) (*API, error) {
	a := &API{o: o, prepared: map[string]*server.Document{}, headers: doccache.NewHeaders("Accept,Accept-Encoding")}
	fragments, err := rest.Fragments(documents)
	if err != nil {
		return nil, err
	}
	for _, name := range status.Documents() {
		text, err := fs.ReadFile(documents, "documents/"+strings.TrimSuffix(name, ".json")+".graphql")
		if err != nil {
			return nil, fmt.Errorf("reading the document of %s: %w", name, err)
		}
		a.prepared[Prefix+"/"+name], err = o.Server.Prepare(rest.WithFragments(string(text), fragments))
		if err != nil {
			return nil, fmt.Errorf("document of %s: %w", name, err)
		}
	}
	a.cached = doccache.Register(o.Cache, "the documents", a.renderAll)
	return a, nil
}

// Explain returns the operation of the document at a path. It does not run it. The variables have the short name of
// the default page; replace it to select another page. A target that is no path is a 400, an unknown path a 404, as
// [*rest.Problem].
func (a *API) Explain(target string) (*rest.Explanation, error) {
	u, err := url.Parse(target)
	if err != nil {
		return nil, rest.Bad("not a path: " + target)
	}
	doc, known := a.prepared[u.Path]
	if !known {
		return nil, rest.NotFound("no such path: " + u.Path)
	}
	return rest.NewExplanation(a.o.Server, doc, doc.Operations()[0].Name, map[string]any{"page": a.anyPage()})
}

// anyPage returns a short name for the document that explains a request: that of the default page if the cache has it,
// else "status", which need not exist. It does not read the database.
func (a *API) anyPage() string {
	if p := a.o.Cache.DefaultPage(); p != nil {
		return p.Slug
	}
	return "status"
}

// Description is the OpenAPI document. rest/generate writes the same in YAML.
//
//go:embed openapi.json
var Description string

//go:embed openapi.yml
var descriptionYAML string

// OpenAPI returns the OpenAPI document of /api/v2 as JSON and as YAML, with the settings of cfg. version is the
// version of the gateway.
func OpenAPI(cfg *rest.Config, version string) (json, yaml []byte) {
	return cfg.FillOpenAPI(Description, version), cfg.FillOpenAPI(descriptionYAML, version)
}
