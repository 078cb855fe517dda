package server_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"heliograph/app/testing/testenv"
)

// TestProbes tests the twelve probes of common security scanners for GraphQL servers, and the settings that change the
// responses.
func TestProbes(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	hidden := testenv.Demo(t, func(o *testenv.Options) { o.Graph.IntrospectionOff = true })
	const schema = `query { __schema { queryType { name } } }`
	const circular = `query { __schema { types { fields { type { fields { type { fields { type { fields { type { ` +
		`name } } } } } } } } } } }`
	jsonBody := func(query string) string {
		b, err := json.Marshal(map[string]string{"query": query})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	const post, get, jsonMedia, form = http.MethodPost, http.MethodGet, "application/json",
		"application/x-www-form-urlencoded"
	var aliases strings.Builder
	for i := range 101 {
		aliases.WriteString(" alias" + strings.Repeat("x", i) + ":__typename")
	}
	for name, c := range map[string]struct {
		gateway             *testenv.Gateway
		method, media, path string
		body                string
		status              int
		has, hasNot         string
	}{
		"1 introspection, on by default": {
			g, post, jsonMedia, "", jsonBody(schema), 200,
			`"queryType":{"name":"Query"}`, "errors",
		},
		"1 introspection, switched off": {
			hidden, post, jsonMedia, "", jsonBody(schema),
			200, `"code":"FORBIDDEN"`, "queryType",
		},
		"2 field suggestions, on by default": {
			g, post, jsonMedia,
			"", jsonBody(`query { __schema { directive } }`), 200, "Did you mean", `"data"`,
		},
		"2 field suggestions, switched off": {
			hidden, post, jsonMedia, "", jsonBody(`query { acounts }`),
			200, "Cannot query field", "Did you mean",
		},
		"3 IDE at the endpoint": {g, get, "", "", "", 400, "query is missing", "<html"},
		"4 trace mode": {
			g, post, jsonMedia, "", jsonBody(`query { __typename }`),
			200, `"Query"`, "tracing",
		},
		"5 alias overloading": {
			g, post, jsonMedia,
			"", jsonBody("query {" + aliases.String() + " }"), 200, "QUERY_TOO_COMPLEX", `"data"`,
		},
		"6 array batching": {
			g, post, jsonMedia,
			"", "[" + strings.Repeat(jsonBody(`query { __typename }`)+",", 10) + jsonBody(`query { __typename }`) + "]",
			400, "1 to 10 operations", `"data"`,
		},
		"7 directive overloading": {
			g, post, jsonMedia,
			"", jsonBody("query { __typename " + strings.Repeat("@aa", 10) + " }"), 200, "BAD_USER_INPUT", `"data"`,
		},
		"7 directive overloading by many": {
			g, post, jsonMedia,
			"", jsonBody("query { __typename " + strings.Repeat("@aa", 60) + " }"), 200, "QUERY_TOO_COMPLEX",
			`"data"`,
		},
		"8 circular query by introspection": {
			g, post, jsonMedia, "", jsonBody(circular),
			200, "Maximum introspection depth exceeded", `"data"`,
		},
		"9 queries over GET, which caches keep": {
			g, get, "", "?query=" + url.QueryEscape(`query { __typename }`),
			"", 200, `"Query"`, "errors",
		},
		"10 mutation over GET": {
			g, get,
			"", "?query=" + url.QueryEscape(`mutation { __typename }`), "", 405, "errors", `"data"`,
		},
		"11 queries in a form, as other sites can": {
			g, post,
			form, "", "query=" + url.QueryEscape(`query { __typename }`), 415, "application/json", `"data"`,
		},
		"12 unhandled errors": {
			g, post, jsonMedia, "", jsonBody(`qwerty { abc }`), 200,
			`Unexpected Name`, ".go:",
		},
		"12 unhandled errors of values": {
			g, post, jsonMedia,
			"", jsonBody(`{ account(id: "` + "\\u0000" + `") { memo } }`), 200, `"code":"BAD_USER_INPUT"`, "INTERNAL",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var headers []string
			if c.media != "" {
				headers = []string{"Content-Type: " + c.media}
			}
			got := c.gateway.Do(t, c.method, "/graphql"+c.path, c.body, headers...)
			if got.Status != c.status || !strings.Contains(got.Body, c.has) || strings.Contains(got.Body, c.hasNot) {
				t.Errorf("status %d, want %d, with %q and without %q: %s", got.Status, c.status, c.has, c.hasNot,
					got.Body)
			}
		})
	}
}
