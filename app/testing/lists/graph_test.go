package lists

import (
	"regexp"
	"strings"
	"testing"

	"heliograph/app/testing/testenv"
	"heliograph/storage"
)

// graphList is a list, an order or a filter that only the graph has.
type graphList struct {
	document string // each {} stands for a word of a value
	values   string // SQL for values with their numbers of rows, as in [filter]
	absent   string
}

const (
	pairs = `select entity_id || ' ' || token_id as v, count(*) as n from crypto_transfer join token_transfer ` +
		`using (consensus_timestamp) where account_id = entity_id group by 1`
	history   = ` { nodes { timestamp changes { field before after } } }`
	transfers = ` { nodes { consensusTimestamp amount token { symbol } counterparties { accountId amount } fees { ` +
		`amount } transaction { type } } } } }`
	entries = `select payer_account_id || ' ' || entity_id as v, count(*) as n from transaction where entity_id ` +
		`is not null group by 1`
	started = `select '0.0.' || payer_account_id || '@' || valid_start_ns / 1000000000 || '.' || lpad((valid_start_ns % 1000000000)::text, 9, '0') as v, count(*) as n
from (select * from transaction limit 10000) t group by 1`
	tokenPairs = `select account_id || ' ' || token_id as v, count(*) as n from token_transfer group by 1`
	counts     = `stats(range: {from: "{}", to: "{}"}, by: DAY)`
)

// ranged has the values of a column with a range from the first to the last block.
func ranged(table, column string) string {
	return `select ` + column + ` || ' ' || (select min(consensus_end) / 1000000000 || ' ' || max(consensus_end) / 1000000000 from record_file) as v, count(*) as n
from ` + table + ` where ` + column + ` is not null group by 1`
}

// daily has the values of a column with a range of one day before the last block.
func daily(table, column string) string {
	return `select ` + column + ` || ' ' || (select max(consensus_end) / 1000000000 - 86399 || ' ' || max(consensus_end) / 1000000000 from record_file) as v, count(*) as n
from ` + table + ` where ` + column + ` is not null group by 1`
}

func graphLists() []graphList {
	payers, days := by("transaction", "payer_account_id"),
		`select min(consensus_end) / 1000000000 || ' ' || max(consensus_end) / 1000000000 as v, 1 as n from `+
			`record_file`
	treasuries := by("token", "treasury_account_id")
	lists := []graphList{
		{`{ account(id: "{}") { transfers` + transfers, payers, noID},
		{`{ account(id: "{}") { transfers(direction: CREDIT)` + transfers, payers, noID},
		{`{ account(id: "{}") { transfers(direction: DEBIT, order: ASC)` + transfers, payers, noID},
		{`{ account(id: "{}") { transfers(token: "{}")` + transfers, pairs, "1001 " + noID},
		{
			`{ token(id: "{}") { transfers(timestamp: {gte: "{}", lt: "{}"})` + transfers,
			daily("token_transfer", "token_id"), noID + " 1 86400",
		},
		{
			`{ token(id: "{}") { holders { totalCount { value } nodes { accountId balance } } } }`,
			`select * from (` + by("token_account", "token_id") + `) t where n <= 15000`, noID,
		},
		{
			`{ token(id: "{}") { holders(order: ASC, filter: {balance: {gt: "5"}}) { nodes { accountId balance } } } }`,
			`select * from (` + by("token_account", "token_id") + `) t where n <= 15000`, noID,
		},
		{`{ tokens(filter: {treasury: "{}"}) { nodes { entityId name } } }`, treasuries, noID},
		{`{ tokens(order: DESC) { nodes { entityId createdTimestamp } } }`, "", ""},
		{
			`{ token(id: "{}") { nfts(filter: {deleted: true}) { totalCount { value } nodes { serialNumber } } } }`,
			by("nft", "token_id"), noID,
		},
		{`{ token(id: "{}") { nfts(filter: {deleted: false}, order: ASC) { totalCount { value } nodes { ` +
			`serialNumber } } } }`, by("nft", "token_id"), noID},
		{
			`{ account(id: "{}") { nfts(filter: {deleted: true}) { nodes { serialNumber } } } }`,
			by("nft", "account_id"),
			noID,
		},
		{
			`{ schedules(filter: {creatorAccountId: {eq: "{}"}}) { nodes { entityId } } }`,
			by("schedule", "creator_account_id"), noID,
		},
		{
			`{ account(id: "{}") { schedules(filter: {state: EXECUTED}) { totalCount { value } nodes { entityId } ` +
				`} } }`,
			by("schedule", "creator_account_id"), noID,
		},
		{`{ account(id: "{}") { schedules(filter: {state: PENDING}, order: ASC) { totalCount { value } nodes { ` +
			`entityId } } } }`, by("schedule", "creator_account_id"), noID},
		{`{ network { nodes(orderBy: STAKE) { nodes { nodeId stake } } } }`, "", ""},
		{
			`{ topic(id: "{}") { transactions { nodes { consensusTimestamp } } } }`, by("topic_message", "topic_id"),
			noID,
		},
		{
			`{ topic(id: "{}") { messages(joinChunks: true) { nodes { sequenceNumber joinedChunks } } } }`,
			by("topic_message", "topic_id"), noID,
		},
		{`{ account(id: "{}") { history` + history + ` } }`, by("entity_history", "id"), noID},
		{`{ token(id: "{}") { history` + history + ` } }`, by("token_history", "token_id"), noID},
		{
			`{ nft(token: "{}", serialNumber: "{}") { history` + history + ` } }`,
			`select token_id || ' ' || serial_number as v, count(*) as n from nft_history group by 1`, noID + " 1",
		},
		{
			`{ search(text: "{}") { totalCount { value } nodes { __typename } } }`,
			`select split_part(left(name, 5), ' ', 1) as v, count(*) as n from token where name ~ '^\w{3}' group by 1`,
			"zzzqqq",
		},
		{`{ search(text: "{}") { nodes { __typename } } }`, by("entity", "public_key"), noWord},
		{`{ search(text: "{}") { nodes { __typename } } }`, hex("entity", "evm_address"), noWord[:40]},
		{
			`{ account(id: "{}") { ` + counts + ` { transactions received sent rewards } } }`,
			ranged("transaction", "payer_account_id"), noID + " 1 86400",
		},
		{
			`{ topic(id: "{}") { ` + counts + ` { messages } } }`, ranged("topic_message", "topic_id"),
			noID + " 1 86400",
		},
		{
			`{ contract(id: "{}") { ` + counts + ` { calls gasUsed } } }`, ranged("contract_result", "contract_id"),
			noID + " 1 86400",
		},
		{
			`{ token(id: "{}") { ` + counts + ` { transfers volume } } }`, daily("token_transfer", "token_id"),
			noID + " 1 86400",
		},
		{`{ network { ` + counts + ` { blocks transactions gasUsed } } }`, days, "1 86400"},
		{`{ token(id: "{}") { holderCount { value } } }`, by("token_account", "token_id"), noID},
		{
			`{ tokens(filter: {id: {in: ["{}", "1", "2"]}}) { nodes { entityId } } }`, by("token_account", "token_id"),
			noID,
		},
		{
			`{ schedules(filter: {creatorAccountId: {eq: "{}"}, state: PENDING}) { nodes { entityId } } }`,
			by("schedule", "creator_account_id"), noID,
		},
		{
			`{ schedules(filter: {creatorAccountId: {eq: "{}"}, state: DELETED}, order: DESC) { nodes { entityId } } }`,
			by("schedule", "creator_account_id"), noID,
		},
		{
			`{ account(id: "{}") { transactions(filter: {entityId: "{}"}) { nodes { consensusTimestamp } } } }`,
			entries, "1001 " + noID,
		},
		{
			`{ transactions(filter: {account: "{}", entityId: "{}"}, order: ASC) { nodes { consensusTimestamp } } }`,
			entries, "1001 " + noID,
		},
		{
			`{ account(id: "{}") { transactions(filter: {tokenId: "{}"}) { nodes { consensusTimestamp } } } }`,
			tokenPairs, "1001 " + noID,
		},
		{
			`{ transactions(filter: {account: "{}", tokenId: "{}"}, order: ASC) { nodes { consensusTimestamp } } }`,
			tokenPairs, "1001 " + noID,
		},
		{`{ search(text: "{}") { nodes { __typename } } }`, hex("transaction_hash", "hash"), noWord},
		{
			`{ search(text: "{}") { nodes { __typename } } }`, `select hash as v, 1 as n from record_file limit 1000`,
			noWord + noWord[:32],
		},
		{`{ search(text: "{}") { nodes { __typename } } }`, `select id::text as v, 1 as n from entity`, noID},
		{
			`{ search(text: "{}") { nodes { __typename } } }`,
			`select topic_id || '/' || max(sequence_number) as v, count(*) as n from topic_message group by topic_id`,
			noID + "/1",
		},
		{`{ search(text: "{}") { nodes { __typename } } }`, started, "0.0.2@1.1"},
	}
	for typ := range strings.FieldsSeq("ACCOUNT BLOCK CONTRACT FILE NETWORK_NODE NFT SCHEDULE TOKEN TOPIC " +
		"TOPIC_MESSAGE TRANSACTION") {
		lists = append(lists, graphList{
			`{ search(text: "{}", types: [` + typ + `]) { nodes { __typename } } }`,
			by("entity", "public_key"), "zzzqqq",
		})
	}
	return lists
}

// requests returns the documents of a list with the rarest, the median, the most frequent and an absent value.
func (l *graphList) requests(t *testing.T, v *values) []*measured {
	t.Helper()
	values := append(v.of(t, l.values), l.absent)
	var out []*measured
	for _, value := range values {
		document := l.document
		for word := range strings.FieldsSeq(value) {
			document = strings.Replace(document, "{}", word, 1)
		}
		out = append(out, &measured{path: document, group: l.document, served: servedDocument(document)})
	}
	return out
}

// nodesOf matches the list of a document and its arguments.
var nodesOf = regexp.MustCompile(`(\w+)(\([^)]*\))? \{ (totalCount \{ value \} )?nodes`)

// servedDocument reports whether an index serves the list of a document. Statistics read all rows of their range.
func servedDocument(document string) bool {
	list := nodesOf.FindStringSubmatch(document)
	if list == nil {
		return !strings.Contains(document, "stats(")
	}
	name := list[1]
	if root := map[string]string{
		"results": "contractResults", "logs": "contractLogs",
		"balances": "tokenBalances",
	}[name]; root != "" && strings.Count(document, "(") > 1 {
		name = root
	}
	return storage.FindUnindexed(name, func(filter string) bool {
		return strings.Contains(list[2], filter+":") ||
			(filter == "accountId" || filter == "ownerId" || filter == "creatorAccountId") &&
				strings.HasPrefix(document, "{ account(")
	}) == nil
}

// ask sends a request: a path of the REST API or a document.
func (m *measured) ask(t *testing.T, g *testenv.Gateway) *testenv.Response {
	t.Helper()
	if strings.HasPrefix(m.path, "{") {
		return g.Query(t, m.path, nil)
	}
	return g.Get(t, "/api/v1"+m.path)
}
