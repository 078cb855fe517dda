package graphiql_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"heliograph/app/web/graphiql"
	"heliograph/tests/browser/webtest"
)

// introspection is the introspection result of testdata/schema.graphql.
//
//go:embed testdata/introspection.json
var introspection []byte

// accounts is the response to all other queries.
//
//go:embed testdata/accounts.json
var accounts []byte

const messageQuery = `subscription Messages { topicMessages(topic: "0.0.1006") { sequenceNumber text } }`

// gateway is a fake of the GraphQL API: it supports introspection, a query, a subscription over both transports, and
// explanations of REST paths.
type gateway struct {
	mu       sync.Mutex
	requests []graphqlRequest
	streams  int // subscriptions over server-sent events
	sockets  int // WebSocket connections
	explains []string
	exports  atomic.Int64  // requests for CSV, of which only the first succeeds
	events   int           // events of a subscription over server-sent events
	hold     chan struct{} // if not nil, introspection and the files loadedLater are delivered after it is closed
}

// objects is the response to the search for objects of the examples: a database without topics.
const objects = `{"data":{"transfers":{"nodes":[{"tokenTransfers":[]},{"tokenTransfers":[{"tokenId":"0.0.779",` +
	`"accountId":"0.0.777"}]}]},"tokens":{"nodes":[]},` +
	`"nfts":{"nodes":[{"tokenId":"0.0.780","deleted":true},{"tokenId":"0.0.781","deleted":false}]},` +
	`"messages":{"nodes":[]},"logs":{"nodes":[{"contract":null},{"contract":{"entityId":"0.0.782"}}]},` +
	`"contracts":{"nodes":[]},"blocks":{"nodes":[{"number":"12345"}]},` +
	`"newest":{"nodes":[{"payerAccountId":"0.0.783"}]},"status":{"revision":"7"}}}`

type graphqlRequest struct {
	Query         string          `json:"query"`
	Variables     json.RawMessage `json:"variables"`
	OperationName string          `json:"operationName"`
}

// loadedLater matches the files that the page loads after the editor: workers, panels and icons.
var loadedLater = regexp.MustCompile(`\.worker-|/doc-explorer-|/dist-|/codicon-`)

func serve(t *testing.T) (*gateway, string) {
	t.Helper()
	return serveHeld(t, nil)
}

func serveHeld(t *testing.T, hold chan struct{}) (*gateway, string) {
	t.Helper()
	g := &gateway{events: 1, hold: hold}
	mux := http.NewServeMux()
	files := graphiql.Handler()
	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if loadedLater.MatchString(r.URL.Path) {
			g.wait()
		}
		files.ServeHTTP(w, r)
	})
	mux.Handle("/graphiql", page)
	mux.Handle("/graphiql/", page)
	mux.HandleFunc("/graphql", g.graphql)
	mux.HandleFunc("/graphql/explain", g.explain)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return g, server.URL
}

func (g *gateway) wait() {
	if g.hold != nil {
		<-g.hold
	}
}

func (g *gateway) graphql(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != "" {
		g.socket(w, r)
		return
	}
	var request graphqlRequest
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	g.mu.Lock()
	g.requests = append(g.requests, request)
	g.mu.Unlock()
	switch {
	case r.Header.Get("Accept") == "text/event-stream":
		g.mu.Lock()
		g.streams++
		g.mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		for range g.events {
			fmt.Fprintf(w, "event: next\ndata: %s\n\n", message("by events, "+strings.Repeat("long ", 200)))
		}
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	case r.Header.Get("Accept") == "text/csv" && g.exports.Add(1) > 1:
		http.Error(w, "the list cannot be exported", http.StatusBadRequest)
	case r.Header.Get("Accept") == "text/csv":
		w.Header().Set("Content-Type", "text/csv; charset=utf-8")
		w.Header().Set("Content-Disposition", `attachment; filename="`+request.OperationName+`.csv"`)
		fmt.Fprint(w, "entityId\r\n0.0.777\r\n")
	case request.OperationName == "ExampleObjects":
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, objects)
	case request.OperationName == "IntrospectionQuery":
		g.wait()
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(introspection)
	default:
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Query-Cost", "1234")
		w.Header().Set("X-Query-Cost-Limit", "50000")
		_, _ = w.Write(accounts)
	}
}

func message(text string) string {
	return fmt.Sprintf(`{"data":{"topicMessages":{"sequenceNumber":"1","text":%q}}}`, text)
}

// socket implements the part of graphql-transport-ws that a subscription needs.
func (g *gateway) socket(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	g.sockets++
	g.mu.Unlock()
	connection, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"graphql-transport-ws"}})
	if err != nil {
		return
	}
	defer func() { _ = connection.CloseNow() }()
	for {
		var frame struct {
			ID   string `json:"id"`
			Type string `json:"type"`
		}
		if wsjson.Read(r.Context(), connection, &frame) != nil {
			return
		}
		switch frame.Type {
		case "connection_init":
			err = wsjson.Write(r.Context(), connection, map[string]string{"type": "connection_ack"})
		case "subscribe":
			next := map[string]any{"id": frame.ID, "type": "next", "payload": json.RawMessage(message("by socket"))}
			err = wsjson.Write(r.Context(), connection, next)
		}
		if err != nil {
			return
		}
	}
}

func (g *gateway) explain(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Query().Get("path")
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	g.mu.Lock()
	g.explains = append(g.explains, strings.TrimSpace(path+" "+string(body)))
	g.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if strings.HasPrefix(path, "POST /api/v1/") {
		fmt.Fprint(w, `{"query":"query RestCall { __typename }","variables":{},"operationName":"RestCall"}`)
		return
	}
	if !strings.HasPrefix(path, "/api/v1/accounts") {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"error":"There is no endpoint with this path."}`)
		return
	}
	fmt.Fprint(w,
		`{"query":"query RestAccounts($first: Int) { accounts(first: $first) { nodes { entityId } } `+
			`}","variables":{"first":5},"operationName":"RestAccounts"}`)
}

// count returns the value of a counter.
func (g *gateway) count(field *int) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return *field
}

// lastDocument returns the last request of the user, which is neither introspection nor the search for objects.
func (g *gateway) lastDocument() graphqlRequest {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, request := range slices.Backward(g.requests) {
		if request.OperationName != "IntrospectionQuery" && request.OperationName != "ExampleObjects" {
			return request
		}
	}
	return graphqlRequest{}
}

const (
	runButton = `.graphiql-execute-button`
	// The editors draw spaces as no-break spaces.
	operationText = `document.querySelector('.graphiql-query-editor .view-lines')?.innerText.replaceAll('\u00a0', ' ')`
	variablesText = `document.querySelector('.graphiql-editor-tool .view-lines')?.innerText.replaceAll('\u00a0', ' ')`
	resultText    = `document.querySelector('.result-window .view-lines')?.innerText.replaceAll('\u00a0', ' ')`
	tabTitles     = `[...document.querySelectorAll('.graphiql-tab-button')].map((tab) => tab.innerText)`
	docText       = `document.querySelector('.graphiql-doc-explorer')?.innerText`
	activeTab     = `document.querySelector('.graphiql-tab-active .graphiql-tab-button')?.innerText`
)

// open opens the page and waits until the editors are loaded.
func open(t *testing.T, address string) *webtest.Page {
	t.Helper()
	page := webtest.New(t, webtest.Options{})
	page.Open(address)
	ready(page)
	return page
}

func ready(page *webtest.Page) {
	page.Wait("the operation editor", operationText)
	page.Wait("the result editor", `document.querySelector('.result-window .monaco-editor')`)
}

// clean fails the test if the page logged an error or sent a request to another host.
func clean(t *testing.T, page *webtest.Page, origin string, expected ...string) {
	t.Helper()
	for _, message := range page.ConsoleErrors() {
		if !slices.ContainsFunc(expected, func(part string) bool { return strings.Contains(message, part) }) {
			t.Errorf("the page logged an error: %s", message)
		}
	}
	for _, address := range page.Outside(origin) {
		t.Errorf("request to another host: %s", address)
	}
}

func TestPage(t *testing.T) {
	g, origin := serve(t)
	page := open(t, origin+"/graphiql")

	var title string
	page.Eval("document.title", &title)
	if title != "Heliograph" {
		t.Errorf("title %q", title)
	}
	var titles []string
	page.Eval(tabTitles, &titles)
	if want := []string{"Wallet", "Blocks", "Gallery", "Dashboard"}; !slices.Equal(titles, want) {
		t.Errorf("tabs %q", titles)
	}

	page.Wait("the introduction", docText+`?.includes('Heliograph serves the data of a Hedera or Hiero network')`)
	page.Wait("no types of federation", docText+`.includes('BlockConnection') && !`+docText+`.includes('_Service')`)
	page.Click(`[aria-label="Show GraphiQL Explorer"]`)
	page.Wait("the fields in the explorer",
		`['accounts', 'topic'].every((field) => [...document.querySelectorAll('.graphiql-explorer-root `+
			`.graphiql-explorer-field-view')].some((view) => view.innerText.trim() === field))`)
	page.Wait("no fields of federation",
		`!document.querySelector('.graphiql-explorer-root').innerText.includes('_service')`)
	page.Open(origin + "/graphiql")
	ready(page)
	page.Wait("the explorer at its top, without the focus",
		`document.querySelector('.graphiql-plugin').scrollTop === 0 && `+
			`!document.activeElement.closest('.graphiql-plugin')`)

	page.Click(runButton)
	page.Wait("the result", resultText+`?.includes('5000000000000000000')`)
	page.Wait("time, size and cost",
		fmt.Sprintf(`/^[\d.]+ ms\s+%d bytes\s+cost 1,234 of `+
			`50,000$/.test(document.querySelector('.heliograph-measure')?.innerText.trim())`, len(accounts)))
	if got := g.lastDocument(); got.OperationName != "Wallet" || !strings.Contains(got.Query, "account(") ||
		!strings.Contains(string(got.Variables), `"0.0.777"`) {
		t.Errorf("request %+v", got)
	}

	// The document is downloaded as CSV with its variables. The page does not save files in the test.
	var none any
	page.Eval(`URL.createObjectURL = (blob) => { blob.text().then((text) => { window.saved = text }); return '' },
		HTMLAnchorElement.prototype.click = function () { window.file = this.download }, null`, &none)
	page.Click(`.heliograph-download`)
	page.Wait("the rows as CSV", `window.file === 'Wallet.csv' && window.saved === 'entityId\r\n0.0.777\r\n'`)
	if got := g.lastDocument(); !strings.Contains(string(got.Variables), `"0.0.777"`) {
		t.Errorf("request %+v", got)
	}
	page.Click(`.heliograph-download`)
	page.Wait("the error as the result", resultText+`?.includes('cannot be exported')`)

	page.Click(`[aria-label^="Show Documentation"]`)
	page.Wait("the schema's documentation",
		`document.querySelector('.graphiql-doc-explorer')?.innerText.includes('Query')`)
	page.Click(`[aria-label="Show History"]`)
	page.Wait("the run in the history", `document.querySelector('.graphiql-history')?.innerText.includes('Wallet')`)

	// The workers run: the unknown field is marked, and Prettier formats the document.
	page.Open(origin + "/graphiql?query=" + url.QueryEscape("{accounts{pageInfo{hasNextPage unknown}}}"))
	ready(page)
	page.Wait("the marker of the unknown field", `document.querySelector('.graphiql-query-editor .squiggly-error')`)
	page.Click(`[aria-label^="Prettify"]`)
	page.Wait("the formatted document", operationText+`.includes('\n      unknown')`)

	if g.count(&g.sockets)+g.count(&g.streams) > 0 {
		t.Error("a connection was opened without a subscription")
	}
	clean(t, page, origin, "status of 400 (Bad Request) "+origin+"/graphql")
}

func TestKeyboard(t *testing.T) {
	_, origin := serve(t)
	page := open(t, origin+"/graphiql?query="+url.QueryEscape("{ accounts { nodes { entityId } } }"))
	page.Click(`.graphiql-query-editor .view-line`)
	page.Eval(`document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', code: 'Enter', `+
		`keyCode: 13, ctrlKey: true, bubbles: true }))`, nil)
	page.Wait("the result", resultText+`?.includes('0.0.2')`)

	// Escape moves the focus out of the editor, Enter back into it, and the focus is visible.
	page.Keys(kb.Escape)
	page.Wait("the focus to leave the text", `document.activeElement.matches('.graphiql-editor')`)
	page.Keys(kb.Enter)
	page.Wait("the focus to return to the text", `document.activeElement.closest('.monaco-editor')`)
	page.Keys(kb.Escape + kb.Tab)
	page.Wait("the focus on the next control", `document.activeElement.matches('.graphiql-execute-button')`)
	page.Wait("a visible focus", `getComputedStyle(document.activeElement).outlineStyle !== 'none'`)
	clean(t, page, origin)
}

func TestLinks(t *testing.T) {
	g, origin := serve(t)
	link := url.Values{
		"query": {"query First { topic(id: \"0.0.7\") { memo } } query Second($first: Int) { " +
			"accounts(first: $first) { nodes { entityId } } }"},
		"variables":     {`{"first":3}`},
		"operationName": {"Second"},
	}
	page := open(t, origin+"/graphiql?"+link.Encode())
	page.Wait("the linked document", operationText+`.includes('query Second')`)
	page.Wait("its variables", variablesText+`?.includes('"first": 3')`)
	page.Wait("its operation in the tab", activeTab+` === 'Second'`)
	page.Wait("the list of operations", `document.querySelector('.graphiql-execute-button')`)
	if got := g.lastDocument(); got.Query != "" {
		t.Errorf("the page sent %q without a click", got.Query)
	}

	// A trailing slash is accepted, and a REST path is converted to its document.
	page.Open(origin + "/graphiql/?rest=" + url.QueryEscape("/api/v1/accounts?limit=5&order=asc"))
	ready(page)
	page.Wait("the document of the REST path", operationText+`.includes('query RestAccounts')`)
	page.Wait("its variables", variablesText+`?.includes('"first": 5')`)
	page.Click(runButton)
	page.Wait("the result", resultText+`?.includes('0.0.2')`)
	if got := g.lastDocument(); got.OperationName != "RestAccounts" || string(got.Variables) != `{"first":5}` {
		t.Errorf("request %+v", got)
	}
	g.mu.Lock()
	explained := slices.Clone(g.explains)
	g.mu.Unlock()
	if !slices.Equal(explained, []string{"/api/v1/accounts?limit=5&order=asc"}) {
		t.Errorf("explained paths: %q", explained)
	}

	page.Open(origin + "/graphiql?rest=" + url.QueryEscape("/api/v9/nothing"))
	ready(page)
	page.Wait("the error",
		`document.querySelector('.heliograph-rest-error')?.innerText === 'There is no endpoint with this path.'`)
	clean(t, page, origin, "/graphql/explain?path=%2Fapi%2Fv9%2Fnothing")
}

func TestRestDialog(t *testing.T) {
	g, origin := serve(t)
	page := open(t, origin+"/graphiql")
	var before int
	page.Eval(tabTitles+".length", &before)

	page.Click(`[aria-label="Open a REST call"]`)
	page.Wait("the focus in the dialog", `document.activeElement.matches('.heliograph-rest textarea')`)
	page.Keys("https://ledger.example/api/v2/nothing" + kb.Enter)
	page.Wait("the error",
		`document.querySelector('.heliograph-rest-error')?.innerText === 'There is no endpoint with this path.'`)

	page.Eval(`document.querySelector('.heliograph-rest textarea').select()`, nil)
	page.Keys(`curl -s "https://ledger.example/api/v1/accounts?limit=5&order=asc"` + kb.Enter)
	page.Wait("the dialog to close", `!document.querySelector('.heliograph-rest')`)
	page.Wait("a tab with the document", activeTab+` === 'RestAccounts' && `+tabTitles+
		fmt.Sprintf(".length === %d", before+1))
	page.Wait("its variables", variablesText+`?.includes('"first": 5')`)

	// Calls with a body: text, and a binary transaction in base64.
	for _, call := range []string{
		`POST /api/v1/contracts/call {"data":"0x18160ddd"}`,
		`curl localhost:8080/api/v1/network/fees -H "Content-Type: application/protobuf" -d aGVsbG8=`,
	} {
		page.Click(`[aria-label="Open a REST call"]`)
		page.Wait("the focus in the dialog", `document.activeElement.matches('.heliograph-rest textarea')`)
		page.Keys(call + kb.Enter)
		page.Wait("the dialog to close", `!document.querySelector('.heliograph-rest')`)
		page.Wait("a tab with the document", activeTab+` === 'RestCall'`)
	}
	g.mu.Lock()
	explained := slices.Clone(g.explains)
	g.mu.Unlock()
	if want := []string{
		"/api/v2/nothing", "/api/v1/accounts?limit=5&order=asc",
		`POST /api/v1/contracts/call {"data":"0x18160ddd"}`,
		"POST /api/v1/network/fees hello",
	}; !slices.Equal(explained, want) {
		t.Errorf("explained paths: %q", explained)
	}
	clean(t, page, origin, "/graphql/explain?path=%2Fapi%2Fv2%2Fnothing")
}

func TestExamples(t *testing.T) {
	_, origin := serve(t)
	page := open(t, origin+"/graphiql")
	page.Wait("an account of the database", variablesText+`?.includes('"account": "0.0.777"')`)

	groups := map[string]bool{}
	for _, e := range graphiql.Examples() {
		groups[e.Group] = true
	}
	page.Click(`[aria-label="Examples"]`)
	page.Wait("the examples in groups",
		fmt.Sprintf(`document.querySelectorAll('.heliograph-examples li').length === %d && `+
			`document.querySelectorAll('.heliograph-examples h3').length === %d`, len(graphiql.Examples()),
			len(groups)))
	page.Wait("a sentence for each",
		`[...document.querySelectorAll('.heliograph-examples li span')].every((sentence) => `+
			`sentence.innerText.length > 10)`)
	page.Wait("what the database does not have",
		`document.querySelector('.heliograph-examples button[aria-disabled="true"]').innerText.includes('This `+
			`database has no topic with messages.')`)

	// The search and the keyboard: arrows, and Enter on an example or in the search. Examples whose titles match are
	// the first.
	page.Wait("the focus in the search", `document.activeElement.type === 'search'`)
	page.Keys("subscription")
	page.Wait("the group of this name",
		`document.querySelector('.heliograph-examples h3').innerText === 'Subscriptions'`)
	page.Wait("the search selected", `document.activeElement.select() === undefined`)
	page.Keys("royaltyFees")
	page.Wait("one example", `document.querySelectorAll('.heliograph-examples li').length === 1`)
	page.Keys(kb.Enter)
	page.Wait("its tab", activeTab+` === 'Gallery'`)
	page.Wait("a collection of the database", variablesText+`?.includes('"collection": "0.0.781"')`)
	page.Click(`[aria-label="Examples"]`)
	page.Wait("the focus in the search", `document.activeElement.type === 'search'`)
	page.Keys("estimateGas")
	page.Wait("the list", `document.querySelectorAll('.heliograph-examples li').length === 1`)
	page.Keys(kb.ArrowDown)
	page.Wait("the focus on the example", `document.activeElement.innerText.startsWith('Contract call')`)
	page.Keys(kb.Enter)
	page.Wait("a token of the database", activeTab+` === 'Call' && `+variablesText+
		`?.includes('0x000000000000000000000000000000000000030b')`)
	clean(t, page, origin)
}

// TestAddress checks that the address bar has the document, also without a clipboard.
func TestAddress(t *testing.T) {
	_, origin := serve(t)
	page := webtest.New(t, webtest.Options{})
	page.Run("removing the clipboard, as on pages from plain HTTP",
		chromedp.ActionFunc(func(ctx context.Context) error {
			_, err := cdppage.AddScriptToEvaluateOnNewDocument(`Object.defineProperty(navigator, 'clipboard', { ` +
				`value: ` +
				`undefined }); document.execCommand = () => { window.copied = document.activeElement.value; return ` +
				`true; }`).Do(ctx)
			return err
		}))
	page.Open(origin + "/graphiql")
	ready(page)
	page.Wait("the plain address", `location.search === ''`)
	page.Click(`.graphiql-query-editor .view-line`)
	page.Keys("# edited ")
	page.Wait("the document in the address", `new URLSearchParams(location.search).get('query')?.includes('# edited')`)
	var titles, after int
	page.Eval(tabTitles+".length", &titles)
	page.Click(`[aria-label="Copy a link to this tab"]`)
	page.Wait("the copy", `window.copied === location.href && document.querySelector('[aria-label="Link copied"]')`)

	// The link opens the same tab again, and a document that is too long has no link.
	time.Sleep(time.Second) // GraphiQL stores its tabs after half a second
	page.Eval(`location.reload()`, nil)
	ready(page)
	page.Wait("the document", operationText+`.includes('# edited')`)
	page.Eval(tabTitles+".length", &after)
	if after != titles {
		t.Errorf("%d tabs after the reload, %d before", after, titles)
	}
	page.Eval(`window.__MONACO.editor.getEditors()[0].setValue('{ accounts { nodes { entityId } } } #' + 'long `+
		`'.repeat(2000))`, nil)
	page.Wait("the plain address", `location.search === ''`)
	clean(t, page, origin)
}

// TestFirstKeystroke checks that the editor works before its workers and the schema are loaded, and how many bytes it
// needs for that.
func TestFirstKeystroke(t *testing.T) {
	hold := make(chan struct{})
	_, origin := serveHeld(t, hold)
	page := open(t, origin+"/graphiql")
	page.Click(`.graphiql-query-editor .view-line`)
	page.Keys("# typed ")
	page.Wait("the text", operationText+`.includes('# typed')`)
	const budget = 900_000
	received := page.Received()
	t.Logf("%d bytes until the first keystroke", received)
	if received > budget || received < budget/10 {
		t.Errorf("%d bytes until the first keystroke, want at most %d", received, budget)
	}
	close(hold)
	page.Wait("the schema", docText+`?.includes('Heliograph')`)
	clean(t, page, origin)
}

func TestSubscriptions(t *testing.T) {
	g, origin := serve(t)
	page := open(t, origin+"/graphiql?query="+url.QueryEscape(messageQuery))
	if g.count(&g.sockets)+g.count(&g.streams) > 0 {
		t.Error("a connection was opened before the subscription")
	}

	page.Click(runButton)
	page.Wait("the event", resultText+`?.includes('by events')`)
	page.Click(runButton) // ends the subscription
	page.Wait("the run to end",
		`document.querySelector('.graphiql-execute-button')?.getAttribute('aria-label')?.startsWith('Execute')`)
	if g.count(&g.sockets) > 0 || g.count(&g.streams) != 1 {
		t.Errorf("%d sockets, %d streams", g.count(&g.sockets), g.count(&g.streams))
	}

	page.Click(`input[value="websocket"]`)
	time.Sleep(100 * time.Millisecond)
	if g.count(&g.sockets) > 0 {
		t.Error("selecting the transport opened a WebSocket")
	}
	page.Click(runButton)
	page.Wait("the event", resultText+`?.includes('by socket')`)
	page.Wait("the list with this event only", `document.querySelectorAll('.heliograph-events li').length === 1`)
	if g.count(&g.sockets) != 1 || g.count(&g.streams) != 1 {
		t.Errorf("%d sockets, %d streams", g.count(&g.sockets), g.count(&g.streams))
	}

	// The selection is stored.
	page.Open(origin + "/graphiql")
	ready(page)
	page.Wait("the stored transport", `document.querySelector('input[value="websocket"]').checked`)
	clean(t, page, origin)
}

// TestEvents checks the list of events and its limit.
func TestEvents(t *testing.T) {
	g, origin := serve(t)
	g.events = 250
	page := open(t, origin+"/graphiql?query="+url.QueryEscape(messageQuery))
	page.Click(runButton)
	page.Wait("the count",
		`document.querySelector('.heliograph-events-count')?.innerText === '250 events, the newest 200 listed'`)
	page.Wait("the newest first, with its time",
		`document.querySelectorAll('.heliograph-events li').length === 200 && /^#250\s+\d\d:\d\d:\d\d\.\d{3}\s.*by `+
			`events/.test(document.querySelector('.heliograph-events li').innerText)`)
	page.Wait("the events within the window",
		`document.querySelector('.heliograph-events').getBoundingClientRect().right <= innerWidth`)
	page.Click(`.heliograph-events li button`)
	page.Wait("the pause", `document.querySelector('.heliograph-events [aria-pressed]').innerText === 'Resume'`)
	page.Click(`.heliograph-events [aria-pressed]`)
	page.Wait("the end of the pause",
		`document.querySelector('.heliograph-events [aria-pressed]').innerText === 'Pause'`)
	page.Click(`.heliograph-events header button:last-child`)
	page.Wait("the empty list", `document.querySelector('.heliograph-events-count').innerText === '0 events'`)
	page.Click(runButton)
	page.Wait("the end", `!document.querySelector('.heliograph-events')`)
	clean(t, page, origin)
}

// TestScreens opens the page on a narrow screen and in both color schemes.
func TestScreens(t *testing.T) {
	_, origin := serve(t)
	page := webtest.New(t, webtest.Options{Width: 390, Height: 844, Dark: true})
	page.Open(origin + "/graphiql")
	ready(page)
	inside := `document.documentElement.scrollWidth <= 390 && [...document.querySelectorAll('.graphiql-query-editor, .result-window, .graphiql-toolbar, .heliograph-transport')].every((part) => {
		const box = part.getBoundingClientRect();
		return box.width > 30 && box.left >= 0 && box.right <= 390;
	})`
	page.Wait("everything within 390 pixels", inside)
	page.Wait("the variables above the result",
		`document.querySelector('.graphiql-editor-tool .monaco-editor').getBoundingClientRect().bottom <= `+
			`document.querySelector('.graphiql-response').getBoundingClientRect().top`)
	brightness := `getComputedStyle(document.querySelector('.graphiql-container')).backgroundColor.match(/[0-9.]+/` +
		`g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0)`
	page.Wait("a dark page", brightness+" < 200")
	page.Click(runButton)
	page.Wait("the result", resultText+`?.includes('0.0.2')`)

	page.Click(`[aria-label="Examples"]`)
	page.Wait("the examples within 390 pixels", `document.querySelector('.graphiql-dialog')?.getBoundingClientRect().right <= 390 && document.querySelector('.heliograph-examples li').getBoundingClientRect().width > 250 &&
		document.querySelector('.graphiql-dialog').scrollWidth <= document.querySelector('.graphiql-dialog').clientWidth`)
	page.Accessible("examples on a narrow screen", "critical", "serious")
	page.Keys(kb.Escape)
	page.Wait("the dialog to close", `!document.querySelector('.heliograph-examples')`)
	page.Accessible("narrow screen", "critical", "serious")
	page.Click(`[aria-label="Show GraphiQL Explorer"]`)
	page.Wait("the explorer over the page",
		`document.querySelector('.graphiql-plugin').getBoundingClientRect().width > 300`)
	page.Click(`[aria-label="Hide GraphiQL Explorer"]`)

	page.Screen(1280, 800, false)
	page.Wait("a light page", brightness+" > 700")
	page.Open(origin + "/graphiql") // the editors take their colors when the page is opened
	ready(page)
	page.Accessible("wide screen", "critical", "serious")
	clean(t, page, origin)
}
