package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"heliograph/app/gateway"
	"heliograph/app/testing/testenv"
	"heliograph/graph/limits"
	"heliograph/internal/base/values"
)

// batchEntry is a response in a batch.
type batchEntry struct {
	Data   json.RawMessage
	Errors []struct {
		Message    string
		Path       []any
		Extensions map[string]any
	}
	Extensions map[string]any
}

// sendBatch sends operations as one request.
func sendBatch(t *testing.T, g *testenv.Gateway, operations ...map[string]any) (*testenv.Response, []batchEntry) {
	t.Helper()
	body, err := json.Marshal(operations)
	if err != nil {
		t.Fatal(err)
	}
	got := g.Do(t, http.MethodPost, "/graphql", string(body), "Content-Type: application/json")
	var entries []batchEntry
	if strings.HasPrefix(got.Body, "[") {
		testenv.Decode(t, got.Body, &entries)
	}
	return got, entries
}

func operationOf(query string) map[string]any { return map[string]any{"query": query} }

// TestBatch compares the responses in a batch with those of the operations alone, and checks that each has its own
// errors.
func TestBatch(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	operations := []map[string]any{
		operationOf(`{ account(id: "0.0.1001") { entityId memo } }`),
		{
			"query":         `query A { __typename } query B($n: Long) { block(number: $n) { hash } }`,
			"operationName": "B", "variables": map[string]any{"n": "2"},
		},
		operationOf(`{ nothing }`),
		operationOf(`{ account(id: "x") { entityId } }`),
		{"query": `{ blocks(first: 3) { nodes { number } } }`, "extensions": map[string]any{"cost": true}},
		operationOf(``),
		operationOf(`{ account(id: "0.0.99999999") { entityId } }`),
		operationOf(`{ tokens(first: 2) { nodes { name treasury { memo } } } }`),
	}
	got, entries := sendBatch(t, g, operations...)
	if got.Status != http.StatusOK || len(entries) != len(operations) ||
		got.Header.Get("Content-Type") != "application/json; charset=utf-8" ||
		got.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v: %s", got.Status, got.Header, got.Body)
	}
	cost := 0
	for i, operation := range operations {
		body, _ := json.Marshal(operation)
		alone := g.Do(t, http.MethodPost, "/graphql", string(body), "Content-Type: application/json")
		var want batchEntry
		testenv.Decode(t, alone.Body, &want)
		if fmt.Sprint(entries[i]) != fmt.Sprint(want) {
			t.Errorf("operation %d:\n%v, alone\n%v", i, entries[i], want)
		}
		var own int
		_, _ = fmt.Sscan(alone.Header.Get("X-Query-Cost"), &own)
		cost += own
	}
	if text := got.Header.Get("X-Query-Cost"); text != strconv.Itoa(cost) || cost == 0 {
		t.Errorf("the batch costs %s, and its operations %d", text, cost)
	}
}

// TestBatchRefused checks batches and operations in batches that are not executed.
func TestBatchRefused(t *testing.T) {
	t.Parallel()
	bounds := limits.Default()
	bounds.Cost = 100
	g := testenv.Demo(t, func(o *testenv.Options) { o.Graph.Bounds, o.Graph.MaxValues = bounds, 50 })
	for _, n := range []int{0, 11} {
		operations := make([]map[string]any, n)
		for i := range operations {
			operations[i] = operationOf(`{ __typename }`)
		}
		if got, _ := sendBatch(t, g, operations...); got.Status != http.StatusBadRequest ||
			!strings.Contains(got.Body, fmt.Sprintf("a batch has 1 to 10 operations, not %d", n)) {
			t.Errorf("%d operations: %d %s", n, got.Status, got.Body)
		}
	}
	list := `[` + strings.Repeat("1,", 30) + `1]`
	for body, want := range map[string]string{
		`[1]`: "must be a JSON object", `[[]]`: "must be a JSON object", `[{"query":1}]`: "/0/query must be a string",
		`[{}`: "not valid JSON", `[{}]]`: "not valid JSON", " " + `[{"query":"{__typename}"},null]`: "query is missing",
		`[{"variables":{"a":` + list + `}},{"variables":{"a":` + list + `}}]`: "more than 50 JSON values",
	} {
		got := g.Do(t, http.MethodPost, "/graphql", body, "Content-Type: application/json")
		if !strings.Contains(got.Body, want) {
			t.Errorf("%s: %d %s", body, got.Status, got.Body)
		}
	}
	_, entries := sendBatch(t, g, operationOf(`subscription { topicMessages(topic: "4001") { text } }`),
		operationOf(`{ account(id: "2") { entityId ... @defer { memo } } }`),
		operationOf(`{ account(id: "2") { entityId ... @defer(if: false) { deleted } } }`))
	if len(entries) != 3 || !strings.Contains(entries[0].Errors[0].Message, "cannot contain a subscription") ||
		!strings.Contains(entries[1].Errors[0].Message, "cannot contain @defer") || len(entries[2].Errors) > 0 {
		t.Errorf("%v", entries)
	}
	half := operationOf(`{ accounts(first: 60) { nodes { entityId } } }`)
	got, entries := sendBatch(t, g, half, half)
	if len(entries) != 2 || got.Header.Get("X-Query-Cost") != "122" {
		t.Fatalf("%v: %s", got.Header, got.Body)
	}
	for _, e := range entries {
		if e.Data != nil || e.Errors[0].Extensions["code"] != "QUERY_TOO_COMPLEX" ||
			!strings.Contains(e.Errors[0].Message, "the batch costs 122") {
			t.Errorf("%v", e)
		}
	}
	if one, _ := sendBatch(t, g, half); !strings.HasPrefix(one.Body, `[{"data":{"accounts":`) {
		t.Errorf("%s", one.Body)
	}
}

// TestBatchBounds checks that the responses of a batch together are no larger than one, and that the operations of a
// batch are limited like one.
func TestBatchBounds(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t, func(o *testenv.Options) { o.Graph.MaxResponse = 6000 },
		func(o *testenv.Options) { o.Rates = gateway.RateOptions{PerMinute: 20} })
	page := operationOf(`{ accounts(first: 50) { nodes { id entityId memo } } }`)
	got, entries := sendBatch(t, g, page)
	if len(entries) != 1 || len(entries[0].Errors) > 0 {
		t.Fatalf("alone: %s", got.Body)
	}
	got, entries = sendBatch(t, g, page, page, page, page)
	refused := 0
	for _, e := range entries {
		if len(e.Errors) > 0 && e.Errors[0].Extensions["code"] == "QUERY_TOO_COMPLEX" {
			refused++
		}
	}
	if refused == 0 || len(got.Body) > 9000 {
		t.Errorf("%d bytes, %d refused", len(got.Body), refused)
	}
	large := operationOf(`{ accounts(first: 100) { nodes { transactions(first: 12) { nodes { type } } } } }`)
	if got, _ = sendBatch(t, g, large, large); got.Status != http.StatusTooManyRequests ||
		strings.Count(got.Body, "RATE_LIMITED") != 2 || got.Header.Get("Retry-After") == "" {
		t.Errorf("%d %v: %.300s", got.Status, got.Header, got.Body)
	}
}

// TestBatchShare checks that a batch runs in the share of scans if one of its operations would do so alone.
func TestBatchShare(t *testing.T) {
	t.Parallel()
	var scan bool
	s := ofOneNode(t, func(_ context.Context, scans, _ bool) values.Value {
		scan = scans
		return values.Value{}
	})
	const few = `{"query":"{ ledger(at: {time: \"2026-01-01\"}) { token(id: 1) { name } } }"}`
	const many = `{"query":"{ ledger(at: {time: \"2026-01-01\"}) { token(id: 1) { totalSupply } } }"}`
	for body, want := range map[string]bool{
		few: false, many: true, "[" + few + "]": false, "[" + few + "," + many + "]": true,
	} {
		if w := sendTo(t, s, body); scan != want || !strings.Contains(w.Body.String(), `"data":{"ledger":null}`) {
			t.Errorf("%s is a scan: %t; %s", body, scan, w.Body)
		}
	}
}
