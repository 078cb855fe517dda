// Package graphiql serves GraphiQL, a web page for browsing the schema and for writing, running and sharing GraphQL documents.
//
// scripts/build-assets.sh builds the page from src/ into dist/, which contains gzip files. The content security policy prevents requests to other hosts.
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

// The policy allows requests to the origin of the page only. It allows inline styles, because Monaco creates style elements and attributes for syntax
// highlighting.
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; worker-src 'self'; connect-src 'self'; " +
	"style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Options configure the path of the page.
type Options struct {
	// Prefix is the path before /graphiql, for example "/ledger". It is empty by default. The GraphQL endpoint is Prefix + "/graphql".
	Prefix string
}

// Handler serves the page at Prefix + "/graphiql" and its files below that path. It uses the whole request path, so do not strip a prefix. The page
// sends requests to Prefix + "/graphql", "/graphql/explain" and "/graphql/schema.graphql", which this handler does not serve.
//
// Handler panics if the embedded files are invalid, which the tests of this package rule out.
func Handler(o Options) http.Handler {
	files, err := load()
	if err != nil {
		panic(fmt.Sprintf("graphiql: %v", err))
	}
	return &handler{page: strings.TrimSuffix(o.Prefix, "/") + "/graphiql", files: files}
}

// load returns all files by their path relative to the page. The key of the page itself is "". All handlers of a process share the files.
var load = sync.OnceValues(func() (map[string]*assets.File, error) {
	files, err := assets.Load(dist, "dist")
	if err != nil {
		return nil, err
	}
	files[""] = files["/index.html"]
	delete(files, "/index.html")
	examples, err := json.Marshal(Examples())
	if err != nil {
		return nil, fmt.Errorf("encode the examples: %w", err)
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
		// The page refers to its files relative to the path without a slash. The redirect is relative too, so that it works behind a proxy that adds
		// a prefix.
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
