package apidocs

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"heliograph/app/web/assets"
)

func handlerOf(t *testing.T) http.Handler {
	t.Helper()
	h, err := Handler(Options{
		Prefix: "/api/v1/docs", JSON: []byte(`{"openapi":"3.1.0"}`),
		YAML: []byte("openapi: 3.1.0\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func get(t *testing.T, h http.Handler, method, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody))
	return w
}

func TestHandler(t *testing.T) {
	t.Parallel()
	h := handlerOf(t)
	script := regexp.MustCompile(`\./docs(/assets/[^"]*\.js)`).FindStringSubmatch(
		get(t, h, http.MethodGet, "/api/v1/docs").Body.String())
	if script == nil {
		t.Fatal("the page has no script")
	}
	const html, plain, yaml = "text/html; charset=utf-8", "text/plain; charset=utf-8", "text/yaml; charset=utf-8"
	for _, c := range []struct {
		method, path string
		status       int
		contentType  string
		cache        string
		origin       string
	}{
		{http.MethodGet, "/api/v1/docs", 200, html, assets.Checked, ""},
		{http.MethodGet, "/api/v1/docs/", 200, html, assets.Checked, ""},
		{http.MethodHead, "/api/v1/docs/", 200, html, assets.Checked, ""},
		{http.MethodGet, "/api/v1/docs" + script[1], 200, "text/javascript; charset=utf-8", assets.Forever, ""},
		{http.MethodGet, "/api/v1/docs/openapi.json", 200, "application/json", assets.Checked, "*"},
		{http.MethodGet, "/api/v1/docs/openapi.yml", 200, yaml, assets.Checked, "*"},
		{http.MethodGet, "/api/v1/docs/openapi.yaml", 200, yaml, assets.Checked, "*"},
		{http.MethodGet, "/api/v1/docs/index.html", 404, plain, "", ""},
		{http.MethodGet, "/api/v1/docs/assets/", 404, plain, "", ""},
		{http.MethodGet, "/api/v1/docsx", 404, plain, "", ""},
		{http.MethodGet, "/", 404, plain, "", ""},
		{http.MethodPost, "/api/v1/docs", 405, plain, "", ""},
	} {
		w := get(t, h, c.method, c.path)
		if w.Code != c.status {
			t.Errorf("%s %s: %d, want %d", c.method, c.path, w.Code, c.status)
		}
		for header, want := range map[string]string{
			"Content-Type": c.contentType, "Cache-Control": c.cache, "Access-Control-Allow-Origin": c.origin,
			"X-Content-Type-Options": "nosniff", "Content-Security-Policy": contentSecurityPolicy,
		} {
			if got := w.Header().Get(header); got != want {
				t.Errorf("%s %s: %s %q, want %q", c.method, c.path, header, got, want)
			}
		}
	}
	if got := get(t, h, http.MethodGet, "/api/v1/docs/openapi.yml").Body.String(); got != "openapi: 3.1.0\n" {
		t.Errorf("the description is %q", got)
	}
}

// TestPageReferences requests all files that the page refers to, from both of its URLs.
func TestPageReferences(t *testing.T) {
	t.Parallel()
	h := handlerOf(t)
	for address, folder := range map[string]string{"/api/v1/docs": "/api/v1/", "/api/v1/docs/": "/api/v1/docs/"} {
		page := get(t, h, http.MethodGet, address).Body.String()
		references := regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(page, -1)
		if len(references) < 3 {
			t.Errorf("%s has %d references", address, len(references))
		}
		for _, reference := range references {
			name, relative := strings.CutPrefix(reference[1], "./")
			if w := get(t, h, http.MethodGet, folder+name); !relative || w.Code != http.StatusOK {
				t.Errorf("%s refers to %s: %d", address, reference[1], w.Code)
			}
		}
		if strings.Contains(page, "<style") || regexp.MustCompile(`<script[^>]*>[^<]`).MatchString(page) {
			t.Errorf("%s has inline code", address)
		}
	}
}
