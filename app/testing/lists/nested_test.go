package lists

import (
	"fmt"
	"strings"
	"testing"
)

// nestedList is a list of an object, or one at the root with arguments that no REST path has.
type nestedList struct {
	parent string // the field of the object, or ""; {0}, {1} and so on stand for words of a value
	field  string
	values string // as in [filter]
	args   []string
}

// grouped has the values of a column, each with the greatest values of other columns.
func grouped(table, column string, others ...string) string {
	var words strings.Builder
	for _, other := range others {
		words.WriteString(", coalesce(max(" + other + ")::text, '0')")
	}
	return `select concat_ws(' ', ` + column + words.String() + `) as v, count(*) as n from ` + table + ` where ` +
		column + ` is not null group by ` + column
}

// filters returns filters with one member each, and none.
func filters(members ...string) []string {
	out := []string{""}
	for _, member := range members {
		out = append(out, "filter: {"+member+"}")
	}
	return out
}

const (
	seconds = `consensus_timestamp / 1000000000`
	exactly = `consensus_timestamp / 1000000000 || '.' || lpad((consensus_timestamp % 1000000000)::text, 9, '0')`
	ofBlock = ` join record_file b on consensus_timestamp between b.consensus_start and b.consensus_end`
	day     = `timestamp: {gte: "{1}", lt: "{2}"}`
	since   = `timestamp: {gte: "{1}"}`
)

func hexOf(column string) string { return `'0x' || encode(` + column + `, 'hex')` }

func nestedLists() []nestedList {
	const account, token, contract, nft = `account(id: "{0}")`, `token(id: "{0}")`, `contract(id: "{0}")`,
		`nft(token: "{0}", serialNumber: {1})`
	results := filters(since, `contractId: {eq: "{2}"}`, `from: {eq: "{3}"}`, `transactionIndex: [0]`,
		`internal: true`, `synthetic: false`)
	ofResult := func(table, column string) string {
		return grouped(table, column, seconds, "contract_id", "sender_id")
	}
	logs := filters(since, `contractId: {eq: "{2}"}`, since+`, index: {gte: 1}`, since+`, topics: [["{3}"]]`,
		`transactionHash: "{4}"`)
	ofLog := func(table, column string) string {
		return grouped(table, column, seconds, "contract_id", hexOf("topic0"), hexOf("transaction_hash"))
	}
	nfts := filters(`tokenId: {eq: "{1}"}`, `owner: "{2}"`, `ownerId: {eq: "{2}"}`, `spenderId: {eq: "{3}"}`,
		`serialNumber: {gt: 5}`, `deleted: true`,
		`anyOf: [{tokenId: {eq: "{1}"}, serialNumber: {gt: 5}}, {tokenId: {gt: "{1}"}}]`)
	ofNFT := func(column string) string { return grouped("nft", column, "token_id", "account_id", "spender") }
	airdrops := filters(`accountId: {eq: "{1}"}`, `tokenId: {eq: "{2}"}`,
		`tokenId: {eq: "{2}"}, serialNumber: {eq: 1}`,
		`accountId: {gte: "{1}"}, tokenId: {gte: "{2}"}, bounds: IN_ORDER`)
	allowed := filters(`accountId: {eq: "{1}"}`, `tokenId: {eq: "{2}"}`,
		`accountId: {gte: "{1}"}, tokenId: {gte: "{2}"}, bounds: IN_ORDER`)
	amounts := filters(`ownerId: {eq: "{0}"}`, `spenderId: {eq: "{1}"}`, `tokenId: {eq: "{2}"}`,
		`anyOf: [{spenderId: {eq: "{1}"}, tokenId: {gt: "{2}"}}, {spenderId: {gt: "{1}"}}]`)
	holders := filters(`accountId: {eq: "{1}"}`, `balance: {gt: 5}`, `publicKey: {eq: "{2}"}`)
	ofToken := `select * from (` + grouped("token_account", "token_id", "account_id",
		"(select max(public_key) from entity)") + `) t where n <= 15000`
	return []nestedList{
		{account, "transactions", grouped("crypto_transfer", "entity_id", seconds, "payer_account_id"), filters(
			since, `accountId: {eq: "{2}"}`, `account: "{2}"`, `types: [CRYPTOTRANSFER]`, `types: [TOKENMINT]`,
			`outcome: FAILURE`, `direction: CREDIT`, `direction: DEBIT`)},
		{account, "transactions", grouped("transaction", "payer_account_id", "entity_id"), filters(`entityId: "{1}"`)},
		{account, "transactions", grouped("token_transfer", "account_id", "token_id"), filters(`tokenId: "{1}"`)},
		{
			"", "transactions", grouped("transaction", "entity_id", seconds),
			filters(`entityId: "{0}"`, `entityId: "{0}", `+since),
		},
		{
			"", "transactions", grouped("token_transfer", "token_id", seconds),
			filters(`tokenId: "{0}"`, `tokenId: "{0}", `+since),
		},
		{account, "transfers", grouped("crypto_transfer", "entity_id", seconds), []string{since, "direction: CREDIT"}},
		{
			token, "transfers", daily("token_transfer", "token_id"),
			[]string{day, day + ", direction: CREDIT", day + ", direction: DEBIT"},
		},
		{account, "outstandingAirdrops", grouped("token_airdrop", "sender_account_id", "receiver_account_id",
			"token_id"), airdrops},
		{
			account, "pendingAirdrops",
			grouped("token_airdrop", "receiver_account_id", "sender_account_id", "token_id"),
			airdrops,
		},
		{account, "rewards", grouped("staking_reward_transfer", "account_id", seconds), filters(since)},
		{account, "history", by("entity_history", "id"), filters()},
		{account, "hooks", grouped("hook", "owner_id", "hook_id"), filters(`hookId: {gte: {1}}`)},
		{account, "nfts", ofNFT("account_id"), nfts},
		{token, "nfts", ofNFT("token_id"), nfts},
		{"", "nfts", ofNFT("token_id"), nfts},
		{account, "nftAllowances", grouped("nft_allowance", "owner", "spender", "token_id"), allowed},
		{account, "receivedNFTAllowances", grouped("nft_allowance", "spender", "owner", "token_id"), allowed},
		{
			account, "schedules", grouped("schedule", "creator_account_id", "schedule_id"),
			filters(`id: {lt: "{1}"}`, `creatorAccountId: {eq: "{0}"}`, `state: EXECUTED`),
		},
		{
			"", "schedules", grouped("schedule", "creator_account_id"),
			filters(`creatorAccountId: {eq: "{0}"}, state: DELETED`, `creatorAccountId: {eq: "{0}"}, state: EXPIRED`),
		},
		{account, "tokens", grouped("token_account", "account_id", "token_id"), filters(`tokenId: {lt: "{1}"}`)},
		{account + ` { allowances`, "crypto", grouped("crypto_allowance", "owner", "spender"), amounts[:3]},
		{account + ` { allowances`, "tokens", grouped("token_allowance", "owner", "spender", "token_id"), amounts},
		{
			"", "cryptoAllowances", grouped("crypto_allowance", "owner", "spender"),
			[]string{`owner: "{0}", ` + amounts[1]},
		},
		{
			"", "tokenAllowances", grouped("token_allowance", "owner", "spender", "token_id"),
			[]string{`owner: "{0}", ` + amounts[1], `owner: "{0}", ` + amounts[4]},
		},
		{account, "contractResults", ofResult("contract_result", "sender_id"), results},
		{contract, "results", ofResult("contract_result", "contract_id"), results},
		{`block(number: {0})`, "contractResults", ofResult("contract_result"+ofBlock, "b.index"), results},
		{"", "contractResults", ofResult("contract_result", "contract_id"), results},
		{contract, "logs", ofLog("contract_log", "contract_id"), logs},
		{`block(number: {0})`, "contractLogs", ofLog("contract_log"+ofBlock, "b.index"), logs},
		{`transaction(at: "{0}")`, "contractLogs", ofLog("contract_log", exactly), logs},
		{"", "contractLogs", ofLog("contract_log", "contract_id"), logs[:4]},
		{`block(number: {0})`, "transactions", `select index as v, count as n from record_file`, filters()},
		{
			contract, "state", grouped("contract_state", "contract_id", "modified_timestamp / 1000000000",
				hexOf("slot")),
			append(filters(`slot: {gt: "{2}"}`), `at: {lte: "{1}"}`),
		},
		{
			`contractResult(hash: "{0}")`, "actions", grouped(
				"contract_action join contract_transaction_hash h using (consensus_timestamp)", hexOf("h.hash")),
			filters(`index: {gte: 1}`),
		},
		{"", "contracts", key("contract", "id"), filters(`contracts: ["{0}"]`)},
		{"", "balances", key("entity where type = 'ACCOUNT'", "id"), filters(`account: "{0}"`)},
		{`hook(owner: "{0}", hookId: {1})`, "storage", grouped("hook_storage", "owner_id || ' ' || hook_id",
			"modified_timestamp / 1000000000", hexOf("key")), append(
			filters(`key: {gt: "{3}"}`), `at: {lte: "{2}"}`)},
		{token, "balances", ofToken, append(holders, `at: {lt: "1759300000"}`)},
		{token, "holders", ofToken, holders},
		{token, "history", by("token_history", "token_id"), filters()},
		{nft, "history", by("nft_history", "token_id || ' ' || serial_number"), filters()},
		{nft, "transactions", grouped("nft_history", "token_id || ' ' || serial_number",
			"lower(timestamp_range) / 1000000000"), filters(`timestamp: {gte: "{2}"}`)},
		{
			`topic(id: "{0}")`, "messages", grouped("topic_message", "topic_id", seconds, "sequence_number"),
			filters(since, `sequenceNumber: {lt: {2}}`),
		},
		{`topic(id: "{0}")`, "transactions", by("topic_message", "topic_id"), filters()},
	}
}

// requests returns the documents of a list with each of its arguments in both orders, for the object with the fewest,
// the median and the most rows, and for the object with the most rows together with the values of that with the
// fewest.
func (l *nestedList) requests(t *testing.T, v *values) []*measured {
	t.Helper()
	values := v.of(t, l.values)
	if n := len(values) - 1; n > 0 {
		_, others, _ := strings.Cut(values[0], " ")
		object, _, _ := strings.Cut(values[n], " ")
		values = append(values[:n+1:n+1], object+" "+others)
	}
	var out []*measured
	for _, args := range l.args {
		for _, order := range []string{"ASC", "DESC"} {
			document := "{ " + l.parent + " { " + l.field + "(" + strings.TrimPrefix(args+", order: "+order, ", ") +
				") { nodes { __typename } } } }"
			document = strings.Replace(document, "{  { ", "{ ", 1) // at the root
			document += strings.Repeat(" }", strings.Count(l.parent, " { "))
			if l.parent == "" {
				document = strings.TrimSuffix(document, " }")
			}
			for _, value := range values {
				path := document
				for i, word := range strings.Fields(value) {
					path = strings.ReplaceAll(path, fmt.Sprintf("{%d}", i), word)
				}
				out = append(out, &measured{path: path, group: document, served: servedDocument(document)})
			}
		}
	}
	return out
}
