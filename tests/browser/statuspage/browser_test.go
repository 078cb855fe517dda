package statuspage_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"

	"heliograph/app/testing/testenv"
	"heliograph/internal/domain/status"
	"heliograph/storage/demo"
	"heliograph/storage/statuspages"
	"heliograph/tests/browser/webtest"
)

// screenshot writes a screenshot of the whole page to the folder in the environment variable WEBTEST_SCREENSHOTS, if
// it is set.
func screenshot(p *webtest.Page, name string, width int, dark bool) {
	folder := os.Getenv("WEBTEST_SCREENSHOTS")
	if folder == "" {
		return
	}
	var height int
	p.Eval(`document.documentElement.scrollHeight`, &height)
	p.Screen(width, height, dark)
	p.Screenshot(filepath.Join(folder, name+".png"))
}

// clean fails the test if the page logged an error or sent a request to another host.
func clean(t *testing.T, p *webtest.Page, origin string) {
	t.Helper()
	if errs := p.ConsoleErrors(); len(errs) > 0 {
		t.Errorf("console errors: %s", strings.Join(errs, "\n"))
	}
	if out := p.Outside(origin); len(out) > 0 {
		t.Errorf("requests to other hosts: %v", out)
	}
}

// TestScreens opens every page on wide and narrow screens, light and dark, and with increased contrast.
func TestScreens(t *testing.T) {
	g, none := testenv.Demo(t, testenv.Cached), testenv.Over(t, testenv.Empty.Fresh(t), testenv.Cached)
	g.WaitForPage(t)
	for _, c := range []struct {
		name           string
		width          int
		dark, contrast bool
	}{
		{"wide", 1280, false, false},
		{"wide-dark", 1280, true, false},
		{"narrow", 390, false, false},
		{"narrow-dark", 390, true, false},
		{"contrast", 1280, false, true},
		{"contrast-dark", 390, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := webtest.New(t, webtest.Options{Width: c.width, Height: 844, Dark: c.dark})
			for name, address := range map[string]string{
				"front": g.URL + "/", "incident": g.URL + "/incidents/" + g.NewestIncident(t),
				"history": g.URL + "/history?month=2026-04", "missing": g.URL + "/incidents/none",
				"frame": g.URL + "/embed/frame", "landing": none.URL + "/",
			} {
				if c.contrast && name != "front" {
					continue
				}
				p.Screen(c.width, 844, c.dark)
				if c.contrast {
					scheme := map[bool]string{false: "light", true: "dark"}[c.dark]
					p.Run("setting the contrast", emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
						{Name: "prefers-contrast", Value: "more"}, {Name: "prefers-color-scheme", Value: scheme},
					}))
				}
				p.Open(address)
				var state struct{ Wide, Brightness int }
				p.Eval(`({ wide: document.documentElement.scrollWidth, brightness: `+
					`getComputedStyle(document.documentElement).backgroundColor.match(/\d+/g).slice(0, `+
					`3).reduce((s, v) => s + Number(v), 0) })`, &state)
				if state.Wide > c.width {
					t.Errorf("%s is %d pixels wide on a screen of %d", name, state.Wide, c.width)
				}
				if dark := state.Brightness < 300; dark != c.dark && name != "frame" {
					t.Errorf("%s: background brightness %d, dark %v", name, state.Brightness, c.dark)
				}
				if name == "front" || c.width > 1000 {
					p.Accessible(name)
				}
				if !c.contrast {
					screenshot(p, name+"-"+c.name, c.width, c.dark)
				}
			}
			for _, e := range p.ConsoleErrors() {
				if !strings.Contains(e, "404") { // the page that is missing
					t.Error(e)
				}
			}
		})
	}
}

// TestLive checks that a write appears in an open page without a reload. Collapsed groups stay collapsed, and the
// change is announced to screen readers.
func TestLive(t *testing.T) {
	g := testenv.Over(t, testenv.Filled.Fresh(t), testenv.Cached)
	g.WaitForPage(t)
	edit := g.Editor()
	deleteIncidents(t, g, edit) // so that the headline changes
	p := webtest.New(t, webtest.Options{Width: 1280, Height: 900})
	p.Open(g.URL + "/")
	p.Wait("the events", `!document.getElementById('live').hidden`)
	p.Eval(`window.mark = 'the same page'`, nil)
	p.Click(`details:nth-of-type(2) > summary`)
	var group string
	p.Eval(`document.querySelector('details:not([open])').dataset.key`, &group)
	code, err := edit.OpenIncident(t.Context(), testenv.Author, demo.StatusPage, status.NewIncident{
		Name: "The harbour is dark", Body: "No light is on.",
		Affected: []status.Assignment{{Component: component(t, g, "Importer"), Status: status.MajorOutage}},
	})
	if err != nil {
		t.Fatal(err)
	}
	p.Wait("the incident", fmt.Sprintf(`document.querySelector('.card a[href="/incidents/%s"]')`, code))
	p.Wait("the headline", `document.getElementById('headline').textContent === 'Major System Outage'`)
	var state struct {
		Mark, Announced, Icon, Focus string
		Closed                       []string
		Hints, Bars                  int
	}
	look := `({ mark: window.mark, announced: document.getElementById('announce').textContent, icon: document.getElementById('icon').getAttribute('href'),
		focus: document.activeElement.closest('details')?.dataset.key ?? '', closed: [...document.querySelectorAll('details:not([open])')].map((d) => d.dataset.key),
		bars: document.querySelectorAll('.bars rect').length, hints: document.querySelectorAll('.bars title').length })`
	p.Eval(look, &state)
	if state.Mark != "the same page" || !strings.Contains(state.Announced, "Major System Outage") ||
		!strings.Contains(state.Icon, "icon-critical") || len(state.Closed) != 1 ||
		state.Closed[0] != group || state.Focus != group || state.Bars == 0 || state.Hints != 0 {
		t.Errorf("%+v", state)
	}
	// A second write, and the tooltip of a bar.
	if _, err := edit.UpdateIncident(t.Context(), testenv.Author,
		code, status.NewUpdate{State: status.Resolved, Body: "The lights are on again."}); err != nil {
		t.Fatal(err)
	}
	p.Wait("the end",
		`document.getElementById('headline').textContent !== 'Major System Outage' && document.querySelector('.day `+
			`.past')?.textContent.includes('The lights are on again.')`)
	p.Eval(`document.querySelector('.bars rect:last-of-type').dispatchEvent(new PointerEvent('pointerover', { `+
		`bubbles: true }))`, nil)
	p.Wait("the hint",
		`!document.querySelector('.tip').hidden && document.querySelector('.tip').textContent.startsWith('17 May `+
			`2026')`)
	clean(t, p, g.URL)
}

// deleteIncidents deletes the open incidents of the demo page, and waits until the page is rendered without them.
func deleteIncidents(t *testing.T, g *testenv.Gateway, edit *statuspages.Editor) {
	t.Helper()
	const path = "/api/v2/incidents/unresolved.json"
	var open struct{ Incidents []struct{ ID string } }
	testenv.Decode(t, g.Get(t, path).Body, &open)
	for _, i := range open.Incidents {
		if _, err := edit.DeleteNotice(t.Context(), testenv.Author, i.ID, status.VersionInput{}); err != nil {
			t.Fatal(err)
		}
	}
	for strings.Contains(g.Get(t, "/").Body, open.Incidents[0].ID) {
		time.Sleep(50 * time.Millisecond)
	}
}

// component returns the code of a component.
func component(t *testing.T, g *testenv.Gateway, name string) string {
	t.Helper()
	var data struct{ Components []struct{ ID, Name string } }
	if err := json.Unmarshal([]byte(g.Get(t, "/api/v2/components.json").Body), &data); err != nil {
		t.Fatal(err)
	}
	for _, c := range data.Components {
		if c.Name == name {
			return c.ID
		}
	}
	t.Fatalf("component %s does not exist", name)
	return ""
}

// TestEmbed embeds the banner in a page of another site. It is visible only while there is an open incident or
// maintenance.
func TestEmbed(t *testing.T) {
	g := testenv.Over(t, testenv.Filled.Fresh(t), testenv.Cached)
	g.WaitForPage(t)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w,
			`<!doctype html><html lang="en"><head><title>Another site</title><link rel="icon" `+
				`href="data:,"></head><body><h1>Another site</h1><script src="%s/embed.js" data-position="bottom" `+
				`async></script></body></html>`, g.URL)
	}))
	t.Cleanup(other.Close)
	p := webtest.New(t, webtest.Options{Width: 900, Height: 400})
	p.Open(other.URL)
	const shown = `(() => { const f = document.querySelector('iframe'); return f && getComputedStyle(f).visibility ` +
		`=== 'visible' && f.offsetHeight > 20 && f.offsetHeight < 200; })()`
	p.Wait("the banner", shown)
	screenshot(p, "embed", 900, false)
	// Closes all incidents and maintenances.
	err := g.Status.Write(t.Context(), demo.StatusPage, testenv.Now(), nil,
		func(ctx context.Context, tx *statuspages.Tx) error {
			_, err := tx.Exec(ctx, `update status.incident set draft = true where resolved_at is null`)
			return err
		})
	if err != nil {
		t.Fatal(err)
	}
	p.Wait("no banner", `!`+shown)
	if errs := p.ConsoleErrors(); len(errs) > 0 {
		t.Errorf("console errors: %s", strings.Join(errs, "\n"))
	}
}
