package resolvers_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"testing"

	"heliograph/app/testing/testenv"
)

// TestScans checks which filters of transactions are scans, by the cost of operations.
func TestScans(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	cost := func(filter map[string]any) int {
		body, err := json.Marshal(map[string]any{
			"query": `query($f: TransactionFilter) { ...Root } fragment Root on Query { transactions(filter: ` +
				`$f, first: 1) { nodes { name: type } } }`,
			"variables": map[string]any{"f": filter},
		})
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(g.Do(t, http.MethodPost, "/graphql", string(body),
			"Content-Type: application/json").Header.Get("X-Query-Cost"))
		if err != nil {
			t.Error(err)
		}
		return n
	}
	plain := cost(nil)
	of := map[string]any{"in": []any{"0.0.1008"}}
	for name, c := range map[string]struct {
		filter map[string]any
		scans  bool
	}{
		"account":       {map[string]any{"accountId": of}, false},
		"type":          {map[string]any{"types": []any{"CRYPTOTRANSFER"}}, false},
		"type and null": {map[string]any{"types": []any{"CRYPTOTRANSFER"}, "outcome": nil}, false},
		"result and type": {
			map[string]any{"types": []any{"CRYPTOTRANSFER"}, "outcome": "FAILURE"},
			true,
		},
		"account, result and type": {map[string]any{
			"accountId": of, "types": []any{"CRYPTOTRANSFER"},
			"outcome": "FAILURE",
		}, false},
		"account, direction and type": {map[string]any{
			"accountId": of, "types": []any{"CRYPTOTRANSFER"},
			"direction": "DEBIT",
		}, true},
		"direction and result": {map[string]any{"direction": "DEBIT", "outcome": "FAILURE"}, true},
		"result in a range of timestamp": {map[string]any{
			"outcome":   "FAILURE",
			"timestamp": map[string]any{"gt": "1"},
		}, false},
	} {
		want := plain
		if c.scans {
			want += 1000
		}
		if got := cost(c.filter); got != want {
			t.Errorf("%s: the cost is %d, want %d", name, got, want)
		}
	}
}
