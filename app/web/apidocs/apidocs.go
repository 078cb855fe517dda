// Package apidocs serves the page in which people read the description of a REST API and try it, and the description itself.
//
// The page is built from src/ by scripts/build-assets.sh; what is served is dist/, which holds every file in gzip form only. Nothing in it asks any other
// host for anything, and the content security policy keeps it so.
package apidocs

import (
	"bytes"
	"embed"
	"fmt"
	"net/http"
	"strings"

	"heliograph/app/web/assets"
)

//go:embed dist
var dist embed.FS

// The page talks to its own origin only: default-src shuts everything that is not named. Swagger UI sets style attributes and has pictures
// in its style sheet, which is why these, and only they, may be inline.
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self' 'unsafe-inline'; " +
	"img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Options say what is described.
type Options struct {
	// Prefix is where the page is, for instance "/api/v1/docs"; the description is below it.
	Prefix string
	// JSON and YAML are the description in both forms.
	JSON, YAML []byte
}

// Handler serves the page at the prefix, with and without a slash at the end, and openapi.json, openapi.yml and openapi.yaml below it. It
// looks at the whole request path, so it is to be mounted without stripping anything. An error means that the embedded files are damaged,
// which the tests of this package rule out.
func Handler(o Options) (http.Handler, error) {
	files, err := load(o)
	if err != nil {
		return nil, fmt.Errorf("reading the page of the API's description: %w", err)
	}
	return &handler{prefix: o.Prefix, files: files}, nil
}

// load makes everything that is served; a key is what follows the prefix.
func load(o Options) (map[string]*assets.File, error) {
	files, err := assets.Load(dist, "dist")
	if err != nil {
		return nil, err
	}
	page := files["/index.html"]
	delete(files, "/index.html")
	files["/"] = page
	// The page names its files relative to its own address, which has one part less without the slash.
	html, err := page.Unpack()
	if err != nil {
		return nil, err
	}
	last := o.Prefix[strings.LastIndexByte(o.Prefix, '/')+1:]
	html = bytes.ReplaceAll(html, []byte(`="./`), []byte(`="./`+last+`/`))
	for key, content := range map[string]struct {
		text []byte
		kind string
	}{
		"":              {html, "text/html; charset=utf-8"},
		"/openapi.json": {o.JSON, "application/json"},
		"/openapi.yml":  {o.YAML, "text/yaml; charset=utf-8"},
		"/openapi.yaml": {o.YAML, "text/yaml; charset=utf-8"},
	} {
		if files[key], err = assets.Pack(content.text, content.kind, assets.Checked); err != nil {
			return nil, err
		}
	}
	return files, nil
}

type handler struct {
	prefix string
	files  map[string]*assets.File
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !assets.Guard(w, r, contentSecurityPolicy) {
		return
	}
	name, ours := strings.CutPrefix(r.URL.Path, h.prefix)
	found, ok := h.files[name]
	if !ours || !ok {
		http.NotFound(w, r)
		return
	}
	if strings.HasPrefix(name, "/openapi.") {
		w.Header().Set("Access-Control-Allow-Origin", "*") // tools in other pages read it too
	}
	found.ServeHTTP(w, r)
}
