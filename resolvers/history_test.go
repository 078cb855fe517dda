package resolvers_test

import (
	"fmt"
	"strings"
	"testing"

	"heliograph/app/testing/testenv"
)

// TestHistory compares the changes of single fields with the versions in the tables, read from first to last and from
// last to first.
func TestHistory(t *testing.T) {
	t.Parallel()
	for name, g := range map[string]*testenv.Gateway{"demo": testenv.Shared(t)} {
		seen := 0
		for _, c := range []struct{ object, field, table, key, value string }{
			{`account(id: "1001")`, "memo", "entity", "id = 1001", "memo"},
			{`account(id: "1001")`, "key", "entity", "id = 1001", "encode(substring(key from 3), 'hex')"},
			{`account(id: "1001")`, "stakedNodeId", "entity", "id = 1001", "nullif(staked_node_id, -1)::text"},
			{
				`account(id: "1001")`, "stakedAccountId", "entity", "id = 1001",
				"'0.0.' || nullif(staked_account_id, 0)",
			},
			{
				`account(id: "1001")`, "maxAutomaticTokenAssociations", "entity", "id = 1001",
				"max_automatic_token_associations::text",
			},
			{`token(id: "2003")`, "name", "token", "token_id = 2003", "name"},
			{`token(id: "2003")`, "memo", "entity", "id = 2003", "memo"},
			{`token(id: "2001")`, "totalSupply", "token", "token_id = 2001", "total_supply::text"},
			{`token(id: "2001")`, "pauseStatus", "token", "token_id = 2001", "pause_status::text"},
			{`token(id: "2008")`, "treasuryAccountId", "token", "token_id = 2008", "'0.0.' || treasury_account_id"},
			{`token(id: "2001")`, "customFees.fixedFees", "custom_fee", "entity_id = 2001", "fixed_fees::text"},
			{
				`nft(token: "2007", serialNumber: 1)`, "accountId", "nft", "token_id = 2007 and serial_number = 1",
				"'0.0.' || account_id",
			},
			{
				`nft(token: "2008", serialNumber: 1)`, "metadata", "nft", "token_id = 2008 and serial_number = 1",
				"'0x' || encode(metadata, 'hex')",
			},
		} {
			var want string
			row := `select lower(timestamp_range) as at, ` + c.value + ` as value from `
			if err := g.DB.Pool().QueryRow(t.Context(), `select coalesce(string_agg(`+fmt.Sprintf(sqlTime, "at")+` || ': ' || coalesce(before, '-') || ' > ' || coalesce(value, '-'), '
' order by at), '') from (select *, lag(value) over (order by at) as before from (`+row+c.table+` where `+c.key+` union all `+row+c.table+`_history where `+c.key+`) v) v
				where value is distinct from before`).Scan(&want); err != nil {
				t.Fatal(err)
			}
			for order, arguments := range map[string]string{
				"first": "order: ASC, first: 3, after",
				"last":  "order: DESC, first: 3, after",
			} {
				var got []string
				for cursor, more := "null", true; more; {
					var data map[string]struct {
						History struct {
							Nodes []struct {
								Timestamp   string
								Transaction *struct{ ConsensusTimestamp string }
								Changes     []struct {
									Field         string
									Before, After *string
								}
							}
							PageInfo struct {
								HasNextPage bool
								EndCursor   string
							}
						}
					}
					g.Data(t, `{ `+c.object+` { history(`+arguments+`: `+
						cursor+
						`) { nodes { timestamp transaction { consensusTimestamp } changes { field before after } } `+
						`pageInfo { hasNextPage endCursor } } } }`, nil, &data)
					for _, object := range data {
						for _, v := range object.History.Nodes {
							if v.Transaction != nil && v.Transaction.ConsensusTimestamp != v.Timestamp {
								t.Errorf("%s: the version of %s has the transaction of %s", c.object, v.Timestamp,
									v.Transaction.ConsensusTimestamp)
							}
							for _, change := range v.Changes {
								text := func(s *string) string {
									if s == nil {
										return "-"
									}
									return *s
								}
								if change.Field == c.field {
									got = append(got, v.Timestamp+": "+text(change.Before)+" > "+text(change.After))
								}
							}
						}
						more, cursor = object.History.PageInfo.HasNextPage, `"`+object.History.PageInfo.EndCursor+`"`
					}
				}
				if order == "last" {
					for i, j := 0, len(got)-1; i < j; i, j = i+1, j-1 {
						got[i], got[j] = got[j], got[i]
					}
				}
				if all := strings.Join(got, "\n"); all != want {
					t.Errorf("%s: %s.%s from the %s:\n%s\nwant\n%s", name, c.object, c.field, order, all, want)
				}
				seen += len(got)
			}
		}
		if seen < 40 {
			t.Errorf("%d changes", seen)
		}
	}
}

// TestNodesWithKeys reads objects of all types whose ids consist of a key again, by their ids.
func TestNodesWithKeys(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	const fragment = ` fragment N on Node { __typename id ... on CryptoAllowance { amount spenderId } ... on TokenAllowance { amount tokenId } ... on NFTAllowance { tokenId approvedForAll }
		... on TokenRelationship { tokenId balance } ... on TokenHolder { accountId balance } ... on Airdrop { senderId receiverId tokenId serialNumber } ... on StakingReward { timestamp: consensusTimestamp amount }
		... on Transfer { consensusTimestamp amount token { symbol } } ... on ContractState { slot value } ... on HookSlot { key value }
		... on ContractAction { index consensusTimestamp input } ... on NFTTransaction { consensusTimestamp type receiverAccountId: receiverId } }`
	var data any
	g.Data(t, `{ account(id: "1001") { allowances { crypto { nodes { ...N } } tokens { nodes { ...N } } } nftAllowances { nodes { ...N } } tokens { nodes { ...N } }
		outstandingAirdrops { nodes { ...N } } rewards(first: 3) { nodes { ...N } } transfers(first: 5) { nodes { ...N } } }
		token(id: "2001") { holders(first: 3) { nodes { ...N } } } contract(id: "3001") { state(first: 3) { nodes { ...N } } } hook(owner: "1001", hookId: 1) { storage { nodes { ...N } } }
		nft(token: "2007", serialNumber: 1) { transfers: transactions(first: 3) { nodes { ...N } } } contractResults(first: 5) { nodes { actions(first: 3) { nodes { ...N } } } }
		network { ...N } }`+fragment, nil, &data)
	types := map[string]int{}
	var ids []any
	objects := map[any]any{}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if id := v["id"]; id != nil {
				types[v["__typename"].(string)]++
				if objects[id] != nil {
					t.Errorf("two objects have the id %v", id)
				}
				objects[id] = v
				if v["__typename"] != "Network" {
					ids = append(ids, id)
				}
			}
			for _, below := range v {
				walk(below)
			}
		case []any:
			for _, below := range v {
				walk(below)
			}
		}
	}
	walk(data)
	if len(types) != 13 {
		t.Errorf("the types are %v", types)
	}
	var together struct{ Nodes []any }
	g.Data(t, `query($ids: [ID!]!) { nodes(ids: $ids) { ...N } }`+fragment, map[string]any{"ids": ids}, &together)
	for i, id := range ids {
		if fmt.Sprint(together.Nodes[i]) != fmt.Sprint(objects[id]) {
			t.Errorf("together: %v, want %v", together.Nodes[i], objects[id])
		}
	}
	for id, want := range objects {
		var alone struct{ Node any }
		g.Data(t, `query($id: ID!) { node(id: $id) { ...N } }`+fragment, map[string]any{"id": id}, &alone)
		if fmt.Sprint(alone.Node) != fmt.Sprint(want) {
			t.Errorf("alone: %v, want %v", alone.Node, want)
		}
	}
	for name, want := range map[string]string{
		"CryptoAllowance:0.0.1001/0.0.1": `"node":null`,
		"CryptoAllowance:0.0.1001":       "BAD_USER_INPUT", "CryptoAllowance:0.0.1001/0.0.1/5": "BAD_USER_INPUT",
		"ContractState:0.0.3001/00": "BAD_USER_INPUT", "Transfer:x/0.0.1/0.0.1": "BAD_USER_INPUT",
		"NFTTransaction:0.0.2007/1/5.000000000": `"node":null`,
		"ContractAction:5.000000000/0.0.1001/0": `"node":null`,
	} {
		if got := g.Query(t, `query($id: ID!) { node(id: $id) { id } }`,
			map[string]any{"id": globalID(name)}); !strings.Contains(got.Body, want) {
			t.Errorf("%s: %s", name, got.Body)
		}
	}
	if got := g.Query(t, nodesQuery,
		map[string]any{"ids": []string{globalID("Network:")}}); !strings.Contains(got.Body, "use node, or network") {
		t.Error(got.Body)
	}
}

// TestIDsOfSnapshots checks that a holder has the same id in the current list and in a balance snapshot.
func TestIDsOfSnapshots(t *testing.T) {
	t.Parallel()
	var data map[string]struct {
		Nodes     []struct{ ID string }
		Timestamp string
	}
	testenv.Shared(t).Data(t, `{ current: tokenBalances(token: "2001", filter: {accountId: {eq: "1001"}}) { timestamp nodes { id } }
		snapshot: tokenBalances(token: "2001", filter: {accountId: {eq: "1001"}}, at: {lt: "2026-05-17"}) { timestamp nodes { id } } }`, nil, &data)
	current, snapshot := data["current"], data["snapshot"]
	if len(current.Nodes) != 1 || len(snapshot.Nodes) != 1 || current.Timestamp == snapshot.Timestamp ||
		current.Nodes[0].ID != snapshot.Nodes[0].ID {
		t.Errorf("%+v", data)
	}
}
