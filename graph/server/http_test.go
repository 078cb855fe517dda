package server_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"heliograph/app/testing/testenv"
	"heliograph/graph/relay"
	"heliograph/graph/server"
)

const (
	plainMedia = "application/json"
	graphMedia = "application/graphql-response+json"
)

// response is a decoded response.
type response struct {
	Data   *json.RawMessage
	Errors []struct {
		Message    string
		Path       []any
		Extensions map[string]any
	}
}

// read decodes a response, checks the members that all have, and returns the codes of the errors.
func read(t *testing.T, got *testenv.Response) (response, string) {
	t.Helper()
	var a response
	testenv.Decode(t, got.Body, &a)
	var codes []string
	for _, e := range a.Errors {
		code, _ := e.Extensions["code"].(string)
		codes = append(codes, code)
		if e.Message == "" {
			t.Errorf("an error has no message: %s", got.Body)
		}
	}
	if a.Data == nil && a.Errors == nil && !strings.Contains(got.Body, `"data":null`) {
		t.Errorf("neither data nor errors: %s", got.Body)
	}
	if !strings.HasPrefix(got.Header.Get("Vary"), "Accept") &&
		!strings.Contains(strings.Join(got.Header.Values("Vary"), ","), "Accept") {
		t.Errorf("Vary is %v", got.Header.Values("Vary"))
	}
	return a, strings.Join(codes, " ")
}

// TestRequests tests the status, the data and the error codes of responses. The response to an invalid request has no
// data member.
func TestRequests(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	const query, post = `{"query":"{ __typename }"}`, http.MethodPost
	const bad = "BAD_USER_INPUT"
	get := func(pairs ...string) string {
		v := url.Values{}
		for i := 0; i < len(pairs); i += 2 {
			v.Set(pairs[i], pairs[i+1])
		}
		return "/graphql?" + v.Encode()
	}
	for name, c := range map[string]struct {
		method, path, body, media, accept string
		status                            int
		data                              string // a part of the data, or empty for no data
		codes                             string
	}{
		"query": {post, "", query, plainMedia, "", 200, `"__typename":"Query"`, ""},
		"media type with charset": {
			post, "", query, "application/json; charset=UTF-8", "", 200, "Query",
			"",
		},
		"GraphQL media type": {post, "", query, plainMedia, graphMedia, 200, "Query", ""},
		"get":                {"GET", get("query", "{ __typename }"), "", "", "", 200, "Query", ""},
		"get with variables": {
			"GET",
			get("query", "query A($n: Int) { accounts(first: $n) { nodes { entityId } } } query B { __typename }",
				"variables", `{"n":1}`, "operationName", "A"), "", "", "", 200, `0.0.2"`, "",
		},
		"get with null variables": {
			"GET", get("query", "{ __typename }", "variables", "null"), "",
			"", "", 200, "Query", "",
		},
		"get without query": {"GET", "/graphql", "", "", "", 400, "", bad},
		"get with bad variables": {
			"GET", get("query", "{ __typename }", "variables", "[1]"), "",
			"", "", 400, "", bad,
		},
		"get with trailing text": {
			"GET", get("query", "{ __typename }", "variables", "{} {}"), "",
			"", "", 400, "", bad,
		},
		"get with bad escape": {
			"GET", "/graphql?query=%7B__typename%7D&x=%zz", "", "", "", 400,
			"", bad,
		},
		"put":    {"PUT", "", query, plainMedia, "", 405, "", bad},
		"delete": {"DELETE", "", "", "", "", 405, "", bad},
		"form": {
			post, "", "query=%7B__typename%7D", "application/x-www-form-urlencoded",
			"", 415, "", bad,
		},
		"text":                  {post, "", query, "text/plain", "", 415, "", bad},
		"multipart":             {post, "", query, "multipart/form-data; boundary=x", "", 415, "", bad},
		"no media type":         {post, "", query, "", "", 415, "", bad},
		"another charset":       {post, "", query, "application/json; charset=latin1", "", 415, "", bad},
		"broken media type":     {post, "", query, "application/json; =", "", 415, "", bad},
		"empty body":            {post, "", " ", plainMedia, "", 400, "", bad},
		"broken JSON":           {post, "", `{"query":`, plainMedia, "", 400, "", bad},
		"a list":                {post, "", "[" + query + ",[]]", plainMedia, "", 400, "", bad},
		"null":                  {post, "", "null", plainMedia, "", 400, "", bad},
		"trailing text":         {post, "", query + "x", plainMedia, "", 400, "", bad},
		"two objects":           {post, "", query + query, plainMedia, "", 400, "", bad},
		"trailing white space":  {post, "", query + " \n", plainMedia, "", 200, "Query", ""},
		"no query":              {post, "", `{"variables":{}}`, plainMedia, "", 400, "", bad},
		"query of another type": {post, "", `{"query":5}`, plainMedia, "", 400, "", bad},
		"variables of another type": {
			post, "", `{"query":"{ __typename }","variables":"x"}`, plainMedia,
			"", 400, "", bad,
		},
		"null variables": {
			post,
			"", `{"query":"{ __typename }","variables":null,"operationName":null,"extensions":null}`, plainMedia,
			"", 200, "Query", "",
		},
		"unknown member": {
			post, "", `{"query":"{ __typename }","id":"x"}`, plainMedia, "",
			200, "Query", "",
		},
		"unknown variable": {
			post, "", `{"query":"{ __typename }","variables":{"x":1}}`, plainMedia,
			"", 200, "Query", "",
		},
		"missing variable": {
			post,
			"", `{"query":"query($id: AccountRef!) { account(id: $id) { memo } }"}`, plainMedia, "", 200, "", bad,
		},
		"null for a non-null variable": {
			post,
			"", `{"query":"query($id: AccountRef!) { account(id: $id) { memo } }","variables":{"id":null}}`,
			plainMedia, graphMedia, 400, "", bad,
		},
		"a variable of another type": {
			post,
			"", `{"query":"query($n: Int) { accounts(first: $n) { nodes { memo } } }","variables":{"n":"many"}}`,
			plainMedia, "", 200, "", bad,
		},
		"integer out of range": {
			post,
			"", `{"query":"query($n: Int) { accounts(first: $n) { nodes { memo } } }","variables":{"n":4294967296}}`,
			plainMedia, graphMedia, 400, "", bad,
		},
		"unknown field": {
			post, "", `{"query":"{ accounts { nodes { memo colour } } }"}`,
			plainMedia, "", 200, "", bad,
		},
		"unknown field, GraphQL media type": {
			post, "", `{"query":"{ accounts { nodes { memo colour } } }"}`,
			plainMedia, graphMedia, 400, "", bad,
		},
		"unknown filter": {
			post,
			"",
			`{"query":"query($f: AccountFilter) { accounts(filter: $f) { nodes { memo } } ` +
				`}","variables":{"f":{"colour":1}}}`, plainMedia, graphMedia, 400, "", bad,
		},
		"syntax": {
			post, "", `{"query":"{ accounts "}`, plainMedia, graphMedia, 400,
			"", bad,
		},
		"unknown operation": {
			post, "", `{"query":"query A { __typename }","operationName":"B"}`,
			plainMedia, graphMedia, 400, "", bad,
		},
		"ambiguous operation": {
			post, "", `{"query":"query A { __typename } query B { __typename }"}`,
			plainMedia, graphMedia, 400, "", bad,
		},
		"no operation": {
			post, "", `{"query":"fragment A on Query { __typename }"}`, plainMedia,
			graphMedia, 400, "", bad,
		},
		"fragment cycle": {
			post,
			"", `{"query":"{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }"}`, plainMedia,
			graphMedia, 400, "", bad,
		},
		"too many tokens": {
			post, "", `{"query":"{` + strings.Repeat(" a:__typename", 6000) + `}"}`,
			plainMedia, graphMedia, 400, "", "QUERY_TOO_COMPLEX",
		},
		"an argument out of range": {
			post, "", `{"query":"{ accounts(first: 101) { nodes { memo } } }"}`,
			plainMedia, graphMedia, 200, "null", bad,
		},
		"a foreign cursor": {
			post,
			"", `{"query":"{ accounts(after: \"YmxvY2tzOjE\") { nodes { memo } } }"}`, plainMedia, "", 200, "null",
			bad,
		},
		"a bad literal": {
			post, "", `{"query":"{ account(id: \"x\") { memo } }"}`, plainMedia,
			graphMedia, 200, "null", bad,
		},
		"partial data": {
			post, "", `{"query":"{ __typename block { hash } }"}`, plainMedia,
			graphMedia, 200, `{"__typename":"Query","block":null}`, bad,
		},
		"NUL in a text": {
			post,
			"", `{"query":"{ accounts(filter: {publicKey: {eq: \"\\u0000\"}}) { nodes { memo } } }"}`, plainMedia,
			"", 200, "null", bad,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := c.path
			if path == "" {
				path = "/graphql"
			}
			var headers []string
			if c.media != "" {
				headers = append(headers, "Content-Type: "+c.media)
			}
			media := plainMedia
			if c.accept != "" {
				headers, media = append(headers, "Accept: "+c.accept), c.accept
			}
			got := g.Do(t, c.method, path, c.body, headers...)
			a, codes := read(t, got)
			if got.Status != c.status || codes != c.codes {
				t.Errorf("status %d, codes %q; want %d, %q: %s", got.Status, codes, c.status, c.codes, got.Body)
			}
			if hasData := strings.HasPrefix(got.Body, `{"data":`); hasData != (c.data != "") || hasData &&
				a.Data != nil && !strings.Contains(string(*a.Data), c.data) {
				t.Errorf("the response is %s, want data with %q", got.Body, c.data)
			}
			if want := media + "; charset=utf-8"; got.Header.Get("Content-Type") != want {
				t.Errorf("Content-Type %q, want %q", got.Header.Get("Content-Type"), want)
			}
			if allow := got.Header.Get("Allow"); (allow != "") != (c.status == http.StatusMethodNotAllowed) {
				t.Errorf("Allow is %q", allow)
			}
		})
	}
}

// TestAccept tests the choice of the media type.
func TestAccept(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	for accept, want := range map[string]string{
		"*/*": plainMedia, plainMedia: plainMedia, graphMedia: graphMedia, graphMedia + ", " + plainMedia: graphMedia,
		plainMedia + ", " + graphMedia:       plainMedia,
		graphMedia + ";q=0.5, " + plainMedia: plainMedia, plainMedia + ";q=0.9," + graphMedia: graphMedia,
		"text/html": plainMedia, graphMedia + ";q=0": plainMedia,
		"application/*": plainMedia, ";;;": plainMedia, graphMedia + ", application/graphql+json, " + plainMedia +
			", text/event-stream, multipart/mixed": graphMedia,
		plainMedia + ", text/event-stream": plainMedia, "text/event-stream;q=0.5, " + plainMedia: plainMedia,
		graphMedia + ";q=x": plainMedia, graphMedia + "; charset=utf-8": graphMedia,
	} {
		got := g.Do(t, http.MethodGet, "/graphql?query=%7B__typename%7D", "", "Accept: "+accept)
		if media := got.Header.Get("Content-Type"); got.Status != http.StatusOK || media != want+"; charset=utf-8" {
			t.Errorf("%s: status %d, Content-Type %q", accept, got.Status, media)
		}
	}
}

// TestHead tests that HEAD has the headers of GET and no body.
func TestHead(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	const path = "/graphql?query=%7B__typename%7D"
	get, head := g.Get(t, path), g.Do(t, http.MethodHead, path, "")
	if head.Status != http.StatusOK || head.Body != "" ||
		head.Header.Get("Content-Length") != get.Header.Get("Content-Length") ||
		head.Header.Get("Content-Length") == "" {
		t.Errorf("status %d, Content-Length %q, body %q", head.Status, head.Header.Get("Content-Length"), head.Body)
	}
	if got := g.Do(t, http.MethodHead, "/graphql", ""); got.Status != http.StatusBadRequest || got.Body != "" {
		t.Errorf("status %d, body %q", got.Status, got.Body)
	}
}

// TestBodyLimit tests the maximum size of a body, 2^19 bytes.
func TestBodyLimit(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	body := func(size int) string {
		const start, end = `{"query":"{ __typename }","extensions":{"x":"`, `"}}`
		return start + strings.Repeat("x", size-len(start)-len(end)) + end
	}
	for size, want := range map[int]int{1 << 19: http.StatusOK, 1<<19 + 1: http.StatusRequestEntityTooLarge} {
		got := g.Do(t, http.MethodPost, "/graphql", body(size), "Content-Type: application/json")
		if got.Status != want {
			t.Errorf("%d bytes: status %d, want %d: %.200s", size, got.Status, want, got.Body)
		}
	}
}

// TestStyle tests the encoding of values: 64-bit integers are strings, and bytes are hex.
func TestStyle(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	got := g.Query(t,
		`{ accounts(first: 1) { nodes { pendingReward delegationAddress maxAutomaticTokenAssociations declineReward `+
			`} } transactions(first: 1) { nodes { transactionHash } } }`, nil)
	for _, part := range []string{
		`"pendingReward":"0"`, `"delegationAddress":"0x"`,
		`"maxAutomaticTokenAssociations":0`, `"declineReward":`, `"transactionHash":"0x`,
	} {
		if !strings.Contains(got.Body, part) {
			t.Errorf("%s is not in %s", part, got.Body)
		}
	}
}

// TestRunWithoutStyle checks that an operation in process has the data of the same operation of a client if no other
// style is selected.
func TestRunWithoutStyle(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t)
	const query = `query One { account(id: "1001") { entityId transactions(first: 1) { nodes { chargedFee } } } }`
	doc, err := g.Graph().Prepare(query)
	if err != nil {
		t.Fatal(err)
	}
	res := g.Graph().Run(t.Context(), server.Call{
		Document: doc, Operation: "One", Variables: map[string]any{}, Limits: relay.Limits{Default: 1, Max: 1},
	})
	want := strings.TrimSpace(g.Query(t, query, nil).Body)
	if got := `{"data":` + string(res.Data) + `}`; got != want || len(res.Errors) > 0 {
		t.Errorf("%s %v, want %s", got, res.Errors, want)
	}
}
