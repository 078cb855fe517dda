package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/app/testing/testenv"
)

// hostile returns requests designed to be expensive, and the codes of the errors in their responses.
func hostile() map[string]struct{ body, code string } {
	query := func(text string) string {
		return `{"query":"` + strings.NewReplacer(`"`, `\"`, "\n", `\n`).Replace(text) + `"}`
	}
	chain := func(n int, last string) string { // each fragment spreads the next twice
		var b strings.Builder
		b.WriteString("{ ...F0 }")
		for i := range n {
			fmt.Fprintf(&b, " fragment F%d on Query { ...F%d a: __typename ...F%d }", i, i+1, i+1)
		}
		fmt.Fprintf(&b, " fragment F%d on Query { %s }", n, last)
		return b.String()
	}
	repeat := strings.Repeat
	names := func(field string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, " "+field, i)
		}
		return b.String()
	}
	const tooComplex, bad = "QUERY_TOO_COMPLEX", "BAD_USER_INPUT"
	var unknown, wide, roots, fragments, deepening strings.Builder
	for i := range 900 {
		fmt.Fprintf(&unknown, " accountz%d", i)
		fmt.Fprintf(&wide, " a%d: memo", i)
		fmt.Fprintf(&roots, " a%d: __typename", i)
	}
	for i := range 30 {
		fmt.Fprintf(&deepening, " fragment F%d on Account { stakedAccount { ...F%d } }", i, i+1)
	}
	for i := range 300 {
		fmt.Fprintf(&fragments, " fragment X%d on Account { memo entityId }", i)
	}
	return map[string]struct{ body, code string }{
		"deep": {query("{ accounts { nodes " + repeat("{ stakedAccount ", 700) + "{ memo }" +
			repeat("}", 700) + " } }"), tooComplex},
		"deep by fragments": {query("{ account(id: 2) { ...F0 } }" + deepening.String() +
			" fragment F30 on Account { memo }"), tooComplex},
		"wide": {query("{ accounts { nodes {" + repeat(" memo entityId evmAddress", 800) +
			" } } }"), tooComplex},
		"one field many times":       {query("{" + repeat(" __typename", 900) + " }"), tooComplex},
		"one field under many names": {query("{ accounts { nodes {" + wide.String() + " } } }"), tooComplex},
		"many roots":                 {query("{" + roots.String() + " }"), tooComplex},
		"many operations":            {query(repeat("query A { __typename } ", 1200)), tooComplex},
		"many tokens":                {query("{ " + repeat("a:__typename ", 30_000) + "}"), tooComplex},
		"many unknown names":         {query("{ account(id: 2) {" + unknown.String() + " } }"), bad},
		"many directives":            {query("{ __typename" + repeat(" @include(if: true)", 600) + " }"), tooComplex},
		"fragments that double":      {query(chain(200, "__typename")), tooComplex},
		"empty fragments that double": {query(strings.ReplaceAll(chain(200, "... on Query { __typename }"),
			" a: __typename", "")), tooComplex},
		"fragment cycle": {
			query("{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }"),
			bad,
		},
		"a fragment in itself": {query("{ ...A } fragment A on Query { __typename ...A }"), bad},
		"unused fragments":     {query("{ __typename }" + fragments.String()), bad},
		"a long name":          {query("{ " + repeat("x", 60_000) + " }"), bad},
		"a longer name":        {query("{ " + repeat("x", 500_000) + " }"), tooComplex},
		"a long string":        {query(`{ account(id: "` + repeat("x", 500_000) + `") { memo } }`), tooComplex},
		"a long comment":       {query("{ #" + repeat("x", 500_000) + "\n}"), tooComplex},
		"a long variable": {`{"query":"query($f: AccountFilter) { accounts(filter: $f) { nodes { memo } } ` +
			`}","variables":{"f":{"publicKey":{"eq":5},"` + repeat("x", 500_000) + `":1}}}`, bad},
		"nested lists": {query("{ accounts(filter: {id: {in: " + repeat("[", 2000) + repeat("]", 2000) +
			"}}) { nodes { memo } } }"), bad},
		"introspection in circles": {query("{ __schema { types { fields { type { fields { type { fields { type { " +
			"name } } } } } } } } }"), bad},
		"introspection, many names": {query("{ __schema { types { fields { type {" + names("a%d: fields { ...D }",
			50) + " } } } } } fragment D on __Field {" + names("d%d: description", 18) + " }"), tooComplex},
		"large pages in large pages": {query("{ accounts(first: 100) { nodes { transactions(first: 100) { nodes { " +
			"payer { transactions(first: 100) { nodes { name: type } } } } } } } }"), tooComplex},
		"the same by variables": {`{"query":"query($n: Int) { accounts(first: $n) { nodes { transactions(first: ` +
			`$n) { nodes { payer { transactions(first: $n) { nodes { name: type } } } } } } } ` +
			`}","variables":{"n":100}}`, tooComplex},
		"many variables' values": {`{"query":"query($f: AccountFilter) { accounts(filter: $f) { nodes { memo } } ` +
			`}","variables":{"f":{"id":{"in":[1` + repeat(",1", 200_000) + `]}}}}`, tooComplex},
		"deep variables": {`{"query":"query($f: AccountFilter) { accounts(filter: $f) { nodes { memo } } ` +
			`}","variables":{"f":` + repeat("[", 200_000) + repeat("]", 200_000) + `}}`, tooComplex},
		"ten megabytes": {
			`{"query":"{ __typename }","variables":{"x":"` + repeat("x", 10<<20) + `"}}`,
			bad,
		},
	}
}

// reject sends a hostile request to the handler.
func reject(tb testing.TB, handler http.Handler, body string) (*httptest.ResponseRecorder, time.Duration) {
	tb.Helper()
	r := httptest.NewRequestWithContext(tb.Context(), http.MethodPost, "/graphql", strings.NewReader(body))
	r.Header.Set("Content-Type", plainMedia)
	w := httptest.NewRecorder()
	start := time.Now()
	handler.ServeHTTP(w, r)
	return w, time.Since(start)
}

// statements counts statements.
type statements struct{ n int }

func (s *statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	s.n++
	return ctx
}
func (*statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TestHostile tests that hostile requests are rejected with a short response and without a statement, in a time that
// is at most five times that of decoding a JSON string of 500 kB.
func TestHostile(t *testing.T) {
	count := &statements{}
	g := testenv.Demo(t, func(o *testenv.Options) { o.Storage.Tracer = count })
	handler := g.Public()
	before := count.n
	large := []byte(`"` + strings.Repeat("x", 500_000) + `"`)
	for name, c := range hostile() {
		t.Run(name, func(t *testing.T) {
			best, decoding := time.Hour, time.Hour
			for i := 0; i < 50 && (i < 3 || best > 5*decoding); i++ { // repeated, because the machine may be busy
				w, took := reject(t, handler, c.body)
				best = min(best, took)
				body := w.Body.String()
				if !strings.Contains(body, `"errors":[`) || !strings.Contains(body, `"code":"`+c.code+`"`) ||
					len(body) > 20_000 {
					t.Fatalf("status %d, %d bytes: %.300s", w.Code, len(body), body)
				}
				start := time.Now()
				var text string
				if err := json.Unmarshal(large, &text); err != nil {
					t.Fatal(err)
				}
				decoding = min(decoding, time.Since(start))
			}
			t.Logf("rejected in %s, %.2f times the time of decoding", best, float64(best)/float64(decoding))
			if best > 5*decoding {
				t.Errorf("rejected in %s, want at most 5 times %s", best, decoding)
			}
		})
	}
	if count.n != before {
		t.Errorf("%d statements", count.n-before)
	}
}

func BenchmarkHostile(b *testing.B) {
	g := testenv.Demo(b)
	handler := g.Public()
	for name, c := range hostile() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				reject(b, handler, c.body)
			}
		})
	}
}

// TestCost tests the cost of operations in the headers and in the extensions. REST responses have neither.
func TestCost(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t)
	for query, want := range map[string]string{
		`{ __typename }`:                           "0",
		`{ __schema { types { name } } }`:          "16",
		`{ account(id: 2) { memo key { type } } }`: "2",
		`{ accounts { nodes { memo } } }`:          "26",
		`{ accounts(first: 3) { pageInfo { hasNextPage } edges { cursor node { memo } } } }`: "4",
		`{ accounts(last: 7) { nodes { memo } } }`:                                           "8",
		`{ accounts(first: 0) { nodes { memo stakedAccount { memo } } } }`:                   "1",
		// 1 + 10 × (1 + 1 + 5 × (1 + 1))
		`{ accounts(first: 10) { nodes { transactions(first: 5) { nodes { name: type payer { memo } } } } } }`: "121",
		`query($n: Int = 4) { accounts(first: $n) { nodes { memo } } }`:                                        "5",
		`{ accounts(first: 2) { ...A } a: accounts(first: 3) { ...A } } fragment A on AccountConnection { nodes { ` +
			`memo } }`: "7",
		`{ callContract(input: {data: "0x18160ddd", to: "0x0000000000000000000000000000000000000bb9"}) { ` +
			`output } }`: "500",
		`{ estimateGas(input: {data: "0x18160ddd", to: "0x0000000000000000000000000000000000000bb9"}) { gas ` +
			`} }`: "1500",
		`{ simulateCalls(input: {blocks: [{calls: [{}]}]}) { blockNumber } }`: "4000",
		`{ contract(id: 3001) { call(data: "0x18160ddd") { output } } }`:      "501",
		`{ nodes(ids: ["a", "b", "c"]) { id } }`:                              "3",
		// 1 + 2 × (1 + 1 + 3)
		`{ accounts(first: 2) { nodes { holdings { tokens(first: 3) { balance } } } } }`: "11",
	} {
		got := g.Query(t, query, nil)
		if got.Header.Get("X-Query-Cost") != want || got.Header.Get("X-Query-Cost-Limit") != "50000" ||
			strings.Contains(got.Body, "extensions\":{\"cost") {
			t.Errorf("%s: cost %q, limit %q, want %s: %s", query, got.Header.Get("X-Query-Cost"),
				got.Header.Get("X-Query-Cost-Limit"), want, got.Body)
		}
	}
	body := `{"query":"query($n: Int, $m: Int) { accounts(first: $n, last: $m) { nodes { memo } } ` +
		`}","variables":{"n":null,"m":6},"extensions":{"cost":true}}`
	got := g.Do(t, http.MethodPost, "/graphql", body, "Content-Type: "+plainMedia)
	if !strings.HasSuffix(got.Body, `,"extensions":{"cost":{"limit":50000,"requested":7}}}`) {
		t.Errorf("the requested extension cost is missing: %s", got.Body)
	}
	if rest := g.Get(t, "/api/v1/accounts?limit=1"); rest.Header.Get("X-Query-Cost") != "" ||
		strings.Contains(rest.Body, "extensions") {
		t.Errorf("a REST response has the cost: %v", rest.Header)
	}
}

// TestBounds tests each limit with a request that reaches it and one that exceeds it.
func TestBounds(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t, func(o *testenv.Options) {
		b := &o.Graph.Bounds
		b.Cost, b.Depth, b.Fields, b.RootFields, b.Aliases, b.Directives, b.Tokens = 11, 4, 8, 3, 2, 2, 40
		o.Graph.MaxBody, o.Graph.MaxValues = 300, 6
	})
	for name, c := range map[string]struct{ good, bad, text string }{
		"cost": {
			`{ accounts(first: 10) { nodes { memo } } }`, `{ accounts(first: 11) { nodes { memo } } }`,
			`costs 12, because its response can have so many objects, and the limit is 11`,
		},
		"depth": {
			`{ a: accounts(first: 1) { nodes { key { type } } } }`,
			`{ accounts(first: 1) { nodes { autoRenewAccount { key { type } } } } }`,
			"nested 5 fields deep; the maximum is 4",
		},
		"fields": {
			`{ account(id: 2) { ...F ...F } } fragment F on Account { memo id deleted }`,
			`{ account(id: 2) { ...F ...F } } fragment F on Account { memo id deleted alias }`,
			"9 fields, counting fragments once for each spread; the maximum is 8",
		},
		"root fields": {`{ __typename a: account(id: 2) { memo } ...Q } fragment Q on Query { b: account(id: 3) { ` +
			`id } }`, `{ a: account(id: 2) { id } ...Q ...Q } fragment Q on Query { __typename x: account(id: 2) { ` +
			`id } }`, "5 root fields; the maximum is 3"},
		"aliases": {
			`{ account(id: 2) { a: memo b: memo } }`, `{ account(id: 2) { a: memo b: memo memo } }`,
			`\"memo\" is selected more than 2 times in one selection set`,
		},
		"directives": {
			`{ a: __typename @include(if: true) @skip(if: false) }`,
			`{ a: __typename @include(if: true) ...Q @skip(if: true) } fragment Q on Query { __typename @skip(if: ` +
				`true) }`, "3 directives; the maximum is 2",
		},
		"tokens": {
			`{ accounts(first: 1, filter: {id: {in: [1 2 3 4 5 6 7 8 9 10]}}) { nodes { memo } } }`,
			`{ accounts(first: 1, filter: {id: {in: [1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20]}}) { nodes ` +
				`{ memo } } }`, "more than 40 tokens",
		},
		"body's bytes": {
			`{ __typename } #` + strings.Repeat("x", 230), `{ __typename } #` + strings.Repeat("x", 300),
			"larger than 300 bytes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			post := func(query string) *testenv.Response {
				return g.Do(t, http.MethodPost, "/graphql", `{"query":"`+query+`"}`, "Content-Type: "+plainMedia)
			}
			if got := post(c.good); !strings.HasPrefix(got.Body, `{"data":{`) {
				t.Errorf("%s: %s", c.good, got.Body)
			}
			if got := post(c.bad); !strings.Contains(got.Body, c.text) || !strings.HasPrefix(got.Body, `{"errors":[`) {
				t.Errorf("%s: %s", c.bad, got.Body)
			}
		})
	}
	for values, want := range map[string]string{
		`"variables":{"a":1,"b":2,"c":[3,4]},"extensions":{"d":5}`: `{"data"`,
		`"variables":{"a":1,"b":2,"c":[3,4]},"extensions":{"d":[5]}`: `{"errors":[{"message":"the request body has ` +
			`more than 6 JSON values`,
	} {
		if got := g.Do(t, http.MethodPost, "/graphql", `{"query":"{ __typename }",`+values+`}`,
			"Content-Type: "+plainMedia); !strings.HasPrefix(got.Body, want) {
			t.Errorf("%s: %s", values, got.Body)
		}
	}
}

// TestIntrospectionOff tests the options that disable introspection and suggestions.
func TestIntrospectionOff(t *testing.T) {
	t.Parallel()
	const typo, ask = `{ acount(id: 2) { memo } }`,
		`{ ...Q } fragment Q on Query { ... { __schema { types { name } } } }`
	open := testenv.Demo(t)
	if got := open.Query(t, typo, nil); !strings.Contains(got.Body, `Did you mean \"account\"`) {
		t.Errorf("no suggestion: %s", got.Body)
	}
	if got := open.Query(t, ask, nil); !strings.Contains(got.Body, `"AccountConnection"`) {
		t.Errorf("no schema: %s", got.Body)
	}
	shy := testenv.Demo(t, func(o *testenv.Options) { o.Graph.SuggestionsOff = true })
	if got := shy.Query(t, typo, nil); strings.Contains(got.Body, "Did you mean") ||
		!strings.Contains(got.Body, "acount") {
		t.Errorf("%s", got.Body)
	}
	closed := testenv.Demo(t, func(o *testenv.Options) { o.Graph.IntrospectionOff = true })
	for _, query := range []string{ask, `{ __type(name: \"Account\") { name } }`} {
		got := closed.Do(t, http.MethodPost, "/graphql", `{"query":"`+query+`"}`, "Content-Type: "+plainMedia)
		if _, codes := read(t, got); codes != "FORBIDDEN" || strings.Contains(got.Body, "AccountConnection") {
			t.Errorf("%s", got.Body)
		}
	}
	if got := closed.Query(t, typo, nil); strings.Contains(got.Body, "Did you mean") {
		t.Errorf("%s", got.Body)
	}
	if got := closed.Query(t, `{ __typename account(id: 2) { __typename } }`, nil); !strings.Contains(got.Body,
		`"Account"`) {
		t.Errorf("%s", got.Body)
	}
	if got := closed.Get(t, "/graphql/schema.graphql"); got.Status != http.StatusNotFound {
		t.Errorf("GET of the schema has status %d", got.Status)
	}
}

// TestInternalErrorID tests that the response has only the id of an internal error, and the log has the reason.
func TestInternalErrorID(t *testing.T) {
	t.Parallel()
	var log buffer
	g := testenv.Demo(t, func(o *testenv.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	g.DB.Close()
	a, codes := read(t, g.Query(t, accountsQuery, nil))
	id, _ := a.Errors[0].Extensions["id"].(string)
	if codes != "UNAVAILABLE" || len(id) != 16 || !strings.Contains(log.String(), "id="+id+" field=accounts error=") {
		t.Errorf("the id is %q, the log %s", id, log.String())
	}
	b, _ := read(t, g.Query(t, accountsQuery, nil))
	if again := b.Errors[0].Extensions["id"]; again == id {
		t.Errorf("two errors have the id %q", id)
	}
}

// TestTimeoutsCancel tests that a timeout cancels the statement.
func TestTimeoutsCancel(t *testing.T) {
	t.Parallel()
	url := slowed(t)
	g := testenv.Over(t, url, func(o *testenv.Options) { o.RequestTimeout = 300 * time.Millisecond })
	if _, codes := read(t, g.Query(t, accountsQuery, nil)); codes != "TIMEOUT" {
		t.Errorf("the codes are %s", codes)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }() // the error does not matter
	for range 100 {
		var busy int
		if err := conn.QueryRow(t.Context(),
			`select count(*) from pg_stat_activity where datname = current_database() and state = 'active' and pid `+
				`<> pg_backend_pid()`).Scan(&busy); err != nil {
			t.Fatal(err)
		}
		if busy == 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Error("a statement is still running after five seconds")
}

// TestRESTDocuments tests that clients can send the documents of the REST API within the default limits.
func TestRESTDocuments(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t)
	for _, path := range []string{
		"accounts?limit=100", "accounts/0.0.1008?limit=100", "blocks?limit=100", "transactions?limit=100",
		"contracts/results?limit=100", "topics/0.0.1020/messages?limit=100", "tokens?limit=100",
		"network/nodes?limit=25",
		"schedules?limit=100", "balances?limit=100", "accounts/0.0.1008/nfts?limit=100",
	} {
		x, err := g.Explain(t.Context(), "/api/v1/"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := g.Query(t, x.Query, x.Variables)
		t.Logf("%s: cost %s", path, got.Header.Get("X-Query-Cost"))
		if strings.Contains(got.Body, "QUERY_TOO_COMPLEX") {
			t.Errorf("%s: %.300s", path, got.Body)
		}
	}
}
