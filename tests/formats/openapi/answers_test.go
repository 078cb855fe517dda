package openapi_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"heliograph/app/testing/testenv"
	"heliograph/rest/openapi"
)

// description is the description that a gateway serves, ready to hold answers against.
type description struct {
	document map[string]any
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema
}

const prefix = "/api/v1"

func served(t *testing.T, g *testenv.Gateway) *description {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(g.Get(t, prefix+"/docs/openapi.json").Body))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertContent()
	c.AssertFormat()
	for name, limit := range map[string]int64{"int32": math.MaxInt32, "int64": math.MaxInt64} {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(v any) error { return fits(v, limit) }})
	}
	if err := c.AddResource("openapi.json", document); err != nil {
		t.Fatal(err)
	}
	return &description{document.(map[string]any), c, map[string]*jsonschema.Schema{}}
}

// fits reports whether a number is an integer of a size.
func fits(v any, limit int64) error {
	number, ok := v.(json.Number)
	if !ok {
		return nil // the type has been checked
	}
	n, err := number.Int64()
	if err == nil && (n > limit || n < -limit-1) {
		err = errors.New("it is too large")
	}
	return err
}

// at is the part of the description that a JSON pointer leads to; a reference on the way is followed. It returns the
// pointer without them.
func (d *description) at(pointer ...string) (value any, plain []string) {
	value = d.document
	for _, name := range pointer {
		object, _ := value.(map[string]any)
		value, plain = object[name], append(plain, name)
		if object, ok := value.(map[string]any); ok {
			if ref, ok := object["$ref"].(string); ok {
				return d.at(append(strings.Split(strings.TrimPrefix(ref, "#/"), "/"), pointer[len(plain):]...)...)
			}
		}
	}
	return value, plain
}

// check holds an answer to GET against what is described for its path and status.
func (d *description) check(t *testing.T, path, request string, got *testenv.Response) {
	t.Helper()
	d.checkMethod(t, "get", path, request, got)
}

// checkMethod is check for any method.
func (d *description) checkMethod(t *testing.T, method, path, request string, got *testenv.Response) {
	t.Helper()
	response, plain := d.at("paths", path, method, "responses", strconv.Itoa(got.Status))
	if response == nil {
		t.Errorf("%s: status %d is not described: %s", request, got.Status, got.Body)
		return
	}
	d.checkHeaders(t, plain, request, got)
	if got.Status == http.StatusNotModified {
		return
	}
	media, _, _ := strings.Cut(got.Header.Get("Content-Type"), ";")
	schema, at := d.at(append(plain, "content", media, "schema")...)
	if schema == nil {
		t.Errorf("%s: no body of type %s is described for status %d", request, media, got.Status)
		return
	}
	if media != "application/json" {
		return // any text is a string
	}
	body, err := jsonschema.UnmarshalJSON(strings.NewReader(got.Body))
	if err != nil {
		t.Errorf("%s: %v in %s", request, err, got.Body)
		return
	}
	if err := d.compile(t, at).Validate(body); err != nil {
		t.Errorf("%s: %v\n%s", request, err, got.Body[:min(len(got.Body), 3000)])
	}
}

func (d *description) checkHeaders(t *testing.T, plain []string, request string, got *testenv.Response) {
	t.Helper()
	headers, at := d.at(append(slices.Clone(plain), "headers")...)
	for name := range asObject(headers) {
		header, here := d.at(append(slices.Clone(at), name)...)
		value := got.Header.Get(name)
		if value == "" {
			if asObject(header)["required"] == true {
				t.Errorf("%s: the header %s is missing", request, name)
			}
			continue
		}
		if err := d.compile(t, append(here, "schema")).Validate(value); err != nil {
			t.Errorf("%s: header %s: %v", request, name, err)
		}
	}
}

func asObject(v any) map[string]any { object, _ := v.(map[string]any); return object }

func (d *description) compile(t *testing.T, pointer []string) *jsonschema.Schema {
	t.Helper()
	escaped := make([]string, len(pointer))
	for i, name := range pointer {
		escaped[i] = "/" + strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(name)
	}
	location := "openapi.json#" + strings.Join(escaped, "")
	if d.schemas[location] == nil {
		s, err := d.compiler.Compile(location)
		if err != nil {
			t.Fatal(err)
		}
		d.schemas[location] = s
	}
	return d.schemas[location]
}

// source is the source of values for a path parameter: a list, and the member of its items. Without a list, the
// preceding path is the list.
type source struct{ list, items, member string }

var sources = map[string]source{
	"accounts/{id}":                    {"/accounts?limit=40", "accounts", "account"},
	"accounts/{idOrAliasOrEvmAddress}": {"/accounts?limit=100", "accounts", "account"},
	"accounts/{ownerId}":               {"/accounts?limit=100", "accounts", "account"},
	"blocks/{hashOrNumber}":            {"/blocks", "blocks", "hash"},
	"contracts/{contractIdOrAddress}":  {"/contracts", "contracts", "contract_id"},
	"contracts/{id}":                   {"/contracts", "contracts", "contract_id"},
	"contracts/{idOrAddress}":          {"/contracts", "contracts", "contract_id"},
	"hooks/{hookId}":                   {"", "hooks", "hook_id"},
	"messages/{consensusTimestamp}":    {"/topics/0.0.4001/messages", "messages", "consensus_timestamp"},
	"messages/{sequenceNumber}":        {"", "messages", "sequence_number"},
	"nfts/{serialNumber}":              {"", "nfts", "serial_number"},
	"results/{consensusTimestamp}":     {"", "results", "timestamp"},
	"results/{idOrHash}":               {"/contracts/3001/results?limit=100", "results", "hash"},
	"results/{timestamp}":              {"", "results", "timestamp"},
	"results/{transactionIdOrHash}":    {"/contracts/3001/results?limit=100", "results", "hash"},
	"schedules/{id}":                   {"/schedules", "schedules", "schedule_id"},
	"schedules/{scheduleId}":           {"/schedules", "schedules", "schedule_id"},
	"tokens/{id}":                      {"/tokens", "tokens", "token_id"},
	"tokens/{tokenId}":                 {"/tokens", "tokens", "token_id"},
	"topics/{id}": {
		"/transactions?transactiontype=consensuscreatetopic&limit=100",
		"transactions", "entity_id",
	},
	"topics/{topicId}": {
		"/transactions?transactiontype=consensuscreatetopic&limit=100",
		"transactions", "entity_id",
	},
	"transactions/{idOrHash}":            {"/transactions?limit=100", "transactions", "transaction_id"},
	"transactions/{transactionIdOrHash}": {"/transactions?limit=100", "transactions", "transaction_id"},
}

// most bounds how many values of a path are asked for.
const most = 100

// expand puts actual values into the braces of a path.
func expand(t *testing.T, g *testenv.Gateway, path string) []string {
	t.Helper()
	brace := strings.IndexByte(path, '{')
	if brace < 0 {
		return []string{path}
	}
	end := brace + strings.IndexByte(path[brace:], '}') + 1
	before := path[:brace-1]
	from, ok := sources[before[strings.LastIndexByte(before, '/')+1:]+"/"+path[brace:end]]
	if !ok {
		t.Fatalf("%s: the test does not know where %s comes from", path, path[brace:end])
	}
	if from.list == "" {
		from.list = before
	}
	var out []string
	for _, value := range values(t, g, from) {
		if len(out) < most {
			out = append(out, expand(t, g, before+"/"+value+path[end:])...)
		}
	}
	return out[:min(len(out), most)]
}

// values are the members of a list's items.
func values(t *testing.T, g *testenv.Gateway, from source) []string {
	t.Helper()
	var body map[string]json.RawMessage
	testenv.Decode(t, g.Get(t, prefix+from.list).Body, &body)
	var items []map[string]any
	if body[from.items] != nil {
		testenv.Decode(t, string(body[from.items]), &items)
	}
	var out []string
	for _, item := range items {
		switch v := item[from.member].(type) {
		case string:
			out = append(out, v)
		case json.Number:
			out = append(out, v.String())
		}
	}
	return out
}

// queries are query strings that try every parameter of a path, with values that it takes and with others.
func queries(d *description, method, path string) []string {
	out := []string{"", "?no.such.parameter=1", "?limit=-1"}
	parameters, _ := d.at("paths", path, method, "parameters")
	list, _ := parameters.([]any)
	for _, p := range list {
		parameter := asObject(p)
		name, _ := parameter["name"].(string)
		if parameter["in"] != "query" {
			continue
		}
		tries := []string{
			"", "1", "gte:1", "lt:4000", "ne:2", "0.0.1001", "1700000000", "gt:1700000000.000000001",
			"true", "false", "bad:1:2", "x",
		}
		words, _ := asObject(parameter["schema"])["enum"].([]any)
		for _, w := range words {
			tries = append(tries, w.(string))
		}
		for _, value := range tries {
			out = append(out, "?"+name+"="+value)
		}
	}
	return out
}

// onlyGzip matches the paths of answers that are only sent to clients that accept gzip.
var onlyGzip = regexp.MustCompile(`/(opcodes|prestate)$`)

// TestAnswers walks over all that is described, and holds every answer against it.
func TestAnswers(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t, func(o *testenv.Options) { withDelegation(o.REST) })
	d := served(t, g)
	for path, item := range asObject(d.document["paths"]) {
		if asObject(item)["get"] == nil || onlyGzip.MatchString(path) { // which TestTraces requests
			continue
		}
		t.Run(path, func(t *testing.T) {
			good, asked := 0, 0
			ask := func(request string) *testenv.Response {
				got := g.Get(t, request)
				d.check(t, path, request, got)
				asked++
				if got.Status == http.StatusOK {
					good++
				}
				return got
			}
			actual := expand(t, g, path)
			for i, p := range actual {
				if i > 2 {
					ask(prefix + p)
					continue
				}
				for _, q := range queries(d, "get", path) {
					ask(prefix + p + q)
				}
				d.follow(t, ask, prefix+p+"?limit=2")
				d.again(t, g, path, prefix+p)
			}
			if good < len(actual) || good == 0 {
				t.Errorf("of %d answers about %d things only %d were good", asked, len(actual), good)
			}
		})
	}
}

// TestTraces holds traces, which are written while their transactions run, and prestates against what is described.
// Both are only sent to clients that accept gzip.
func TestTraces(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	d := served(t, g)
	for path, actual := range map[string][]string{
		"/contracts/results/{transactionIdOrHash}/opcodes": expand(t, g,
			"/contracts/results/{transactionIdOrHash}/opcodes")[:3],
		"/contracts/results/{transactionIdOrHash}/prestate": expand(t, g,
			"/contracts/results/{transactionIdOrHash}/prestate")[:3],
		"/contracts/{id}/results/opcodes": {
			"/contracts/0.0.3001/results/opcodes",
			"/contracts/3021/results/opcodes",
		},
	} {
		full, less := "?memory=true&storage=true", "?stack=false"
		if strings.HasSuffix(path, "/prestate") {
			full, less = "?code=true&diff=true&storage=true", "?storage=true"
		}
		good := 0
		ask := func(request string, headers ...string) {
			got := g.Do(t, http.MethodGet, prefix+request, "", headers...)
			if got.Header.Get("Content-Encoding") == "gzip" {
				zip, err := gzip.NewReader(strings.NewReader(got.Body))
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(zip)
				if err != nil {
					t.Fatal(err)
				}
				got.Body = string(body)
			}
			d.check(t, path, request, got)
			if got.Status == http.StatusOK {
				good++
			}
		}
		for _, a := range actual {
			ask(a+full, "Accept-Encoding: gzip")
			ask(a+less, "Accept-Encoding: gzip")
		}
		if good != 2*len(actual) {
			t.Errorf("%s: %d of %d answers were good", path, good, 2*len(actual))
		}
		good = 0
		for _, q := range queries(d, "get", path) {
			ask(actual[0]+q, "Accept-Encoding: br")
			ask(actual[0] + q)
		}
		if good > 0 {
			t.Errorf("%s: %d answers were sent to who does not take gzip", path, good)
		}
	}
}

// TestAnswersToBodies holds the answers of endpoints that take a body against what is described.
func TestAnswersToBodies(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	d := served(t, g)
	for i, api := 0, offlineAPI(t); i < len(api.Endpoints); i++ {
		e := &api.Endpoints[i]
		if e.Body == nil || e.Undocumented {
			continue
		}
		usual, good := "Content-Type: "+e.Body.Types[0], 0
		ask := func(query, body, header string) {
			got := g.Do(t, http.MethodPost, prefix+e.Path+query, body, header)
			d.checkMethod(t, "post", e.Path, "POST "+e.Path+query, got)
			if got.Status == http.StatusOK {
				good++
			}
		}
		for _, q := range queries(d, "post", e.Path) {
			ask(q, string(e.Body.Example), usual)
		}
		if good == 0 {
			t.Errorf("%s: no answer was good", e.Path)
		}
		good = 0
		ask("", "", usual)
		ask("", "\x00", usual)
		ask("", strings.Repeat("x", int(e.Body.MaxBytes)+1), usual)
		ask("", string(e.Body.Example), "Content-Type: text/none")
		if good > 0 {
			t.Errorf("%s: %d of what cannot be was answered", e.Path, good)
		}
	}
}

// follow walks some pages of a list; the Link header leads the same way as the body.
func (d *description) follow(t *testing.T, ask func(string) *testenv.Response, request string) {
	t.Helper()
	for range 3 {
		got := ask(request)
		var body struct{ Links struct{ Next *string } }
		if got.Status != http.StatusOK {
			return
		}
		testenv.Decode(t, got.Body, &body)
		want := ""
		if body.Links.Next != nil {
			want = "<" + *body.Links.Next + `>; rel="next"`
		}
		if link := got.Header.Get("Link"); link != want {
			t.Errorf("%s: the header has %q, the body %q", request, link, want)
		}
		if want == "" {
			return
		}
		request = *body.Links.Next
	}
}

// again repeats a request with the known ETag.
func (d *description) again(t *testing.T, g *testenv.Gateway, path, request string) {
	t.Helper()
	tag := g.Get(t, request).Header.Get("ETag")
	got := g.Do(t, http.MethodGet, request, "", "If-None-Match: "+tag)
	if got.Status != http.StatusNotModified {
		t.Errorf("%s with If-None-Match %s: status %d", request, tag, got.Status)
	}
	d.check(t, path, request, got)
}

// TestFailures holds answers that no request can ask for by its parameters against the description.
func TestFailures(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	d := served(t, g)
	late := testenv.Demo(t, func(o *testenv.Options) { o.RequestTimeout = time.Nanosecond })
	for path, item := range asObject(d.document["paths"]) {
		if asObject(item)["get"] == nil {
			continue
		}
		actual := prefix + regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(path, "0.0.999999999")
		d.check(t, path, actual, g.Get(t, actual))
		got := g.Do(t, http.MethodGet, actual, "", "Authorization: Basic bm9ib2R5OngK")
		// The modern family ignores credentials.
		if modern := got.Header.Get("Content-Type") == "application/json;charset=UTF-8"; !modern &&
			got.Status != http.StatusUnauthorized || modern && got.Status == http.StatusUnauthorized {
			t.Errorf("%s with wrong credentials: status %d", actual, got.Status)
		}
		d.check(t, path, actual, got)
		d.check(t, path, actual, late.Get(t, actual))
	}
	if got := late.Get(t, prefix+"/accounts"); got.Status != http.StatusServiceUnavailable {
		t.Errorf("without time: status %d", got.Status)
	}
}

// TestNothingElse checks that the schemas of responses allow no other members.
func TestNothingElse(t *testing.T) {
	t.Parallel()
	d, text := describe(t, offlineAPI(t))
	// The body of a call and its state overrides may have more, and the body of a simulation and its blocks.
	const wantOpen = 4
	if open := bytes.Count(text, []byte(`"additionalProperties": true`)); open != wantOpen {
		t.Errorf("%d objects are open", open)
	}
	if objects, closed := bytes.Count(text, []byte(`"object"`))-wantOpen,
		bytes.Count(text, []byte(`"additionalProperties": false`)); objects != closed || objects < 10 {
		t.Errorf("%d of %d objects are closed", closed, objects)
	}
	body, ok := d.Components.Schemas.Get("AccountsResponse")
	if !ok || !slices.Equal(body.Required, []string{"accounts", "links"}) {
		t.Fatalf("the list of accounts is described as %+v", body)
	}
	account, _ := d.Components.Schemas.Get("Account")
	for name, want := range map[string]openapi.Types{
		"account": {"string"}, "alias": {"string", "null"}, "pending_reward": {"integer"},
		"deleted": {"boolean", "null"}, "balance": {"object", "null"},
	} {
		if s, _ := account.Properties.Get(name); s == nil || !slices.Equal(s.Type, want) ||
			!slices.Contains(account.Required, name) {
			t.Errorf("%s is described as %+v", name, s)
		}
	}
	if s, _ := account.Properties.Get("delegation_address"); s == nil ||
		slices.Contains(account.Required, "delegation_address") {
		t.Error("the delegation address is not described, or as required although it is included on demand")
	}
}
