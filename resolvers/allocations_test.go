package resolvers_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"heliograph/app/testing/testenv"
)

// TestAllocationsOfFields checks that one selected field without a row binding does not take the other fields of the
// selection out of the row plan. It compares the allocations of documents with and without such a field.
func TestAllocationsOfFields(t *testing.T) { // not parallel: other tests allocate too
	g := testenv.Demo(t)
	const most = 1.15
	for with, without := range map[string]string{
		`{ accounts(first: 100) { nodes { entityId memo balance } } }`: `{ ` +
			`accounts(first: 100) { nodes { entityId memo } } }`,
		`{ transactions(first: 100) { nodes { consensusTimestamp payer { entityId memo balance } } } }`: `{ ` +
			`transactions(first: 100) { nodes { consensusTimestamp payer { entityId memo } } } }`,
	} {
		allocations := func(query string) float64 {
			body, err := json.Marshal(map[string]string{"query": query})
			if err != nil {
				t.Fatal(err)
			}
			return testing.AllocsPerRun(20, func() {
				g.Do(t, http.MethodPost, "/graphql", string(body), "Content-Type: application/json")
			})
		}
		a, b := allocations(with), allocations(without)
		t.Logf("%.0f and %.0f allocations", a, b)
		if a > most*b {
			t.Errorf("%s: %.0f allocations, more than %.2f times the %.0f of %s", with, a, most, b, without)
		}
	}
}
