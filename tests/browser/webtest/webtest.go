// Package webtest controls a headless Chromium in tests of pages, and records the errors that a page logs and the
// requests that it sends.
//
// Tests that use it have the build tag "browser", so that "go test ./..." needs no browser.
package webtest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

const (
	// lifetime is the maximum lifetime of a page, including the start of its browser.
	lifetime = 5 * time.Minute
	// waitTimeout is the timeout of [Page.Wait].
	waitTimeout = 30 * time.Second
	// waitInterval is the polling interval of [Page.Wait].
	waitInterval = 25 * time.Millisecond
)

// browserNames are the names of browsers on the PATH, in order of preference.
var browserNames = [...]string{"chromium", "chromium-browser", "google-chrome"}

// Options describe the screen of the page.
type Options struct {
	// Width and Height are the size of the viewport in CSS pixels. The default is 1280 × 800.
	Width, Height int
	// Dark sets the preferred color scheme to dark.
	Dark bool
}

// Request is a request that the page has sent.
type Request struct {
	URL string
	// Kind is Chromium's resource type, for instance "Document", "Script", "Fetch" or "WebSocket".
	Kind string
}

// Page is a tab of a separate browser with an empty profile. Its methods fail the test if the browser fails. Call them
// from the goroutine of the test.
type Page struct {
	tb  testing.TB
	ctx context.Context

	mu       sync.Mutex
	errors   []string
	requests []Request
	received int64
}

// New starts a browser that runs until the test ends. It fails the test if no browser is installed.
func New(tb testing.TB, o Options) *Page {
	tb.Helper()
	page := &Page{tb: tb}

	width, height := o.Width, o.Height
	if width == 0 || height == 0 {
		width, height = 1280, 800
	}
	// The browser leaves temporary files behind when it is stopped.
	//nolint:usetesting // tb.TempDir fails the test if the browser still writes files while it exits
	temporary, err := os.MkdirTemp("", "webtest")
	if err != nil {
		tb.Fatalf("creating a folder for the browser: %v", err)
	}
	tb.Cleanup(func() {
		if err := os.RemoveAll(temporary); err != nil {
			tb.Logf("removing the browser's folder: %v", err)
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), lifetime)
	tb.Cleanup(cancel)
	// The allocator creates an empty profile folder for each browser and removes it afterwards.
	ctx, cancel = chromedp.NewExecAllocator(ctx,
		chromedp.ExecPath(findBrowser(tb)),
		chromedp.Headless,
		chromedp.NoSandbox, // not available to root in containers; the pages are trusted
		chromedp.DisableGPU,
		chromedp.NoFirstRun,
		chromedp.NoDefaultBrowserCheck,
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-dev-shm-usage", true),
		// Requests to other hosts go to a proxy that does not exist: browsers send requests of their own even if
		// that is disabled, and tests must not use the network.
		chromedp.ProxyServer("http://127.0.0.1:9"),
		chromedp.WindowSize(width, height),
		chromedp.Env("TMPDIR="+temporary),
		chromedp.WSURLReadTimeout(time.Minute),
	)
	tb.Cleanup(cancel)
	// chromedp logs events that it does not know as errors.
	ctx, cancel = chromedp.NewContext(ctx, chromedp.WithErrorf(func(string, ...any) {}))
	tb.Cleanup(cancel)
	page.ctx = ctx

	chromedp.ListenTarget(ctx, page.record)
	page.Run("starting the browser", network.Enable(), cdplog.Enable(), runtime.Enable())
	page.Screen(width, height, o.Dark)
	return page
}

func findBrowser(tb testing.TB) string {
	tb.Helper()
	for _, name := range browserNames {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	tb.Fatalf("this test needs a browser: none of %s is on the PATH", strings.Join(browserNames[:], ", "))
	return ""
}

// record records errors and requests. It runs on the browser's event goroutine.
func (p *Page) record(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.APITypeError || e.Type == runtime.APITypeAssert {
			var words []string
			for _, argument := range e.Args {
				words = append(words, describe(argument))
			}
			p.errors = append(p.errors, "console: "+strings.Join(words, " "))
		}
	case *runtime.EventExceptionThrown:
		p.errors = append(p.errors, "exception: "+e.ExceptionDetails.Error())
	case *cdplog.EventEntryAdded:
		if e.Entry.Level == cdplog.LevelError {
			p.errors = append(p.errors, fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
		}
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, Request{URL: e.Request.URL, Kind: e.Type.String()})
	case *network.EventLoadingFinished:
		p.received += int64(e.EncodedDataLength)
	case *network.EventWebSocketCreated:
		p.requests = append(p.requests, Request{URL: e.URL, Kind: network.ResourceTypeWebSocket.String()})
	}
}

func describe(object *runtime.RemoteObject) string {
	var text string
	if json.Unmarshal(object.Value, &text) == nil {
		return text
	}
	if len(object.Value) > 0 {
		return string(object.Value)
	}
	return object.Description
}

// Run executes actions. what describes them in the error message.
func (p *Page) Run(what string, actions ...chromedp.Action) {
	p.tb.Helper()
	if err := chromedp.Run(p.ctx, actions...); err != nil {
		p.tb.Fatalf("%s: %v\n%s", what, err, p.state())
	}
}

// Open opens a URL and waits until it is loaded.
func (p *Page) Open(address string) {
	p.tb.Helper()
	p.Run("opening "+address, chromedp.Navigate(address))
}

// Screen sets the size of the viewport in CSS pixels and the preferred color scheme.
func (p *Page) Screen(width, height int, dark bool) {
	p.tb.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	p.Run("setting the screen",
		chromedp.EmulateViewport(int64(width), int64(height)),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme},
			{Name: "prefers-reduced-motion", Value: "reduce"},
		}),
	)
}

// Eval evaluates a JavaScript expression, awaits promises, and decodes the JSON value into the pointer. If the pointer
// is nil, the value is discarded.
func (p *Page) Eval(expression string, into any) {
	p.tb.Helper()
	var drop json.RawMessage
	if into == nil {
		into = &drop
	}
	wait := func(parameters *runtime.EvaluateParams) *runtime.EvaluateParams {
		return parameters.WithAwaitPromise(true)
	}
	p.Run("evaluating "+expression, chromedp.Evaluate(expression, into, wait))
}

// Wait waits until a JavaScript expression is true. what describes the condition in the error message.
func (p *Page) Wait(what, expression string) {
	p.tb.Helper()
	deadline := time.Now().Add(waitTimeout)
	for {
		var done bool
		err := chromedp.Run(p.ctx, chromedp.Evaluate("Boolean("+expression+")", &done))
		if done {
			return
		}
		// The evaluation also fails if the page navigates meanwhile: it is repeated on the new page.
		if err != nil && !strings.Contains(err.Error(), "Inspected target navigated") {
			p.tb.Fatalf("%s: %v\n%s", what, err, p.state())
		}
		if time.Now().After(deadline) {
			p.tb.Fatalf("timeout: %s\n%s", what, p.state())
		}
		time.Sleep(waitInterval)
	}
}

// Click clicks the center of the first element that matches a CSS selector.
func (p *Page) Click(selector string) {
	p.tb.Helper()
	p.Wait("an element "+selector, fmt.Sprintf("document.querySelector(%q)", selector))
	p.Run("clicking "+selector, chromedp.Click(selector, chromedp.ByQuery))
}

// Keys types a text, or keys of chromedp's package kb, into the element with the focus.
func (p *Page) Keys(text string) {
	p.tb.Helper()
	p.Run("typing", chromedp.KeyEvent(text))
}

// ConsoleErrors returns the errors so far: logged errors, uncaught exceptions, and failed or blocked requests.
func (p *Page) ConsoleErrors() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.errors)
}

// Requests returns the requests so far, in order.
func (p *Page) Requests() []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// Received returns the bytes of the complete responses so far, as transferred: with headers, and with compressed
// bodies.
func (p *Page) Received() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.received
}

// Outside returns the URLs of the requests so far to hosts other than that of the origin.
func (p *Page) Outside(origin string) []string {
	p.tb.Helper()
	home, err := url.Parse(origin)
	if err != nil {
		p.tb.Fatalf("reading the origin: %v", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var outside []string
	for _, request := range p.requests {
		target, err := url.Parse(request.URL)
		if err != nil || target.Host != "" && target.Host != home.Host {
			outside = append(outside, request.URL)
		}
	}
	return outside
}

// Screenshot writes an image of the viewport to a PNG file.
func (p *Page) Screenshot(file string) {
	p.tb.Helper()
	var picture []byte
	p.Run("taking a screenshot", chromedp.CaptureScreenshot(&picture))
	if err := os.WriteFile(file, picture, 0o644); err != nil {
		p.tb.Fatalf("writing the screenshot: %v", err)
	}
}

// state describes the page in error messages.
func (p *Page) state() string {
	var text string
	ctx, cancel := context.WithTimeout(p.ctx, 5*time.Second)
	defer cancel()
	if err := chromedp.Run(ctx, chromedp.Evaluate("document.body?.innerText ?? ''", &text)); err != nil {
		text = "(not readable: " + err.Error() + ")"
	}
	return fmt.Sprintf("page text: %s\nconsole errors: %s", text, strings.Join(p.ConsoleErrors(), "\n  "))
}
