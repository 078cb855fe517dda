package v1_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"heliograph/app/testing/testenv"
	"heliograph/storage/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// request is a path relative to the prefix. Words in angle brackets are replaced by values that a statement finds in
// the demo network, so that requests remain valid when its data changes.
type request struct {
	name string // of the golden file
	path string
}

// placeholderQueries returns the statements that find the words in angle brackets.
func placeholderQueries() map[string]string {
	const id = `payer_account_id::text || '-' || valid_start_ns / 1000000000 || '-' || lpad((valid_start_ns % ` +
		`1000000000)::text, 9, '0')`
	const ts = `/ 1000000000 || '.' || lpad((%s % 1000000000)::text, 9, '0')`
	at := func(column string) string {
		return `(` + column + `)::bigint ` + strings.ReplaceAll(ts, "%s", "("+column+")::bigint")
	}
	return map[string]string{
		"evm": `select encode(evm_address, 'hex') from entity where type = 'ACCOUNT' and evm_address is not ` +
			`null and alias is null order by id limit 1`,
		"changed": `select h.id::text from entity_history h join entity e on e.id = h.id where e.type = ` +
			`'ACCOUNT' group by h.id order by count(*) desc, h.id limit 1`,
		"then": `select ` + at("max(lower(h.timestamp_range)) + 1") +
			` from entity_history h where h.id = (select h.id from entity_history h join entity e on e.id = h.id ` +
			`where e.type = 'ACCOUNT' group by h.id order by count(*) desc, h.id limit 1)`,
		"snapshot":   `select ` + at("max(consensus_timestamp)") + ` from account_balance where account_id = 2`,
		"deleted":    `select id::text from entity where type = 'ACCOUNT' and deleted order by id limit 1`,
		"staker":     `select id::text from entity where type = 'ACCOUNT' and staked_node_id >= 0 order by id limit 1`,
		"block":      `select max(index)::text from record_file`,
		"block-hash": `select left(hash, 64) from record_file order by index desc limit 1`,
		"block-time": `select ` + at("max(consensus_end)") + ` from record_file`,
		"topic":      `select topic_id::text from topic_message group by 1 order by count(*) desc, 1 limit 1`,
		"fee-topic": `select entity_id::text from custom_fee f join topic t on t.id = f.entity_id where ` +
			`fixed_fees is not null and fixed_fees <> '[]' order by 1 limit 1`,
		"chunks":     `select topic_id::text from topic_message where chunk_num is not null order by 1 limit 1`,
		"message-at": `select ` + at("min(consensus_timestamp)") + ` from topic_message`,
		"transfer": `select ` + id +
			` from transaction where type = 14 and result = 22 and nonce = 0 order by consensus_timestamp desc limit 1`,
		"nft": `select ` + id +
			` from transaction where nft_transfer is not null order by consensus_timestamp limit 1`,
		"custom-fee": `select ` + id +
			` from transaction where consensus_timestamp = (select min(consensus_timestamp) from assessed_custom_fee)`,
		"reward": `select ` + id +
			` from transaction where consensus_timestamp = (select min(consensus_timestamp) from ` +
			`staking_reward_transfer)`,
		"batch": `select ` + id +
			` from transaction where inner_transactions is not null order by consensus_timestamp limit 1`,
		"scheduled": `select ` + id + ` from transaction where scheduled order by consensus_timestamp limit 1`,
		"hash": `select encode(transaction_hash, 'hex') from transaction where type = 27 order by ` +
			`consensus_timestamp limit 1`,
		"failed": `select ` + id +
			` from transaction where result not in (22, 104, 220) and nonce = 0 order by consensus_timestamp limit 1`,
		"scheduler": `select creator_account_id::text from schedule group by 1 order by count(*) desc, 1 limit 1`,
		"executed":  `select schedule_id::text from schedule where executed_timestamp is not null order by 1 limit 1`,
		"unscheduled": `select s.schedule_id::text from schedule s join entity e on e.id = s.schedule_id where ` +
			`e.deleted order by 1 limit 1`,
		"second-rate": `select ` + at("min(consensus_timestamp)") +
			` from file_data where entity_id = 112 and consensus_timestamp > (select min(consensus_timestamp) from ` +
			`file_data where entity_id = 112)`,
		"child-of": `select ` + id + ` from transaction where nonce > 0 order by consensus_timestamp limit 1`,
	}
}

// fillPlaceholders replaces the words in angle brackets of a path.
func fillPlaceholders(t testing.TB, g *testenv.Gateway, path string) string {
	t.Helper()
	for {
		before, rest, found := strings.Cut(path, "<")
		if !found {
			return path
		}
		word, after, _ := strings.Cut(rest, ">")
		path = before + queryPlaceholder(t, g, word) + after
	}
}

func queryPlaceholder(t testing.TB, g *testenv.Gateway, word string) string {
	t.Helper()
	sql, ok := placeholderQueries()[word]
	if !ok {
		t.Fatalf("unknown placeholder <%s>", word)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var text string
	if err := g.DB.Pool().QueryRow(ctx, sql).Scan(&text); err != nil {
		t.Fatalf("the demo network has no <%s>: %v", word, err)
	}
	if strings.Contains(text, "-") { // a transaction id: prefix the shard and realm
		text = "0.0." + text
	}
	return text
}

// requests returns the requests whose complete responses are in golden files.
func requests() []request {
	return []request{
		{"accounts", "/accounts?limit=5"},
		{"accounts_desc", "/accounts?limit=3&order=desc"},
		{"accounts_without_balance", "/accounts?limit=2&balance=false&account.id=gt:1000"},
		{"accounts_by_id", "/accounts?account.id=1002&account.id=1008"},
		{"accounts_by_balance", "/accounts?account.balance=gt:100000000000&limit=3"},
		{"accounts_none", "/accounts?account.id=gt:0.0.999999"},
		{"accounts_bad", "/accounts?account.id=x&limit=0&foo=1"},
		{"account", "/accounts/1008?limit=3"},
		{"account_by_address", "/accounts/<evm>?limit=1"},
		{"account_contract", "/accounts/3001?limit=1"},
		{"account_deleted", "/accounts/<deleted>?transactions=false"},
		{"account_staker", "/accounts/<staker>?transactions=false"},
		{"account_before", "/accounts/<changed>?timestamp=<then>&transactions=false"},
		{"account_until", "/accounts/<changed>?timestamp=lte:<then>&limit=2&order=asc"},
		{"account_types", "/accounts/1002?transactiontype=cryptotransfer&limit=2"},
		{"account_missing", "/accounts/0.0.999999"},
		{"balances", "/balances?limit=5"},
		{"balances_at", "/balances?timestamp=<snapshot>&limit=4&account.id=gte:1000&order=asc"},
		{"balances_of_treasury", "/balances?account.id=2"},
		{"blocks", "/blocks?limit=2"},
		{"blocks_asc", "/blocks?limit=2&order=asc&block.number=gt:0"},
		{"blocks_at", "/blocks?timestamp=lte:<block-time>&limit=1"},
		{"block", "/blocks/<block>"},
		{"block_by_hash", "/blocks/0x<block-hash>"},
		{"topic", "/topics/<topic>"},
		{"topic_fees", "/topics/<fee-topic>"},
		{"topic_missing", "/topics/0.0.999999"},
		{"messages", "/topics/<topic>/messages?limit=3"},
		{"messages_text", "/topics/<topic>/messages?limit=2&encoding=utf-8&order=desc"},
		{"messages_chunks", "/topics/<chunks>/messages?limit=4"},
		{"message", "/topics/<topic>/messages/1"},
		{"message_at", "/topics/messages/<message-at>"},
		{"transactions", "/transactions?limit=3"},
		{"transactions_asc", "/transactions?limit=3&order=asc"},
		{"transactions_of_account", "/transactions?account.id=1008&limit=3"},
		{"transactions_credit", "/transactions?account.id=1008&type=credit&limit=2"},
		{"transactions_failed", "/transactions?result=fail&limit=2"},
		{"transactions_of_type", "/transactions?transactiontype=TOKENMINT&limit=2"},
		{"transaction", "/transactions/<transfer>"},
		{"transaction_nft", "/transactions/<nft>"},
		{"transaction_custom_fee", "/transactions/<custom-fee>"},
		{"transaction_reward", "/transactions/<reward>"},
		{"transaction_batch", "/transactions/<batch>"},
		{"transaction_scheduled", "/transactions/<scheduled>"},
		{"transaction_execution", "/transactions/<scheduled>?scheduled=true"},
		{"transaction_failed", "/transactions/<failed>"},
		{"transaction_children", "/transactions/<child-of>?nonce=0"},
		{"transaction_by_hash", "/transactions/<hash>"},
		{"transaction_missing", "/transactions/0.0.2-1-1"},
		{"schedules", "/schedules?limit=3"},
		{"schedules_of_account", "/schedules?account.id=<scheduler>&order=desc&limit=2"},
		{"schedules_none", "/schedules?schedule.id=gt:0.0.999999"},
		{"schedule_executed", "/schedules/<executed>"},
		{"schedule_deleted", "/schedules/<unscheduled>"},
		{"network_exchangerate", "/network/exchangerate"},
		{"network_exchangerate_at", "/network/exchangerate?timestamp=lte:<second-rate>"},
		{"network_fees", "/network/fees?order=desc"},
		{"network_nodes", "/network/nodes?limit=2"},
		{"network_nodes_of_file", "/network/nodes?file.id=101&node.id=gte:5&order=desc&limit=25"},
		{"network_registered_nodes", "/network/registered-nodes"},
		{"network_registered_nodes_of_type", "/network/registered-nodes?type=blocknode&limit=1"},
		{"network_stake", "/network/stake"},
		{"network_supply", "/network/supply"},
		{"network_supply_at", "/network/supply?timestamp=<snapshot>"},
	}
}
