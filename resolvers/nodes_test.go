package resolvers_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"heliograph/app/testing/testenv"
	"heliograph/graph/relay"
)

// idsOf returns ids of all types that are read in batches: up to two per type.
func idsOf(t *testing.T, g *testenv.Gateway) (ids []string) {
	t.Helper()
	var data map[string]struct{ Nodes []struct{ ID string } }
	g.Data(t, `{ accounts(first: 2) { nodes { id } } blocks(first: 2) { nodes { id } } contracts(first: 2) { nodes { id } } schedules(first: 2) { nodes { id } }
		tokens(first: 2) { nodes { id } } transactions(first: 2) { nodes { id } } nfts(first: 1) { nodes { id } } }`, nil, &data)
	for _, list := range data {
		for _, n := range list.Nodes {
			ids = append(ids, n.ID)
		}
	}
	slices.Sort(ids)
	return append(ids, relay.ID("Topic", "0.0.4001"), relay.ID("Topic", "0.0.4002"),
		relay.ID("Account", "0.0.99999999"), relay.ID("Block", "99999999"), ids[0])
}

const nodesQuery = `query($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }`

// TestNodes checks that objects which are requested together equal those requested alone, and are in the order of
// their ids.
func TestNodes(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	ids := idsOf(t, g)
	var together struct{ Nodes []json.RawMessage }
	g.Data(t, nodesQuery, map[string]any{"ids": ids}, &together)
	null := 0
	for i, id := range ids {
		var alone struct{ Node json.RawMessage }
		g.Data(t, `query($id: ID!) { node(id: $id) { __typename id } }`, map[string]any{"id": id}, &alone)
		if string(together.Nodes[i]) != string(alone.Node) {
			t.Errorf("%s: together %s, alone %s", id, together.Nodes[i], alone.Node)
		}
		if string(alone.Node) == "null" {
			null++
		}
	}
	if null != 2 || len(ids) < 15 {
		t.Errorf("%d of %d do not exist", null, len(ids))
	}
	for _, wrong := range []string{
		"x", relay.ID("Nothing", "1"), relay.ID("Account", "x"), relay.ID("Block", "x"),
		relay.ID("Transaction", "x"),
	} {
		if got := g.Query(t, nodesQuery,
			map[string]any{"ids": append(slices.Clone(ids), wrong)}); !strings.Contains(got.Body,
			`"BAD_USER_INPUT"`) || !strings.Contains(got.Body, `"path":["nodes"]`) {
			t.Errorf("%s: %s", wrong, got.Body)
		}
	}
}

// TestNodesStatements checks that each type takes one statement, and that all types take one round trip. It also
// covers references from other graphs.
func TestNodesStatements(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(g *testenv.Gateway, ids []string) *testenv.Response{
		"nodes": func(g *testenv.Gateway, ids []string) *testenv.Response {
			return g.Query(t, nodesQuery, map[string]any{"ids": ids})
		},
		"_entities": func(g *testenv.Gateway, ids []string) *testenv.Response {
			references := make([]map[string]string, len(ids))
			for i, id := range ids {
				typ, _, err := relay.ParseID(id)
				if err != nil {
					t.Fatal(err)
				}
				references[i] = map[string]string{"__typename": typ, "id": id}
			}
			return g.Query(t, `query($r: [_Any!]!) { _entities(representations: $r) { __typename } }`,
				map[string]any{"r": references})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var ids []string
			got := counting(t, func(g *testenv.Gateway) {
				if ids == nil {
					ids = slices.DeleteFunc(idsOf(t, g), func(id string) bool {
						typ, _, _ := relay.ParseID(id)
						return typ == "NFT" // read one by one
					})
				}
				if answer := ask(g, ids); strings.Contains(answer.Body, `"errors"`) {
					t.Errorf("%s", answer.Body)
				}
			})
			if len(got.statements) != 7 || got.trips != 1 {
				t.Errorf("%d statements in %d round trips for %d things of 7 types:\n%s", len(got.statements),
					got.trips, len(ids), strings.Join(got.statements, "\n---\n"))
			}
		})
	}
}

// TestOneBrokenNode checks that an object that cannot be read does not affect others.
func TestOneBrokenNode(t *testing.T) {
	t.Parallel()
	url := testenv.Filled.Fresh(t)
	testenv.Exec(t, url, `update topic set fee_exempt_key_list = '\xff' where id = 4001`)
	g := testenv.Over(t, url)
	reference := func(typ, id string) map[string]string { return map[string]string{"__typename": typ, "entityId": id} }
	got := g.Query(t,
		`query($r: [_Any!]!) { _entities(representations: $r) { __typename ... on Account { entityId } } }`,
		map[string]any{"r": []any{
			reference("Account", "0.0.2"), reference("Topic", "0.0.4001"),
			reference("Account", "0.0.3"),
		}})
	if !strings.HasPrefix(got.Body,
		`{"data":{"_entities":[{"__typename":"Account","entityId":"0.0.2"},null,{"__typename":"Account",`+
			`"entityId":"0.0.3"}]},"errors":[{`) ||
		strings.Count(got.Body, `"path":["_entities",1]`) != 1 || strings.Count(got.Body, `"INTERNAL"`) != 1 {
		t.Errorf("%s", got.Body)
	}
}
