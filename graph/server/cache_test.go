package server_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"heliograph/app/testing/testenv"
	"heliograph/graph/server"
)

// hashOnly returns the query string of an automatic persisted query, with or without its text.
func hashOnly(hash, query string) string {
	v := url.Values{"extensions": {`{"persistedQuery":{"version":1,"sha256Hash":"` + hash + `"}}`}}
	if query != "" {
		v.Set("query", query)
	}
	return "/graphql?" + v.Encode()
}

// TestPersisted tests automatic persisted queries: clients send a document once, and its hash afterwards.
func TestPersisted(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t)
	const query, bad = `{ accounts(first: 1) { nodes { entityId } } }`, `{ nothing }`
	hash := server.DocumentID(query)
	unknown := g.Get(t, hashOnly(hash, ""))
	const missing = `{"errors":[{"message":"PersistedQueryNotFound",` +
		`"extensions":{"code":"PERSISTED_QUERY_NOT_FOUND"}}]}`
	if unknown.Status != http.StatusOK || unknown.Body != missing ||
		unknown.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("status %d, %v: %s", unknown.Status, unknown.Header, unknown.Body)
	}
	if got := g.Get(t, hashOnly(server.DocumentID(bad), query)); got.Status != http.StatusOK ||
		!strings.Contains(got.Body, "is not the SHA-256 of the query") {
		t.Errorf("status %d: %s", got.Status, got.Body)
	}
	whole, short := g.Get(t, hashOnly(hash, query)), g.Get(t, hashOnly(hash, ""))
	if !strings.HasPrefix(whole.Body, `{"data":{"accounts"`) || short.Body != whole.Body ||
		short.Header.Get("Cache-Control") != "public, max-age=2" {
		t.Errorf("with the query: %s; without: %v: %s", whole.Body, short.Header, short.Body)
	}
	for _, body := range []string{
		`{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"` + hash + `"}}}`,
		`{"documentId":"` + hash + `"}`, `{"documentId":"sha256:` + hash + `"}`,
	} {
		if got := g.Do(t, http.MethodPost, "/graphql", body, "Content-Type: "+plainMedia); got.Body != whole.Body {
			t.Errorf("%s: %s", body, got.Body)
		}
	}
	g.Get(t, hashOnly(server.DocumentID(bad), bad))
	if got := g.Get(t, hashOnly(server.DocumentID(bad), "")); !strings.Contains(got.Body, "PersistedQueryNotFound") {
		t.Errorf("an invalid document was stored: %s", got.Body)
	}
	for _, body := range []string{`{"extensions":{"persistedQuery":{"sha256Hash":5}}}`, `{"documentId":"unknown"}`} {
		if got := g.Do(t, http.MethodPost, "/graphql", body, "Content-Type: "+plainMedia,
			"Accept: "+graphMedia); got.Status != http.StatusBadRequest ||
			!strings.Contains(got.Body, "BAD_USER_INPUT") {
			t.Errorf("%s: status %d: %s", body, got.Status, got.Body)
		}
	}
}

// TestTrusted tests the option to execute only trusted documents: those of the file, and those of the REST side.
func TestTrusted(t *testing.T) {
	t.Parallel()
	const mine, other = `query Mine($n: Int) { accounts(first: $n) { nodes { entityId } } }`, `{ __typename }`
	g := testenv.Demo(t, func(o *testenv.Options) {
		o.Graph.Trusted, o.Graph.OnlyTrusted = map[string]string{"mine": mine}, true
	})
	post := func(v any) *testenv.Response {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return g.Do(t, http.MethodPost, "/graphql", string(b), "Content-Type: "+plainMedia)
	}
	one := map[string]any{"n": 1}
	x, err := g.Explain(t.Context(), "/api/v1/accounts?limit=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, request := range map[string]map[string]any{
		"by its name": {"documentId": "mine", "variables": one},
		"by its hash": {"documentId": server.DocumentID(mine), "variables": one},
		"by its text": {"query": mine, "variables": one},
		"of REST":     {"documentId": x.DocumentID, "variables": x.Variables},
		"with a name": {"documentId": x.DocumentID, "variables": x.Variables, "operationName": x.OperationName},
	} {
		if got := post(request); !strings.Contains(got.Body, `"0.0.2"`) || strings.Contains(got.Body, "errors") {
			t.Errorf("%s: %s", name, got.Body)
		}
	}
	for name, request := range map[string]map[string]any{
		"another text": {"query": other},
		"another text to be kept": {
			"query": other,
			"extensions": map[string]any{"persistedQuery": map[string]any{
				"version":    1,
				"sha256Hash": server.DocumentID(other),
			}},
		},
	} {
		if _, codes := read(t, post(request)); codes != "FORBIDDEN" {
			t.Errorf("%s: %s", name, codes)
		}
	}
	if x, err = g.Explain(t.Context(), "/api/v1/accounts/0.0.2?transactions=false", nil); err != nil {
		t.Fatal(err)
	}
	document, _, _ := strings.Cut(x.DocumentID, "#")
	if got := post(map[string]any{"documentId": document, "variables": x.Variables}); !strings.Contains(got.Body,
		"operationName is missing") ||
		!strings.Contains(got.Body, x.OperationName) {
		t.Errorf("without an operation: %s", got.Body)
	}
	if got := post(map[string]any{"documentId": document + "#None"}); !strings.Contains(got.Body,
		`no operation \"None\"`) {
		t.Errorf("with an unknown operation: %s", got.Body)
	}
	if got := post(map[string]any{"documentId": "yours"}); !strings.Contains(got.Body,
		`has the documentId \"yours\"`) {
		t.Errorf("with an unknown id: %s", got.Body)
	}
	if rest := g.Get(t, "/api/v1/accounts?limit=1"); rest.Status != http.StatusOK {
		t.Errorf("REST has status %d", rest.Status)
	}
}

// TestCacheControl tests the lifetimes of responses, and conditional requests.
func TestCacheControl(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t)
	for query, want := range map[string]string{
		`{ block(number: 1) { hash number } }`:          "public, max-age=3600",
		`{ block(number: 1) { hash next { number } } }`: "public, max-age=2",
		// can be created later
		`{ block(number: 999999) { hash } }`:                                      "public, max-age=2",
		`{ block(number: 1) { hash transactions { nodes { payer { memo } } } } }`: "public, max-age=2",
		`{ accounts { nodes { memo } } }`:                                         "public, max-age=2",
		`{ __typename }`:                                                          "public, max-age=3600",
		`{ accounts(first: 101) { nodes { memo } } }`:                             "no-store",
		`{ accounts(first: 101) }`:                                                "no-store",

		`{ ledger(at: {block: {number: 3000}}) { account(id: 2) { memo balance nfts { nodes { deleted } } } ` +
			`} }`: "public, max-age=31536000, immutable",
		`{ ledger(at: {block: {number: 3000}}) { at balancesKnown { to } } }`: "public, max-age=2",
		`{ ledger(at: {block: {number: 999999}}) { at } }`:                    "public, max-age=2",
	} {
		got := g.Get(t, "/graphql?query="+url.QueryEscape(query))
		if cache, tag := got.Header.Get("Cache-Control"), got.Header.Get("ETag"); cache != want ||
			(tag == "") != (want == "no-store") {
			t.Errorf("%s: Cache-Control %q, want %q; ETag %q: %s", query, cache, want, tag, got.Body)
		}
	}
	const path = "/graphql?query=%7Baccounts(first:1)%7Bnodes%7BentityId%7D%7D%7D"
	first := g.Get(t, path)
	again := g.Do(t, http.MethodGet, path, "", "If-None-Match: "+first.Header.Get("ETag"))
	if again.Status != http.StatusNotModified || again.Body != "" ||
		again.Header.Get("ETag") != first.Header.Get("ETag") || again.Header.Get("Cache-Control") == "" ||
		again.Header.Get("X-Query-Cost") != "2" {
		t.Errorf("status %d, %v: %s", again.Status, again.Header, again.Body)
	}
	if other := g.Do(t, http.MethodGet, path, "", `If-None-Match: "x"`); other.Status != http.StatusOK ||
		other.Body != first.Body {
		t.Errorf("status %d: %s", other.Status, other.Body)
	}
	if post := g.Query(t, `{ __typename }`, nil); post.Header.Get("ETag") != "" {
		t.Errorf("POST has the headers %v", post.Header)
	}
}

// TestResponseCache tests that a repeated request is served from the cache until the next block or the lifetime of the
// response, that errors are not cached, and that the cache can be disabled.
func TestResponseCache(t *testing.T) {
	t.Parallel()
	url := testenv.Filled.Fresh(t)
	const query = `{ account(id: 1008) { memo } }`
	on := testenv.Over(t, url, func(o *testenv.Options) { o.Graph.CacheBytes = 1 << 20 })
	off := testenv.Over(t, url)
	memo := func(g *testenv.Gateway) string {
		t.Helper()
		var data struct{ Account struct{ Memo string } }
		g.Data(t, query, nil, &data)
		return data.Account.Memo
	}
	memo(on)
	testenv.Exec(t, url, `update entity set memo = 'second' where id = 1008`)
	kept := on.Query(t, query, nil)
	if strings.Contains(kept.Body, "second") || kept.Header.Get("X-Query-Cost") != "1" {
		t.Errorf("the response was not cached, or has no cost: %v, %s", kept.Header, kept.Body)
	}
	if got := memo(off); got != "second" {
		t.Errorf("without the cache the memo is %q", got)
	}
	testenv.Exec(t, url, `insert into record_file (name, load_start, load_end, hash, prev_hash, consensus_start, consensus_end, count, digest_algorithm, version, file_hash, index)
		select 'next', 0, 0, repeat('f', 96), '', consensus_end + 1, consensus_end + 2, 0, 0, 6, '', index + 1 from record_file order by consensus_end desc limit 1`)
	time.Sleep(600 * time.Millisecond) // the server reads the newest timestamp twice a second
	if got := memo(on); got != "second" {
		t.Errorf("after a block the memo is %q", got)
	}
	testenv.Exec(t, url, `update entity set memo = 'third' where id = 1008`)
	time.Sleep(2100 * time.Millisecond)
	if got := memo(on); got != "third" {
		t.Errorf("after two seconds the memo is %q", got)
	}
	const wrong = `{ account(id: 1008) { memo } block { hash } }`
	for range 2 {
		if _, codes := read(t, on.Query(t, wrong, nil)); codes != "BAD_USER_INPUT" {
			t.Errorf("the codes are %q", codes)
		}
	}
}

// BenchmarkResponseCache compares cached responses with others.
func BenchmarkResponseCache(b *testing.B) {
	for name, size := range map[string]int64{"off": 0, "on": 1 << 20} {
		b.Run(name, func(b *testing.B) {
			handler := testenv.Demo(b, func(o *testenv.Options) { o.Graph.CacheBytes = size }).Public()
			for b.Loop() {
				reject(b,
					handler, `{"query":"{ accounts(first: 25) { nodes { entityId memo balance evmAddress } } }"}`)
			}
		})
	}
}
