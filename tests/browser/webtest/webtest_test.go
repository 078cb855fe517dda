package webtest

import (
	"fmt"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// TestPage opens a page with errors of all kinds and checks that they are recorded.
func TestPage(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Security-Policy", "img-src 'self'")
		fmt.Fprint(w, `<!doctype html><title>t</title><input autofocus><button onclick="document.title = 'clicked'">b</button>
			<img src="/missing.png"><img src="http://blocked.example/x.png"><script src="http://outside.example/x.js"></script>
			<script>console.error('logged', 7); console.warn('no error'); setTimeout(() => { throw new Error('thrown') })</script>`)
	}))
	t.Cleanup(server.Close)

	page := New(t, Options{Width: 320, Height: 200, Dark: true})
	page.Open(server.URL + "/")
	for _, part := range []string{"logged 7", "thrown", "/missing.png", "Content Security Policy", "outside.example"} {
		recorded := func() bool {
			return slices.ContainsFunc(page.ConsoleErrors(), func(message string) bool {
				return strings.Contains(message, part)
			})
		}
		for deadline := time.Now().Add(waitTimeout); !recorded(); time.Sleep(waitInterval) {
			if time.Now().After(deadline) {
				t.Fatalf("%q is not among the errors %q", part, page.ConsoleErrors())
			}
		}
	}
	if slices.ContainsFunc(page.ConsoleErrors(), func(message string) bool {
		return strings.Contains(message, "no error")
	}) {
		t.Errorf("a warning is among the errors %q", page.ConsoleErrors())
	}
	if got := page.Outside(server.URL); !slices.Contains(got, "http://outside.example/x.js") {
		t.Errorf("outside requests %q", got)
	}
	if !slices.Contains(page.Requests(), Request{URL: server.URL + "/", Kind: "Document"}) {
		t.Errorf("requests %v", page.Requests())
	}

	var width int
	page.Eval("Promise.resolve(innerWidth)", &width)
	if width != 320 {
		t.Errorf("the viewport is %d pixels wide", width)
	}
	page.Wait("dark colours", "matchMedia('(prefers-color-scheme: dark)').matches")
	page.Screen(400, 300, false)
	page.Wait("light colours", "matchMedia('(prefers-color-scheme: light)').matches")
	page.Keys("ab" + kb.Backspace)
	page.Wait("the typed text", "document.querySelector('input').value === 'a'")
	page.Click("button")
	page.Wait("the click", "document.title === 'clicked'")

	file := filepath.Join(t.TempDir(), "page.png")
	page.Screenshot(file)
	picture, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer picture.Close()
	size, err := png.DecodeConfig(picture)
	if err != nil || size.Width != 400 || size.Height != 300 {
		t.Errorf("screenshot of %d × %d pixels: %v", size.Width, size.Height, err)
	}
}

// TestWithoutBrowser checks that tests fail, and are not skipped, if no browser is installed.
func TestWithoutBrowser(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	recorder := &failure{TB: t}
	findBrowser(recorder)
	if !strings.Contains(recorder.message, "chromium") {
		t.Errorf("message %q", recorder.message)
	}
}

// failure records the message of Fatalf.
type failure struct {
	testing.TB
	message string
}

func (f *failure) Helper() {}

func (f *failure) Fatalf(format string, arguments ...any) {
	f.message = fmt.Sprintf(format, arguments...)
}
