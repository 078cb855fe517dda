package gateway_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"heliograph/app/testing/testenv"
	"heliograph/app/web/graphiql"
	"heliograph/storage/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// TestExamples runs every GraphiQL example on the demo network. Each must return data, and subscriptions must deliver
// a past event.
func TestExamples(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	for _, e := range graphiql.Examples() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			var variables map[string]any
			if len(e.Variables) > 0 {
				if err := json.Unmarshal(e.Variables, &variables); err != nil {
					t.Fatal(err)
				}
			}
			document, err := parser.ParseQuery(&ast.Source{Input: e.Query})
			if err != nil {
				t.Fatal(err)
			}
			for _, operation := range document.Operations {
				runExample(t, g, e.Query, operation, variables)
			}
		})
	}
}

// runExample runs an operation of an example.
func runExample(
	t *testing.T, g *testenv.Gateway, document string, operation *ast.OperationDefinition, variables map[string]any,
) {
	t.Helper()
	past := map[string]any{}
	if from := operation.VariableDefinitions.ForName("from"); from != nil && from.Type.NamedType == "Timestamp" {
		past["from"] = "0.0"
	}
	maps.Copy(past, variables)
	body, err := json.Marshal(map[string]any{"query": document, "operationName": operation.Name, "variables": past})
	if err != nil {
		t.Fatal(err)
	}
	var got string
	if operation.Operation == ast.Subscription {
		got = await(t, subscribeBody(t, g, string(body))).data
	} else {
		resp := g.Do(t, http.MethodPost, "/graphql", string(body), "Content-Type: application/json")
		got = resp.Body
		t.Logf("%s costs %s", operation.Name, resp.Header.Get("X-Query-Cost"))
	}
	if strings.Contains(got, `"errors"`) || !strings.HasPrefix(got, `{"data":{`) {
		t.Fatalf("%s: %s", operation.Name, got)
	}
	for _, empty := range []string{
		`"nodes":[]`, `"account":null`, `"topic":null`, `"token":null`, `"contract":null`,
		`"status":null`, `"output":null`, `"gas":null`,
	} {
		if strings.Contains(got, empty) {
			t.Errorf("%s returns %s: %s", operation.Name, empty, got)
		}
	}
}

// TestExplainOverHTTP checks the document of a path, and the errors for paths that cannot be explained.
func TestExplainOverHTTP(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	for _, c := range []struct {
		path, want string
		status     int
	}{
		{"/api/v1/accounts%3Flimit%3D2%26account.id%3Dgt:5", `"operationName":"Accounts"`, 200},
		{"/API/v1/Blocks/17/", `"variables":{"number":"17"}`, 200},
		{"POST+/api/v1/network/fees%3Fmode%3Dstate", `"operationName":"EstimateFee"`, 200},
		{"POST+/api/v1/network/stake", `no such path for POST`, 404},
		{"/api/v1/accounts%3Flimit%3Dnone", `{"error":"Invalid parameter: limit"}`, 400},
		{"/api/v1/transactions%3Ftype%3Dcredit%26type%3Ddebit", `contradict each other`, 400},
		{"/api/v2/summary.json", `"operationName":"Summary"`, 200},
		{"/api/v2/nothing.json", `no such path: /api/v2/nothing.json`, 404},
		{"/api/v1/nothing", `no such path: /api/v1/nothing`, 404},
		{"", `no such path`, 404},
		{"%25zz", `not a path`, 400},
	} {
		got := g.Get(t, "/graphql/explain?path="+c.path)
		if got.Status != c.status || !strings.Contains(got.Body, c.want) {
			t.Errorf("%s: status %d, %s; want %d, %s", c.path, got.Status, got.Body, c.status, c.want)
		}
	}
}

// TestExplain explains a POST request with its body.
func TestExplain(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	const call = "/graphql/explain?path=POST+/api/v1/contracts/call"
	for name, c := range map[string]struct {
		body, want string
		status     int
	}{
		"call":         {`{"data":"0x18160ddd","to":"0x0000000000000000000000000000000000000bb9"}`, `0x18160ddd`, 200},
		"invalid JSON": {`{"data":5`, `"error":"`, 400},
		"too long":     {strings.Repeat(" ", 2<<20), `"error":"the body cannot be read, or is too long"`, 400},
	} {
		if got := g.Do(t, http.MethodPost, call, c.body,
			"Content-Type: application/octet-stream"); got.Status != c.status || !strings.Contains(got.Body, c.want) {
			t.Errorf("%s: status %d, %.300s; want %d, %s", name, got.Status, got.Body, c.status, c.want)
		}
	}
}

// TestExplanationsRun runs the explained document of a path and compares its data with the response of the path.
func TestExplanationsRun(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	for _, path := range []string{
		"/api/v1/accounts?account.balance=gt:100&order=desc", "/api/v1/accounts/1001?transactiontype=cryptotransfer",
		"/api/v1/balances?account.id=1001&account.id=1002",
		"/api/v1/blocks?block.number=lte:20", "/api/v1/topics/4001/messages?encoding=utf-8&sequencenumber=gt:2",
		"/api/v1/transactions?result=fail&order=asc",
	} {
		x, err := g.Explain(t.Context(), path, nil)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		separate, standalone := g.Query(t, x.Query, x.Variables), g.Query(t, x.Standalone, nil)
		if strings.Contains(separate.Body, `"errors"`) || separate.Body != standalone.Body {
			t.Errorf("%s: with variables %s, standalone %s", path, separate.Body, standalone.Body)
		}
	}
}

// TestRoutes checks the routes other than the APIs.
func TestRoutes(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	for path, want := range map[string]struct {
		status int
		want   string
	}{
		"/":                       {200, "<title>Lantern Bay status</title>"},
		"/graphiql":               {200, "Heliograph"},
		"/graphql/schema.graphql": {200, "type Account implements Node & Entity"},
		"/health/liveness":        {200, "UP"},
		"/health/readiness":       {200, "UP"},
		"/nothing":                {404, `{"_status":{"messages":[{"message":"Not found"}]}}`},
		"/metrics":                {404, "Not found"},
		"/debug/pprof/":           {404, "Not found"},
	} {
		if got := g.Get(t, path); got.Status != want.status || !strings.Contains(got.Body, want.want) {
			t.Errorf("%s: %d %.200s", path, got.Status, got.Body)
		}
	}
	empty := testenv.Over(t, testenv.Empty.Fresh(t))
	if got := empty.Get(t, "/health/readiness"); got.Status != 503 {
		t.Errorf("readiness without an address book: status %d, want 503", got.Status)
	}
}
