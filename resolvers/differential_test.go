package resolvers_test

import (
	"encoding/json"
	"flag"
	"os"
	"sync"
	"testing"

	"heliograph/app/testing/testenv"
	"heliograph/graph/relay"
)

var update = flag.Bool("update", false, "record the responses of TestResponses anew")

// TestResponses compares responses with recorded ones. An executor that called a resolver for each field and row wrote
// them first. The flag -update records them anew after the demo network has changed.
func TestResponses(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/responses.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded map[string]string
	testenv.Decode(t, string(text), &recorded)
	g := testenv.Shared(t)
	topic := column(t, g, arguments()["topic"])[0]
	at := column(t,
		g,
		`select consensus_timestamp / 1000000000 || '.' || lpad((consensus_timestamp % 1000000000)::text, 9, '0') `+
			`from topic_message order by 1 limit 1`)[0]
	nodes := []string{
		relay.ID("Account", "0.0.1008"), relay.ID("Topic", topic), relay.ID("Block", "1"),
		relay.ID("TopicMessage", at), relay.ID("Transaction", at),
		relay.ID("Account", "0.0.999999"),
	}
	var mu sync.Mutex
	if *update {
		t.Cleanup(func() {
			text, err := json.MarshalIndent(recorded, "", "\t")
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile("testdata/responses.json", append(text, '\n'), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
	type variables = map[string]any
	for name, c := range map[string]struct {
		query     string
		variables variables
	}{
		"only columns": {`{ accounts(first: 5) { nodes { entityId memo key { type value } timestamp { ` +
			`from to } deleted alias evmAddress } } }`, nil},
		"an unplanned field": {`{ accounts(first: 5, filter: {id: {gte: "1000"}}) { nodes { entityId hbar: ` +
			`balance(unit: HBAR) balance weibar: balance(unit: WEIBAR) memo } } }`, nil},
		"unplanned at the leaf": {`{ accounts(first: 5, filter: {id: {gte: "1000"}}) { nodes { transactions(first: ` +
			`2) { nodes { payer { balance(unit: HBAR) memo } transfers { accountId amount } } } } } }`, nil},
		"unplanned in between": {`{ accounts(first: 5, filter: {id: {gte: "1000"}}) { nodes { balance(unit: HBAR) ` +
			`transactions(first: 2) { nodes { payer { memo stakedAccount { memo } } } } } } }`, nil},
		"edges": {`{ accounts(first: 3) { edges { cursor node { entityId stakedAccount { entityId ` +
			`} } } pageInfo { hasNextPage endCursor startCursor hasPreviousPage } } }`, nil},
		"edges and nodes": {`{ transactions(first: 3) { edges { node { transfers { amount } } } nodes { ` +
			`transfers { amount isApproval } block { number } } } }`, nil},
		"aliases with arguments": {`{ a: accounts(first: 2) { nodes { entityId x: transactions(first: 1) { nodes { ` +
			`consensusTimestamp } } y: transactions(first: 2, order: ASC) { nodes { consensusTimestamp } } } } b: ` +
			`accounts(first: 2, order: DESC) { nodes { entityId } } }`, nil},
		"fragments": {`query { accounts(first: 3, filter: {id: {gte: "1000"}}) { nodes { ...A ... on Account { memo } ... on Node { id } ... on Entity { deleted entityId } ... { type } } } }
fragment A on Account { entityId ...B transactions(first: 1) { nodes { ...T } } } fragment B on Entity { expirationTimestamp createdTimestamp } fragment T on Transaction { result name: type payer { ...B } }`, nil},
		"skip and include": {`query($yes: Boolean!, $no: Boolean!) { accounts(first: 2) { nodes { entityId @include(if: $yes) memo @skip(if: $yes) key @include(if: $no) { type }
stakedAccount @skip(if: $no) { memo @include(if: $no) entityId } ... @include(if: $no) { deleted } ...A @skip(if: $no) } pageInfo @include(if: $no) { hasNextPage } } }
fragment A on Account { alias transactions(first: 1) @include(if: $yes) { nodes { name: type @skip(if: $no) } } }`, variables{"yes": true, "no": false}},
		"everything left out": {
			`query($no: Boolean!) { accounts(first: 2) { nodes { entityId @include(if: $no) } } }`,
			variables{"no": false},
		},
		"typename": {`{ __typename accounts(first: 2) { __typename nodes { __typename t: __typename ` +
			`key { __typename } holdings { __typename tokens { __typename } } } pageInfo { __typename } } }`, nil},
		"node": {
			`query($id: ID!) { node(id: $id) { __typename id ... on Account { memo ` +
				`transactions(first: 2) { nodes { result } } balance(unit: HBAR) } ... on Entity { entityId } } }`,
			variables{"id": nodes[0]},
		},
		"node that is not there": {`query($id: ID!) { node(id: $id) { id } }`, variables{"id": nodes[5]}},
		"unknown node type":      {`{ node(id: "WDox") { id } }`, nil},
		"merged under conditions": {
			`query($no: Boolean!) { accounts(first: 3, filter: {id: {gte: "1000"}}) { nodes ` +
				`{ stakedAccount { memo } stakedAccount @include(if: $no) { entityId } transactions(first: 1) { ` +
				`nodes { ` +
				`name: type } } transactions(first: 1) @skip(if: $no) { nodes { payer { memo } } } } } }`,
			variables{"no": false},
		},
		"merged three times": {`{ transactions(first: 4) { nodes { payer { entityId } ...A payer { ` +
			`stakedAccount { memo } } transfers { amount } ...B } } } fragment A on Transaction { payer { memo ` +
			`stakedAccount { entityId } } transfers { isApproval } } fragment B on Transaction { transfers { ` +
			`accountId } block { number } }`, nil},
		"nodes": {`query($ids: [ID!]!) { nodes(ids: $ids) { __typename id ... on Account { entityId stakedAccount { memo } } ... on Topic { memo messages(first: 1) { nodes { text } } }
... on Block { number previous { number } next { number } transactions(first: 2) { nodes { name: type } } } ... on TopicMessage { sequenceNumber topic { memo } transaction { name: type } payer { entityId } }
... on Transaction { result transfers { amount } parent { name: type } block { number } } } }`, variables{"ids": nodes}},
		"merged lists": {`{ accounts(first: 2) { nodes { entityId } nodes { memo } } accounts(first: 2) { ` +
			`nodes { key { type } key { value } } pageInfo { hasNextPage } } }`, nil},
		"merged relations": {`{ accounts(first: 3, filter: {id: {gte: "1000"}}) { nodes { transactions(first: ` +
			`2) { nodes { name: type } } transactions(first: 2) { nodes { result payer { memo } } } stakedAccount { ` +
			`memo } stakedAccount { entityId } } } }`, nil},
		"merged by fragments": {`{ transactions(first: 3) { ...A ...B } } fragment A on TransactionConnection { ` +
			`nodes { payer { memo } transfers { amount } } } fragment B on TransactionConnection { nodes { payer { ` +
			`entityId } transfers { accountId } } }`, nil},
		"same field twice": {`{ accounts(first: 2) { nodes { memo memo entityId memo } } }`, nil},
		"nested lists": {`{ blocks(first: 3) { nodes { number transactions(first: 3) { nodes { transfers { ` +
			`accountId amount } tokenTransfers { tokenId amount } nftTransfers { serialNumber } ` +
			`stakingRewardTransfers { amount } assessedCustomFees { amount effectivePayerAccountIds } maxCustomFees ` +
			`{ amount } innerTransactionIds block { number next { number } } } pageInfo { hasNextPage endCursor } ` +
			`} } } }`, nil},
		"four levels": {`{ transactions(first: 5) { nodes { payer { stakedAccount { autoRenewAccount { ` +
			`entityId } } transactions(first: 2) { nodes { parent { payer { memo } } payer { transactions(first: 1) ` +
			`{ nodes { name: type } } } } } } } } }`, nil},
		"balances": {
			`query($at: TimestampFilter) { now: balances(first: 4) { timestamp nodes { ` +
				`accountId balance timestamp account { memo } tokens(first: 2, order: DESC) { tokenId balance } } } ` +
				`then: balances(at: $at, first: 4) { timestamp nodes { accountId tokens { tokenId balance } } } }`,
			variables{"at": variables{"lte": "1778976001"}},
		},
		"holdings": {
			`{ accounts(first: 3, filter: {id: {gte: "1000"}}) { nodes { a: holdings { ` +
				`balance account { memo } tokens(first: 2) { balance } } b: holdings(include: false) { balance } } } }`,
			nil,
		},
		"messages": {`query($t: EntityID!) { topicMessages(topic: $t, first: 3) { nodes { text message ` +
			`chunkInfo { number initialTransactionId { accountId nonce } } payer { entityId } topic { customFees { ` +
			`fixedFees { amount } } feeExemptKeys { type } messages(last: 1) { nodes { sequenceNumber } } } ` +
			`transaction { result } } } }`, variables{"t": topic}},
		"topic": {`query($t: EntityID!) { topic(id: $t) { memo adminKey { value } autoRenewAccount ` +
			`{ entityId } messages(first: 2, filter: {sequenceNumber: {gt: 1}}) { edges { cursor node { text } } } ` +
			`} }`, variables{"t": topic}},
		"nothing found": {`{ accounts(filter: {id: {in: []}}) { nodes { memo stakedAccount { memo } ` +
			`transactions { nodes { name: type } } } pageInfo { hasNextPage startCursor } } account(id: 999999) { ` +
			`memo } transaction(id: "0.0.2-1-1") { name: type payer { memo } } block(number: 999999999) { previous ` +
			`{ number } } }`, nil},
		"introspection beside": {`{ __schema { queryType { name } } accounts(first: 1) { nodes { entityId } } ` +
			`__type(name: "Account") { name } }`, nil},
		"defaults of variables": {`query($n: Int = 2, $o: Order! = DESC, $f: AccountFilter = {id: {gt: "1000"}}) { ` +
			`accounts(first: $n, order: $o, filter: $f) { nodes { entityId transactions(first: $n, order: $o) { ` +
			`nodes { consensusTimestamp } } } } }`, nil},
		"nulls": {`query($n: Int, $f: TransactionFilter, $c: String) { accounts(first: $n, after: ` +
			`$c) { nodes { entityId transactions(first: 1, filter: $f, after: $c, last: null) { nodes { name: type ` +
			`} } } } }`, variables{"n": nil, "f": nil}},
		"filters below": {
			`query($f: TransactionFilter) { accounts(first: 4, filter: {id: {gte: "1000"}}) { ` +
				`nodes { transactions(first: 2, filter: $f) { nodes { name: type result } } c: transactions(first: ` +
				`2, ` +
				`filter: {direction: CREDIT}) { nodes { transfers { amount } } } } } }`,
			variables{"f": variables{
				"types": []string{"CRYPTOTRANSFER", "TOKENMINT"}, "outcome": "SUCCESS",
				"timestamp": variables{"gt": "1"},
			}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := g.Query(t, c.query, c.variables).Body
			mu.Lock()
			want := recorded[name]
			recorded[name] = body
			mu.Unlock()
			if body != want && !*update {
				t.Errorf("the response is\n%s\nwant\n%s", body, want)
			}
		})
	}
}
