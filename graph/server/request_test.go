package server

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
)

// FuzzBody reads arbitrary bodies and query strings. A rejection must have a client error status, a message and a code.
func FuzzBody(f *testing.F) {
	for _, s := range []string{
		`{"query":"{ __typename }"}`, `{"query":null,"variables":{"a":1e999},"operationName":""}`, `[]`, `null`, `{}{}`, ``, "\xff", `{"variables":[]}`, "query=%7Ba%7D&variables=%7B%7D", "a=%zz",
	} {
		f.Add(s, "application/json")
	}
	f.Add("{}", "application/json; charset=utf-8; x")
	f.Fuzz(func(t *testing.T, text, media string) {
		_, _, badQuery := readQuery(text, 100)
		raw, badBody := receiveBody(strings.NewReader(text), -1, media)
		if badBody == nil {
			_, _, badBody = readBody(raw, 100)
		}
		for _, bad := range []*rejection{badBody, badQuery} {
			if bad == nil {
				continue
			}
			if bad.status < http.StatusBadRequest || bad.status >= http.StatusInternalServerError || bad.err.Message == "" ||
				bad.err.Extensions["code"] != "BAD_USER_INPUT" && bad.err.Extensions["code"] != "QUERY_TOO_COMPLEX" {
				t.Errorf("%q of %q is rejected with %d: %v", text, media, bad.status, bad.err)
			}
		}
		if got := responseMedia(http.Header{"Accept": {media, text}}); got != mediaJSON && got != mediaGraphQL {
			t.Errorf("Accept: %q, %q: the media type is %q", media, text, got)
		}
	})
}

// TestStaticResponses checks which operations have responses that do not change, and that these are kept when others expire.
func TestStaticResponses(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]bool{
		`{ __schema { types { name } } }`: true,
		`query IntrospectionQuery { __schema { ...F } __typename } fragment F on __Schema { description }`: true,
		`{ __schema { types { name } } block(number: 1) { hash } }`:                                        false,
		`query($n: String!) { __type(name: $n) { name } }`:                                                 false,
		`{ ...Q } fragment Q on Query { block(number: 1) { hash } }`:                                       false,
	} {
		doc, err := parser.ParseQuery(&ast.Source{Input: query})
		if err != nil {
			t.Fatal(err)
		}
		if got := onlyIntrospects(doc.Operations[0]); got != want {
			t.Errorf("%s: %t", query, got)
		}
	}
	c := newResponseCache(1<<20, nil)
	c.put("a", &cachedResponse{static: true})
	c.put("b", &cachedResponse{})
	for name, want := range map[string]bool{"a": true, "b": false} {
		if e, ok := c.responses.GetEntry(name); !ok || (e.ExpiresAfter() > time.Minute) != want {
			t.Errorf("%s expires after %s", name, e.ExpiresAfter())
		}
	}
}
