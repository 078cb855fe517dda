package server_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"heliograph/app/testing/testenv"
)

// TestOneField tests that a query with a single root field, which takes a shorter path, has the same response as a
// query with two.
func TestOneField(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	for _, field := range []string{
		`accounts(first: 2) { nodes { entityId memo } pageInfo { hasNextPage } }`,
		`some: account(id: "0.0.2") { entityId tokens(first: 1) { nodes { tokenId } } }`,
		`account(id: "0.0.99999999") { memo }`,     // null, nullable
		`accounts(first: 1000) { nodes { memo } }`, // an error, non-null
		`blocks(first: 2, last: 2) { totalCount { value } }`,
		`block(number: "1", hash: "00") { number }`, // an error, nullable
		`node(id: "!") { id }`,                      // an invalid id
		`nodes(ids: ["QWNjb3VudDowLjAuMg"]) { id }`, // a list of interfaces
		`network { supply { totalSupply } }`,
		`account(id: "no id!") { memo }`, // an invalid argument
		`block(hash: "zz") { number }`,
		`accounts(first: 1, filter: { balance: { gt: "much" } }) { nodes { memo } }`,
		`topicMessages(topic: "0.0.-1") { nodes { text } }`,
		`blocks(first: null, order: ASC) { nodes { number } }`,
		`_service { sdl }`,
		`__typename`,
		`__type(name: "Account") { name }`,
	} {
		alone, beside := responseOf(t, g, `{ `+field+` }`), responseOf(t, g, `{ `+field+` beside: __typename }`)
		if alone.Data != nil {
			delete(beside.Data, "beside")
		}
		if !reflect.DeepEqual(alone, beside) {
			t.Errorf("%s\nalone:  %v\nbeside: %v", field, alone, beside)
		}
		if alone.Data == nil && len(alone.Errors) == 0 {
			t.Errorf("%s: neither data nor errors", field)
		}
	}
	// Queries whose directives and fragments determine the number of root fields.
	for document, want := range map[string]string{
		`query { account(id: "0.0.2") @skip(if: true) { memo } }`: `{"data":{}}`,
		`query { ...two } fragment two on Query { a: __typename b: ` +
			`__typename }`: `{"data":{"a":"Query","b":"Query"}}`,
		`query { account(id: "0.0.2") @include(if: true) { entityId } }`: `{"data":{"account":{"entityId":"0.0.2"}}}`,
		`query { x: account(id: "0.0.2") { ...e } } fragment e on Account { ` +
			`entityId }`: `{"data":{"x":{"entityId":"0.0.2"}}}`,
		`query { account(id: "0.0.2") { entityId } ... on Query { account(id: "0.0.2") { id: entityId } ` +
			`} }`: `{"data":{"account":{"entityId":"0.0.2","id":"0.0.2"}}}`,
	} {
		if got := g.Query(t, document, nil); strings.TrimSpace(got.Body) != want {
			t.Errorf("%s: %s", document, got.Body)
		}
	}
}

// completeResponse is a complete response.
type completeResponse struct {
	Data   map[string]any
	Errors []map[string]any
}

func responseOf(t *testing.T, g *testenv.Gateway, document string) completeResponse {
	t.Helper()
	var a completeResponse
	if err := json.Unmarshal([]byte(g.Query(t, document, nil).Body), &a); err != nil {
		t.Fatal(err)
	}
	return a
}
