package graphiql_test

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

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
}

type graphqlRequest struct {
	Query         string          `json:"query"`
	Variables     json.RawMessage `json:"variables"`
	OperationName string          `json:"operationName"`
}

func serve(t *testing.T) (*gateway, string) {
	t.Helper()
	g := &gateway{}
	mux := http.NewServeMux()
	page := graphiql.Handler()
	mux.Handle("/graphiql", page)
	mux.Handle("/graphiql/", page)
	mux.HandleFunc("/graphql", g.graphql)
	mux.HandleFunc("/graphql/explain", g.explain)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return g, server.URL
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
		fmt.Fprintf(w, "event: next\ndata: %s\n\n", message("by events"))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	case request.OperationName == "IntrospectionQuery":
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(introspection)
	default:
		w.Header().Set("Content-Type", "application/json")
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
	fmt.Fprint(w, `{"query":"query RestAccounts($first: Int) { accounts(first: $first) { nodes { entityId } } }","variables":{"first":5},"operationName":"RestAccounts"}`)
}

// count returns the value of a counter.
func (g *gateway) count(field *int) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return *field
}

// lastDocument returns the last request other than introspection.
func (g *gateway) lastDocument() graphqlRequest {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, request := range slices.Backward(g.requests) {
		if request.OperationName != "IntrospectionQuery" {
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
	if want := []string{"Wallet", "Blocks", "Gallery", "Conversation", "Dashboard"}; !slices.Equal(titles, want) {
		t.Errorf("tabs %q", titles)
	}

	page.Wait("the fields in the explorer", `['accounts', 'topic'].every((field) => [...document.querySelectorAll('.graphiql-explorer-root .graphiql-explorer-field-view')].some((view) => view.innerText.trim() === field))`)
	page.Wait("the explorer at its top, without the focus", `document.querySelector('.graphiql-plugin').scrollTop === 0 && !document.activeElement.closest('.graphiql-plugin')`)

	page.Click(runButton)
	page.Wait("the result", resultText+`?.includes('5000000000000000000')`)
	if got := g.lastDocument(); got.OperationName != "Wallet" || !strings.Contains(got.Query, "account(") {
		t.Errorf("request %+v", got)
	}

	page.Click(`[aria-label^="Show Documentation"]`)
	page.Wait("the schema's documentation", `document.querySelector('.graphiql-doc-explorer')?.innerText.includes('Query')`)
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
	clean(t, page, origin)
}

func TestKeyboard(t *testing.T) {
	_, origin := serve(t)
	page := open(t, origin+"/graphiql?query="+url.QueryEscape("{ accounts { nodes { entityId } } }"))
	page.Click(`.graphiql-query-editor .view-lines`)
	page.Eval(`document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', code: 'Enter', keyCode: 13, ctrlKey: true, bubbles: true }))`, nil)
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
		"query":         {"query First { topic(id: \"0.0.7\") { memo } } query Second($first: Int) { accounts(first: $first) { nodes { entityId } } }"},
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
	page.Wait("the error", `document.querySelector('.heliograph-rest-error')?.innerText === 'There is no endpoint with this path.'`)
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
	page.Wait("the error", `document.querySelector('.heliograph-rest-error')?.innerText === 'There is no endpoint with this path.'`)

	page.Eval(`document.querySelector('.heliograph-rest textarea').select()`, nil)
	page.Keys(`curl -s "https://ledger.example/api/v1/accounts?limit=5&order=asc"` + kb.Enter)
	page.Wait("the dialog to close", `!document.querySelector('.heliograph-rest')`)
	page.Wait("a tab with the document", activeTab+` === 'RestAccounts' && `+tabTitles+fmt.Sprintf(".length === %d", before+1))
	page.Wait("its variables", variablesText+`?.includes('"first": 5')`)

	// Calls with a body: text, and a binary transaction in base64.
	for _, call := range []string{`POST /api/v1/contracts/call {"data":"0x18160ddd"}`, `curl localhost:8080/api/v1/network/fees -H "Content-Type: application/protobuf" -d aGVsbG8=`} {
		page.Click(`[aria-label="Open a REST call"]`)
		page.Wait("the focus in the dialog", `document.activeElement.matches('.heliograph-rest textarea')`)
		page.Keys(call + kb.Enter)
		page.Wait("the dialog to close", `!document.querySelector('.heliograph-rest')`)
		page.Wait("a tab with the document", activeTab+` === 'RestCall'`)
	}
	g.mu.Lock()
	explained := slices.Clone(g.explains)
	g.mu.Unlock()
	if want := []string{"/api/v2/nothing", "/api/v1/accounts?limit=5&order=asc", `POST /api/v1/contracts/call {"data":"0x18160ddd"}`, "POST /api/v1/network/fees hello"}; !slices.Equal(explained, want) {
		t.Errorf("explained paths: %q", explained)
	}
	before++ // both calls are one document, in one tab

	page.Click(`[aria-label="Examples"]`)
	page.Wait("the list of examples", fmt.Sprintf(`document.querySelectorAll('[role=menuitem]').length === %d`, len(graphiql.Examples())))
	page.Keys(kb.ArrowDown + kb.Enter)
	page.Wait("the tab of the first example", activeTab+` === 'Wallet' && `+tabTitles+fmt.Sprintf(".length === %d", before+1))
	clean(t, page, origin, "/graphql/explain?path=%2Fapi%2Fv2%2Fnothing")
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
	page.Wait("the run to end", `document.querySelector('.graphiql-execute-button')?.getAttribute('aria-label')?.startsWith('Execute')`)
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
	if g.count(&g.sockets) != 1 || g.count(&g.streams) != 1 {
		t.Errorf("%d sockets, %d streams", g.count(&g.sockets), g.count(&g.streams))
	}

	// The selection is stored.
	page.Open(origin + "/graphiql")
	ready(page)
	page.Wait("the stored transport", `document.querySelector('input[value="websocket"]').checked`)
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
	brightness := `getComputedStyle(document.querySelector('.graphiql-container')).backgroundColor.match(/[0-9.]+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0)`
	page.Wait("a dark page", brightness+" < 200")
	page.Click(runButton)
	page.Wait("the result", resultText+`?.includes('0.0.2')`)

	page.Click(`[aria-label="Show GraphiQL Explorer"]`)
	page.Wait("the explorer over the page", `document.querySelector('.graphiql-plugin').getBoundingClientRect().width > 300`)
	page.Click(`[aria-label="Hide GraphiQL Explorer"]`)

	page.Screen(1280, 800, false)
	page.Wait("a light page", brightness+" > 700")
	clean(t, page, origin)
}
