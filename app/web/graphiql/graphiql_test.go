package graphiql

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"heliograph/app/web/assets"
)

// oneOf returns the first built file that the pattern matches, as a path below the page.
func oneOf(t *testing.T, pattern string) string {
	t.Helper()
	names, err := fs.Glob(dist, "dist/"+pattern+".br")
	if err != nil || len(names) == 0 {
		t.Fatalf("no file in dist is named %s (%v)", pattern, err)
	}
	return "/" + strings.TrimSuffix(strings.TrimPrefix(names[0], "dist/"), ".br")
}

func TestHandler(t *testing.T) {
	t.Parallel()
	script, style := oneOf(t, "assets/index-*.js"), oneOf(t, "assets/index-*.css")
	worker, icon := oneOf(t, "assets/graphql.worker-*.js"), oneOf(t, "assets/favicon-*.svg")

	for _, c := range []struct {
		name, method, path, accept string
		status                     int
		contentType, encoding      string
		cache, location            string
	}{
		{
			name: "page", path: "/graphiql", accept: "gzip, br", status: 200, contentType: "text/html; charset=utf-8",
			encoding: "br", cache: "no-cache",
		},
		{
			name: "page with a link", path: "/graphiql?query=%7Ba%7D", accept: "gzip", status: 200,
			contentType: "text/html; charset=utf-8", encoding: "gzip", cache: "no-cache",
		},
		{
			name: "page without compression", path: "/graphiql", status: 200, contentType: "text/html; charset=utf-8",
			cache: "no-cache",
		},
		{
			name: "page, HEAD", method: "HEAD", path: "/graphiql", accept: "gzip", status: 200,
			contentType: "text/html; charset=utf-8", encoding: "gzip", cache: "no-cache",
		},
		{
			name: "script", path: "/graphiql" + script, accept: "gzip", status: 200,
			contentType: "text/javascript; charset=utf-8", encoding: "gzip", cache: assets.Forever,
		},
		{
			name: "script in brotli", path: "/graphiql" + script, accept: "gzip, deflate, br, zstd", status: 200,
			contentType: "text/javascript; charset=utf-8", encoding: "br", cache: assets.Forever,
		},
		{
			name: "script, HEAD without compression", method: "HEAD", path: "/graphiql" + script, status: 200,
			contentType: "text/javascript; charset=utf-8", cache: assets.Forever,
		},
		{
			name: "all refused", path: "/graphiql" + script, accept: "gzip;q=0, br;q=0, *", status: 200,
			contentType: "text/javascript; charset=utf-8", cache: assets.Forever,
		},
		{
			name: "any coding", path: "/graphiql" + style, accept: "*", status: 200,
			contentType: "text/css; charset=utf-8", encoding: "br", cache: assets.Forever,
		},
		{
			name: "worker", path: "/graphiql" + worker, accept: "gzip;q=0.5", status: 200,
			contentType: "text/javascript; charset=utf-8", encoding: "gzip", cache: assets.Forever,
		},
		{
			name: "icon", path: "/graphiql" + icon, accept: "gzip", status: 200, contentType: "image/svg+xml",
			encoding: "gzip", cache: assets.Forever,
		},
		{
			name: "icon font", path: "/graphiql" + oneOf(t, "assets/codicon-*.ttf"), accept: "gzip", status: 200,
			contentType: "font/ttf", encoding: "gzip", cache: assets.Forever,
		},
		{
			name: "examples", path: "/graphiql/examples.json", status: 200, contentType: "application/json",
			cache: "no-cache",
		},
		{
			name: "trailing slash", path: "/graphiql/?rest=%2Fapi%2Fv1%2Faccounts", status: 308,
			location: "../graphiql?rest=%2Fapi%2Fv1%2Faccounts",
		},
		{
			name: "unknown asset", path: "/graphiql/assets/index-00000000.js", accept: "gzip", status: 404,
			contentType: "text/plain; charset=utf-8",
		},
		{
			name: "page by its file name", path: "/graphiql/index.html", status: 404,
			contentType: "text/plain; charset=utf-8",
		},
		{
			name: "packed file by its name", path: "/graphiql" + script + ".br", status: 404,
			contentType: "text/plain; charset=utf-8",
		},
		{
			name: "way out of the folder", path: "/graphiql/assets/../../graphiql.go", status: 404,
			contentType: "text/plain; charset=utf-8",
		},
		{name: "folder", path: "/graphiql/assets/", status: 404, contentType: "text/plain; charset=utf-8"},
		{
			name: "name that only begins alike", path: "/graphiqlx", status: 404,
			contentType: "text/plain; charset=utf-8",
		},
		{name: "another path", path: "/", status: 404, contentType: "text/plain; charset=utf-8"},
		{name: "POST", method: "POST", path: "/graphiql", status: 405, contentType: "text/plain; charset=utf-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			method := c.method
			if method == "" {
				method = http.MethodGet
			}
			request := httptest.NewRequestWithContext(t.Context(), method, c.path, nil)
			if c.accept != "" {
				request.Header.Set("Accept-Encoding", c.accept)
			}
			recorder := httptest.NewRecorder()
			Handler().ServeHTTP(recorder, request)
			answer := recorder.Result()
			defer answer.Body.Close()

			if answer.StatusCode != c.status {
				t.Fatalf("status %d, want %d", answer.StatusCode, c.status)
			}
			for header, want := range map[string]string{
				"Content-Type": c.contentType, "Content-Encoding": c.encoding, "Cache-Control": c.cache,
				"Location": c.location, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
				"Content-Security-Policy": contentSecurityPolicy,
			} {
				if got := answer.Header.Get(header); got != want {
					t.Errorf("%s: %q, want %q", header, got, want)
				}
			}
			if c.status == 405 && answer.Header.Get("Allow") != "GET, HEAD" {
				t.Errorf("Allow: %q", answer.Header.Get("Allow"))
			}
			if c.status != 200 {
				return
			}
			if answer.Header.Get("ETag") == "" || answer.Header.Get("Vary") != "Accept-Encoding" {
				t.Errorf("ETag %q, Vary %q", answer.Header.Get("ETag"), answer.Header.Get("Vary"))
			}
			body, err := io.ReadAll(answer.Body)
			if err != nil {
				t.Fatal(err)
			}
			if method == http.MethodHead {
				if len(body) != 0 || answer.Header.Get("Content-Length") == "" {
					t.Errorf("HEAD: %d bytes, Content-Length %q", len(body), answer.Header.Get("Content-Length"))
				}
				return
			}
			if got := answer.Header.Get("Content-Length"); got != strconv.Itoa(len(body)) {
				t.Errorf("Content-Length %s for %d bytes", got, len(body))
			}
			if packed := bytes.HasPrefix(body, []byte{0x1f, 0x8b}); packed != (c.encoding == "gzip") {
				t.Errorf("body packed: %v, encoding %q", packed, c.encoding)
			}
		})
	}
}

func TestEntityTags(t *testing.T) {
	t.Parallel()
	get := func(accept, tag string) *http.Response {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/graphiql", nil)
		request.Header.Set("Accept-Encoding", accept)
		if tag != "" {
			request.Header.Set("If-None-Match", tag)
		}
		recorder := httptest.NewRecorder()
		Handler().ServeHTTP(recorder, request)
		return recorder.Result()
	}
	packed, plain := get("gzip", "").Header.Get("ETag"), get("", "").Header.Get("ETag")
	if packed == plain {
		t.Errorf("both encodings have the tag %s", plain)
	}
	for _, c := range []struct {
		accept, tag string
		status      int
	}{
		{"gzip", packed, 304},
		{"gzip", "W/" + packed, 304},
		{"gzip", `"other", ` + packed, 304},
		{"gzip", "*", 304},
		{"gzip", plain, 200},
		{"", plain, 304},
		{"", `"other"`, 200},
	} {
		answer := get(c.accept, c.tag)
		if answer.StatusCode != c.status {
			t.Errorf("If-None-Match %s, Accept-Encoding %q: %d, want %d", c.tag, c.accept, answer.StatusCode, c.status)
		}
		if c.status == 304 && (answer.ContentLength > 0 || answer.Header.Get("ETag") == "" ||
			answer.Header.Get("Cache-Control") == "") {
			t.Errorf("304 for %s: length %d, headers %v", c.tag, answer.ContentLength, answer.Header)
		}
	}
}

// unpacked returns the built files by name.
func unpacked(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := fs.WalkDir(dist, "dist", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		file, err := dist.Open(name)
		if err != nil {
			return err
		}
		files[strings.TrimSuffix(strings.TrimPrefix(name, "dist/"), ".br")], err = io.ReadAll(brotli.NewReader(file))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestContent compares responses in each coding with the built files.
func TestContent(t *testing.T) {
	t.Parallel()
	handler := Handler()
	for name, content := range unpacked(t) {
		if name == "index.html" {
			name = ""
		} else {
			name = "/" + name
		}
		for coding, decode := range map[string]func(io.Reader) (io.Reader, error){
			"":     func(r io.Reader) (io.Reader, error) { return r, nil },
			"br":   func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil },
			"gzip": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		} {
			recorder := httptest.NewRecorder()
			request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/graphiql"+name, nil)
			request.Header.Set("Accept-Encoding", coding)
			handler.ServeHTTP(recorder, request)
			body, err := decode(recorder.Body)
			if err != nil {
				t.Errorf("%s in %q: %v", name, coding, err)
				continue
			}
			got, err := io.ReadAll(body)
			if err != nil || recorder.Code != 200 || !bytes.Equal(got, content) {
				t.Errorf("%s in %q: status %d, %d bytes, want %d (%v)", name, coding, recorder.Code, len(got),
					len(content), err)
			}
		}
	}
}

// TestPageReferences checks that all files exist that the page refers to.
func TestPageReferences(t *testing.T) {
	t.Parallel()
	files := unpacked(t)
	page := string(files["index.html"])
	if !strings.Contains(page, "<title>Heliograph</title>") {
		t.Error("unexpected title")
	}
	references := regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(page, -1)
	if len(references) < 3 {
		t.Fatalf("the page has %d references", len(references))
	}
	for _, reference := range references {
		if reference[1] == "./graphql/schema.graphql" {
			continue
		}
		name, ok := strings.CutPrefix(reference[1], "./graphiql/")
		if _, served := files[name]; !ok || !served {
			t.Errorf("the page refers to %s, which is not served", reference[1])
		}
	}
	if strings.Contains(page, "<style") || regexp.MustCompile(`<script[^>]*>[^<]`).MatchString(page) {
		t.Error("the page has inline code, which its content security policy forbids")
	}
}

func TestExamples(t *testing.T) {
	t.Parallel()
	examples := Examples()
	if len(examples) < 4 {
		t.Fatalf("%d examples", len(examples))
	}
	seen := map[string]bool{}
	for _, example := range examples {
		if heading, sentence, ok := strings.Cut(example.Title, ": "); !ok || heading == "" || sentence == "" ||
			example.Group == "" {
			t.Errorf("%s: the group is %q, and the title %q is not of the form Title: description", example.Name,
				example.Group, example.Title)
		}
		if example.Name == "" || seen[example.Name] {
			t.Errorf("name %q is empty or duplicate", example.Name)
		}
		seen[example.Name] = true
		if !strings.HasPrefix(example.Query, "# "+example.Title+"\n") || example.Title == "" {
			t.Errorf("%s: the document does not begin with its title", example.Name)
		}
		document, err := parser.ParseQuery(&ast.Source{Name: example.Name, Input: example.Query})
		if err != nil {
			t.Errorf("%s: %v", example.Name, err)
			continue
		}
		if len(document.Operations) == 0 {
			t.Errorf("%s: no operation", example.Name)
		}
		// The tab shows the name of the first operation, and the variables beside it must be those that its operations
		// declare.
		variables := map[string]any{}
		if example.Variables != nil {
			if err := json.Unmarshal(example.Variables, &variables); err != nil {
				t.Errorf("%s: variables: %v", example.Name, err)
			}
		}
		left := maps.Clone(variables)
		for _, operation := range document.Operations {
			if operation.Name == "" {
				t.Errorf("%s: an operation has no name", example.Name)
			}
			for _, declared := range operation.VariableDefinitions {
				if _, given := variables[declared.Variable]; !given && declared.Type.NonNull &&
					declared.DefaultValue == nil {
					t.Errorf("%s: $%s has no value", example.Name, declared.Variable)
				}
				delete(left, declared.Variable)
			}
		}
		if len(left) > 0 {
			t.Errorf("%s: variables %v are not declared", example.Name, left)
		}
	}

	orphans, err := fs.Glob(exampleFiles, "src/examples/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range orphans {
		stem := strings.TrimSuffix(name, path.Ext(name))
		if _, err := exampleFiles.ReadFile(stem + ".graphql"); err != nil {
			t.Errorf("%s has no document", name)
		}
	}
}

// TestExamplesAreServed compares the examples that the page loads with the embedded ones.
func TestExamplesAreServed(t *testing.T) {
	t.Parallel()
	recorder := httptest.NewRecorder()
	Handler().ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet,
		"/graphiql/examples.json",
		nil))
	var served []Example
	if err := json.Unmarshal(recorder.Body.Bytes(), &served); err != nil {
		t.Fatalf("decoding the examples: %v", err)
	}
	examples := Examples()
	if len(served) != len(examples) {
		t.Fatalf("%d examples served, want %d", len(served), len(examples))
	}
	for i, example := range examples {
		if served[i].Name != example.Name || served[i].Title != example.Title || served[i].Query != example.Query {
			t.Errorf("served %+v, want %+v", served[i], example)
		}
	}
}
