package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"heliograph/app/testing/testenv"
	"heliograph/graph/server"
)

const (
	partsMedia = "multipart/mixed"
)

// The content type of responses in parts, and their delimiters.
var (
	partsType     = `multipart/mixed; boundary="` + server.Boundary + `"; deferSpec=20220824`
	delimiter     = "\r\n--" + server.Boundary
	lastDelimiter = delimiter + "--\r\n"
)

// body returns the body of a request.
func body(t *testing.T, document string, variables map[string]any) string {
	t.Helper()
	b, err := json.Marshal(map[string]any{"query": document, "variables": variables})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// payload is the result of a deferred fragment for one object.
type payload struct {
	Data   any
	Path   []any
	Label  string
	Errors []struct {
		Message    string
		Path       []any
		Extensions map[string]any
	}
}

// part is a part of a response.
type part struct {
	payload
	Incremental []payload
	HasNext     *bool
	Extensions  map[string]any
}

// TestDeferredErrors checks that an invalid argument in a deferred fragment makes the fragment null with an error that
// has the path of the field, and that nothing else is lost.
func TestDeferredErrors(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	const invalid = `transactions(first: -1) { nodes { __typename } }`
	for document, want := range map[string][]string{
		`{account(id:"0.0.1001"){entityId ... @defer {memo ` + invalid + `} ... @defer {balance}}}`: {
			"[account transactions]", "",
		},
		`{account(id:"0.0.1001"){... @defer {entityId ... @defer {` + invalid + `}}}}`: {"", "[account transactions]"},
		`{account(id:"0.0.1001"){entityId ... @defer {holdings {tokens(first: -1) {balance}}}}}`: {
			"[account holdings tokens]",
		},
		`{accounts(first:2){nodes{entityId ... @defer {` + invalid + `}}}}`: {
			"[accounts nodes 0 transactions]", "[accounts nodes 1]",
		},
		`query($n:Int=-1){account(id:"0.0.1001"){entityId ... @defer {transactions(first:$n){nodes{__typename}}}}}`: {
			"[account transactions]",
		},
	} {
		parts := inParts(t, g, document, nil)
		var got []string
		for _, p := range parts {
			if p.Errors != nil {
				t.Errorf("%s: the initial part has errors: %v", document, p.Errors)
			}
			for _, one := range p.Incremental {
				path := ""
				if len(one.Errors) == 1 && one.Errors[0].Extensions["code"] == "BAD_USER_INPUT" {
					path = fmt.Sprint(one.Errors[0].Path)
				}
				if (one.Data == nil) != (path != "") {
					t.Errorf("%s: %+v", document, one)
				}
				got = append(got, path)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: errors of %q, want %q", document, got, want)
		}
	}
}

// inParts requests a response in parts, and returns them.
func inParts(t *testing.T, g *testenv.Gateway, document string, variables map[string]any) []part {
	t.Helper()
	got := g.Do(t, http.MethodPost, "/graphql", body(t, document, variables), "Content-Type: "+plainMedia,
		"Accept: multipart/mixed;deferSpec=20220824, application/json")
	if got.Status != http.StatusOK || got.Header.Get("Content-Type") != partsType {
		t.Fatalf("%s\nstatus %d, Content-Type %q: %s", document, got.Status, got.Header.Get("Content-Type"), got.Body)
	}
	return readParts(t, got)
}

// readParts parses a multipart response, and checks the headers and members that all parts have.
func readParts(t *testing.T, got *testenv.Response) []part {
	t.Helper()
	_, params, err := mime.ParseMediaType(got.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	var parts []part
	for r := multipart.NewReader(strings.NewReader(got.Body), params["boundary"]); ; {
		raw, err := r.NextRawPart()
		if err == io.EOF { //nolint:errorlint // it is returned as it is
			break
		}
		if err != nil {
			t.Fatalf("%v in %q", err, got.Body)
		}
		if raw.Header.Get("Content-Type") != plainMedia+"; charset=utf-8" {
			t.Errorf("the content type of a part is %s", raw.Header.Get("Content-Type"))
		}
		text, err := io.ReadAll(raw)
		if err != nil {
			t.Fatal(err)
		}
		var p part
		testenv.Decode(t, string(text), &p)
		parts = append(parts, p)
	}
	for i, p := range parts {
		if p.HasNext == nil || *p.HasNext != (i < len(parts)-1) {
			t.Errorf("part %d of %d has hasNext %v", i, len(parts), p.HasNext)
		}
		if i > 0 && len(p.Incremental) == 0 && i < len(parts)-1 {
			t.Errorf("part %d of %d is empty", i, len(parts))
		}
	}
	if len(parts) == 0 || !strings.HasSuffix(got.Body, lastDelimiter) {
		t.Fatalf("no parts, or no last part: %q", got.Body)
	}
	return parts
}

// put merges a payload into the data of earlier parts, as clients do. The path must exist there.
func put(t *testing.T, into any, p payload) any {
	t.Helper()
	if len(p.Path) == 0 {
		return merged(into, p.Data)
	}
	rest := payload{Data: p.Data, Path: p.Path[1:]}
	switch step := p.Path[0].(type) {
	case string:
		object, ok := into.(map[string]any)
		if !ok || object[step] == nil {
			t.Fatalf("no member %s for %v", step, p)
		}
		object[step] = put(t, object[step], rest)
	case json.Number:
		list, ok := into.([]any)
		i, err := step.Int64()
		if !ok || err != nil || int(i) >= len(list) || list[i] == nil {
			t.Fatalf("no element %s for %v", step, p)
		}
		list[i] = put(t, list[i], rest)
	}
	return into
}

// merged returns a with the members and elements of b.
func merged(a, b any) any {
	switch b := b.(type) {
	case map[string]any:
		if a, ok := a.(map[string]any); ok {
			for name, v := range b {
				a[name] = merged(a[name], v)
			}
			return a
		}
	case []any:
		if a, ok := a.([]any); ok && len(a) == len(b) {
			for i, v := range b {
				a[i] = merged(a[i], v)
			}
			return a
		}
	}
	return b
}

// deferring are documents with @defer, and the number of parts of their responses, or 0 if it can vary.
var deferring = map[string]struct {
	document string
	parts    int
}{
	"columns": {`{ accounts(first: 5) { nodes { entityId ... @defer { memo evmAddress } } } }`, 2},
	"a spread": {`{ accounts(first: 5) { nodes { entityId ...F @defer(label: "f") } } } fragment ` +
		`F on Account { memo key { type } }`, 2},
	"the whole selection": {`{ account(id: 1008) { ... @defer { memo } } }`, 2},
	"the root": {`{ account(id: 1008) { memo } ... @defer { blocks(first: 2) { nodes { number } } ` +
		`accounts(first: 1) { nodes { memo } } } }`, 2},
	"the whole root": {`{ ... @defer { account(id: 1008) { memo } } }`, 2},
	"a relation": {`{ accounts(first: 25, order: DESC) { nodes { entityId ... @defer { ` +
		`transactions(first: 3) { nodes { name: type payer { memo } } } } } } }`, 2},
	"a connection's nodes": {
		`{ accounts(first: 3) { ... @defer { nodes { memo } } pageInfo { hasNextPage } } }`,
		2,
	},
	"a connection's end": {`{ accounts(first: 3) { nodes { memo } ... @defer { pageInfo { hasNextPage ` +
		`endCursor } } } }`, 2},
	"edges": {`{ accounts(first: 3) { edges { cursor node { ... @defer { memo ` +
		`transactions(first: 1) { edges { node { name: type } } } } } } } }`, 2},
	"below a relation": {`{ accounts(first: 10, order: DESC) { nodes { transactions(first: 2) { nodes { ` +
		`name: type ... @defer { payer { memo stakedAccount { entityId } } } } } } } }`, 2},
	"nested": {`{ accounts(first: 5, order: DESC) { nodes { entityId ... @defer(label: "outer") ` +
		`{ transactions(first: 2) { nodes { name: type ... @defer(label: "inner") { payer { memo } } } } } } } }`, 3},
	"nested directly": {
		`{ account(id: 1008) { entityId ... @defer { memo ... @defer { evmAddress } } } }`,
		3,
	},
	"one in a fragment": {`{ accounts(first: 2) { nodes { ...F } } account(id: 1008) { ...F } } fragment F ` +
		`on Account { entityId ... @defer { memo } }`, 3},
	"siblings": {`{ account(id: 1008) { ... @defer(label: "a") { memo } ... @defer(label: "b") { ` +
		`transactions(first: 2) { nodes { name: type } } } } }`, 3},
	"fields of the initial part": {`{ account(id: 1008) { memo transactions(first: 2) { nodes { name: type } } ... ` +
		`@defer { memo transactions(first: 2) { nodes { name: type payer { memo } } } } } }`, 2},
	"without a plan": {`{ accounts(first: 5, order: DESC) { nodes { balance(unit: HBAR) ... @defer { ` +
		`transactions(first: 2) { nodes { payer { balance(unit: HBAR) stakedAccount { memo } } } } } } } }`, 2},
	"below fields without plan": {`{ accounts(first: 5, order: DESC) { nodes { balance(unit: HBAR) ` +
		`transactions(first: 2) { nodes { name: type ... @defer { payer { memo balance(unit: HBAR) } } } } } } }`, 2},
	"of one type": {`query($ids: [ID!]!) { nodes(ids: $ids) { __typename ... on Account @defer { ` +
		`memo } ... on Block @defer(label: "block") { number } } }`, 3},
	"of no matching type": {
		`query($ids: [ID!]!) { nodes(ids: $ids) { __typename ... on Schedule @defer { id } } }`,
		2,
	},
	"in a null object": {`{ account(id: 999999) { memo ... @defer { entityId } } }`, 1},
	"beside a null object": {`{ none: account(id: 999999) { ... @defer { memo } } some: account(id: 1008) { ` +
		`entityId ... @defer { memo } } }`, 2},
	"in an empty list": {`{ accounts(filter: {balance: {gt: "9000000000000000000"}}) { nodes { entityId ` +
		`... @defer { memo } } } }`, 1},
	"skipped": {`{ account(id: 1008) { memo ... @defer @skip(if: true) { entityId } ... ` +
		`@include(if: true) @defer { evmAddress } } }`, 0}, // an empty group has a part only if it is the last
	"conditions": {`query($yes: Boolean! = true, $no: Boolean! = false) { account(id: 1008) { memo ` +
		`... @defer(if: $yes) { entityId @include(if: $yes) } ... @defer(if: $no) { evmAddress } } }`, 2},
	"a label in a variable": {`query($yes: String = "yes") { account(id: 1008) { memo ... @defer(label: $yes) ` +
		`{ entityId } } }`, 2},
	"the schema": {`{ __typename ... @defer { __type(name: "Block") { name fields { name ... @defer ` +
		`{ type { name } } } } } }`, 3},
	"details that were not read": {`{ contractResults(first: 3) { nodes { hash } } ... @defer { ` +
		`contractResults(first: 3) { nodes { hash blockNumber gasPrice block { number } } } } }`, 2},
	"an empty page": {`{ transactions(first: 0) { nodes { name: type } ... @defer { pageInfo { ` +
		`hasNextPage } } } }`, 2},
	"under two names": {`{ account(id: 1008) { a: transactions(first: 1) { nodes { name: type } } ... ` +
		`@defer { b: transactions(first: 1) { nodes { payer { memo } } } } } }`, 2},
}

// TestMergedParts tests that the merged parts equal the single response, and counts the parts.
func TestMergedParts(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	for name, c := range deferring {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var variables map[string]any
			if strings.Contains(c.document, "$ids") {
				variables = map[string]any{"ids": someIDs(t, g)}
			}
			var want any
			g.Data(t, c.document, variables, &want)
			parts := inParts(t, g, c.document, variables)
			if c.parts != 0 && len(parts) != c.parts {
				t.Errorf("%d parts, want %d", len(parts), c.parts)
			}
			if c.parts > 1 && reflect.DeepEqual(parts[0].Data, want) && name != "of no matching type" {
				t.Error("the initial part is complete")
			}
			got := parts[0].Data
			for i, p := range parts {
				if len(p.Errors) > 0 {
					t.Errorf("part %d has the errors %v", i, p.Errors)
				}
				for _, one := range p.Incremental {
					if len(one.Errors) > 0 || one.Data == nil {
						t.Errorf("part %d has %v", i, one)
					}
					got = put(t, got, one)
				}
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("the merged parts are\n%v\nand the single response is\n%v", got, want)
			}
		})
	}
}

// someIDs returns global ids of objects of several types.
func someIDs(t *testing.T, g *testenv.Gateway) []any {
	t.Helper()
	var data struct {
		Accounts, Blocks struct{ Nodes []struct{ ID string } }
	}
	g.Data(t, `{ accounts(first: 2) { nodes { id } } blocks(first: 1) { nodes { id } } }`, nil, &data)
	var ids []any
	for _, one := range append(data.Accounts.Nodes, data.Blocks.Nodes...) {
		ids = append(ids, one.ID)
	}
	return ids
}

// TestPartBytes tests the bytes of a response in parts.
func TestPartBytes(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	const document = `{ accounts(first: 2) { nodes { entityId ... @defer(label: "l") { declineReward } } } }`
	got := g.Do(t, http.MethodPost, "/graphql", `{"extensions":{"cost":true},"query":"`+
		strings.ReplaceAll(document, `"`, `\"`)+`"}`, "Content-Type: "+plainMedia, "Accept: "+partsMedia)
	const head = "\r\nContent-Type: application/json; charset=utf-8\r\n\r\n"
	want := delimiter + head +
		`{"data":{"accounts":{"nodes":[{"entityId":"0.0.2"},{"entityId":"0.0.3"}]}},` +
		`"extensions":{"cost":{"limit":50000,"requested":5}},"hasNext":true}` +
		delimiter + head +
		`{"incremental":[{"data":{"declineReward":false},"path":["accounts","nodes",0],"label":"l"},` +
		`{"data":{"declineReward":true},"path":["accounts","nodes",1],"label":"l"}],"hasNext":false}` +
		lastDelimiter
	if got.Body != want {
		t.Errorf("got\n%q\nwant\n%q", got.Body, want)
	}
	if !slices.Contains(got.Header.Values("Vary"), "Accept") {
		t.Errorf("Vary is %v", got.Header.Values("Vary"))
	}
	for name, want := range map[string]string{
		"Content-Type": partsType, "Cache-Control": "no-store, no-transform", "X-Query-Cost": "5",
		"X-Query-Cost-Limit": "50000", "Content-Length": "", "ETag": "", "X-Accel-Buffering": "no",
	} {
		if got := got.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// TestSingleResponse tests requests with @defer that get a single response.
func TestSingleResponse(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	const document = `query($on: Boolean) { account(id: 1008) { entityId ... @defer(if: $on) { memo } } }`
	whole := g.Do(t, http.MethodPost, "/graphql", body(t, document, nil), "Content-Type: "+plainMedia)
	if !strings.HasPrefix(whole.Body, `{"data":{"account":{"entityId":"0.0.1008","memo":`) ||
		whole.Header.Get("Content-Type") != plainMedia+"; charset=utf-8" {
		t.Fatalf("%v: %s", whole.Header, whole.Body)
	}
	const parts = "multipart/mixed"
	for name, c := range map[string]struct {
		accept    string
		variables map[string]any
		get       bool
		inParts   bool
	}{
		"nothing accepted":       {accept: "*/*"},
		"JSON accepted":          {accept: plainMedia},
		"parts refused":          {accept: plainMedia + ", " + parts + ";q=0"},
		"parts, newer version":   {accept: parts + ";incrementalSpec=v0.2, " + plainMedia},
		"parts, other version":   {accept: parts + ";deferSpec=20250101"},
		"parts of subscriptions": {accept: parts + ";boundary=graphql;subscriptionSpec=1.0, " + plainMedia},
		"GET":                    {accept: parts, get: true},
		"not deferred":           {accept: parts, variables: map[string]any{"on": false}},
		"parts, any version":     {accept: parts, inParts: true},
		"parts, our version":     {accept: parts + ";deferSpec=20220824, application/json", inParts: true},
		"parts after other types": {
			accept:  "application/graphql-response+json, application/json;q=0.9, " + parts,
			inParts: true,
		},
		"parts liked less": {accept: "application/graphql-response+json, application/json;q=0.9, " + parts +
			";q=0.1"},
		"deferred":            {accept: parts, variables: map[string]any{"on": true}, inParts: true},
		"deferred by default": {accept: parts, variables: map[string]any{"on": nil}, inParts: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := g.Do(t, http.MethodPost, "/graphql", body(t, document, c.variables), "Content-Type: "+plainMedia,
				"Accept: "+c.accept)
			if c.get {
				got = g.Do(t, http.MethodGet, "/graphql?query="+url.QueryEscape(document), "", "Accept: "+c.accept)
			}
			if c.inParts {
				if p := readParts(t, got); len(p) != 2 {
					t.Errorf("%d parts: %s", len(p), got.Body)
				}
				return
			}
			if got.Status != http.StatusOK || got.Body != whole.Body {
				t.Errorf("status %d: %s", got.Status, got.Body)
			}
			if cache := got.Header.Get("Cache-Control"); c.get && cache != "public, max-age=2" {
				t.Errorf("Cache-Control is %q", cache)
			}
		})
	}
}

// TestDeferredByID tests responses in parts to requests with the id of a document.
func TestDeferredByID(t *testing.T) {
	t.Parallel()
	const document = `{ account(id: 1008) { entityId ... @defer { declineReward } } }`
	trusting := testenv.Demo(t, func(o *testenv.Options) {
		o.Graph.Trusted, o.Graph.OnlyTrusted = map[string]string{"mine": document}, true
	})
	open := testenv.Demo(t)
	automatic := `{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"` + server.DocumentID(document) + `"}}}`
	open.Get(t, hashOnly(server.DocumentID(document), document))
	for name, c := range map[string]struct {
		g    *testenv.Gateway
		body string
	}{"trusted": {trusting, `{"documentId":"mine"}`}, "persisted": {open, automatic}} {
		got := c.g.Do(t, http.MethodPost, "/graphql", c.body, "Content-Type: "+plainMedia, "Accept: "+partsMedia)
		if parts := readParts(t, got); len(parts) != 2 {
			t.Errorf("%s: %s", name, got.Body)
		}
	}
}

// TestManySplits tests an operation with more splits than the server caches.
func TestManySplits(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	const document = `query($a: Boolean!, $b: Boolean!, $c: Boolean!) {
		account(id: 1008) { entityId ... @defer(if: $a, label: "a") { declineReward ... @defer(if: $b, label: "b") { memo } } ... @defer(if: $c, label: "c") { evmAddress } } }`
	for range 2 {
		for mask := 1; mask < 8; mask++ {
			on := map[string]any{"a": mask&1 > 0, "b": mask&2 > 0, "c": mask&4 > 0}
			parts := inParts(t, g, document, on)
			deferred := map[string]bool{}
			for _, p := range parts {
				for _, one := range p.Incremental {
					deferred[one.Label] = true
				}
			}
			for label, want := range on {
				if deferred[label] != want {
					t.Errorf("%v: %s is deferred: %t", on, label, deferred[label])
				}
			}
		}
	}
}

// TestMutationsAreNotSplit tests that mutations are not split. Executing a part again would repeat writes.
func TestMutationsAreNotSplit(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, testenv.Filled.Fresh(t), testenv.Tokens("ops:admin:0123456789abcdef0123456789abcdef"))
	const document = `mutation { ... @defer { addComponent(input: {name: "Deferred"}) { __typename ... @defer { ` +
		`component { name } } } } }`
	got := g.Do(t, http.MethodPost, "/graphql", body(t, document, nil), "Content-Type: "+plainMedia,
		"Accept: "+partsMedia, "Authorization: Bearer 0123456789abcdef0123456789abcdef")
	const want = `{"data":{"addComponent":{"__typename":"ComponentPayload","component":{"name":"Deferred"}}}}`
	if got.Body != want {
		t.Errorf("got %s, want %s", got.Body, want)
	}
}

// TestDeferInSchema tests that introspection includes @defer.
func TestDeferInSchema(t *testing.T) {
	t.Parallel()
	var data struct {
		Schema struct {
			Directives []struct {
				Name, Description string
				Locations         []string
				Args              []struct{ Name, Description string }
			}
		} `json:"__schema"`
	}
	testenv.Shared(t).Data(t, `{ __schema { directives { name description locations args { name description } } } }`,
		nil, &data)
	for _, d := range data.Schema.Directives {
		if d.Name != "defer" {
			continue
		}
		if d.Description == "" || strings.Join(d.Locations, " ") != "FRAGMENT_SPREAD INLINE_FRAGMENT" ||
			len(d.Args) != 2 || d.Args[0].Name != "if" || d.Args[1].Name != "label" ||
			d.Args[0].Description == "" || d.Args[1].Description == "" {
			t.Errorf("%+v", d)
		}
		return
	}
	t.Error("the schema has no @defer")
}
