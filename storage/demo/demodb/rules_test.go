package demodb

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/storage/pgtest"
)

// rules are queries that count violations of what a ledger database promises.
var rules = map[string]string{
	"hbar transfers of a transaction add up to zero": `
		select count(*) from (select from crypto_transfer group by consensus_timestamp having sum(amount) <> 0) x`,
	"token transfers of a transaction add up to zero, except where the supply changes": `
		select count(*) from (select consensus_timestamp from token_transfer group by consensus_timestamp, token_id having sum(amount) <> 0) x
		join transaction t using (consensus_timestamp) where t.type not in (29, 37, 38, 39)`,
	"all hbars are somewhere": `select abs(sum(balance) - 5000000000000000000)::bigint from entity`,
	"nobody owes anything": `
		select (select count(*) from entity where balance < 0) + (select count(*) from account_balance where balance < 0)
		     + (select count(*) from token_account where balance < 0) + (select count(*) from token_balance where balance < 0)`,
	"balances are opening balances plus transfers": `
		select count(*) from entity e
		join lateral (select balance, consensus_timestamp as ts from account_balance b where b.account_id = e.id order by ts limit 1) first on true
		join lateral (select coalesce(sum(amount), 0) as moved from crypto_transfer x where x.entity_id = e.id and x.consensus_timestamp > first.ts) m on true
		where e.balance <> first.balance + m.moved`,
	"accounts that were created on the way have what they received": `
		select count(*) from entity e where type in ('ACCOUNT', 'CONTRACT') and id > 1000
		and balance <> (select coalesce(sum(amount), 0) from crypto_transfer x where x.entity_id = e.id)`,
	"token balances are sums of transfers": `
		select count(*) from token_account a join token t using (token_id) where t.type = 'FUNGIBLE_COMMON'
		and a.balance <> (select coalesce(sum(amount), 0) from token_transfer x where x.account_id = a.account_id and x.token_id = a.token_id)`,
	"supplies are sums of holdings": `
		select count(*) from token t where total_supply <> (select coalesce(sum(balance), 0) from token_account a where a.token_id = t.token_id)`,
	"supplies are below the maximum": `select count(*) from token where total_supply > max_supply`,
	"holdings of serials are counted": `
		select count(*) from (select account_id, token_id, count(*) n from nft where account_id is not null group by 1, 2) n
		full join (select account_id, token_id, balance n from token_account join token using (token_id) where type = 'NON_FUNGIBLE_UNIQUE' and balance <> 0) a
		using (account_id, token_id) where n.n is distinct from a.n`,
	"burned serials belong to nobody": `select count(*) from nft where deleted <> (account_id is null)`,
	"the last snapshot is the present": `
		select count(*) from entity e where type in ('ACCOUNT', 'CONTRACT') and balance is distinct from (
			select balance from account_balance b where b.account_id = e.id order by consensus_timestamp desc limit 1)`,
	"the last token snapshot is the present": `
		select count(*) from token_account a where associated and balance is distinct from (
			select balance from token_balance b where b.account_id = a.account_id and b.token_id = a.token_id order by consensus_timestamp desc limit 1)`,
	"the treasury is in every snapshot": `
		select count(*) from account_balance_file f where not exists (
			select from account_balance b where b.consensus_timestamp = f.consensus_timestamp and b.account_id = 2)`,
	"each month begins with a full snapshot": `
		select count(*) from (select min(consensus_timestamp) ts from account_balance_file group by date_trunc('month', to_timestamp(consensus_timestamp / 1e9) at time zone 'UTC')) m
		where (select count(*) from account_balance b where b.consensus_timestamp = m.ts) <>
		      (select count(*) from entity where type in ('ACCOUNT', 'CONTRACT') and created_timestamp <= m.ts)`,
	"snapshots are at the end of blocks, 15 minutes to 7 days apart": `
		select count(*) from (select consensus_timestamp ts, lag(consensus_timestamp) over (order by consensus_timestamp) previous from account_balance_file) f
		where ts - previous not between 900000000000 and 604800000000000 or not exists (select from record_file where consensus_end = ts)`,
	"every transaction is in its block": `
		select count(*) from transaction t cross join lateral (
			select consensus_start from record_file r where r.consensus_end >= t.consensus_timestamp order by consensus_end limit 1) b
		where b.consensus_start > t.consensus_timestamp`,
	"blocks count their transactions": `
		select count(*) from record_file r where count <> (select count(*) from transaction t where t.consensus_timestamp between r.consensus_start and r.consensus_end)`,
	"blocks count the gas of top-level results": `
		select count(*) from record_file r where gas_used <> (
			select coalesce(sum(gas_used), 0) from contract_result c where transaction_nonce = 0 and c.consensus_timestamp between r.consensus_start and r.consensus_end)`,
	"blocks are numbered from 0, chained and apart": `
		select count(*) from (select index, prev_hash, consensus_start, consensus_end, lag(index) over w i, lag(hash) over w h, lag(consensus_end) over w e
			from record_file window w as (order by consensus_end)) b
		where index <> coalesce(i + 1, 0) or prev_hash <> coalesce(h, repeat('0', 96)) or consensus_start <= e or consensus_end < consensus_start`,
	"positions in a block follow time": `
		select count(*) from (select t.index, row_number() over (partition by r.index order by consensus_timestamp) - 1 as n
			from transaction t join record_file r on t.consensus_timestamp between r.consensus_start and r.consensus_end) x where index <> n`,
	"EVM transactions of a block are numbered": `
		select count(*) from (
			select c.transaction_index, dense_rank() over (partition by r.index order by consensus_timestamp) - 1 as n
			from (select consensus_timestamp, transaction_index from contract_result union select consensus_timestamp, transaction_index from contract_log) c
			join record_file r on c.consensus_timestamp between r.consensus_start and r.consensus_end) x where transaction_index <> n`,
	"transactions are found by hash": `
		select count(*) from transaction t where type <> 27 and not exists (
			select from get_transaction_info_by_hash(substring(t.transaction_hash for 32)) g
			where g.hash = t.transaction_hash and g.consensus_timestamp = t.consensus_timestamp and g.payer_account_id = t.payer_account_id)`,
	"ethereum transactions are found by hash": `
		select count(*) from ethereum_transaction t where not exists (
			select from get_transaction_info_by_hash(t.hash) g where g.hash = t.hash and g.consensus_timestamp = t.consensus_timestamp)`,
	"valid starts come shortly before consensus": `
		select count(*) from transaction where valid_start_ns >= consensus_timestamp or (not scheduled and consensus_timestamp - valid_start_ns > 180000000000)`,
	"one id belongs to one transaction, its children, its execution and its duplicates": `
		select count(*) from (select from transaction where result <> 11 group by payer_account_id, valid_start_ns, nonce, scheduled having count(*) > 1) x`,
	"parents exist and come first": `
		select count(*) from transaction c where parent_consensus_timestamp is not null and not exists (
			select from transaction p where p.consensus_timestamp = c.parent_consensus_timestamp and p.consensus_timestamp < c.consensus_timestamp
			and (p.valid_start_ns = c.valid_start_ns or p.type = 74))
		and not exists (select from transaction p where p.type = 74 and p.consensus_timestamp = c.parent_consensus_timestamp)`,
	"whoever pays or receives exists": `
		select count(*) from (select payer_account_id id, consensus_timestamp ts from transaction union all select entity_id, consensus_timestamp from crypto_transfer) x
		left join entity e on e.id = x.id where e.id is null or e.created_timestamp > x.ts`,
	"what transactions are about exists": `select count(*) from transaction t where entity_id is not null and not exists (select from entity e where e.id = t.entity_id)`,
	"batches name their inner transactions": `
		select count(*) from transaction t, generate_series(1, cardinality(inner_transactions), 2) i where not exists (
			select from transaction x where x.payer_account_id = t.inner_transactions[i] and x.valid_start_ns = t.inner_transactions[i + 1] and x.parent_consensus_timestamp = t.consensus_timestamp)`,
	"messages are numbered and are transactions": `
		select count(*) from (select m.*, row_number() over (partition by topic_id order by consensus_timestamp) n from topic_message m) m
		left join transaction t using (consensus_timestamp) where sequence_number <> n or t.type <> 27 or t.result <> 22 or t.entity_id <> m.topic_id`,
	"submits that succeeded left a message": `
		select count(*) from transaction t where type = 27 and result = 22 and not exists (select from topic_message m where m.consensus_timestamp = t.consensus_timestamp)`,
	"tokens and topics have an entity and a fee row": `
		select count(*) from (select token_id id, 'TOKEN'::entity_type kind from token union all select id, 'TOPIC' from topic) x
		where not exists (select from entity e where e.id = x.id and e.type = kind) or not exists (select from custom_fee f where f.entity_id = x.id)`,
	"contracts have an entity": `select count(*) from entity e full join contract c on c.id = e.id where (e.type = 'CONTRACT') is distinct from (c.id is not null)`,
	"results have transactions and are found": `
		select count(*) from contract_result c where not exists (select from transaction t where t.consensus_timestamp = c.consensus_timestamp
				and t.payer_account_id = c.payer_account_id and t.result = c.transaction_result and t.nonce = c.transaction_nonce)
			or not exists (select from contract_transaction x where x.consensus_timestamp = c.consensus_timestamp and x.entity_id = c.contract_id and c.contract_id = any (x.contract_ids))
			or not exists (select from contract_transaction x where x.consensus_timestamp = c.consensus_timestamp and x.entity_id = c.payer_account_id)
			or not exists (select from contract_transaction_hash h where h.consensus_timestamp = c.consensus_timestamp and h.hash = c.transaction_hash and h.entity_id = c.contract_id)`,
	"logs and state changes of a result name involved contracts": `
		select count(*) from (select consensus_timestamp, contract_id from contract_log union select consensus_timestamp, contract_id from contract_state_change where value_written is not null) l
		where exists (select from contract_result r where r.consensus_timestamp = l.consensus_timestamp)
		  and not exists (select from contract_transaction x where x.consensus_timestamp = l.consensus_timestamp and l.contract_id = any (x.contract_ids))`,
	"logs of a transaction are numbered": `
		select count(*) from (select index, row_number() over (partition by consensus_timestamp order by index) - 1 n from contract_log) x where index <> n`,
	"failed results left no logs": `select count(*) from contract_log l join contract_result r using (consensus_timestamp) where r.transaction_result <> 22`,
	"storage is the last change": `
		select count(*) from contract_state s where ltrim(s.value, '\x00'::bytea) is distinct from (
			select value_written from contract_state_change c where c.contract_id = s.contract_id and c.slot = ltrim(s.slot, '\x00'::bytea)
			and value_written is not null order by consensus_timestamp desc limit 1) or length(s.slot) <> 32`,
	"what a change read is what the one before wrote": `
		select count(*) from (select value_read, lag(coalesce(value_written, value_read)) over (partition by contract_id, slot order by consensus_timestamp) before
			from contract_state_change) x where value_read <> coalesce(before, '')`,
	"topics have no leading zeros": `
		select count(*) from contract_log where '\x00'::bytea in (substring(topic0 for 1), substring(topic1 for 1), substring(topic2 for 1), substring(topic3 for 1))`,
	"executed schedules ran": `
		select count(*) from schedule s where executed_timestamp is not null and not exists (
			select from transaction t join transaction c on c.consensus_timestamp = s.consensus_timestamp
			where t.consensus_timestamp = s.executed_timestamp and t.scheduled and t.payer_account_id = c.payer_account_id and t.valid_start_ns = c.valid_start_ns)`,
	"rewards come from the reward account": `
		select count(*) from staking_reward_transfer s where not exists (
			select from crypto_transfer c where c.consensus_timestamp = s.consensus_timestamp and c.entity_id = 800)`,
	"public keys are in the keys":  `select count(*) from entity where public_key is not null and position(decode(public_key, 'hex') in key) = 0`,
	"addresses are unique":         `select count(*) from (select from entity where evm_address is not null group by evm_address having count(*) > 1 or max(length(evm_address)) <> 20) x`,
	"allowances are not overspent": `select count(*) from (select amount, amount_granted from crypto_allowance union all select amount, amount_granted from token_allowance) a where amount < 0 or amount > amount_granted`,
	"address books follow each other": `
		select count(*) from (select end_consensus_timestamp e, lead(start_consensus_timestamp) over (partition by file_id order by start_consensus_timestamp) n, start_consensus_timestamp s from address_book) b
		where e is distinct from n or not exists (select from file_data where consensus_timestamp = s - 1)`,
	"hook storage is the last change": `
		select count(*) from hook_storage s where (value, deleted) is distinct from (
			select (value_written, c.deleted) from hook_storage_change c where c.owner_id = s.owner_id and c.hook_id = s.hook_id and c.key = s.key order by consensus_timestamp desc limit 1)`,
}

// versionedTables are the tables with a history, and their keys.
var versionedTables = map[string]string{
	"entity": "id", "entity_stake": "id", "token": "token_id", "token_account": "account_id, token_id", "token_allowance": "owner, spender, token_id",
	"token_airdrop": "sender_account_id, receiver_account_id, token_id, serial_number", "crypto_allowance": "owner, spender",
	"nft_allowance": "owner, spender, token_id", "nft": "token_id, serial_number", "custom_fee": "entity_id", "topic": "id", "node": "node_id",
	"registered_node": "registered_node_id", "hook": "owner_id, hook_id",
}

func TestSoundness(t *testing.T) {
	t.Parallel()
	conn := pgtest.Connect(t, filled.Shared(t))
	for name, query := range rules {
		if n := one(t, conn, query); n != 0 {
			t.Errorf("%s: %d violations", name, n)
		}
	}
	soundVersions(t, conn)
}

// soundVersions checks that versions follow each other without gaps.
func soundVersions(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	for table, k := range versionedTables {
		gaps := fmt.Sprintf(`
			select count(*) from (
				select timestamp_range r, lead(timestamp_range) over (partition by %[2]s order by timestamp_range) n
				from (select timestamp_range, %[2]s from %[1]s union all select timestamp_range, %[2]s from %[1]s_history) v) x
			where isempty(r) or upper(r) is distinct from lower(n)`, table, k)
		if n := one(t, conn, gaps); n != 0 {
			t.Errorf("%s: %d versions that do not end where the next one begins", table, n)
		}
		orphans := fmt.Sprintf("select count(*) from (select %[2]s from %[1]s_history except select %[2]s from %[1]s) x", table, k)
		if n := one(t, conn, orphans); n != 0 {
			t.Errorf("%s: %d objects in the history only", table, n)
		}
	}
}

// TestSoundnessAtTurns loads the demo at times at which days, months and years turn.
func TestSoundnessAtTurns(t *testing.T) {
	t.Parallel()
	for _, now := range []string{"2026-01-01T00:00:03Z", "2026-03-01T00:12:00Z", "2028-02-29T23:59:59Z"} {
		t.Run(now, func(t *testing.T) {
			at, err := time.Parse(time.RFC3339, now)
			if err != nil {
				t.Fatal(err)
			}
			conn := pgtest.Connect(t, empty.Fresh(t))
			if _, err := Load(t.Context(), conn, at, nil); err != nil {
				t.Fatal(err)
			}
			for name, query := range rules {
				if strings.Contains(name, "snapshot") || strings.Contains(name, "block") {
					if n := one(t, conn, query); n != 0 {
						t.Errorf("%s: %d violations", name, n)
					}
				}
			}
		})
	}
}
