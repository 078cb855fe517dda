package resolvers_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"heliograph/app/testing/testenv"
)

type total struct {
	Value string
	Exact bool
}

// TestTotalCount checks which lists have a totalCount: exact (from the numbers of the first and last rows), estimated
// (from statistics), or null.
func TestTotalCount(t *testing.T) {
	t.Parallel()
	url := testenv.Filled.Fresh(t)
	testenv.Exec(t, url, `analyze`)
	g := testenv.Over(t, url)
	var data map[string]struct{ TotalCount *total }
	g.Data(t, `{
		accounts { totalCount { value exact } } contracts { totalCount { value exact } } tokens { totalCount { value exact } } transactions(first: 1) { totalCount { value exact } nodes { name: type } }
		none: transactions(first: 0) { totalCount { value exact } }
		blocks(orderBy: NUMBER) { totalCount { value exact } } topicMessages(topic: 4001) { totalCount { value exact } } empty: topicMessages(topic: 999999) { totalCount { value exact } }
		some: accounts(filter: {balance: {gt: 5}}) { totalCount { value exact } } late: blocks(filter: {number: {gt: 5}}) { totalCount { value exact } } fungible: tokens(filter: {types: [FUNGIBLE_COMMON]}) { totalCount { value exact } }
		few: topicMessages(topic: 4001, filter: {sequenceNumber: {lt: 3}}) { totalCount { value exact } }
	}`, nil, &data)
	for name, sql := range map[string]string{
		"accounts":  `select count(*) from entity where type in ('ACCOUNT', 'CONTRACT')`,
		"contracts": `select count(*) from entity where type = 'CONTRACT'`, "tokens": `select count(*) from token`,
		"transactions": `select count(*) from transaction`, "none": `select count(*) from transaction`,
		"blocks":        `select count(*) from record_file`,
		"topicMessages": `select count(*) from topic_message where topic_id = 4001`, "empty": `select 0`,
	} {
		var want int64
		if err := g.DB.Pool().QueryRow(t.Context(), sql).Scan(&want); err != nil {
			t.Fatal(err)
		}
		got := data[name].TotalCount
		if got == nil {
			t.Errorf("%s: no count", name)
			continue
		}
		n := number(t, got.Value)
		exact := name == "blocks" || name == "topicMessages" || name == "empty"
		if got.Exact != exact || exact && n != want || n < want*9/10-3 || n > want*11/10+3 {
			t.Errorf("%s: %d, exact %v; there are %d", name, n, got.Exact, want)
		}
	}
	if number(t, data["topicMessages"].TotalCount.Value) == 0 {
		t.Error("there is nothing to count")
	}
	for _, name := range []string{"some", "late", "fungible", "few"} {
		if got, ok := data[name]; !ok || got.TotalCount != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestTotalCountOfNothing counts the lists of addresses that no entity has: there is nothing to count, which is 0 if
// the list is counted, and no failure.
func TestTotalCountOfNothing(t *testing.T) {
	t.Parallel()
	const unknown = `"0x00000000000000000000000000000fffffffffff"`
	g := testenv.Demo(t)
	schema := g.Graph().Schema()
	documents := []string{
		`{ token(id: "0.0.2001") { nfts(filter: {owner: ` + unknown + `}) { totalCount { value } } } }`,
	}
	for _, f := range schema.Query.Fields {
		if schema.Types[f.Type.Name()].Fields.ForName("totalCount") == nil {
			continue
		}
		var args []string
		for _, a := range f.Arguments {
			switch {
			case strings.HasSuffix(a.Type.Name(), "Ref"):
				args = append(args, a.Name+": "+unknown)
			case a.Type.NonNull && a.DefaultValue == nil:
				args = append(args, a.Name+": 1")
			}
		}
		if strings.Contains(strings.Join(args, " "), unknown) {
			documents = append(documents, `{ `+f.Name+`(`+strings.Join(args, ", ")+`) { totalCount { value } } }`)
		}
	}
	if len(documents) < 6 {
		t.Errorf("only %d lists", len(documents))
	}
	for _, document := range documents {
		if got := g.Query(t, document, nil); strings.Contains(got.Body, "INTERNAL") {
			t.Errorf("%s: %s", document, got.Body)
		}
	}
}

func number(t *testing.T, text string) int64 {
	t.Helper()
	var n struct{ N int64 }
	testenv.Decode(t, `{"N":`+text+`}`, &n)
	return n.N
}

// TestCountsScanNothing checks that no count scans a whole table.
func TestCountsScanNothing(t *testing.T) {
	t.Parallel()
	count := &counter{}
	g := testenv.Demo(t, func(o *testenv.Options) { o.Storage.Tracer = count })
	var data map[string]any
	g.Data(t,
		`{ accounts(first: 0) { totalCount { value } } tokens(first: 0) { totalCount { value } } `+
			`transactions(first: 0) { totalCount { value } } blocks(first: 0) { totalCount { value } } `+
			`topicMessages(topic: 4001, first: 0) { totalCount { value } } }`, nil, &data)
	count.mu.Lock()
	statements := slices.Clone(count.statements)
	count.mu.Unlock()
	conn, err := pgx.Connect(t.Context(), testenv.Filled.Shared(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }() // the connection holds no state
	if _, err := conn.Exec(t.Context(),
		`set enable_seqscan = off`); err != nil { // small tables would be scanned without an index
		t.Fatal(err)
	}
	found := 0
	for _, sql := range statements {
		if !strings.Contains(sql, "max(index)") && !strings.Contains(sql, "sequence_number from topic_message") {
			continue
		}
		found++
		rows, err := conn.Query(t.Context(), `explain `+strings.NewReplacer("any($1)", "any(array[4001])",
			"$1::bigint[]", "array[4001]::bigint[]", "$1", "4001").Replace(sql))
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(line, "Seq Scan") || strings.Contains(line, "Sort") {
				t.Errorf("%s\nhas the plan\n%s", sql, line)
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	if found != 2 {
		t.Errorf("%d counts were found in\n%s", found, strings.Join(statements, "\n---\n"))
	}
}

// TestEntities checks the references by which other graphs of a federation identify objects of this one.
func TestEntities(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	const query = `query($r: [_Any!]!) { _entities(representations: $r) { __typename ... on Account { id entityId } ` +
		`... on Token { entityId } ... on Block { number } } }`
	var ids struct {
		Account struct{ ID string }
		Block   struct{ ID string }
		Tokens  struct{ Nodes []struct{ EntityID string } }
	}
	g.Data(t, `{ account(id: 2) { id } block(number: 1) { id } tokens(first: 1) { nodes { entityId } } }`, nil, &ids)
	token := ids.Tokens.Nodes[0].EntityID
	got := g.Query(t, query, map[string]any{"r": []any{
		map[string]any{"__typename": "Account", "entityId": "0.0.2"},
		map[string]any{"__typename": "Token", "entityId": token},
		map[string]any{"__typename": "Account", "id": ids.Account.ID},
		map[string]any{"__typename": "Block", "id": ids.Block.ID, "more": true},
		map[string]any{"__typename": "Account", "entityId": "0.0.99999999"},
	}})
	account := `{"__typename":"Account","id":"` + ids.Account.ID + `","entityId":"0.0.2"}`
	if want := `{"data":{"_entities":[` + account + `,{"__typename":"Token","entityId":"` + token + `"},` + account +
		`,{"__typename":"Block","number":"1"},null]}}`; got.Body != want {
		t.Errorf("the answer is %s, want %s", got.Body, want)
	}
	if cost := got.Header.Get("X-Query-Cost"); cost != "5" {
		t.Errorf("five references cost %s", cost)
	}
	for name, c := range map[string]struct {
		reference map[string]any
		want      string
	}{
		"no type": {map[string]any{"entityId": "0.0.2"}, `things of type \"\" have no entityId`},
		"no key":  {map[string]any{"__typename": "Account"}, "needs __typename, and id or entityId"},
		"another type's id": {
			map[string]any{"__typename": "Token", "id": ids.Account.ID},
			`is not the id of a thing of type \"Token\"`,
		},
		"no such key": {
			map[string]any{"__typename": "Block", "entityId": "0.0.2"},
			`things of type \"Block\" have no entityId`,
		},
		"no id":               {map[string]any{"__typename": "Account", "entityId": "x"}, `"code":"BAD_USER_INPUT"`},
		"an id that is no id": {map[string]any{"__typename": "Account", "id": "x"}, `is not the id`},
		"a type from nowhere": {map[string]any{"__typename": "Nothing", "id": ids.Account.ID}, `is not the id`},
	} {
		got := g.Query(t,
			query,
			map[string]any{"r": []any{c.reference, map[string]any{"__typename": "Account", "entityId": "0.0.2"}}})
		if !strings.HasPrefix(got.Body, `{"data":{"_entities":[null,{`) || !strings.Contains(got.Body, c.want) ||
			!strings.Contains(got.Body, `"path":["_entities",0]`) {
			t.Errorf("%s: %s", name, got.Body)
		}
	}
	many := make([]any, 101)
	for i := range many {
		many[i] = map[string]any{"__typename": "Account", "entityId": "0.0.2"}
	}
	if got := g.Query(t, query, map[string]any{"r": many}); !strings.Contains(got.Body,
		"give at most 100 references") {
		t.Errorf("%.300s", got.Body)
	}
}
