package gateway_test

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"heliograph/app/testing/testenv"
	"heliograph/tests/browser/webtest"
)

// TestGraphiQL opens GraphiQL on the demo network and runs the first example. The page sends no requests to other
// hosts.
func TestGraphiQL(t *testing.T) {
	g := testenv.Demo(t)
	p := webtest.New(t, webtest.Options{Width: 1400, Height: 900})
	p.Open(g.URL + "/graphiql")
	p.Wait("the editor",
		`document.querySelector('.graphiql-execute-button') !== null && `+
			`document.querySelector('.graphiql-query-editor .view-lines')?.textContent.length > 20`)
	p.Click(`.graphiql-execute-button`)
	p.Wait("the response",
		`/"entityId": "0\.0\.\d+"[^]*"display": `+
			`"[\d.,]+"/.test(document.querySelector('.graphiql-response')?.innerText.replaceAll('\u00a0', ' '))`)
	if errs := p.ConsoleErrors(); len(errs) > 0 {
		t.Errorf("console errors: %v", errs)
	}
	if out := p.Outside(g.URL); len(out) > 0 {
		t.Errorf("requests to other hosts: %v", out)
	}
	p.Screenshot(filepath.Join(t.ArtifactDir(), "graphiql.png"))
}

// TestGraphiQLOfEmptyDatabase checks that examples without objects say what is missing, and the others run.
func TestGraphiQLOfEmptyDatabase(t *testing.T) {
	g := testenv.Over(t, testenv.Empty.Fresh(t))
	p := webtest.New(t, webtest.Options{Width: 1400, Height: 900})
	p.Open(g.URL + "/graphiql")
	p.Click(`[aria-label="Examples"]`)
	for _, missing := range []string{
		"account with transactions", "NFT", "topic with messages", "contract",
		"fungible token with holders", "block",
	} {
		p.Wait(missing,
			fmt.Sprintf(`document.querySelector('.heliograph-examples').innerText.includes('This database has no `+
				`%s.')`, missing))
	}
	p.Keys(kb.Escape)
	p.Click(`.graphiql-execute-button`)
	p.Wait("the response", `document.querySelector('.graphiql-response')?.textContent.includes('"blocks"')`)
	if errs := strings.Join(p.ConsoleErrors(), "\n"); errs != "" {
		t.Errorf("console errors: %s", errs)
	}
}

// TestGallery runs the gallery example on the demo network, whose pictures are in topics, and sees them below the
// result.
func TestGallery(t *testing.T) {
	g := testenv.Demo(t)
	p := webtest.New(t, webtest.Options{Width: 1400, Height: 900})
	p.Open(g.URL + "/graphiql")
	p.Wait("the editor", `document.querySelector('.graphiql-query-editor .view-lines')?.textContent.length > 20`)
	p.Click(`[aria-label="Examples"]`)
	p.Wait("the focus in the search", `document.activeElement.type === 'search'`)
	p.Keys("NFT gallery")
	p.Wait("the example", `document.querySelectorAll('.heliograph-examples li').length === 1`)
	p.Keys(kb.Enter)
	p.Wait("the example in the editor",
		`document.querySelector('.graphiql-query-editor .view-lines')?.textContent.includes('Gallery')`)
	p.Click(`.graphiql-execute-button`)
	p.Wait("two pictures, of which one is that of two NFTs", `[...document.querySelectorAll('.heliograph-pictures img')]`+
		`.filter((image) => image.complete && image.naturalWidth > 0).length === 2`)
	if errs := p.ConsoleErrors(); len(errs) > 0 {
		t.Errorf("console errors: %v", errs)
	}
	if out := p.Outside(g.URL); len(out) > 0 {
		t.Errorf("requests to other hosts: %v", out)
	}
	p.Screenshot(filepath.Join(t.ArtifactDir(), "gallery.png"))
}

// TestRunAtOnce runs documents in the moment in which their tabs are opened, before the editor has parsed them.
func TestRunAtOnce(t *testing.T) {
	g := testenv.Demo(t)
	p := webtest.New(t, webtest.Options{Width: 1400, Height: 900})
	p.Open(g.URL + "/graphiql")
	p.Wait("the editor", `document.querySelector('.graphiql-query-editor .view-lines')?.textContent.length > 20`)
	run := func(tab string) {
		p.Eval(fmt.Sprintf(`(() => {
			[...document.querySelectorAll('.graphiql-tab-button')].find((tab) => tab.innerText === %q).click();
			document.querySelector('.graphiql-execute-button').click();
		})()`, tab), nil)
	}
	run("Blocks")
	p.Wait("the blocks", `/"blocks"/.test(document.querySelector('.graphiql-response')?.innerText)`)
	run("Wallet")
	p.Wait("the account", `/"account"/.test(document.querySelector('.graphiql-response')?.innerText)`)
	if errs := p.ConsoleErrors(); len(errs) > 0 {
		t.Errorf("console errors: %v", errs)
	}
}

// TestOpenREST opens a REST path in GraphiQL and runs its document.
func TestOpenREST(t *testing.T) {
	g := testenv.Demo(t)
	p := webtest.New(t, webtest.Options{Width: 1400, Height: 900})
	p.Open(g.URL + "/graphiql?rest=/api/v1/blocks/17")
	p.Wait("the document",
		`document.querySelector('.graphiql-query-editor .view-lines')?.textContent.includes('Block')`)
	p.Click(`.graphiql-execute-button`)
	p.Wait("the response", `document.querySelector('.graphiql-response')?.textContent.includes('hapi_version')`)
	if errs := strings.Join(p.ConsoleErrors(), "\n"); errs != "" {
		t.Errorf("console errors: %s", errs)
	}
}

// TestQueryPlan opens the panel with the plan of a query, on gateways that return plans and that do not.
func TestQueryPlan(t *testing.T) {
	for plans, want := range map[bool]string{
		false: `includes('--query-plans')`,
		// The account and its lists, whose bars do not begin before those of the level above.
		true: `match(/Slowest: account[^]*(_pkey|__\w+|no index)/)`,
	} {
		t.Run(strconv.FormatBool(plans), func(t *testing.T) {
			g := testenv.Demo(t, func(o *testenv.Options) { o.Graph.Plans = plans })
			p := webtest.New(t, webtest.Options{Width: 1400, Height: 900})
			p.Open(g.URL + "/graphiql")
			p.Wait("the editor",
				`document.querySelector('.graphiql-query-editor .view-lines')?.textContent.length > 20`)
			p.Click(`[aria-label="Show Query plan"]`)
			p.Wait("the panel", `document.querySelector('.heliograph-plan')?.innerText.includes('Run a query')`)
			p.Click(`.graphiql-execute-button`)
			p.Wait("the plan", `document.querySelector('.heliograph-plan').innerText.`+want)
			if plans {
				p.Wait("bars in the order of levels", `(() => {
					const rows = [...document.querySelectorAll('.heliograph-plan tbody')].map((row) => ({
						level: Number(row.querySelector('td').textContent),
						bar: row.querySelector('div').getBoundingClientRect(),
					}));
					const box = document.querySelector('.heliograph-plan table').getBoundingClientRect();
					return rows.length > 3 && rows.every(({ level, bar }) =>
						bar.left >= box.left && bar.right <= box.right + 2 &&
						rows.every((other) => other.level >= level || other.bar.left <= bar.left));
				})()`)
			}
			p.Accessible("query plan", "critical", "serious")
			if errs := p.ConsoleErrors(); len(errs) > 0 {
				t.Errorf("console errors: %v", errs)
			}
			p.Screenshot(filepath.Join(t.ArtifactDir(), "plan.png"))
		})
	}
}
