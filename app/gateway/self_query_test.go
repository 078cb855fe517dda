package gateway_test

import (
	"strings"
	"testing"

	"heliograph/app/gateway"
	"heliograph/app/testing/testenv"
)

// TestSelf reads the description of a gateway with limits of its own, and compares the ranges with the tables.
func TestSelf(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t, func(o *testenv.Options) { o.Graph.Bounds.Depth, o.Graph.CSVRows = 12, 345 },
		func(o *testenv.Options) { o.Rates = gateway.RateOptions{PerMinute: 6000} })
	var data struct {
		Gateway struct {
			Version, Compatibility string
			Capabilities           map[string]bool
			Limits                 struct {
				Documents, Requests, Pages, Subscriptions map[string]int
				Rates                                     map[string]*int
			}
			Ranges []struct {
				List, Table, AvailableFrom, AvailableTo, AvailableFromIso string
				Partitions                                                []struct{ Name, From, To string }
			}
		}
	}
	const query = `{ gateway { version compatibility capabilities { opcodes statusPages exports }
		limits { documents { depth cost } requests { batch keys exportRows timeout } pages { default max }
			rates { perMinute perMinuteOfKeys } }
		ranges { list table availableFrom availableTo availableFromIso partitions { name from to } } } }`
	g.Data(t, query, nil, &data)
	d := data.Gateway
	if d.Compatibility != "0.167" || !d.Capabilities["opcodes"] || !d.Capabilities["exports"] ||
		d.Limits.Documents["depth"] != 12 || d.Limits.Requests["exportRows"] != 345 ||
		d.Limits.Requests["batch"] != 10 ||
		d.Limits.Pages["max"] != 100 ||
		*d.Limits.Rates["perMinute"] != 6000 || d.Limits.Rates["perMinuteOfKeys"] != nil {
		t.Errorf("%+v", d)
	}
	seen := map[string]bool{}
	for _, r := range d.Ranges {
		seen[r.List] = true
		if r.AvailableFrom == "" || r.AvailableFrom > r.AvailableTo || !strings.HasSuffix(r.AvailableFromIso, "Z") {
			t.Errorf("%+v", r)
		}
		if (len(r.Partitions) > 0) != (r.List == "balances") {
			t.Errorf("%s has %d partitions", r.List, len(r.Partitions))
		}
	}
	var ends struct {
		First, Last struct {
			Nodes []struct{ ConsensusTimestamp string }
		}
	}
	g.Data(t, `{ first: transactions(first: 1, order: ASC) { nodes { consensusTimestamp } }
		last: transactions(first: 1) { nodes { consensusTimestamp } } }`, nil, &ends)
	for _, r := range d.Ranges {
		if r.List == "transactions" && (r.AvailableFrom != ends.First.Nodes[0].ConsensusTimestamp ||
			r.AvailableTo != ends.Last.Nodes[0].ConsensusTimestamp) {
			t.Errorf("%+v, the list has %+v", r, ends)
		}
	}
	if len(seen) < 14 {
		t.Errorf("%d ranges", len(seen))
	}
	if cost := g.Query(t, query, nil).Header.Get("X-Query-Cost"); cost != "1107" {
		t.Errorf("it costs %s", cost)
	}
}
