package resolvers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"heliograph/app/testing/testenv"
	"heliograph/storage/pgtest"
)

// counter counts statements and batches.
type counter struct {
	mu         sync.Mutex
	statements []string
	trips      int
	batch      int // index of the first statement of the current batch
}

func (c *counter) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	c.add(data.SQL, 1)
	return ctx
}

func (c *counter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (c *counter) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trips++
	c.batch = len(c.statements)
	return ctx
}

func (c *counter) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	c.add(data.SQL, 0)
}

func (c *counter) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

func (c *counter) add(sql string, trips int) {
	sql = strings.TrimSpace(sql)
	// the pool's ping, or settings
	if sql == "" || strings.HasPrefix(sql, "--") || strings.HasPrefix(sql, "select set_config") {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// the same statement for another parent
	if pgtest.Keys() && trips == 0 && slices.Contains(c.statements[min(c.batch, len(c.statements)):], sql) {
		return
	}
	c.statements = append(c.statements, sql)
	c.trips += trips
}

// not reports whether other numbers of statements and round trips were counted. Key by key, statements of a batch with
// the same text count as one, and a search has one form, so there can be fewer.
func (c *counter) not(statements, trips int) bool {
	n := len(c.statements)
	return n > statements || c.trips > trips || !pgtest.Keys() && (n < statements || c.trips < trips)
}

// TestOneStatementALevel counts statements and round trips of nested lists. Neither grows with the number of parents,
// and statements of one level share a round trip.
func TestOneStatementALevel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		query             string
		statements, trips int
	}{
		"plan": {`{ accounts(first: 100, order: DESC) { nodes { transactions(first: 3) { nodes { ` +
			`payer { stakedAccount { memo } } } } } } }`, 4, 4},
		"plan, several a level": {
			`{ transactions(first: 100) { nodes { transfers { amount } tokenTransfers { ` +
				`amount } payer { stakedAccount { memo } autoRenewAccount { memo } } block { previous { number } } ` +
				`} } }`,
			7, 3, // of the accounts, those that are not payers are read for both fields together
		},
		"unplanned at the leaf": {`{ accounts(first: 100, order: DESC) { nodes { transactions(first: 3) { nodes { ` +
			`payer { stakedAccount { balance(unit: HBAR) } } } } } } }`, 4, 4},
		"unplanned at each level": {`{ accounts(first: 100, order: DESC) { nodes { balance(unit: HBAR) ` +
			`transactions(first: 3) { nodes { payer { balance(unit: HBAR) stakedAccount { balance(unit: HBAR) } } ` +
			`} } } } }`, 4, 4},
		"merged": {`{ accounts(first: 100, order: DESC) { nodes { entityId } nodes { ` +
			`transactions(first: 3) { nodes { name: type } } transactions(first: 3) { nodes { payer { memo } payer ` +
			`{ stakedAccount { memo } } } } } } }`, 4, 4},
		"merged and unplanned": {`{ accounts(first: 100, order: DESC) { nodes { entityId } nodes { balance(unit: ` +
			`HBAR) transactions(first: 3) { nodes { name: type } } transactions(first: 3) { nodes { payer { memo } ` +
			`payer { stakedAccount { memo balance(unit: HBAR) } } } } } } }`, 4, 4},
		// Four levels of connections below a hundred parents, with gqlgen alone and with the plan.
		"four levels": {`{ accounts(first: 100, order: DESC) { nodes { transactions(first: 4) { nodes { ` +
			`block { transactions(first: 2) { nodes { payer { memo } } } } } } } } }`, 5, 5},
		"four levels, unplanned": {`{ accounts(first: 100, order: DESC) { nodes { balance(unit: HBAR) ` +
			`transactions(first: 4) { nodes { block { transactions(first: 2) { nodes { payer { balance(unit: HBAR) ` +
			`} } } } } } } } }`, 5, 5},
		"edges": {`{ accounts(first: 100, order: DESC) { edges { node { transactions(first: 3) { ` +
			`edges { node { payer { stakedAccount { memo } } } } } } } } }`, 4, 4},
		"one thing":  {`{ account(id: 1008) { memo key { type } } }`, 1, 1},
		"two things": {`{ account(id: 1008) { memo } token(id: 1001) { name } }`, 2, 1},
		"a thing and a list": {`{ account(id: 1008) { memo holdings { balance } } transactions(filter: ` +
			`{accountId: {eq: 1008}}, first: 3) { nodes { name: type transfers { amount } } } }`, 3, 2},
		"a thing and a search": {`{ account(id: 1008) { memo } transactions(filter: {accountId: {eq: 1008}, ` +
			`types: CRYPTOCREATEACCOUNT}, first: 3) { nodes { name: type } } }`, 2, 2},
		"pictures of NFTs, of which some are in topics": {`{ nfts(first: 100) { nodes { media { name problem ` +
			`image { url } files { url } attributes { value } } } } }`, 3, 2},
		"one thing and its list": {`{ account(id: 1008) { transactions(first: 100) { nodes { transfers { amount } ` +
			`} } } }`, 3, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			count := count(t, c.query)
			if count.not(c.statements, c.trips) {
				t.Errorf("%d statements in %d round trips, want %d in %d:\n%s", len(count.statements), count.trips,
					c.statements, c.trips, strings.Join(count.statements, "\n---\n"))
			}
		})
	}
}

// TestTransactionByID compares transactions that are read by ID with those of a list, some of which share their ID.
// Its transfers and rewards are read in the same statement. Fees, or all key by key, take a second round trip.
func TestTransactionByID(t *testing.T) {
	t.Parallel()
	const parts = `{ transactionId consensusTimestamp transfers { accountId amount } tokenTransfers { accountId tokenId amount }
  stakingRewardTransfers { accountId amount } assessedCustomFees { amount collectorAccountId } }`
	var list struct {
		Transactions struct{ Nodes []json.RawMessage }
	}
	byID := map[string][]json.RawMessage{}
	first := counting(t, func(g *testenv.Gateway) {
		clear(byID)
		g.Data(t, `{ transactions(first: 100, order: ASC) { nodes `+parts+` } }`, nil, &list)
		for _, node := range list.Transactions.Nodes {
			var one struct{ TransactionID string }
			if err := json.Unmarshal(node, &one); err != nil {
				t.Fatal(err)
			}
			byID[one.TransactionID] = append(byID[one.TransactionID], node)
		}
		for id, want := range byID {
			var got struct{ Transaction []json.RawMessage }
			g.Data(t, `query($id: TransactionID) { transaction(id: $id) `+parts+` }`, map[string]any{"id": id}, &got)
			if !slices.EqualFunc(got.Transaction, want, func(a, b json.RawMessage) bool {
				return string(a) == string(b)
			}) {
				t.Errorf("%s: %s, want %s", id, got.Transaction, want)
			}
		}
	})
	most := 2 + len(byID)
	for _, same := range byID {
		if pgtest.Keys() || slices.ContainsFunc(same, func(node json.RawMessage) bool {
			return !strings.Contains(string(node), `"assessedCustomFees":[]`)
		}) {
			most++
		}
	}
	if first.trips > most || len(byID) == len(list.Transactions.Nodes) {
		t.Errorf("%d round trips, want at most %d for %d transactions with %d IDs", first.trips, most,
			len(list.Transactions.Nodes), len(byID))
	}
}

// TestDeferredStatements counts the statements of incremental responses. They need as many as a complete response:
// parents of a deferred fragment are not read again, and a deferred relation is read for all its parents at once. Only
// the batching differs: deferred statements are sent separately.
func TestDeferredStatements(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		query             string
		statements, trips int
	}{
		"columns": {`{ accounts(first: 25) { nodes { entityId ... @defer { memo } } } }`, 1, 1},
		"a relation": {`{ accounts(first: 25, order: DESC) { nodes { entityId ... @defer { ` +
			`transactions(first: 3) { nodes { name: type } } } } } }`, 2, 2},
		"two levels": {`{ accounts(first: 25, order: DESC) { nodes { entityId ... @defer { ` +
			`transactions(first: 3) { nodes { payer { memo } } } } } } }`, 3, 3},
		"nested": {`{ accounts(first: 25, order: DESC) { nodes { entityId ... @defer { ` +
			`transactions(first: 3) { nodes { name: type ... @defer { payer { memo stakedAccount { memo } } } } } ` +
			`} } } }`, 4, 4},
		"below relations": {`{ accounts(first: 25, order: DESC) { nodes { transactions(first: 3) { nodes { ` +
			`payer { entityId ... @defer { stakedAccount { memo } } } } } } } }`, 4, 4},
		"siblings": {`{ transactions(first: 25) { nodes { ... @defer { payer { memo } } ... @defer { ` +
			`block { number } } } } }`, 3, 3},
		"below the same": {
			`{ transactions(first: 25) { nodes { payer { memo } ... @defer { payer { ... ` +
				`@defer { stakedAccount { memo } } evmAddress } } ... @defer { payer { alias } block { number } } ` +
				`} } }`,
			4, 4,
		},
		"what has come already": {
			`{ accounts(first: 25, order: DESC) { nodes { transactions(first: 3) { nodes { ` +
				`name: type } } ... @defer { transactions(first: 3) { nodes { name: type payer { memo } } } } } } }`,
			3, 3,
		},
		"unplanned": {`{ accounts(first: 25, order: DESC) { nodes { balance(unit: HBAR) ... @defer { ` +
			`transactions(first: 3) { nodes { payer { balance(unit: HBAR) } } } } } } }`, 3, 3},
		"below the unplanned": {`{ accounts(first: 25, order: DESC) { nodes { balance(unit: HBAR) ` +
			`transactions(first: 3) { nodes { name: type ... @defer { payer { memo } } } } } } }`, 3, 3},
		"roots": {`{ accounts(first: 25) { nodes { memo } } ... @defer { blocks(first: 2) { nodes { ` +
			`number } } accounts(first: 25) { nodes { entityId } } } }`, 2, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parts := 0
			count := counting(t, func(g *testenv.Gateway) {
				body, err := json.Marshal(map[string]string{"query": c.query})
				if err != nil {
					t.Fatal(err)
				}
				got := g.Do(t, http.MethodPost, "/graphql", string(body), "Content-Type: application/json",
					"Accept: multipart/mixed")
				parts = strings.Count(got.Body, `"hasNext":`)
				if strings.Contains(got.Body, `"errors":`) {
					t.Errorf("%s", got.Body)
				}
			})
			if parts < 2 || len(count.statements) != c.statements || count.trips != c.trips {
				t.Errorf("%d statements in %d round trips for %d parts, want %d in %d:\n%s", len(count.statements),
					count.trips, parts, c.statements, c.trips, strings.Join(count.statements, "\n---\n"))
			}
		})
	}
}

// TestStatusStatements checks that the number of statements does not grow with the number of notices. Three of them
// belong to the transaction in which the page is read.
func TestStatusStatements(t *testing.T) {
	t.Parallel()
	const pages, state = 1, 5
	for name, c := range map[string]struct {
		query      string
		statements int
	}{
		"page": {`{ status { name } }`, pages},
		"components": {`{ status { rollup { indicator } effectiveIndicator components(first: ` +
			`100) { nodes { status group { name } children { name } page { name } } } } }`, pages + state},
		"incidents": {
			`{ status { incidents(first: 60) { nodes { updates { body ` +
				`affectedComponents { name component { name } } } components { name status page { name } } } } } }`,
			pages + state + 1 + 2 + 1,
		},
		"components of incidents and back": {
			`{ status { incidents(first: 60) { nodes { components { ` +
				`incidents(first: 2) { nodes { updates { body } } } uptime { percent } } } } } }`,
			pages + state + 1 + 1 + 1 + 2 + 1,
		},
		"nodes": {
			`{ network { nodes { nodes { statusComponent { name status } } } } }`,
			1 + pages + state,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := count(t, c.query)
			if len(got.statements) != c.statements {
				t.Errorf("%d statements, want %d:\n%s", len(got.statements), c.statements,
					strings.Join(got.statements, "\n---\n"))
			}
		})
	}
}

// TestKeysAreReadOnce checks that an object that stands at several places of an operation is read once, also if its
// places are at different levels, root fields or types, and that an object that does not exist is read once too.
func TestKeysAreReadOnce(t *testing.T) {
	t.Parallel()
	const below = `transactions(first: 1) { nodes { block { hash `
	for name, c := range map[string]struct {
		query, table string
		reads, trips int // of the table, and round trips of the operation
	}{
		"three levels": {
			`{ block(number: "5") { ` + strings.Repeat(below, 3) + strings.Repeat(` } } } `, 3) + ` } }`,
			"from record_file", 2, 5, // by number, and by time
		},
		"three fields of a level": {
			`{ transactions(first: 1) { nodes { payer { memo } a: payer { key { type } } b: payer { balance } } } }`,
			"from entity e", 1, 2,
		},
		"root fields": {
			`{ a: account(id: "1001") { memo } b: account(id: "1001") { balance } node(id: "QWNjb3VudDowLjAuMTAwMQ") ` +
				`{ ... on Account { balance } } _entities(representations: [{__typename: "Account", ` +
				`entityId: "0.0.1001"}]) { ... on Account { memo } } search(text: "0.0.1001", types: [ACCOUNT]) ` +
				`{ nodes { ... on Account { memo } } } }`,
			"from entity e", 1, 1,
		},
		"unknown": {
			`{ a: node(id: "QWNjb3VudDowLjAuOTk5OTk5OQ") { id } b: nodes(ids: ["QWNjb3VudDowLjAuOTk5OTk5OQ"]) { id } }`,
			"from entity e", 1, 1,
		},
	} {
		got := count(t, c.query)
		reads := 0
		for _, sql := range got.statements {
			if strings.Contains(sql, c.table) {
				reads++
			}
		}
		if reads != c.reads || got.trips != c.trips {
			t.Errorf("%s: %d reads of %q in %d round trips:\n%s", name, reads, c.table, got.trips,
				strings.Join(got.statements, "\n---\n"))
		}
	}
}

// TestOnlyIDs checks that accounts, tokens and contracts of which only ids are selected are read without other
// columns, and are the same.
func TestOnlyIDs(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	memos := regexp.MustCompile(`,"memo":"(\\.|[^"\\])*"`)
	for _, list := range []struct{ name, typ, from, relation string }{
		{"accounts", "Account", "from entity e ", " tokens(first: 2) { nodes { balance } }"},
		{"tokens", "Token", "from token t ", ""},
		{"contracts", "Contract", "from entity e ", ""},
	} {
		for _, form := range []string{
			`nodes { %s }`, `edges { cursor node { %s } }`,
			`nodes { ... on ` + list.typ + ` { __typename %s } }`,
		} {
			var bodies []string
			for _, memo := range []string{"", " memo"} {
				query := `{ ` + list.name + `(first: 5, filter: {id: {gt: "1000"}}) { pageInfo { endCursor } ` +
					fmt.Sprintf(form, "id entityId"+list.relation+memo) + ` } }`
				reads := memo != ""
				sql := count(t, query).statements[0]
				if !strings.Contains(sql, list.from) || strings.Contains(sql, "e.memo,") != reads ||
					strings.Contains(sql, "e.key,") != reads {
					t.Errorf("%s reads with\n%s", query, sql)
				}
				got := g.Query(t, query, nil).Body
				if strings.Count(got, `"entityId":"0.0.`) != 5 || strings.Contains(got, `"memo"`) != reads {
					t.Errorf("%s: %s", query, got)
				}
				bodies = append(bodies, memos.ReplaceAllString(got, ""))
			}
			if bodies[0] != bodies[1] {
				t.Errorf("%s\nwith memos: %s", bodies[0], bodies[1])
			}
		}
	}
}

// count counts the statements of a query. See [counting].
func count(t *testing.T, query string, options ...testenv.Option) *counter {
	t.Helper()
	var data map[string]any
	return counting(t, func(g *testenv.Gateway) { g.Data(t, query, nil, &data) }, options...)
}

// counting runs a request twice and counts the second run. The first run prepares the statements, which takes another
// round trip.
func counting(t *testing.T, ask func(*testenv.Gateway), options ...testenv.Option) *counter {
	t.Helper()
	count := &counter{}
	g := testenv.Demo(t, append(options, func(o *testenv.Options) {
		o.Storage.Tracer, o.Storage.MaxConnections = count, 1
	})...)
	ask(g)
	count.mu.Lock()
	count.statements, count.trips = nil, 0
	count.mu.Unlock()
	ask(g)
	g.DB.Close() // stop counting
	return count
}
