// Package graphiql serves GraphiQL, the page in which people read the schema and write, run and share GraphQL documents.
//
// The page is built from src/ by scripts/build-assets.sh; what is served is dist/, which holds every file in gzip form only. Nothing
// in it asks any other host for anything, and the content security policy keeps it so.
package graphiql

import (
	"embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"heliograph/app/web/assets"
)

//go:embed dist
var dist embed.FS

// The page talks to its own origin only: default-src shuts everything that is not named. Monaco colours code through
// style elements and style attributes that it makes while running, which is why styles, and only they, may be inline.
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; worker-src 'self'; connect-src 'self'; " +
	"style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Options says where the page lives.
type Options struct {
	// Prefix is what comes before /graphiql in the path, for instance "/ledger"; empty by default. The page finds
	// its GraphQL endpoint beside itself, at Prefix + "/graphql".
	Prefix string
}

// Handler serves the page at Prefix + "/graphiql" and its files below that path. It looks at the whole request path,
// so it is to be mounted without stripping anything. The page calls three siblings of its own path, which are not
// served here: graphql, graphql/explain and graphql/schema.graphql.
//
// Handler panics when the embedded files are damaged, which the tests of this package rule out.
func Handler(o Options) http.Handler {
	files, err := load()
	if err != nil {
		panic(fmt.Sprintf("graphiql: %v", err))
	}
	return &handler{page: strings.TrimSuffix(o.Prefix, "/") + "/graphiql", files: files}
}

// load reads everything that is served; a key is what follows the page's path, so that the page itself is "". All handlers of a process share it.
var load = sync.OnceValues(func() (map[string]*assets.File, error) {
	files, err := assets.Load(dist, "dist")
	if err != nil {
		return nil, err
	}
	files[""] = files["/index.html"]
	delete(files, "/index.html")
	examples, err := json.Marshal(Examples())
	if err != nil {
		return nil, fmt.Errorf("encoding the examples: %w", err)
	}
	files["/examples.json"], err = assets.Pack(examples, "application/json", assets.Checked)
	return files, err
})

type handler struct {
	page  string
	files map[string]*assets.File
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !assets.Guard(w, r, contentSecurityPolicy) {
		return
	}
	rest, ours := strings.CutPrefix(r.URL.Path, h.page)
	if ours && rest == "/" {
		// The files are named relative to the page's path without a slash. The target is relative as well, so
		// that it holds behind a proxy that serves under a longer path.
		target := "../graphiql"
		if r.URL.RawQuery != "" {
			target += "?" + r.URL.RawQuery
		}
		w.Header().Set("Location", target)
		w.WriteHeader(http.StatusPermanentRedirect)
		return
	}
	found, ok := h.files[rest]
	if !ours || !ok {
		http.NotFound(w, r)
		return
	}
	found.ServeHTTP(w, r)
}
