package limits_test

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/graph/limits"
	"heliograph/graph/relay"
)

const schema = `
directive @cost(weight: Int!) on FIELD_DEFINITION
directive @listSize(assumedSize: Int!) on FIELD_DEFINITION
directive @cacheControl(maxAge: Int!) on FIELD_DEFINITION | OBJECT
interface Node { id: ID! }
type Value { a: Int b: Int }
type Block implements Node @cacheControl(maxAge: 3600) { id: ID! number: Int value: Value next: Block @cacheControl(maxAge: 5) payer: Account }
type Account implements Node { id: ID! value: Value blocks(first: Int, last: Int): BlockConnection! price: Int @cost(weight: 7) dear: Value @cost(weight: 30) many: [Value!] @listSize(assumedSize: 4) few: [Value!] tags: [String!] }
type BlockConnection { edges: [BlockEdge!]! nodes: [Block!]! pageInfo: PageInfo! total: Int @cost(weight: 100) }
type BlockEdge { node: Block! cursor: String! }
type PageInfo { end: String }
type LedgerState { account: Account known: Value @cacheControl(maxAge: 2) }
type Query { ledger: LedgerState block: Block account: Account node: Node nodes(ids: [ID!]!): [Node]! blocks(first: Int, last: Int): BlockConnection! list(first: Int = 9): [Value!] trace(first: Int = 9): Trace @cost(weight: 50) now: Int quick: Int @cacheControl(maxAge: 1) }
type Trace { steps: [Step!]! values: [Value!]! @listSize(assumedSize: 2) gas: Int }
type Step { op: Int memory: [Int!]! @cost(weight: 20) }
type Mutation { write: Int }
`

func parse(t *testing.T, query string) *ast.OperationDefinition {
	t.Helper()
	s, err := gqlparser.LoadSchema(&ast.Source{Input: schema})
	if err != nil {
		t.Fatal(err)
	}
	doc, errs := gqlparser.LoadQueryWithRules(s, query, nil)
	if errs != nil {
		t.Fatal(errs)
	}
	return doc.Operations[0]
}

func TestPrice(t *testing.T) {
	t.Parallel()
	for query, c := range map[string]struct {
		variables map[string]any
		want      int
	}{
		`{ now }`:                                                                 {nil, 0},
		`{ account { id tags } }`:                                                 {nil, 1},
		`{ account { price value { a } } }`:                                       {nil, 9},
		`{ account { dear { a } } }`:                                              {nil, 31},
		`{ account { many { a } few { a } } }`:                                    {nil, 15},
		`{ blocks { nodes { id } } }`:                                             {nil, 26},
		`{ blocks { nodes { id ... @defer { number } } } }`:                       {nil, 51},
		`{ account { ...F @defer(if: false) } } fragment F on Account { id }`:     {nil, 2},
		`{ blocks { total pageInfo { end } } }`:                                   {nil, 101},
		`{ blocks(first: 500) { nodes { id } } }`:                                 {nil, 101},
		`{ blocks(first: -1) { nodes { id } } }`:                                  {nil, 1},
		`{ blocks(first: null, last: 3) { nodes { id } edges { node { id } } } }`: {nil, 7},
		`query($n: Int) { blocks(first: $n) { nodes { id } } }`:                   {map[string]any{"n": int64(4)}, 5},
		`query($n: Int, $m: Int) { blocks(first: $n, last: $m) { nodes { id } } }`: {map[string]any{
			"n": nil,
			"m": int64(2),
		}, 3},
		`query($n: Int, $x: Int) { blocks(first: $n) { nodes { payer { blocks(last: $x) { nodes { id payer { price ` +
			`} } } } } } }`: {map[string]any{"n": int64(3), "x": int64(2)}, 1 + 3*(1+1+1+2*(1+1+7))},
		`query($n: Int) { blocks(first: $n) { nodes { id } } } `: {map[string]any{"n": int64(1 << 40)}, 101},
		`{ trace { gas } }`: {nil, 50},
		`{ trace(first: 100) { steps { op } values { a } } }`: {nil, 50 + 100 + 2},
		`query($n: Int) { trace(first: $n) { ...F } } fragment F on Trace { steps { memory ` +
			`} }`: {map[string]any{"n": int64(1000)}, 50 + 21_000},
		`query($n: Int) { list(first: $n) { a } }`:     {nil, 9},
		`query($n: Int = 3) { list(first: $n) { a } }`: {map[string]any{"n": int64(3)}, 3},
		`query($ids: [ID!]!) { nodes(ids: $ids) { id ... on Account { value { a } } ` +
			`} }`: {map[string]any{"ids": []any{"a", "b"}}, 4},
		`{ nodes(ids: ["a", "b", "c"]) { ...F } } fragment F on Account { value { a } ...G } fragment G on Account ` +
			`{ dear { a } }`: {nil, 3 * (1 + 1 + 30)},
		`{ list(first: 2000000000) { a } b: list(first: 2000000000) { a } }`: {nil, 1<<31 - 1},
	} {
		if got := limits.Price(parse(t, query), relay.Limits{Default: 25, Max: 100}).Of(c.variables); got != c.want {
			t.Errorf("%s with %v costs %d, want %d", query, c.variables, got, c.want)
		}
	}
}

// TestPageSizeVariable tests that a page size given by a variable costs the same as the literal value, for every type
// that a coerced variable can have.
func TestPageSizeVariable(t *testing.T) {
	t.Parallel()
	pages := relay.Limits{Default: 25, Max: 100}
	for _, argument := range []string{"first", "last"} {
		query := func(value string) string {
			return "blocks(" + argument + ": " + value + ") { total nodes { payer { price } } edges { node { id } } }"
		}
		variable := limits.Price(parse(t, "query($n: Int) { "+query("$n")+" }"), pages)
		cost := func(rows int) int { return 1 + 100 + rows*(1+1+7) + rows }
		for _, c := range []struct{ value, rows int }{
			{-3, 0},
			{0, 0},
			{1, 1},
			{7, 7},
			{99, 99},
			{100, 100},
			{101, 100},
		} {
			want := cost(c.rows)
			if got := limits.Price(parse(t, "{ "+query(strconv.Itoa(c.value))+" }"), pages).Of(nil); got != want {
				t.Errorf("%s: %d as a literal costs %d, want %d", argument, c.value, got, want)
			}
			for _, v := range []any{c.value, int64(c.value), json.Number(strconv.Itoa(c.value))} {
				if got := variable.Of(map[string]any{"n": v}); got != want {
					t.Errorf("%s: %d as a variable of type %T costs %d, want %d", argument, c.value, v, got, want)
				}
			}
		}
		for name, c := range map[string]struct {
			variables map[string]any
			rows      int
		}{
			"absent": {nil, 25}, "null": {map[string]any{"n": nil}, 25},
			"another variable": {map[string]any{"m": 3}, 25},
			"not an integer":   {map[string]any{"n": json.Number("1e3")}, 100},
		} {
			if got, want := variable.Of(c.variables), cost(c.rows); got != want {
				t.Errorf("%s, %s: the cost is %d, want %d", argument, name, got, want)
			}
		}
	}
}

// TestNestedPageSizeVariables tests that the sizes of nested pages multiply, each with its own variable.
func TestNestedPageSizeVariables(t *testing.T) {
	t.Parallel()
	c := limits.Price(parse(t,
		`query($outer: Int, $inner: Int) { blocks(first: $outer) { nodes { payer { blocks(last: $inner) { nodes { `+
			`id } } } } } }`),
		relay.Limits{Default: 25, Max: 100})
	for _, sizes := range [][2]int{{2, 3}, {3, 2}, {0, 50}, {50, 0}, {100, 100}} {
		outer, inner := sizes[0], sizes[1]
		want := 1 + outer*(1+1+1+inner)
		if got := c.Of(map[string]any{"outer": outer, "inner": inner}); got != want {
			t.Errorf("%d pages of %d rows cost %d, want %d", outer, inner, got, want)
		}
	}
}

// TestListSizeVariable tests lists whose length a variable sets.
func TestListSizeVariable(t *testing.T) {
	t.Parallel()
	c := limits.Price(parse(t, `query($ids: [ID!]!) { nodes(ids: $ids) { id } }`), relay.Limits{Default: 25, Max: 100})
	for _, v := range []struct {
		ids  any
		want int
	}{{[]any{}, 0}, {[]any{"a"}, 1}, {[]any{"a", "b", "c"}, 3}, {"a", 1}} {
		if got := c.Of(map[string]any{"ids": v.ids}); got != v.want {
			t.Errorf("%v costs %d, want %d", v.ids, got, v.want)
		}
	}
}

// TestPriceAllocates tests that computing the cost of a request does not allocate.
func TestPriceAllocates(t *testing.T) {
	c := limits.Price(parse(t,
		`query($n: Int) { blocks(first: $n) { nodes { payer { blocks(last: $n) { nodes { id } } } } } }`),
		relay.Limits{Default: 25, Max: 100})
	variables := map[string]any{"n": int64(5)}
	if n := testing.AllocsPerRun(100, func() { c.Of(variables) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestAge(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]int{
		`{ block { id number value { a b } } }`: 3600,
		`{ block { payer { id } } }`:            2,
		`{ block { next { number } } }`:         5,
		`{ account { value { a } } }`:           2,
		`{ blocks { nodes { id } } }`:           2,
		`{ node { id } }`:                       2,
		`{ now }`:                               2,
		`{ quick block { id } }`:                1,
		`{ __typename }`:                        3600,
		`{ __schema { types { name } } }`:       60,
		`{ block { ... on Block { ...F } } } fragment F on Block { id payer { value { a } } }`: 2,
		`{ block { ...F } } fragment F on Block { payer { value { a } } }`:                     2,
		`{ block { ... on Block { value { a } } } }`:                                           3600,
		`{ ledger { account { blocks { nodes { next { number } } } } } }`:                      limits.PastAge,
		`{ ledger { account { id } known { a } } }`:                                            2,
		`{ ledger { account { id } } account { id } }`:                                         2,
		`mutation { write }`: 0,
	} {
		if got := limits.Age(parse(t, query)); got != want {
			t.Errorf("%s can be cached for %d s, want %d", query, got, want)
		}
	}
}
