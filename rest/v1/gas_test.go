package v1_test

import (
	"strings"
	"testing"

	"heliograph/app/testing/testenv"
)

// TestGasPriceCache checks that the system files of gas prices are read once per hour of the ledger, or each time if
// the cache is off.
func TestGasPriceCache(t *testing.T) {
	t.Parallel()
	for _, cache := range []bool{true, false} {
		url := results.Fresh(t)
		g := testenv.Over(t, url, func(o *testenv.Options) { o.Storage.Cache = cache })
		const path = "/api/v1/contracts/results"
		before := g.Get(t, path).Body
		if !strings.Contains(before, `"gas_price":"0x`) {
			t.Fatalf("no price: %s", before)
		}
		testenv.Exec(t, url, `delete from file_data where entity_id in (111, 112)`)
		// A price that is unknown at one time of an hour may be known from another time of the same hour.
		unknown := func(body string) int { return strings.Count(body, `"gas_price":null`) }
		if after := g.Get(t, path).Body; (unknown(after) <= unknown(before)) != cache {
			t.Errorf("cache %t: response without the files: %s", cache, after)
		}
	}
}
