// Package apidocs serves the interactive documentation of a REST API and its OpenAPI description: an overview, which
// loads Swagger UI for an operation.
//
// scripts/build-assets.sh builds the page from src/ into dist/, which contains brotli files. The content security
// policy prevents requests to other hosts.
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

// The policy allows requests to the origin of the page only. It allows inline styles and data URLs of images, because
// Swagger UI sets style attributes and has images in its style sheet.
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self' " +
	"'unsafe-inline'; " +
	"img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Options configure the documentation.
type Options struct {
	// Prefix is the path of the page, for example "/api/v1/docs". The description is below it.
	Prefix string
	// JSON and YAML are the OpenAPI description in both formats.
	JSON, YAML []byte
}

// Handler serves the page at the prefix, with and without a trailing slash, and openapi.json, openapi.yml and
// openapi.yaml below it. It compresses the OpenAPI documents of o. The handler uses the whole request path, so do not
// strip a prefix. It fails if the embedded files are invalid, which the tests of this package rule out.
func Handler(o Options) (http.Handler, error) {
	files, err := assets.Load(dist, "dist")
	if err != nil {
		return nil, fmt.Errorf("loading the API documentation: %w", err)
	}
	page := files["/index.html"]
	delete(files, "/index.html")
	files["/"] = page
	// The page refers to its files by relative URLs, which need one more path segment without the trailing slash.
	html, err := page.Unpack()
	if err != nil {
		return nil, fmt.Errorf("loading the API documentation: %w", err)
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
		files[key] = assets.Pack(content.text, content.kind, assets.Checked)
	}
	return &handler{prefix: o.Prefix, files: files}, nil
}

type handler struct {
	prefix string
	files  map[string]*assets.File // by their path below the prefix; the page is at "/" and, with other links, at ""
}

// ServeHTTP serves the page of the reference at h.prefix, such as /api/v1/docs, and its embedded files and the OpenAPI
// documents below that. Other paths are not found, and other methods than GET and HEAD are not allowed. Pages of all
// origins may read the OpenAPI documents.
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
		w.Header().Set("Access-Control-Allow-Origin", "*") // tools on other origins read it too
	}
	found.ServeHTTP(w, r)
}
