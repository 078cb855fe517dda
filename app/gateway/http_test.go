package gateway_test

import (
	"bytes"
	"compress/gzip"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"heliograph/app/gateway"
	"heliograph/app/testing/testenv"
)

// decompress returns the content of a body.
func decompress(t *testing.T, coding, body string) string {
	t.Helper()
	var r io.Reader = strings.NewReader(body)
	var err error
	switch coding {
	case "gzip":
		r, err = gzip.NewReader(r)
	case "br":
		r = brotli.NewReader(r)
	case "zstd":
		r, err = zstd.NewReader(r)
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestCompression checks that results, introspection and the schema are compressed as the client prefers, and have a
// tag if they can be cached.
func TestCompression(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t, testenv.Cached)
	query := func(text string) string { return "/graphql?query=" + url.QueryEscape(text) }
	for name, path := range map[string]string{
		"results": query(`{ transactions(first: 100) { nodes { consensusTimestamp name: type chargedFee memo ` +
			`payer { entityId } node { description } } } }`),
		"introspection": query(`{ __schema { types { name description fields { name description type { name } } } } }`),
		"errors": query(`{ transactions(first: 100) { nodes { memo } } x: account(id: "` +
			strings.Repeat("9", 40) + `") { memo } ` + strings.Repeat("a", 1000) + `: __typename }`),
		"schema": "/graphql/schema.graphql",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plain := g.Get(t, path)
			tag := plain.Header.Get("Etag")
			for accepts, want := range map[string]string{
				"zstd": "zstd", "gzip, deflate, br, zstd": "br", "gzip": "gzip", "gzip;q=0": "", "identity": "",
				"br;q=0.1, gzip": "gzip",
			} {
				got := g.Do(t, http.MethodGet, path, "", "Accept-Encoding: "+accepts)
				if coding := got.Header.Get("Content-Encoding"); coding != want ||
					!slices.Contains(got.Header.Values("Vary"), "Accept-Encoding") {
					t.Fatalf("%s: Content-Encoding %q, want %q; Vary %q", accepts, coding, want,
						got.Header.Values("Vary"))
				}
				if decompress(t, want, got.Body) != plain.Body || got.Header.Get("Etag") != tag ||
					got.Header.Get("Content-Length") != strconv.Itoa(len(got.Body)) {
					t.Errorf("%s: the response is another one: %v", accepts, got.Header)
				}
				t.Logf("%s with %s: %d bytes of %d", name, accepts, len(got.Body), len(plain.Body))
			}
			if name == "errors" {
				return
			}
			again := g.Do(t, http.MethodGet, path, "", "Accept-Encoding: br", "If-None-Match: "+tag)
			if tag == "" || again.Status != http.StatusNotModified || again.Body != "" ||
				again.Header.Get("Content-Encoding") != "" {
				t.Errorf("If-None-Match of %q: status %d, %v", tag, again.Status, again.Header)
			}
		})
	}
}

// TestBrowser checks that browsers which open the endpoint are sent to GraphiQL, and that nothing else is.
func TestBrowser(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t)
	const browser = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	got := g.Do(t, http.MethodGet, "/graphql?x=1", "", browser)
	if got.Status != http.StatusFound || got.Header.Get("Location") != "/graphiql" ||
		!slices.Contains(got.Header.Values("Vary"), "Accept") {
		t.Errorf("status %d, %v", got.Status, got.Header)
	}
	if page := g.Get(t, got.Header.Get("Location")); page.Status != http.StatusOK ||
		!strings.HasPrefix(page.Header.Get("Content-Type"), "text/html") {
		t.Errorf("GraphiQL: status %d, %v", page.Status, page.Header)
	}
	for _, c := range []struct{ method, path, accept string }{
		{http.MethodGet, "/graphql", "Accept: */*"},
		{http.MethodGet, "/graphql", "Accept: application/json, text/html"},
		{http.MethodGet, "/graphql", "Accept: text/event-stream"},
		{http.MethodGet, "/graphql?query=", browser},
		{http.MethodGet, "/graphql?documentId=x", browser},
		{http.MethodGet, "/graphql?extensions=%7B%7D", browser},
		{http.MethodPost, "/graphql", browser},
	} {
		if got := g.Do(t, c.method, c.path, "", c.accept); got.Status == http.StatusFound {
			t.Errorf("%s %s with %s: status %d", c.method, c.path, c.accept, got.Status)
		}
	}
}

// TestPreflight checks that scripts of other origins may send all headers, as to the REST API.
func TestPreflight(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t)
	for _, path := range []string{"/graphql", "/graphql/schema.graphql", "/api/v1/blocks", "/api/v2/summary.json"} {
		const headers = "apollo-require-preflight, apollographql-client-name, baggage, cache-control, content-type, " +
			"sentry-trace, traceparent"
		got := g.Do(t, http.MethodOptions, path, "", "Origin: https://example.com",
			"Access-Control-Request-Method: GET", "Access-Control-Request-Headers: "+headers)
		allowed := strings.ToLower(got.Header.Get("Access-Control-Allow-Headers"))
		if got.Status >= http.StatusMultipleChoices || got.Header.Get("Access-Control-Allow-Origin") != "*" ||
			allowed != headers ||
			got.Header.Get("Access-Control-Allow-Credentials") != "" ||
			!slices.Contains(got.Header.Values("Vary"), "Access-Control-Request-Headers") {
			t.Errorf("%s: status %d, %v", path, got.Status, got.Header)
		}
	}
}

// TestConnectionClose checks that responses end the connection while the gateway shuts down.
func TestConnectionClose(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t)
	for _, want := range []string{"", "close"} {
		w := httptest.NewRecorder()
		g.Public().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/blocks",
			http.NoBody))
		if got := w.Header().Get("Connection"); got != want {
			t.Errorf("Connection: %q, want %q", got, want)
		}
		g.NotReady()
	}
}

// TestExposedHeaders compares the headers that scripts of other origins can read with those that the code of the
// GraphQL API sets.
func TestExposedHeaders(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t, func(o *testenv.Options) { o.Rates = gateway.RateOptions{PerMinute: 100} })
	got := g.Do(t, http.MethodGet, typenamePath, "", "Origin: https://example.com")
	var exposed []string
	for name := range strings.SplitSeq(got.Header.Get("Access-Control-Expose-Headers"), ", ") {
		exposed = append(exposed, textproto.CanonicalMIMEHeaderKey(name))
	}
	set := headersSet(t, ".", "../../graph/server", "../../internal/base/respond")
	for name := range got.Header { // those of libraries too
		set[name] = true
	}
	for _, name := range []string{
		"Cache-Control", "Content-Length", "Content-Type", // always permitted
		// for browsers and proxies
		"Allow", "Connection", "Content-Encoding", "Date", "Vary", "X-Accel-Buffering", "X-Content-Type-Options",
		"Access-Control-Allow-Origin", "Access-Control-Expose-Headers",
	} {
		if !set[name] {
			t.Errorf("no code sets %s any more", name)
		}
		delete(set, name)
	}
	slices.Sort(exposed)
	var want []string
	for name := range set {
		want = append(want, name)
	}
	slices.Sort(want)
	if !slices.Equal(exposed, want) {
		t.Errorf("exposed are\n%v\nand the code sets\n%v", exposed, want)
	}
}

// headersSet returns the names of the response headers that the code in some folders sets: h.Set(name, …), h.Add(name,
// …) and h[name] = …, where the name is a literal or a constant of the package.
func headersSet(t *testing.T, folders ...string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, folder := range folders {
		constants, names := map[string]string{}, []ast.Expr{}
		paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s has no code: %v", folder, err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			source, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, bytes.NewReader(source), 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.ValueSpec:
					for i, value := range n.Values {
						if text, ok := value.(*ast.BasicLit); ok && text.Kind == token.STRING {
							constants[n.Names[i].Name], _ = strconv.Unquote(text.Value)
						}
					}
				case *ast.CallExpr:
					if f, ok := n.Fun.(*ast.SelectorExpr); ok && len(n.Args) == 2 &&
						(f.Sel.Name == "Set" || f.Sel.Name == "Add") {
						names = append(names, n.Args[0])
					}
				case *ast.AssignStmt:
					for _, to := range n.Lhs {
						if at, ok := to.(*ast.IndexExpr); ok && isHeader(at.X) {
							names = append(names, at.Index)
						}
					}
				}
				return true
			})
		}
		for _, e := range names {
			var name string
			switch e := e.(type) {
			case *ast.BasicLit:
				name, _ = strconv.Unquote(e.Value)
			case *ast.Ident:
				name = constants[e.Name]
			}
			if name = textproto.CanonicalMIMEHeaderKey(name); name != "" && name != "X-Api-Key" { // a request header
				all[name] = true
			}
		}
	}
	return all
}

// isHeader reports whether an expression is a response header, by the names that the code uses: h, or a call of
// Header.
func isHeader(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name == "h"
	case *ast.CallExpr:
		f, ok := e.Fun.(*ast.SelectorExpr)
		return ok && f.Sel.Name == "Header"
	default:
		return false
	}
}
