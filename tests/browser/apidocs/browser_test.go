package apidocs_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heliograph/app/web/apidocs"
	"heliograph/rest"
	"heliograph/rest/openapi"
	v1 "heliograph/rest/v1"
	"heliograph/tests/browser/webtest"
)

// serve serves the page with the description of the whole API, and one endpoint.
func serve(t *testing.T) (origin string, operations int) {
	t.Helper()
	api, err := v1.NewOffline(&rest.Config{LimitDefault: 25, LimitMax: 100, MaxRepeats: 100})
	if err != nil {
		t.Fatal(err)
	}
	description, err := openapi.New(api)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := v1.OpenAPI(api.Config, "v1.2.3")
	page, err := apidocs.Handler(apidocs.Options{Prefix: "/api/v1/docs", JSON: text})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/api/v1/docs", page)
	mux.Handle("/api/v1/docs/", page)
	mux.HandleFunc("/api/v1/accounts", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		fmt.Fprint(w, `{"accounts":[],"links":{"next":null}}`)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	for _, path := range description.Paths {
		operations += len(path.Value)
	}
	return server.URL, operations
}

// screenshot writes a screenshot to the folder in the environment variable WEBTEST_SCREENSHOTS, if it is set.
func screenshot(p *webtest.Page, name string) {
	if folder := os.Getenv("WEBTEST_SCREENSHOTS"); folder != "" {
		p.Screenshot(filepath.Join(folder, name+".png"))
	}
}

func clean(t *testing.T, p *webtest.Page, origin string) {
	t.Helper()
	if errs := p.ConsoleErrors(); len(errs) > 0 {
		t.Errorf("console errors: %s", strings.Join(errs, "\n"))
	}
	for _, address := range p.Outside(origin) {
		if !strings.HasPrefix(address, "data:") {
			t.Errorf("request to another host: %s", address)
		}
	}
}

func TestPage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, path    string
		width, height int
		dark          bool
	}{
		{"wide", "/api/v1/docs", 1280, 900, false},
		{"wide-dark", "/api/v1/docs/", 1280, 900, true},
		{"narrow", "/api/v1/docs/", 390, 844, false},
		{"narrow-dark", "/api/v1/docs", 390, 844, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			origin, operations := serve(t)
			p := webtest.New(t, webtest.Options{Width: c.width, Height: c.height, Dark: c.dark})
			p.Open(origin + c.path)
			p.Wait("all operations", fmt.Sprintf(`document.querySelectorAll('#overview li').length === %d`,
				operations))
			screenshot(p, c.name)
			var wide int
			p.Eval(`document.documentElement.scrollWidth`, &wide)
			if wide > c.width {
				t.Errorf("the page is %d pixels wide on a screen of %d", wide, c.width)
			}
			p.Accessible("overview")
			for _, r := range p.Requests() {
				if strings.Contains(r.URL, "swagger") {
					t.Errorf("the overview loads %s", r.URL)
				}
			}
			var brightness int
			p.Eval(`(() => { const [r, g, b] = `+
				`getComputedStyle(document.documentElement).backgroundColor.match(/\d+/g).map(Number); return r + g `+
				`+ b; })()`, &brightness)
			if dark := brightness < 300; dark != c.dark {
				t.Errorf("background brightness %d, dark %v", brightness, c.dark)
			}
			p.Click(`#overview input`)
			p.Keys("0x-hex account.publickey")
			p.Wait("nothing found",
				`document.querySelector('#overview [role=status]').textContent.startsWith('No operation')`)
			p.Eval(`document.querySelector('#overview input').value = ''`, nil)
			p.Keys("account.publickey Deleted")
			p.Wait("one operation",
				`document.querySelector('#overview input').value !== '' && [...document.querySelectorAll('#overview `+
					`li:not([hidden])')].filter((row) => row.offsetHeight > 0).length === 1`)
			p.Click(`#overview a[href="#/accounts/getAccounts"]`)
			p.Wait("all operations in Swagger UI",
				fmt.Sprintf(`document.getElementById('overview').hidden && `+
					`document.querySelectorAll('.opblock').length === %d`, operations))
			p.Wait("the link to GraphiQL",
				`document.querySelector('.opblock.is-open a[href="/graphiql?rest=%2Fapi%2Fv1%2Faccounts"]')`)
			p.Eval(`document.querySelector('.opblock.is-open').scrollIntoView()`, nil)
			screenshot(p, c.name+"-operation")
			p.Eval(`document.documentElement.scrollWidth`, &wide)
			if wide > c.width {
				t.Errorf("an open operation is %d pixels wide on a screen of %d", wide, c.width)
			}
			p.Wait("the button that sends the request", `document.querySelector('.opblock.is-open .execute')`)
			p.Eval(`document.querySelector('.opblock.is-open .execute').click()`, nil)
			p.Wait("the response",
				`document.querySelector('.live-responses-table tr.response `+
					`.response-col_status')?.textContent.includes('200')`)
			p.Accessible("operation with a response", "critical", "serious")
			clean(t, p, origin)
		})
	}
}

// TestLink opens the address of an operation.
func TestLink(t *testing.T) {
	t.Parallel()
	origin, _ := serve(t)
	p := webtest.New(t, webtest.Options{})
	p.Open(origin + "/api/v1/docs#/contracts/postContractsCall")
	p.Wait("the operation",
		`document.getElementById('overview').hidden && `+
			`document.querySelector('#operations-contracts-postContractsCall.is-open .execute')`)
	p.Accessible("operation with a body", "critical", "serious")
	p.Click(`.operation-filter-input`)
	p.Keys("account.publickey deleted")
	p.Wait("the found operation",
		`document.querySelectorAll('.opblock').length === 1 && `+
			`document.getElementById('operations-accounts-getAccounts')`)
	clean(t, p, origin)
}
