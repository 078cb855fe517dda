package resolvers_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"heliograph/app/testing/testenv"
)

// manyFields are the fields that read several objects by key: how one of them is read alone, a list whose objects have
// the keys, the key of an object that does not exist, and the selection.
var manyFields = map[string]struct{ argument, typ, alone, list, missing, selection string }{
	"accountsByIds": {
		"ids", "EntityID!", `account(id: %s)`, `accounts(first: 9) { nodes { key: entityId } }`, `"0.0.99999999"`,
		`{ entityId memo stakedAccount { memo } }`,
	},
	"tokensByIds": {
		"ids", "EntityID!", `token(id: %s)`, `tokens(first: 9) { nodes { key: entityId } }`, `"0.0.99999999"`,
		`{ entityId name treasuryAccount { memo } }`,
	},
	"contractsByIds": {
		"ids", "EntityID!", `contract(id: %s)`, `contracts(first: 9) { nodes { key: entityId } }`, `"0.0.99999999"`,
		`{ entityId memo results(first: 1) { nodes { hash } } }`,
	},
	"topicsByIds": {
		"ids", "EntityID!", `topic(id: %s)`,
		`transactions(first: 9, filter: {types: [CONSENSUSSUBMITMESSAGE]}) { nodes { key: entityId } }`,
		`"0.0.99999999"`, `{ entityId memo messages(first: 1) { nodes { text } } }`,
	},
	"blocksByNumbers": {
		"numbers", "Long!", `block(number: %s)`, `blocks(first: 9) { nodes { key: number } }`, `"99999999"`,
		`{ number hash previous { number } }`,
	},
	"nftsByKeys": {
		"keys", "NFTKey!", `nft(%s)`, `nfts(first: 9) { nodes { token: tokenId serialNumber } }`,
		`{"token":"0.0.99999999","serialNumber":"1"}`, `{ tokenId serialNumber metadata owner { memo } }`,
	},
	"transactionsByIds": {
		"ids", "TransactionID!", `transaction(nonce: 0, scheduled: false, id: %s)`,
		`transactions(first: 9, filter: {types: [CRYPTOTRANSFER]}) { nodes { key: transactionId } }`,
		`"0.0.2-1-1"`, `{ transactionId consensusTimestamp transfers { amount } }`,
	},
	"transactionsByHashes": {
		"hashes", "Hash!", `transaction(hash: %s)`,
		`transactions(first: 9, filter: {types: [CRYPTOTRANSFER]}) { nodes { key: transactionHash } }`,
		`"0x` + strings.Repeat("ab", 48) + `"`, `{ transactionId consensusTimestamp transfers { amount } }`,
	},
	"transactionsByTimestamps": {
		"timestamps", "Timestamp!", `transaction(at: %s)`,
		`transactions(first: 9) { nodes { key: consensusTimestamp } }`, `"1.000000001"`,
		`{ transactionId consensusTimestamp transfers { amount } }`,
	},
	"contractResultsByHashes": {
		"hashes", "Hash!", `contractResult(hash: %s)`, `contractResults(first: 50) { nodes { key: hash } }`,
		`"0x` + strings.Repeat("ab", 32) + `"`,
		`{ consensusTimestamp hash callData result synthetic logs { index } isChild contract { entityId }
			block { number } }`,
	},
}

// keysOf returns the keys of the objects of a list as JSON, and that of a missing one in the middle. The first is
// repeated at the end.
func keysOf(t *testing.T, g *testenv.Gateway, list, missing string) []json.RawMessage {
	t.Helper()
	var data map[string]struct{ Nodes []json.RawMessage }
	g.Data(t, "{ "+list+" }", nil, &data)
	var keys []json.RawMessage
	for _, page := range data {
		for _, node := range page.Nodes {
			var named struct{ Key json.RawMessage }
			if json.Unmarshal(node, &named) == nil && named.Key != nil {
				node = named.Key
			}
			if !slices.ContainsFunc(keys, func(k json.RawMessage) bool { return string(k) == string(node) }) {
				keys = append(keys, node)
			}
		}
	}
	return append(slices.Insert(keys, 1, json.RawMessage(missing)), keys[0])
}

// TestMany compares objects that are read together with those read alone, and checks that they are in the order of
// their keys and cost as much as they are.
func TestMany(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	for name, c := range manyFields {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keys := keysOf(t, g, c.list, c.missing)
			query := fmt.Sprintf(`query($keys: [%s]!) { all: %s(%s: $keys) %s }`, c.typ, name, c.argument, c.selection)
			var together struct{ All []json.RawMessage }
			g.Data(t, query, map[string]any{"keys": keys}, &together)
			if len(together.All) != len(keys) || len(keys) < 5 {
				t.Fatalf("%d objects for %d keys", len(together.All), len(keys))
			}
			for i, key := range keys {
				argument := strings.Trim(strings.NewReplacer(`"token"`, "token", `"serialNumber"`, "serialNumber").
					Replace(string(key)), "{}")
				var alone struct{ One json.RawMessage }
				g.Data(t, "{ one: "+fmt.Sprintf(c.alone, argument)+" "+c.selection+" }", nil, &alone)
				want := string(alone.One)
				if strings.HasPrefix(want, "[") {
					var several []json.RawMessage
					testenv.Decode(t, want, &several)
					want = "null"
					if len(several) > 0 {
						want = string(several[0])
					}
				}
				if got := string(together.All[i]); got != want || (want == "null") != (i == 1) {
					t.Errorf("%s:\n%s, alone\n%s", key, got, want)
				}
			}
			for n, refused := range map[int]bool{100: false, 101: true} {
				got := g.Query(t, query, map[string]any{"keys": slices.Repeat(keys[:1], n)})
				if strings.Contains(got.Body, `"errors"`) != refused ||
					!refused && strings.Contains(got.Body, "null,") ||
					refused && !strings.Contains(got.Body, "give at most 100 keys") {
					t.Errorf("%d keys: %.300s", n, got.Body)
				}
			}
			if got := g.Query(t, query, map[string]any{"keys": []int{}}); got.Body != `{"data":{"all":[]}}` {
				t.Errorf("no keys: %s", got.Body)
			}
			named := fmt.Sprintf(`query($keys: [%s]!) { %s(%s: $keys) { __typename } }`, c.typ, name, c.argument)
			price := g.Query(t, named, map[string]any{"keys": keys[2:5]}).Header.Get("X-Query-Cost")
			if price != "3" {
				t.Errorf("three objects cost %s", price)
			}
		})
	}
}

// TestManyStatements checks that all objects are read with one statement.
func TestManyStatements(t *testing.T) {
	t.Parallel()
	for name, c := range manyFields {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var keys []json.RawMessage
			got := counting(t, func(g *testenv.Gateway) {
				if keys == nil {
					keys = slices.Delete(keysOf(t, g, c.list, c.missing), 1, 2)
				}
				var data map[string]any
				query := fmt.Sprintf(`query($keys: [%s]!) { %s(%s: $keys) { __typename id } }`, c.typ, name, c.argument)
				g.Data(t, query, map[string]any{"keys": keys}, &data)
			})
			if name == "contractResultsByHashes" { // some results are derived from logs
				if got.trips > 3 {
					t.Errorf("%d round trips", got.trips)
				}
				return
			}
			if got.not(1, 1) {
				t.Errorf("%d statements in %d round trips:\n%s", len(got.statements), got.trips,
					strings.Join(got.statements, "\n---\n"))
			}
		})
	}
}
