package v1_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"

	"heliograph/app/testing/testenv"
	"heliograph/graph"
	"heliograph/graph/relay"
	"heliograph/graph/scalar"
	"heliograph/graph/server"
	"heliograph/rest"
	v1 "heliograph/rest/v1"
)

// samples returns statements that find values of path parameters, by parameter and the last resource before it. A few
// values with rows are enough.
func samples() map[string]string {
	return map[string]string{
		"accounts": `select id::text from entity where id in (2, 98, 800, 1002, 1008,
(select owner_id from hook_storage where not deleted group by 1 order by count(*) desc, 1 limit 1),
(select sender_account_id from token_airdrop where state = 'PENDING' group by 1 order by count(*) desc, 1 limit 1),
(select receiver_account_id from token_airdrop where state = 'PENDING' group by 1 order by count(*) desc, 1 limit 1)) order by id`,
		"tokens": `(select token_id::text from nft_history group by token_id order by count(*) desc, token_id limit 2)
union all (select token_id::text from token where type = 'FUNGIBLE_COMMON' order by token_id limit 2)`,
		"nfts":      `select serial_number::text from nft_history group by 1 order by count(*) desc, 1 limit 2`,
		"blocks":    `select max(index)::text from record_file`,
		"contracts": `select contract_id::text from contract_log group by 1 order by count(*) desc limit 3`,
		"results": `select consensus_timestamp / 1000000000 || '.' || lpad((consensus_timestamp % ` +
			`1000000000)::text, 9, '0') from contract_result order by consensus_timestamp desc limit 2`,
		"topics":    `select topic_id::text from topic_message group by 1 order by count(*) desc limit 3`,
		"messages":  `values ('1'), ('2')`,
		"schedules": `select schedule_id::text from schedule order by 1 limit 3`,
		"hooks":     `select distinct hook_id::text from hook order by 1 limit 2`,
		"transactions": `select '0.0.' || payer_account_id || '-' || valid_start_ns / 1000000000 || '-' || ` +
			`lpad((valid_start_ns % 1000000000)::text, 9, '0') from transaction where type in (14, 42, 74) and ` +
			`nonce = 0 order by consensus_timestamp desc limit 3`,

		"contracts/results": `select '0x' || encode(hash, 'hex') from contract_transaction_hash h join ` +
			`contract_action a using (consensus_timestamp) group by 1 order by count(*) desc limit 2`,
		"topics/messages": `select consensus_timestamp / 1000000000 || '.' || lpad((consensus_timestamp % ` +
			`1000000000)::text, 9, '0') from topic_message order by 1 limit 2`,
		"results/{result}": `select '0x' || encode(hash, 'hex') from ethereum_transaction order by ` +
			`consensus_timestamp desc limit 2`,
	}
}

// samplePaths returns paths of an endpoint with values for its parameters.
func samplePaths(t testing.TB, g *testenv.Gateway, pattern string) []string {
	t.Helper()
	paths := []string{""}
	segments := strings.Split(strings.Trim(pattern, "/"), "/")
	for i, s := range segments {
		values := []string{s}
		if strings.HasPrefix(s, "{") {
			sql, ok := "", false
			for from := max(0, i-2); from < i && !ok; from++ {
				sql, ok = samples()[strings.Join(segments[from:i], "/")]
			}
			if !ok {
				t.Fatalf("%s: there are no samples for %s; add some to samples()", pattern, s)
			}
			values = texts(t, g, sql)
		}
		var longer []string
		for _, p := range paths {
			for _, v := range values {
				longer = append(longer, p+"/"+v)
			}
		}
		paths = longer
	}
	return paths[:min(len(paths), 4)]
}

func texts(t testing.TB, g *testenv.Gateway, sql string) []string {
	t.Helper()
	rows, err := g.DB.Pool().Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var list []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	if err := rows.Err(); err != nil || list == nil {
		t.Fatalf("%s: no rows, error %v", sql, err)
	}
	return list
}

// TestFollowLinks follows links.next of every list to its end, or for 2,000 rows, in both orders and with several
// limits. Each walk must return the same rows, each once, as must a walk with the cursors of the graph.
func TestFollowLinks(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	const size, most = 100, 20
	for _, e := range v1.Endpoints(v1.DefaultFeeBody) {
		if e.Next == nil || e.Undocumented { // undescribed paths duplicate a described one or have no rows
			continue
		}
		t.Run(strings.ReplaceAll(strings.Trim(e.Path, "/"), "/", "_"), func(t *testing.T) {
			t.Parallel()
			own := testenv.Demo(t) // the test prepares documents, which must not run concurrently with requests
			longest := 0
			for _, path := range samplePaths(t, g, e.Path) {
				byOrder := map[string][]string{}
				for _, order := range []string{"asc", "desc"} {
					all := walk(t, g, path+"?order="+order+"&limit="+strconv.Itoa(size), most)
					byOrder[order] = all
					longest = max(longest, len(all))
					seen := map[string]bool{}
					for _, row := range all {
						if seen[row] {
							t.Errorf("%s, %s: seen twice: %s", path, order, row)
						}
						seen[row] = true
					}
					for _, limit := range []int{7, 33} {
						const pages = 12
						some := walk(t, g, fmt.Sprintf("%s?limit=%d&order=%s", path, limit, order), pages)
						if want := all[:min(len(all), pages*limit)]; !slices.Equal(some, want) {
							t.Errorf("%s, %s: with limit %d %d rows are seen, which are not the first %d of the "+
								"walk with limit 100", path, order, limit, len(some), len(want))
						}
					}
					if byCursor := graphWalk(t, own, &e, path+"?order="+order+"&limit="+strconv.Itoa(size),
						most); !slices.Equal(byCursor, all) {
						t.Errorf("%s, %s: GraphQL cursors return %d rows and links %d, or different ones", path,
							order, len(byCursor), len(all))
					}
				}
				if len(byOrder["asc"]) == most*size {
					continue // the two orders return different ends of the list
				}
				forward, backward := canonical(t, byOrder["asc"]), canonical(t, byOrder["desc"])
				slices.Reverse(backward)
				if !slices.Equal(forward, backward) {
					t.Errorf("%s: the two orders return different rows, %d and %d", path, len(forward), len(backward))
				}
			}
			if longest < 2 {
				t.Errorf("the longest list has only %d rows", longest)
			}
		})
	}
}

// walk follows links.next for at most the given number of pages and returns the JSON of all rows.
func walk(t testing.TB, g *testenv.Gateway, path string, pages int) []string {
	t.Helper()
	var all []string
	next := v1.Prefix + path
	for ; next != "" && pages > 0; pages-- {
		got := g.Get(t, next)
		if got.Status != http.StatusOK {
			t.Fatalf("%s: status %d: %s", next, got.Status, got.Body)
		}
		var links struct{ Links struct{ Next *string } }
		testenv.Decode(t, got.Body, &links)
		all = append(all, listIn(t, []byte(got.Body))...)
		if links.Links.Next == nil {
			return all
		}
		if *links.Links.Next == next {
			t.Fatalf("%s links to itself", next)
		}
		next = *links.Links.Next
	}
	return all
}

// listIn returns the elements of the last list among an object's members.
func listIn(t testing.TB, object []byte) []string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	var list []json.RawMessage
	for d.More() {
		if _, err := d.Token(); err != nil {
			t.Fatal(err)
		}
		var member json.RawMessage
		if err := d.Decode(&member); err != nil {
			t.Fatal(err)
		}
		if member[0] == '[' {
			list = nil
			testenv.Decode(t, string(member), &list)
		}
	}
	out := make([]string, len(list))
	for i, row := range list {
		out[i] = string(row)
	}
	return out
}

// canonical sorts the lists in rows, because their order may depend on the request.
func canonical(t testing.TB, rows []string) []string {
	t.Helper()
	out := make([]string, len(rows))
	for i, row := range rows {
		var v any
		testenv.Decode(t, row, &v)
		sortLists(v)
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out[i] = string(b)
	}
	return out
}

func sortLists(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, member := range v {
			sortLists(member)
		}
	case []any:
		for _, item := range v {
			sortLists(item)
		}
		slices.SortFunc(v, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	}
}

// graphWalk runs an endpoint's document page by page with the cursors of the graph and returns the JSON of all rows.
func graphWalk(t testing.TB, g *testenv.Gateway, e *rest.Endpoint, path string, pages int) []string {
	t.Helper()
	x, err := g.Explain(context.Background(), v1.Prefix+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := gqlparser.LoadSchema(&ast.Source{Input: graph.SDL})
	if err != nil {
		t.Fatal(err)
	}
	doc, errs := gqlparser.LoadQueryWithRules(schema, x.Query, nil)
	if errs != nil {
		t.Fatal(errs)
	}
	op := doc.Operations.ForName(x.OperationName)
	op.VariableDefinitions = append(op.VariableDefinitions,
		&ast.VariableDefinition{Variable: "after", Type: ast.NamedType("String", nil)})
	for _, f := range rest.Roots(op) {
		if f.Alias == relay.PageAlias {
			f.Arguments = append(f.Arguments, &ast.Argument{
				Name:  "after",
				Value: &ast.Value{Kind: ast.Variable, Raw: "after"},
			})
			f.SelectionSet = append(f.SelectionSet,
				&ast.Field{Alias: "pageInfo", Name: "pageInfo", SelectionSet: ast.SelectionSet{
					&ast.Field{Alias: "hasNextPage", Name: "hasNextPage"},
					&ast.Field{Alias: "endCursor", Name: "endCursor"},
				}})
		}
	}
	var text strings.Builder
	formatter.NewFormatter(&text).FormatQueryDocument(doc)
	prepared, err := g.Graph().Prepare(text.String())
	if err != nil {
		t.Fatal(err)
	}
	style := scalar.REST
	if e.Family == rest.Modern {
		style = scalar.RESTCompact
	}
	var all []string
	variables := maps.Clone(x.Variables)
	for ; pages > 0; pages-- {
		res := g.Graph().Run(context.Background(), server.Call{
			Document: prepared, Operation: x.OperationName, Variables: variables, Style: style,
			Limits: relay.Limits{Default: 25, Max: 1000},
		})
		if len(res.Errors) > 0 {
			t.Fatalf("%s: %v", path, res.Errors)
		}
		var data struct {
			Page   json.RawMessage
			Inside struct{ Page json.RawMessage }
		}
		testenv.Decode(t, string(res.Data), &data)
		if data.Page == nil {
			data.Page = data.Inside.Page
		}
		all = append(all, listIn(t, data.Page)...)
		var page struct {
			PageInfo struct {
				HasNextPage bool
				EndCursor   *string
			}
		}
		testenv.Decode(t, string(data.Page), &page)
		if !page.PageInfo.HasNextPage {
			return all
		}
		variables["after"] = *page.PageInfo.EndCursor
	}
	return all
}
