// Package webtest drives a headless Chromium in tests of pages, and tells what the page logged and which addresses it
// asked for.
//
// Tests that use it carry the build tag "browser", so that a plain "go test ./..." needs no browser.
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
	// lifetime bounds everything a page does, its browser's start included.
	lifetime = 5 * time.Minute
	// patience is how long [Page.Wait] waits.
	patience = 30 * time.Second
	// pause lies between two looks of [Page.Wait].
	pause = 25 * time.Millisecond
)

// browserNames are the programs looked for on the PATH, in this order.
var browserNames = [...]string{"chromium", "chromium-browser", "google-chrome"}

// Options describes the screen that the page sees.
type Options struct {
	// Width and Height are the viewport in CSS pixels; 1280 × 800 when zero.
	Width, Height int
	// Dark makes the system prefer dark colours.
	Dark bool
}

// Request is one address that the page asked for.
type Request struct {
	URL string
	// Kind is Chromium's resource type, for instance "Document", "Script", "Fetch" or "WebSocket".
	Kind string
}

// Page is a tab of a browser of its own, with an empty profile. Its methods fail the test that opened it when the
// browser cannot do what they ask for; they are to be called from that test's goroutine.
type Page struct {
	tb  testing.TB
	ctx context.Context

	mu       sync.Mutex
	errors   []string
	requests []Request
}

// New starts a browser that ends with the test. It fails the test, and does not skip it, when there is no browser.
func New(tb testing.TB, o Options) *Page {
	tb.Helper()
	page := &Page{tb: tb}

	width, height := o.Width, o.Height
	if width == 0 || height == 0 {
		width, height = 1280, 800
	}
	// The browser leaves files behind in its folder for temporary ones when it is stopped.
	temporary, err := os.MkdirTemp("", "webtest") //nolint:usetesting // tb.TempDir fails the test when a dying browser still writes there
	if err != nil {
		tb.Fatalf("making a folder for the browser: %v", err)
	}
	tb.Cleanup(func() {
		if err := os.RemoveAll(temporary); err != nil {
			tb.Logf("removing the browser's folder: %v", err)
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), lifetime)
	tb.Cleanup(cancel)
	// The allocator makes an empty profile folder for each browser and removes it afterwards.
	ctx, cancel = chromedp.NewExecAllocator(ctx,
		chromedp.ExecPath(findBrowser(tb)),
		chromedp.Headless,
		chromedp.NoSandbox, // a container's root user cannot have one, and the pages are our own
		chromedp.DisableGPU,
		chromedp.NoFirstRun,
		chromedp.NoDefaultBrowserCheck,
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-dev-shm-usage", true),
		// Whatever is not on this machine goes to a proxy that is not there: browsers call home also when they are
		// told not to, and tests leave the network alone.
		chromedp.ProxyServer("http://127.0.0.1:9"),
		chromedp.WindowSize(width, height),
		chromedp.Env("TMPDIR="+temporary),
		chromedp.WSURLReadTimeout(time.Minute),
	)
	tb.Cleanup(cancel)
	// chromedp logs each event that is newer than itself as an error, which says nothing about the page.
	ctx, cancel = chromedp.NewContext(ctx, chromedp.WithErrorf(func(string, ...any) {}))
	tb.Cleanup(cancel)
	page.ctx = ctx

	chromedp.ListenTarget(ctx, page.note)
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

// note keeps what the tests ask about. It runs on the browser's event goroutine.
func (p *Page) note(event any) {
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

// Run does the actions; what says what they are for, in case they fail.
func (p *Page) Run(what string, actions ...chromedp.Action) {
	p.tb.Helper()
	if err := chromedp.Run(p.ctx, actions...); err != nil {
		p.tb.Fatalf("%s: %v\n%s", what, err, p.state())
	}
}

// Open goes to the address and waits until it is loaded.
func (p *Page) Open(address string) {
	p.tb.Helper()
	p.Run("opening "+address, chromedp.Navigate(address))
}

// Screen changes the viewport, in CSS pixels, and whether the system prefers dark colours.
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

// Eval evaluates a JavaScript expression, waits when it is a promise, and decodes its JSON value into the pointer;
// nil drops the value.
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

// Wait waits until the JavaScript expression is true; what says what is waited for.
func (p *Page) Wait(what, expression string) {
	p.tb.Helper()
	deadline := time.Now().Add(patience)
	for {
		var done bool
		p.Eval("Boolean("+expression+")", &done)
		if done {
			return
		}
		if time.Now().After(deadline) {
			p.tb.Fatalf("waited in vain for %s\n%s", what, p.state())
		}
		time.Sleep(pause)
	}
}

// Click presses the mouse in the middle of the first element that the CSS selector finds.
func (p *Page) Click(selector string) {
	p.tb.Helper()
	p.Wait("an element "+selector, fmt.Sprintf("document.querySelector(%q)", selector))
	p.Run("clicking "+selector, chromedp.Click(selector, chromedp.ByQuery))
}

// Keys types the text, or the keys of chromedp's kb package, into whatever has the focus.
func (p *Page) Keys(text string) {
	p.tb.Helper()
	p.Run("typing", chromedp.KeyEvent(text))
}

// ConsoleErrors returns errors that were logged, exceptions nobody caught, and failed or refused loads, so far.
func (p *Page) ConsoleErrors() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.errors)
}

// Requests returns what the page has asked for so far, in order.
func (p *Page) Requests() []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// Outside returns the page's requests so far for any host but that of the origin.
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

// Screenshot writes what the viewport shows to a PNG file.
func (p *Page) Screenshot(file string) {
	p.tb.Helper()
	var picture []byte
	p.Run("taking a screenshot", chromedp.CaptureScreenshot(&picture))
	if err := os.WriteFile(file, picture, 0o644); err != nil {
		p.tb.Fatalf("writing the screenshot: %v", err)
	}
}

// state describes the page for the message of a failure.
func (p *Page) state() string {
	var text string
	ctx, cancel := context.WithTimeout(p.ctx, 5*time.Second)
	defer cancel()
	if err := chromedp.Run(ctx, chromedp.Evaluate("document.body?.innerText ?? ''", &text)); err != nil {
		text = "(not readable: " + err.Error() + ")"
	}
	return fmt.Sprintf("page text: %s\nconsole errors: %s", text, strings.Join(p.ConsoleErrors(), "\n  "))
}
