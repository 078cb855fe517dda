// Package graphiql serves GraphiQL, the page in which people read the schema and write, run and share GraphQL documents.
//
// The page is built from src/ by build.sh; what is served is dist/, which holds every file in gzip form only. Nothing
// in it asks any other host for anything, and the content security policy keeps it so.
package graphiql

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
)

//go:embed dist
var dist embed.FS

// The page talks to its own origin only: default-src shuts everything that is not named. Monaco colours code through
// style elements and style attributes that it makes while running, which is why styles, and only they, may be inline.
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; worker-src 'self'; connect-src 'self'; " +
	"style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const (
	// cacheForever is for files whose names carry a hash of their content.
	cacheForever = "public, max-age=31536000, immutable"
	// cacheChecked makes the browser ask each time, which an entity tag answers cheaply.
	cacheChecked = "no-cache"
)

// contentTypes names every kind of file in dist. A table of our own keeps the answer independent of what the host's
// MIME database says.
var contentTypes = map[string]string{
	".css":  "text/css; charset=utf-8",
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".json": "application/json",
	".svg":  "image/svg+xml",
	".ttf":  "font/ttf",
}

// Options says where the page lives.
type Options struct {
	// Prefix is what comes before /graphiql in the path, for instance "/ledger"; empty by default. The page finds
	// its GraphQL endpoint beside itself, at Prefix + "/graphql".
	Prefix string
}

// file is one answer: its content in gzip form and the headers that go with it.
type file struct {
	packed       []byte
	size         int // bytes when unpacked
	tag          string
	contentType  string
	cacheControl string
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

// load reads everything that is served; a key is what follows the page's path, so that the page itself is "".
func load() (map[string]file, error) {
	files := map[string]file{}
	err := fs.WalkDir(dist, "dist", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		packed, err := dist.ReadFile(name)
		if err != nil {
			return err
		}
		key := strings.TrimSuffix(strings.TrimPrefix(name, "dist"), ".gz")
		cacheControl := cacheForever
		if key == "/index.html" {
			key, cacheControl = "", cacheChecked
		}
		files[key], err = newFile(packed, path.Ext(strings.TrimSuffix(name, ".gz")), cacheControl)
		if err != nil {
			return fmt.Errorf("reading the embedded file %s: %w", name, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}

	examples, err := json.Marshal(Examples())
	if err != nil {
		return nil, fmt.Errorf("encoding the examples: %w", err)
	}
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	if _, err := writer.Write(examples); err != nil {
		return nil, fmt.Errorf("packing the examples: %w", err)
	}
	if err := writer.Close(); err != nil {
		return nil, fmt.Errorf("packing the examples: %w", err)
	}
	files["/examples.json"], err = newFile(packed.Bytes(), ".json", cacheChecked)
	return files, err
}

func newFile(packed []byte, extension, cacheControl string) (file, error) {
	contentType, ok := contentTypes[extension]
	if !ok {
		return file{}, fmt.Errorf("no content type is known for %q", extension)
	}
	if _, err := gzip.NewReader(bytes.NewReader(packed)); err != nil {
		return file{}, fmt.Errorf("reading a packed asset: %w", err)
	}
	sum := sha256.Sum256(packed)
	return file{
		packed: packed,
		// A gzip file ends with its size when unpacked.
		size:         int(binary.LittleEndian.Uint32(packed[len(packed)-4:])),
		tag:          base64.RawURLEncoding.EncodeToString(sum[:12]),
		contentType:  contentType,
		cacheControl: cacheControl,
	}, nil
}

type handler struct {
	page  string
	files map[string]file
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "same-origin")
	header.Set("Content-Security-Policy", contentSecurityPolicy)

	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
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
		header.Set("Location", target)
		w.WriteHeader(http.StatusPermanentRedirect)
		return
	}
	found, ok := h.files[rest]
	if !ours || !ok {
		http.NotFound(w, r)
		return
	}
	found.serve(w, r)
}

// serve answers with the file as it is stored when the client takes gzip, and unpacks it otherwise.
func (f file) serve(w http.ResponseWriter, r *http.Request) {
	var content io.Reader = bytes.NewReader(f.packed)
	size, tag, encoding := len(f.packed), `"`+f.tag+`-gzip"`, "gzip"
	if !acceptsGzip(r.Header.Values("Accept-Encoding")) {
		unpacked, err := gzip.NewReader(content)
		if err != nil {
			http.Error(w, "internal error", http.StatusInternalServerError)
			return
		}
		content, size, tag, encoding = unpacked, f.size, `"`+f.tag+`"`, ""
	}
	header := w.Header()
	header.Set("Vary", "Accept-Encoding")
	header.Set("Cache-Control", f.cacheControl)
	header.Set("ETag", tag)
	if matchesTag(r.Header.Values("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	header.Set("Content-Type", f.contentType)
	header.Set("Content-Length", strconv.Itoa(size))
	if encoding != "" {
		header.Set("Content-Encoding", encoding)
	}
	if r.Method == http.MethodHead {
		return
	}
	// A failed write means that the client has gone: there is nobody left to tell.
	_, _ = io.Copy(w, content)
}

// acceptsGzip reads Accept-Encoding (RFC 9110, section 12.5.3). A coding with weight 0 is refused; "*" stands for every
// coding that is not named.
func acceptsGzip(values []string) bool {
	star := false
	for value := range strings.SplitSeq(strings.Join(values, ","), ",") {
		coding, parameters, _ := strings.Cut(value, ";")
		accepted := true
		for parameter := range strings.SplitSeq(parameters, ";") {
			if weight, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(parameter)), "q="); ok {
				q, err := strconv.ParseFloat(weight, 64)
				accepted = err == nil && q > 0
			}
		}
		switch strings.ToLower(strings.TrimSpace(coding)) {
		case "gzip", "x-gzip":
			return accepted
		case "*":
			star = accepted
		}
	}
	return star
}

// matchesTag reads If-None-Match, which compares weakly (RFC 9110, section 13.1.2).
func matchesTag(values []string, tag string) bool {
	for candidate := range strings.SplitSeq(strings.Join(values, ","), ",") {
		candidate = strings.TrimSpace(candidate)
		if candidate == "*" || strings.TrimPrefix(candidate, "W/") == tag {
			return true
		}
	}
	return false
}
