package statuspage_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"heliograph/app/gateway"
	"heliograph/app/testing/testenv"
	"heliograph/rest"
	"heliograph/tests/browser/webtest"
)

// TestExport serves an exported folder below a path of a static web server, and follows its links.
func TestExport(t *testing.T) {
	g := testenv.Demo(t, testenv.Cached)
	o := gateway.Options{Status: g.Status, REST: &rest.Config{
		LimitDefault: 25, LimitMax: 100, Now: testenv.Now,
		Cache: true,
	}, Logger: slog.New(slog.DiscardHandler), Static: true}
	exporter, err := gateway.New(o)
	if err != nil {
		t.Fatal(err)
	}
	pages, err := g.Status.Pages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	err = exporter.Export(t.Context(), pages.Default(), func(file string, body []byte) error {
		path := filepath.Join(folder, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return os.WriteFile(path, body, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.StripPrefix("/status/", http.FileServer(http.Dir(folder))))
	defer server.Close()
	for _, dark := range []bool{false, true} {
		p := webtest.New(t, webtest.Options{Width: 1280, Height: 844, Dark: dark})
		p.Open(server.URL + "/status/")
		p.Accessible("front")
		for _, link := range []string{
			`main a[href*="incidents/"]`, `nav a[href*="history"]`, `a[rel="next"]`,
			`main a[href*="incidents/"]`,
		} {
			p.Click(link)
			p.Wait("the page behind "+link,
				`document.readyState === "complete" && document.querySelector("main h1") !== null`)
			p.Accessible(link)
		}
		clean(t, p, server.URL)
	}
}
