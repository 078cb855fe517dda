package resolvers_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/app/testing/testenv"
	"heliograph/graph"
	"heliograph/graph/relay"
)

// arguments returns statements that select values for required arguments of lists, by argument name.
func arguments() map[string]string {
	return map[string]string{
		"topic": `select '0.0.' || topic_id from topic_message group by topic_id order by count(*) desc limit 1`,
		"token": `select '0.0.2007'`,
		"serialNumber": `select t ->> 'serial_number' from transaction, jsonb_array_elements(nft_transfer) t where ` +
			`t ->> 'token_id' = '2007' group by 1 order by count(*) desc, 1 limit 1`,
		"account": `select '0.0.' || account_id from token_account group by account_id order by count(*) desc limit 1`,
		"owner":   `select '0.0.' || owner_id from hook_storage group by owner_id order by count(*) desc limit 1`,
		"hookId":  `select hook_id::text from hook_storage group by owner_id, hook_id order by count(*) desc limit 1`,
		"sender": `select '0.0.' || sender_account_id from token_airdrop where state = 'PENDING' group by 1 ` +
			`order by count(*) desc limit 1`,
		"contract": `select '0.0.' || contract_id from contract_log group by contract_id order by count(*) desc ` +
			`limit 1`,
		"hash": `select '0x' || encode(h.hash, 'hex') from contract_transaction_hash h join contract_action ` +
			`a using (consensus_timestamp) group by h.hash order by count(*) desc limit 1`,
		"schedule": `select '0.0.' || schedule_id from schedule limit 1`,
		"timestamp": `select '{gte: "' || max(consensus_timestamp) / 1000000000 - 80000 || '", lt: "' || ` +
			`max(consensus_timestamp) / 1000000000 + 1 || '"}' from token_transfer`,
	}
}

// things returns statements that select the local parts of global ids, for types that no root list has.
func things() map[string]string {
	return map[string]string{
		"Topic":      `select '0.0.' || topic_id from topic_message group by topic_id order by count(*) desc limit 3`,
		"Hook":       `select '0.0.' || owner_id || '/' || hook_id from hook order by owner_id, hook_id limit 3`,
		"StatusPage": `select id from status.page`,
		"StatusComponent": `select component_id from status.incident_component group by component_id order by ` +
			`count(*) desc, component_id limit 3`,
		"Network": `select ''`,
		"Account": `select '0.0.' || id from entity where id in (98, 1008) order by id`,
	}
}

// choices returns the arguments of root lists that require one of several.
func choices() map[string]string {
	return map[string]string{"nftAllowances": "owner", "airdrops": "sender", "contractActions": "hash"}
}

// connection is a list in the graph, and the document that requests it.
type connection struct {
	name   string // name of the subtest
	before string // the document up to the list's arguments
	after  string // the document after the list's selection
	path   []string
	fixed  string // the arguments that do not change
	order  bool   // whether it has an order argument
	node   *ast.Definition
}

// longWalk is the number of rows at which a walk stops.
const longWalk = 2000

// TestPaging reads every list of the schema forward and backward, in both orders. It checks that each row appears once
// and in order, and that pageInfo is correct. Of lists with more than [longWalk] rows it reads the start in each
// direction.
func TestPaging(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	schema, err := gqlparser.LoadSchema(&ast.Source{Input: graph.SDL})
	if err != nil {
		t.Fatal(err)
	}
	var lists []connection
	ids := map[string][]string{}
	for _, f := range schema.Query.Fields {
		for _, c := range connectionsOf(t, g, schema, f, f.Name, "{ ", " }", nil) {
			lists = append(lists, c)
			if len(ids[c.node.Name]) == 0 && c.node.Fields.ForName("id") != nil {
				ids[c.node.Name] = globalIDs(t, g, c)
			}
		}
	}
	for _, typ := range schema.GetPossibleTypes(schema.Types["Node"]) {
		if sql, ok := things()[typ.Name]; ok {
			ids[typ.Name] = nil
			for _, name := range column(t, g, sql) {
				ids[typ.Name] = append(ids[typ.Name], relay.ID(typ.Name, name))
			}
		}
		for _, f := range typ.Fields {
			if !strings.HasSuffix(f.Type.Name(), "Connection") {
				continue
			}
			if len(ids[typ.Name]) == 0 {
				t.Errorf("nothing is known of type %s: add a statement to things()", typ.Name)
			}
			for i, id := range ids[typ.Name] {
				lists = append(lists, connectionsOf(t, g, schema, f, fmt.Sprintf("%s_%s_%d", typ.Name, f.Name, i),
					fmt.Sprintf("{ node(id: %q) { ... on %s { ", id, typ.Name), " } } }", []string{"node"})...)
			}
		}
	}
	for _, c := range lists {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			orders := []string{""}
			if c.order {
				orders = []string{"ASC", "DESC"}
			}
			var byOrder [][]string
			for _, order := range orders {
				byOrder = append(byOrder, c.check(t, g, order))
			}
			if len(byOrder) == 2 && len(byOrder[0]) < longWalk {
				slices.Reverse(byOrder[1])
				if !slices.Equal(byOrder[0], byOrder[1]) {
					t.Errorf("the two orders show other rows, %d and %d", len(byOrder[0]), len(byOrder[1]))
				}
			}
		})
	}
}

// connectionsOf returns the lists of a field: one per value of its enum arguments.
func connectionsOf(
	t *testing.T, g *testenv.Gateway, schema *ast.Schema, f *ast.FieldDefinition, name, before, after string,
	path []string,
) []connection {
	t.Helper()
	// TestSearchPages reads its pages, which have one direction
	if !strings.HasSuffix(f.Type.Name(), "Connection") || f.Name == "search" {
		return nil
	}
	c := connection{
		name: name, before: before + f.Name, after: after, path: append(slices.Clone(path), f.Name),
		node: schema.Types[schema.Types[f.Type.Name()].Fields.ForName("nodes").Type.Name()],
	}
	variants := []string{""}
	for _, a := range f.Arguments {
		switch def := schema.Types[a.Type.Name()]; {
		case a.Name == "order":
			c.order = true
		case def.Kind == ast.Enum && a.Type.NamedType != "":
			var more []string
			for _, v := range variants {
				for _, value := range def.EnumValues {
					more = append(more, v+a.Name+": "+value.Name+" ")
				}
			}
			variants = more
		case a.Type.NonNull && a.DefaultValue == nil, choices()[f.Name] == a.Name:
			sql, ok := arguments()[a.Name]
			if !ok {
				t.Errorf("%s: nothing is known for its argument %s: add a statement to arguments()", name, a.Name)
				return nil
			}
			value := column(t, g, sql)[0]
			if def.Kind != ast.InputObject {
				value = strconv.Quote(value)
			}
			c.fixed += a.Name + ": " + value + " "
		}
	}
	var out []connection
	for _, v := range variants {
		one := c
		if v != "" {
			one.name += "_" + strings.Trim(strings.ReplaceAll(v, " ", ""), " ")
		}
		one.fixed += v
		out = append(out, one)
	}
	return out
}

type page struct {
	Edges []struct {
		Cursor string
		Node   json.RawMessage
	}
	Nodes    []json.RawMessage
	PageInfo struct {
		HasNextPage, HasPreviousPage bool
		StartCursor, EndCursor       *string
	}
}

func (c *connection) read(t *testing.T, g *testenv.Gateway, order, arguments string) page {
	t.Helper()
	if order != "" {
		arguments += " order: " + order
	}
	fields := leaves(c.node)
	document := c.before + "(" + c.fixed + arguments + ") { edges { cursor node { " + fields + " } } nodes { " +
		fields +
		" } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }" + c.after
	var data map[string]json.RawMessage
	g.Data(t, document, nil, &data)
	for _, member := range c.path[:len(c.path)-1] {
		inner := data[member]
		data = nil
		testenv.Decode(t, string(inner), &data)
	}
	var p page
	testenv.Decode(t, string(data[c.path[len(c.path)-1]]), &p)
	if len(p.Edges) != len(p.Nodes) {
		t.Fatalf("%d edges, %d nodes", len(p.Edges), len(p.Nodes))
	}
	for i, e := range p.Edges {
		if string(e.Node) != string(p.Nodes[i]) {
			t.Errorf("edge %d has the node %s, nodes has %s", i, e.Node, p.Nodes[i])
		}
	}
	start, end := p.PageInfo.StartCursor, p.PageInfo.EndCursor
	if len(p.Edges) == 0 {
		if start != nil || end != nil {
			t.Errorf("an empty page has cursors")
		}
	} else if start == nil || end == nil || *start != p.Edges[0].Cursor || *end != p.Edges[len(p.Edges)-1].Cursor {
		t.Errorf("startCursor and endCursor are not those of the first and the last edge")
	}
	return p
}

// leaves returns the scalar fields of a type.
func leaves(def *ast.Definition) string {
	var names []string
	for _, f := range def.Fields {
		scalar := f.Type.Elem == nil && len(f.Arguments) == 0
		switch f.Type.Name() {
		case "ID", "Boolean", "Int", "String", "Long", "BigInt", "EntityID", "Timestamp", "Bytes", "Hex", "Hash",
			"EVMAddress", "Alias", "TransactionID":
			if scalar && !strings.HasPrefix(f.Name, "__") {
				names = append(names, f.Name)
			}
		}
	}
	return strings.Join(names, " ")
}

// check reads the whole list and returns its rows in order.
func (c *connection) check(t *testing.T, g *testenv.Gateway, order string) []string {
	t.Helper()
	all := c.walk(t, g, order, true, 100, longWalk/100)
	seen := map[string]bool{}
	for _, row := range all {
		if seen[row] {
			t.Errorf("%s is seen twice", row)
		}
		seen[row] = true
	}
	if len(all) < longWalk {
		if backward := c.walk(t, g, order, false, 100, longWalk/100); !slices.Equal(backward, all) {
			t.Errorf("%s: %d rows forward, %d backward, or others", order, len(all), len(backward))
		}
	}
	const size, pages = 3, 8
	n := min(len(all), size*pages)
	if forward := c.walk(t, g, order, true, size, pages); !slices.Equal(forward, all[:n]) {
		t.Errorf("%s: pages of %d do not show the first rows", order, size)
	}
	if backward := c.walk(t, g, order, false, size, pages); len(all) < longWalk &&
		!slices.Equal(backward, all[len(all)-n:]) {
		t.Errorf("%s: pages of %d do not show the last rows", order, size)
	}
	if none := c.read(t, g, order, "first: 0"); len(none.Nodes) != 0 || none.PageInfo.HasPreviousPage {
		t.Errorf("%s: first: 0 shows %d rows", order, len(none.Nodes))
	}
	if len(all) > 4 { // between two cursors, from either end
		p := c.read(t, g, order, "first: 5")
		between := fmt.Sprintf("after: %q before: %q ", p.Edges[0].Cursor, p.Edges[4].Cursor)
		for _, arguments := range []string{"first: 10", "last: 10"} {
			got := c.read(t, g, order, between+arguments)
			if len(got.Nodes) != 3 || string(got.Nodes[0]) != all[1] || string(got.Nodes[2]) != all[3] {
				t.Errorf("%s: %d rows between the first and the fifth with %s", order, len(got.Nodes), arguments)
			}
		}
		if got := c.read(t, g, order, between+"last: 2"); len(got.Nodes) != 2 || string(got.Nodes[0]) != all[2] ||
			!got.PageInfo.HasPreviousPage {
			t.Errorf("%s: last: 2 between two cursors shows %d rows, hasPreviousPage %v", order, len(got.Nodes),
				got.PageInfo.HasPreviousPage)
		}
	}
	return all
}

// walk reads pages until the last one and checks their pageInfo. It returns the rows in list order.
func (c *connection) walk(t *testing.T, g *testenv.Gateway, order string, forward bool, size, pages int) []string {
	t.Helper()
	var all []string
	arguments, bound := fmt.Sprintf("first: %d", size), "after"
	if !forward {
		arguments, bound = fmt.Sprintf("last: %d", size), "before"
	}
	cursor := ""
	for n := range pages {
		p := c.read(t, g, order, arguments+cursor)
		more, came, end := p.PageInfo.HasNextPage, p.PageInfo.HasPreviousPage, p.PageInfo.EndCursor
		if !forward {
			more, came, end = came, more, p.PageInfo.StartCursor
		}
		if came != (n > 0) {
			t.Errorf("%s %s: page %d has the page info %v", c.name, arguments, n, came)
		}
		if more && len(p.Nodes) != size {
			t.Errorf("%s %s: page %d is not the last, but has %d rows", c.name, arguments, n, len(p.Nodes))
		}
		var rows []string
		for _, node := range p.Nodes {
			rows = append(rows, string(node))
		}
		if forward {
			all = append(all, rows...)
		} else {
			all = append(rows, all...)
		}
		if !more {
			return all
		}
		cursor = fmt.Sprintf(" %s: %q", bound, *end)
	}
	return all
}

// globalIDs returns the ids of the first and last rows of a list.
func globalIDs(t *testing.T, g *testenv.Gateway, c connection) []string {
	t.Helper()
	var out []string
	for _, arguments := range []string{"first: 2", "last: 1"} {
		for _, node := range c.read(t, g, "", arguments).Nodes {
			var row struct{ ID string }
			testenv.Decode(t, string(node), &row)
			out = append(out, row.ID)
		}
	}
	return out
}

// column returns the first column of a statement's rows.
func column(t *testing.T, g *testenv.Gateway, sql string) []string {
	t.Helper()
	rows, err := g.DB.Pool().Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	if err := rows.Err(); err != nil || out == nil {
		t.Fatalf("%s: no rows, error %v", sql, err)
	}
	return out
}
