package server

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"heliograph/graph/relay"
)

// FuzzBody reads arbitrary bodies and query strings. A rejection must have a client error status, a message and a
// code.
func FuzzBody(f *testing.F) {
	for _, s := range []string{
		`{"query":"{ __typename }"}`, `{"query":null,"variables":{"a":1e999},"operationName":""}`, `[]`, `null`,
		`{}{}`, ``, "\xff", `{"variables":[]}`, "query=%7Ba%7D&variables=%7B%7D", "a=%zz",
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
			if bad.status < http.StatusBadRequest || bad.status >= http.StatusInternalServerError ||
				bad.err.Message == "" ||
				bad.err.Extensions["code"] != "BAD_USER_INPUT" && bad.err.Extensions["code"] != "QUERY_TOO_COMPLEX" {
				t.Errorf("%q of %q is rejected with %d: %v", text, media, bad.status, bad.err)
			}
		}
		if got := responseMedia(http.Header{"Accept": {media, text}}); !slices.Contains([]string{
			mediaJSON,
			mediaGraphQL, mediaEvents, mediaCSV, mediaNDJSON,
		}, got) {
			t.Errorf("Accept: %q, %q: the media type is %q", media, text, got)
		}
	})
}

// TestDocuments reads texts of documents in JSON.
func TestDocuments(t *testing.T) {
	t.Parallel()
	long := "{ a" + strings.Repeat(" b", 8<<10) + " }"
	for text, want := range map[string]string{
		`"{ a }"`: "{ a }", `"{\n\u0061 }"`: "{\na }", `null`: "", `""`: "", `"` + long + `"`: long,
	} {
		params, _, bad := readBody([]byte(`{"query": `+text+` ,"operationName":"o"}`), 10)
		if bad != nil || params.Query != want || params.OperationName != "o" {
			t.Errorf("%.40s: %v, %v", text, params, bad)
		}
	}
	for _, text := range []string{"1", "{}", "tru", "\"\xff\"", ""} {
		if _, _, bad := readBody([]byte(`{"query":`+text+`}`), 10); bad == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}

// flushes counts what is sent to a client.
type flushes struct {
	httptest.ResponseRecorder

	n int
}

func (f *flushes) FlushError() error { f.n++; return nil }

// TestEventsTogether checks that an event is sent with the next one if that follows at once, and that comments are
// sent until the stream ends.
func TestEventsTogether(t *testing.T) {
	t.Parallel()
	w := &flushes{ResponseRecorder: *httptest.NewRecorder()}
	e := eventWriter{out: streamWriter{w: w, c: http.NewResponseController(w), timeout: time.Second}}
	for i, more := range []bool{true, true, false} {
		if err := e.next(more, []byte{'1'}, []byte{'2'}); err != nil || w.n != i/2 {
			t.Errorf("event %d: %v, %d flushes", i, err, w.n)
		}
	}
	stop := e.keepAlive(time.Millisecond)
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		e.mu.Lock()
		n := w.n
		e.mu.Unlock()
		if n > 3 {
			break
		}
	}
	stop()
	n, text := w.n, w.Body.String()
	time.Sleep(10 * time.Millisecond)
	if want := strings.Repeat(
		"event: next\ndata: 12\n\n", 3,
	) + strings.Repeat(comment, n-1); n <= 3 || text != want || w.Body.String() != want || w.n != n {
		t.Errorf("%d flushes, then %d: %s", n, w.n, text)
	}
}

// TestStaticResponses checks which operations have responses that do not change, and that these are kept when others
// expire.
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
	c := newResponseCache(1<<20, nil, nil)
	c.put("a", &cachedResponse{static: true})
	c.put("b", &cachedResponse{})
	for name, want := range map[string]bool{"a": true, "b": false} {
		if e, ok := c.responses.GetEntry(name); !ok || (e.ExpiresAfter() > time.Minute) != want {
			t.Errorf("%s expires after %s", name, e.ExpiresAfter())
		}
	}
}

// TestBodyValues checks the values in a body, and what is rejected.
func TestBodyValues(t *testing.T) {
	t.Parallel()
	params, id, bad := readBody([]byte(` { "documentId":"d" , "other":[{"a":1}], "query":"{ a }", "operationName":null,
		"variables":{"n":1.50,"s":"\u00e9","l":[true,null,[],{}],"o":{"x":false}},"extensions":null } `), 9)
	if bad != nil {
		t.Fatal(bad.err)
	}
	want := map[string]any{"n": json.Number(
		"1.50",
	), "s": "é", "l": []any{true, nil, []any{}, map[string]any{}}, "o": map[string]any{"x": false}}
	if id != "d" || params.Query != "{ a }" || params.OperationName != "" || params.Extensions != nil ||
		!reflect.DeepEqual(params.Variables, want) {
		t.Errorf("%s: %+v", id, params)
	}
	nested := `{"variables":{"v":` + strings.Repeat("[", MaxNesting) + strings.Repeat("]", MaxNesting) + `}}`
	for body, code := range map[string]string{
		`{"variables":{"a":[1,2,3,4,5,6,7,8,9]}}`: "QUERY_TOO_COMPLEX", nested: "QUERY_TOO_COMPLEX",
		`{"variables":{"a":1,"a":1}}`: "BAD_USER_INPUT",
		`{"query":"a","query":"a"}`:   "BAD_USER_INPUT", `{"operationName":1}`: "BAD_USER_INPUT",
		`{"variables":"v"}`: "BAD_USER_INPUT", `{} {}`: "BAD_USER_INPUT",
		`{"variables":{"a":[1}}`: "BAD_USER_INPUT", `{"query":"a"`: "BAD_USER_INPUT",
		`{"variables":{1:2}}`: "BAD_USER_INPUT", `{"a":[}`: "BAD_USER_INPUT",
	} {
		maxValues := 9
		if body == nested {
			maxValues = 2 * MaxNesting
		}
		if _, _, bad := readBody([]byte(body), maxValues); bad == nil || bad.err.Extensions["code"] != code {
			t.Errorf("%.60s: %v, want %s", body, bad, code)
		}
	}
}

// TestInvalidJSON checks that errors name the cause and the place, in the body, in variables of a query string, and in
// messages of a WebSocket, which have the body as their payload.
func TestInvalidJSON(t *testing.T) {
	t.Parallel()
	for variables, want := range map[string]string{
		`{"s":"\ud83d"}`:           "invalid surrogate pair `\\ud83d\"",
		`{"s":"\udc00\ud83d"}`:     "invalid surrogate pair `\\udc00",
		`{"s":"\uD83Dx"}`:          "invalid surrogate pair `\\uD83Dx",
		`{"\ud83d":1}`:             "invalid surrogate pair",
		`{"s":{"a":1,"a":2}}`:      "duplicate object member name",
		`{"s":1,"\u0073":2}`:       "duplicate object member name",
		"{\"s\":\"x\xff\"}":        "invalid UTF-8",
		"{\"s\":\"\xed\xa0\x80\"}": "invalid UTF-8", // an encoded surrogate
		"{\"s\":\"a\nb\"}":         `invalid character '\n' in string`,
		`{"s":"\x"}`:               "invalid escape sequence `\\x`",
		`{"s":01}`:                 "invalid character '1' after object value",
		`{"s":NaN}`:                "invalid character 'N'",
		`{"s":[1,,2]}`:             "invalid character ','",
		`{"s":tru}`:                "invalid character '}' in literal true",
		`{"s":1,}`:                 "invalid character ','",
		`{s:1}`:                    "invalid character 's'",
		`"v"`:                      "must be a JSON object",
		`[]`:                       "must be a JSON object",
		`{"s":`:                    "",
	} {
		_, _, body := readBody([]byte(`{"query":"{a}","variables":`+variables+`}`), 100)
		_, _, query := readQuery("query={a}&variables="+url.QueryEscape(variables), 100)
		for place, bad := range map[string]*rejection{"the request body": body, "variables": query} {
			if bad == nil || bad.err.Extensions["code"] != "BAD_USER_INPUT" || !strings.HasPrefix(
				bad.err.Message, place,
			) ||
				!strings.Contains(bad.err.Message, want) {
				t.Errorf("%s in %s: %v, want %q", variables, place, bad, want)
			}
		}
		if kind := strings.Contains(want, "must be"); !kind && !strings.Contains(body.err.Message, " bytes") ||
			strings.Contains(body.err.Message, `"`) != strings.Contains(want, `"`) && !strings.Contains(want, "pair") {
			t.Errorf("%s: %s", variables, body.err.Message)
		}
		if strings.HasPrefix(variables, `{"s":"`) && !strings.Contains(body.err.Message, "at /variables/s") {
			t.Errorf("%s: %s has no place", variables, body.err.Message)
		}
	}
	for body, want := range map[string]string{
		`{"operationName":1}`:       "the request body: /operationName must be a string",
		`{"query":{"a":1}}`:         "the request body: /query must be a string",
		`{"documentId":[]}`:         "the request body: /documentId must be a string",
		`{"extensions":true}`:       "the request body: /extensions must be a JSON object",
		`{"variables":[1]}`:         "the request body: /variables must be a JSON object",
		`{"query":"{a}"} {}`:        "the request body is not valid JSON: invalid character '{' after top-level value",
		`[{"query":"{a}"}]`:         "the request body must be a JSON object",
		`{"query":"a","query":"b"}`: "the request body is not valid JSON: duplicate object member name, after ",
		"\ufeff" +
			`{"query":"{a}"}`: `the request body is not valid JSON: invalid character '\ufeff' at start of value, ` +
			`after 0 bytes`,
		"": "the request body is not valid JSON: unexpected EOF, after 0 bytes",
		`{"` + strings.Repeat(
			"n", 70_000,
		) + `":"\ud83d"}`: "the request body is not valid JSON: invalid surrogate pair",
	} {
		_, _, bad := readBody([]byte(body), 100)
		if bad == nil || !strings.HasPrefix(bad.err.Message, want) || len(bad.err.Message) > 400 {
			t.Errorf("%.60s: %v, want %s", body, bad, want)
		}
	}
}

// TestPersistedBytes stores long texts of persisted documents: those that are kept have at most the length that the
// cache is made for.
func TestPersistedBytes(t *testing.T) {
	t.Parallel()
	const most = 256 << 10
	d := newDocuments(most, nil, relay.Limits{})
	for i := range 40 {
		d.persisted.Set(strconv.Itoa(i), strings.Repeat("x", most/4))
	}
	d.persisted.CleanUp()
	kept := 0
	for text := range d.persisted.Values() {
		kept += len(text)
	}
	if kept == 0 || kept > most {
		t.Errorf("%d bytes are kept, at most %d are allowed", kept, most)
	}
}
