package demodb

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/internal/base/breadth"
	"heliograph/storage/pgtest"
)

// law is a promise of a ledger database.
type law struct {
	rows     string // the rows that the law is about, as the rest of a query
	mutation string // a statement that breaks the law. ONE(rows of a table) is a condition for one of these rows.
	broken   string // a query that counts violations
}

// laws are the laws that SQL can check.
var laws = map[string]law{
	"hbar transfers of a transaction add up to zero": {"crypto_transfer", "update crypto_transfer set amount = amount + 1 where ONE(crypto_transfer)", `
		select count(*) from (select from crypto_transfer group by consensus_timestamp having sum(amount) <> 0) x`},
	"token transfers of a transaction add up to zero, except where the supply changes": {"token_transfer", "delete from token_transfer where ONE(token_transfer join transaction using (consensus_timestamp) where type = 14)", `
		select count(*) from (select consensus_timestamp from token_transfer group by consensus_timestamp, token_id having sum(amount) <> 0) x
		join transaction t using (consensus_timestamp) where t.type not in (29, 37, 38, 39)`},
	"logs are synthetic if no contract ran": {
		"contract_log", "update contract_log set synthetic = false where ONE(contract_log where synthetic)",
		`select count(*) from contract_log l where l.synthetic is distinct from
		not exists (select from contract_result r where r.consensus_timestamp = l.consensus_timestamp)`,
	},
	"all hbars are somewhere": {
		"entity where type in ('ACCOUNT', 'CONTRACT')",
		"update entity set balance = balance + 1 where id = 1001",
		`select abs(sum(balance) - 5000000000000000000)::bigint from entity`,
	},
	"nobody owes anything": {"entity where type in ('ACCOUNT', 'CONTRACT')", "update entity set balance = -1 where id = 1001", `
		select (select count(*) from entity where balance < 0) + (select count(*) from account_balance where balance < 0)
		     + (select count(*) from token_account where balance < 0) + (select count(*) from token_balance where balance < 0)`},
	"balances are opening balances plus transfers": {"entity where type in ('ACCOUNT', 'CONTRACT')", "update entity set balance = balance + 1 where id = 1001", `
		with opening as (select distinct on (account_id) account_id, balance, consensus_timestamp as ts from account_balance order by account_id, ts),
		moved as (select account_id, sum(amount) as amount from opening join crypto_transfer x on x.entity_id = account_id and x.consensus_timestamp > ts group by 1)
		select count(*) from opening o join entity e on e.id = o.account_id left join moved m using (account_id)
		where e.balance <> o.balance + coalesce(m.amount, 0)`},
	"accounts that were created on the way have what they received": {"entity where type in ('ACCOUNT', 'CONTRACT') and id > 1000", "update entity set balance = balance + 1 where id = 1001", `
		select count(*) from entity e left join (select entity_id, sum(amount) as received from crypto_transfer group by 1) x on x.entity_id = e.id
		where type in ('ACCOUNT', 'CONTRACT') and id > 1000 and balance <> coalesce(received, 0)`},
	"token balances are sums of transfers": {"token_account", "update token_account set balance = balance + 1 where account_id = 1001 and token_id = 2001", `
		select count(*) from token_account a join token t using (token_id) where t.type = 'FUNGIBLE_COMMON'
		and a.balance <> (select coalesce(sum(amount), 0) from token_transfer x where x.account_id = a.account_id and x.token_id = a.token_id)`},
	"supplies are sums of holdings": {"token", "update token set total_supply = total_supply + 1 where token_id = 2001", `
		select count(*) from token t where total_supply <> (select coalesce(sum(balance), 0) from token_account a where a.token_id = t.token_id)`},
	"supplies are below the maximum": {
		"token", "update token set max_supply = 1 where token_id = 2002",
		`select count(*) from token where total_supply > max_supply`,
	},
	"holdings of serials are counted": {"nft where account_id is not null", "update nft set account_id = 1003 where ONE(nft where account_id = 1001)", `
		select count(*) from (select account_id, token_id, count(*) n from nft where account_id is not null group by 1, 2) n
		full join (select account_id, token_id, balance n from token_account join token using (token_id) where type = 'NON_FUNGIBLE_UNIQUE' and balance <> 0) a
		using (account_id, token_id) where n.n is distinct from a.n`},
	"burned serials belong to nobody": {
		"nft where deleted",
		"update nft set deleted = true where ONE(nft where not deleted)",
		`select count(*) from nft where deleted <> (account_id is null)`,
	},
	"the last snapshot is the present": {"entity where type in ('ACCOUNT', 'CONTRACT')", "update account_balance set balance = balance + 1 where account_id = 1001", `
		select count(*) from entity e where type in ('ACCOUNT', 'CONTRACT') and balance is distinct from (
			select balance from account_balance b where b.account_id = e.id order by consensus_timestamp desc limit 1)`},
	"the last token snapshot is the present": {"token_account where associated", "update token_balance set balance = balance + 1 where account_id = 1001", `
		select count(*) from token_account a where associated and balance is distinct from (
			select balance from token_balance b where b.account_id = a.account_id and b.token_id = a.token_id order by consensus_timestamp desc limit 1)`},
	"the treasury is in every snapshot": {"account_balance_file", "delete from account_balance where ONE(account_balance where account_id = 2)", `
		select count(*) from account_balance_file f where not exists (
			select from account_balance b where b.consensus_timestamp = f.consensus_timestamp and b.account_id = 2)`},
	"each month begins with a full snapshot": {"account_balance_file", "delete from account_balance where account_id = 800", `
		select count(*) from (select min(consensus_timestamp) ts from account_balance_file group by date_trunc('month', to_timestamp(consensus_timestamp / 1e9) at time zone 'UTC')) m
		where (select count(*) from account_balance b where b.consensus_timestamp = m.ts) <>
		      (select count(*) from entity where type in ('ACCOUNT', 'CONTRACT') and created_timestamp <= m.ts)`},
	"snapshots are at the end of blocks, 15 minutes to 7 days apart": {"account_balance_file", "update account_balance_file set consensus_timestamp = consensus_timestamp + 1 where ONE(account_balance_file)", `
		select count(*) from (select consensus_timestamp ts, lag(consensus_timestamp) over (order by consensus_timestamp) previous from account_balance_file) f
		where ts - previous not between 900000000000 and 604800000000000 or not exists (select from record_file where consensus_end = ts)`},
	"every transaction is in its block": {"transaction", "update record_file set consensus_start = consensus_start + 1 where ONE(record_file)", `
		select count(*) from transaction t cross join lateral (
			select consensus_start from record_file r where r.consensus_end >= t.consensus_timestamp order by consensus_end limit 1) b
		where b.consensus_start > t.consensus_timestamp`},
	"blocks count their transactions": {"record_file", "update record_file set count = count + 1 where ONE(record_file)", `
		select count(*) from record_file r where count <> (select count(*) from transaction t where t.consensus_timestamp between r.consensus_start and r.consensus_end)`},
	"blocks count the gas of top-level results": {"record_file", "update record_file set gas_used = gas_used + 1 where ONE(record_file)", `
		select count(*) from record_file r where gas_used <> (
			select coalesce(sum(gas_used), 0) from contract_result c where transaction_nonce = 0 and c.consensus_timestamp between r.consensus_start and r.consensus_end)`},
	"blocks are numbered from 0, chained and apart": {"record_file", "update record_file set prev_hash = hash where ONE(record_file)", `
		select count(*) from (select index, prev_hash, consensus_start, consensus_end, lag(index) over w i, lag(hash) over w h, lag(consensus_end) over w e
			from record_file window w as (order by consensus_end)) b
		where index <> coalesce(i + 1, 0) or prev_hash <> coalesce(h, repeat('0', 96)) or consensus_start <= e or consensus_end < consensus_start`},
	"positions in a block follow time": {"transaction", "update transaction set index = index + 1 where ONE(transaction)", `
		select count(*) from (select t.index, row_number() over (partition by r.index order by consensus_timestamp) - 1 as n
			from transaction t join record_file r on t.consensus_timestamp between r.consensus_start and r.consensus_end) x where index <> n`},
	"EVM transactions of a block are numbered": {"contract_result", "update contract_result set transaction_index = transaction_index + 1 where ONE(contract_result)", `
		select count(*) from (
			select c.transaction_index, dense_rank() over (partition by r.index order by consensus_timestamp) - 1 as n
			from (select consensus_timestamp, transaction_index from contract_result union select consensus_timestamp, transaction_index from contract_log) c
			cross join lateral (select index from record_file where consensus_end >= consensus_timestamp order by consensus_end limit 1) r) x
		where transaction_index <> n`},
	"transactions are found by hash": {"transaction where type <> 27", "delete from transaction_hash where hash_suffix is not null", `
		select count(*) from transaction t where type <> 27 and not exists (
			select from get_transaction_info_by_hash(substring(t.transaction_hash for 32)) g
			where g.hash = t.transaction_hash and g.consensus_timestamp = t.consensus_timestamp and g.payer_account_id = t.payer_account_id)`},
	"ethereum transactions are found by hash": {"ethereum_transaction", "delete from transaction_hash where hash_suffix is null", `
		select count(*) from ethereum_transaction t where not exists (
			select from get_transaction_info_by_hash(t.hash) g where g.hash = t.hash and g.consensus_timestamp = t.consensus_timestamp)`},
	"valid starts come shortly before consensus": {"transaction", "update transaction set valid_start_ns = consensus_timestamp where ONE(transaction)", `
		select count(*) from transaction where valid_start_ns >= consensus_timestamp or (not scheduled and consensus_timestamp - valid_start_ns > 180000000000)`},
	"one id belongs to one transaction, its children, its execution and its duplicates": {"transaction", "update transaction set valid_start_ns = 1, nonce = 0 where payer_account_id = 1001", `
		select count(*) from (select from transaction where result <> 11 group by payer_account_id, valid_start_ns, nonce, scheduled having count(*) > 1) x`},
	"parents exist and come first": {"transaction where parent_consensus_timestamp is not null", "update transaction set parent_consensus_timestamp = 1 where parent_consensus_timestamp is not null", `
		select count(*) from transaction c where parent_consensus_timestamp is not null and not exists (
			select from transaction p where p.consensus_timestamp = c.parent_consensus_timestamp and p.consensus_timestamp < c.consensus_timestamp
			and (p.valid_start_ns = c.valid_start_ns or p.type = 74))
		and not exists (select from transaction p where p.type = 74 and p.consensus_timestamp = c.parent_consensus_timestamp)`},
	"whoever pays or receives exists": {"crypto_transfer", "update crypto_transfer set entity_id = 999999 where ONE(crypto_transfer)", `
		select count(*) from (select payer_account_id id, consensus_timestamp ts from transaction union all select entity_id, consensus_timestamp from crypto_transfer) x
		left join entity e on e.id = x.id where e.id is null or e.created_timestamp > x.ts`},
	"what transactions are about exists": {
		"transaction where entity_id is not null",
		"update transaction set entity_id = 999999 where ONE(transaction)",
		`select count(*) from transaction t where entity_id is not null and not exists (select from entity e where ` +
			`e.id = t.entity_id)`,
	},
	"batches name their inner transactions": {"transaction where cardinality(inner_transactions) > 0", "update transaction set inner_transactions = '{1, 1}' where cardinality(inner_transactions) > 0", `
		select count(*) from transaction t, generate_series(1, cardinality(inner_transactions), 2) i where not exists (
			select from transaction x where x.payer_account_id = t.inner_transactions[i] and x.valid_start_ns = t.inner_transactions[i + 1] and x.parent_consensus_timestamp = t.consensus_timestamp)`},
	"messages are numbered and are transactions": {"topic_message", "update topic_message set sequence_number = sequence_number + 100000 where ONE(topic_message)", `
		select count(*) from (select m.*, row_number() over (partition by topic_id order by consensus_timestamp) n from topic_message m) m
		left join transaction t using (consensus_timestamp) where sequence_number <> n or t.type <> 27 or t.result <> 22 or t.entity_id <> m.topic_id`},
	"submits that succeeded left a message": {"transaction where type = 27 and result = 22", "delete from topic_message where ONE(topic_message)", `
		select count(*) from transaction t where type = 27 and result = 22 and not exists (select from topic_message m where m.consensus_timestamp = t.consensus_timestamp)`},
	"tokens and topics have an entity and a fee row": {"(select from token union all select from topic) x", "delete from custom_fee where entity_id = 2001", `
		select count(*) from (select token_id id, 'TOKEN'::entity_type kind from token union all select id, 'TOPIC' from topic) x
		where not exists (select from entity e where e.id = x.id and e.type = kind) or not exists (select from custom_fee f where f.entity_id = x.id)`},
	"contracts have an entity": {
		"contract", "delete from contract where id = 3001",
		`select count(*) from entity e full join contract c on c.id = e.id where (e.type = 'CONTRACT') is distinct ` +
			`from (c.id is not null)`,
	},
	"results have transactions and are found": {"contract_result", "delete from contract_transaction_hash where ONE(contract_transaction_hash)", `
		select count(*) from contract_result c where not exists (select from transaction t where t.consensus_timestamp = c.consensus_timestamp
				and t.payer_account_id = c.payer_account_id and t.result = c.transaction_result and t.nonce = c.transaction_nonce)
			or not exists (select from contract_transaction x where x.consensus_timestamp = c.consensus_timestamp and x.entity_id = c.contract_id and c.contract_id = any (x.contract_ids))
			or not exists (select from contract_transaction x where x.consensus_timestamp = c.consensus_timestamp and x.entity_id = c.payer_account_id)
			or not exists (select from contract_transaction_hash h where h.consensus_timestamp = c.consensus_timestamp and h.hash = c.transaction_hash and h.entity_id = c.contract_id)`},
	"logs and state changes of a result name involved contracts": {"contract_log", "update contract_transaction set contract_ids = '{}'", `
		select count(*) from (select consensus_timestamp, contract_id from contract_log union select consensus_timestamp, contract_id from contract_state_change where value_written is not null) l
		where exists (select from contract_result r where r.consensus_timestamp = l.consensus_timestamp)
		  and not exists (select from contract_transaction x where x.consensus_timestamp = l.consensus_timestamp and l.contract_id = any (x.contract_ids))`},
	"logs of a transaction are numbered": {"contract_log", "update contract_log set index = index + 1 where ONE(contract_log)", `
		select count(*) from (select index, row_number() over (partition by consensus_timestamp order by index) - 1 n from contract_log) x where index <> n`},
	"failed results left no logs": {
		"contract_result where transaction_result <> 22",
		"update contract_result set transaction_result = 33",
		`select count(*) from contract_log l join contract_result r using (consensus_timestamp) where ` +
			`r.transaction_result <> 22`,
	},
	"storage is the last change": {"contract_state", "update contract_state set value = '\\x77' where ONE(contract_state)", `
		select count(*) from contract_state s where ltrim(s.value, '\x00'::bytea) is distinct from (
			select value_written from contract_state_change c where c.contract_id = s.contract_id and c.slot = ltrim(s.slot, '\x00'::bytea)
			and value_written is not null order by consensus_timestamp desc limit 1) or length(s.slot) <> 32`},
	"what a change read is what the one before wrote": {"contract_state_change", "update contract_state_change set value_read = '\\x77' where ONE(contract_state_change)", `
		select count(*) from (select value_read, lag(coalesce(value_written, value_read)) over (partition by contract_id, slot order by consensus_timestamp) before
			from contract_state_change) x where value_read <> coalesce(before, '')`},
	"topics have no leading zeros": {"contract_log", "update contract_log set topic0 = '\\x0077' where ONE(contract_log)", `
		select count(*) from contract_log where '\x00'::bytea in (substring(topic0 for 1), substring(topic1 for 1), substring(topic2 for 1), substring(topic3 for 1))`},
	"executed schedules ran": {"schedule where executed_timestamp is not null", "update schedule set executed_timestamp = executed_timestamp + 1", `
		select count(*) from schedule s where executed_timestamp is not null and not exists (
			select from transaction t join transaction c on c.consensus_timestamp = s.consensus_timestamp
			where t.consensus_timestamp = s.executed_timestamp and t.scheduled and t.payer_account_id = c.payer_account_id and t.valid_start_ns = c.valid_start_ns)`},
	"rewards come from the reward account": {"staking_reward_transfer", "update staking_reward_transfer set amount = amount + 1 where ONE(staking_reward_transfer)", `
		select count(*) from (select consensus_timestamp ts, sum(amount) paid from staking_reward_transfer group by 1) s
		where not exists (select from crypto_transfer c join transaction t using (consensus_timestamp)
			where c.consensus_timestamp = s.ts and c.entity_id = 800 and c.amount = t.charged_tx_fee / 10 - s.paid)`},
	"public keys are in the keys": {
		"entity where public_key is not null",
		"update entity set public_key = repeat('ab', 32) where id = 1001",
		`select count(*) from entity where public_key is not null and position(decode(public_key, 'hex') in key) = 0`,
	},
	"addresses are unique": {
		"entity where evm_address is not null",
		"update entity set evm_address = decode(repeat('ab', 20), 'hex') where id in (1001, 1002)",
		`select count(*) from (select from entity where evm_address is not null group by evm_address having ` +
			`count(*) > 1 or max(length(evm_address)) <> 20) x`,
	},
	"allowances are not overspent": {
		"(select from crypto_allowance union all select from token_allowance) x",
		"update crypto_allowance set amount = amount_granted + 1",
		`select count(*) from (select amount, amount_granted from crypto_allowance union all select amount, ` +
			`amount_granted from token_allowance) a where amount < 0 or amount > amount_granted`,
	},
	"address books follow each other": {"address_book", "update address_book set end_consensus_timestamp = 5 where ONE(address_book)", `
		select count(*) from (select end_consensus_timestamp e, lead(start_consensus_timestamp) over (partition by file_id order by start_consensus_timestamp) n, start_consensus_timestamp s from address_book) b
		where e is distinct from n or not exists (select from file_data where consensus_timestamp = s - 1)`},
	"hook storage is the last change": {"hook_storage", "update hook_storage set value = '\\x77' where ONE(hook_storage)", `
		select count(*) from hook_storage s where (value, deleted) is distinct from (
			select (value_written, c.deleted) from hook_storage_change c where c.owner_id = s.owner_id and c.hook_id = s.hook_id and c.key = s.key order by consensus_timestamp desc limit 1)`},
	// Ethereum transactions
	"the sender of an Ethereum transaction takes part in it": {"ethereum_transaction", "delete from crypto_transfer where entity_id = 1002", `
		select count(*) from ethereum_transaction x join contract_result r using (consensus_timestamp)
		left join entity e on e.id = r.sender_id or (r.sender_id is null and position(e.evm_address in r.function_result) > 0)
		where not exists (select from entity_transaction t where t.consensus_timestamp = x.consensus_timestamp and t.entity_id = e.id)
		or not exists (select from crypto_transfer c where c.consensus_timestamp = x.consensus_timestamp and c.entity_id = e.id)`},
	"parities are 0x0 or 0x1": {
		"ethereum_transaction, jsonb_array_elements(authorization_list)",
		`update ethereum_transaction set authorization_list = replace(authorization_list::text, '"y_parity": "0x', ` +
			`'"y_parity": "0x0')::jsonb`,
		"select count(*) from ethereum_transaction, jsonb_array_elements(authorization_list) a where a->>'y_parity' " +
			"not in ('0x0', '0x1')",
	},
	// contracts
	"token transfers in calls are logged at the time, hash and index of the call": {
		"contract_result where contract_id = 359 and transaction_nonce > 0", "update contract_log set transaction_index = transaction_index + 1 where root_contract_id = 3009", `
		select (select count(*) from contract_log join transaction using (consensus_timestamp) where nonce > 0) + (
			select count(*) from token_transfer x join transaction t using (consensus_timestamp) where t.nonce > 0 and x.amount > 0 and not exists (
				select from contract_log l join contract_result p using (consensus_timestamp, transaction_hash, transaction_index)
				where l.consensus_timestamp = t.parent_consensus_timestamp and l.contract_id = x.token_id and l.root_contract_id = p.contract_id))`,
	},
	"logs have the hash and index of their result": {
		"contract_log join contract_result using (consensus_timestamp)",
		"update contract_log set transaction_hash = '\\x77'",
		`select count(*) from contract_log l join contract_result r using (consensus_timestamp)
		where (l.transaction_hash, l.transaction_index) is distinct from (r.transaction_hash, r.transaction_index)`,
	},
	"the fee schedule and the exchange rates exist from block 0": {"record_file where index = 0", "delete from file_data where entity_id = 111", `
		select count(*) from record_file r, unnest('{111, 112}'::bigint[]) id where index = 0 and not exists (
			select from file_data f where f.entity_id = id and transaction_type = 17 and f.consensus_timestamp <= r.consensus_start)`},
	"gas is within its limit": {
		"contract_result where transaction_nonce = 0",
		"update contract_result set gas_used = gas_limit + 1 where ONE(contract_result)",
		"select count(*) from contract_result where transaction_nonce = 0 and (gas_used > gas_limit or gas_consumed " +
			"> gas_used)",
	},
	"NFT contracts implement ERC-165 and ERC-721": {
		"contract_log l join contract c on c.id = l.contract_id where topic3 is not null and data = ''",
		"update contract set runtime_bytecode = '\\x77' where id = 3002", `
		select count(*) from contract c where exists (select from contract_log l where l.contract_id = c.id and topic3 is not null and data = '')
		and (position('\x6301ffc9a7' in runtime_bytecode) = 0 or position('\x6380ac58cd' in runtime_bytecode) = 0)`,
	},
	// staking
	"rewards come at most once a period": {
		"staking_reward_transfer", `insert into staking_reward_transfer (account_id, amount, consensus_timestamp, payer_account_id)
		select account_id, amount, consensus_timestamp + 1, payer_account_id from staking_reward_transfer`,
		`select count(*) from (select from staking_reward_transfer group by account_id, consensus_timestamp / ` +
			`86400000000000 having count(*) > 1) x`,
	},
	"pending rewards follow the rate": {
		"entity_stake where id <> 800", "update entity_stake set pending_reward = pending_reward + 1 where id = 1005", `
		select count(*) from entity_stake s join entity e using (id) join lateral (
			select * from entity_stake_history h where h.id = s.id order by lower(timestamp_range) desc limit 1) h on true
		left join node_stake n on n.node_id = h.staked_node_id_start and n.epoch_day = s.end_stake_period
		left join lateral (select min(consensus_timestamp) paid from staking_reward_transfer r
			where r.account_id = s.id and r.consensus_timestamp > lower(h.timestamp_range)) r on true
		where s.end_stake_period = h.end_stake_period + 1 and s.pending_reward <> case when e.decline_reward or n is null then 0
			else case when paid < lower(s.timestamp_range) then 0 else h.pending_reward end + n.reward_rate * (h.stake_total_start / 100000000) end`,
	},
	"rewards pay what was pending": {
		"staking_reward_transfer r join entity_stake s on s.id = r.account_id and r.consensus_timestamp > " +
			"lower(s.timestamp_range)",
		"update entity_stake set pending_reward = pending_reward + 1", `
		select count(*) from staking_reward_transfer r join entity_stake s on s.id = r.account_id
		where r.consensus_timestamp > lower(s.timestamp_range) and r.amount <> s.pending_reward`,
	},
	"stakes are at most the released supply": {"network_stake", "update network_stake set stake_total = 4000000000000000000", `
		select count(*) from network_stake where stake_total > (select 5000000000000000000 - sum(balance) from entity
			where id in (2, 42, 99, 100) or id between 44 and 71 or id between 73 and 87 or id between 200 and 349 or id between 400 and 750)`},
	"the stake of the network is that of its nodes": {"network_stake", "update node_stake set stake = stake + 1", `
		select count(*) from network_stake t where stake_total <> (select sum(stake) from node_stake n where n.consensus_timestamp = t.consensus_timestamp)
		or stake_total < (select sum(stake_rewarded + greatest(stake_not_rewarded, 0)) from node_stake n where n.consensus_timestamp = t.consensus_timestamp)`},
	// schedules, fees and tokens
	"a key signs a schedule once": {
		"transaction_signature", "update transaction_signature set entity_id = 5001, public_key_prefix = '\\x77'",
		"select count(*) from (select from transaction_signature group by entity_id, public_key_prefix having " +
			"count(*) > 1) x",
	},
	"no entity has expired": {
		"entity where expiration_timestamp is not null", "update entity set expiration_timestamp = 1 where id = 1001",
		"select count(*) from entity where not deleted and expiration_timestamp < (select max(consensus_end) from " +
			"record_file)",
	},
	"fees are at most the maximum fee": {
		"transaction where max_fee is not null",
		"update transaction set max_fee = charged_tx_fee - 1 where ONE(transaction where charged_tx_fee > 0)",
		"select count(*) from transaction where charged_tx_fee > max_fee",
	},
	"the last transfer of a serial went to its owner": {"nft where not deleted", "update nft set account_id = 1003 where ONE(nft where account_id = 1001)", `
		with moves as (select consensus_timestamp ts, (m->>'token_id')::bigint token, (m->>'serial_number')::bigint serial,
				(m->>'sender_account_id')::bigint sender, (m->>'receiver_account_id')::bigint receiver
			from transaction, jsonb_array_elements(nft_transfer) m)
		select count(*) from nft n left join lateral (select * from moves m where token = n.token_id and serial = n.serial_number order by ts desc limit 1) last on true
		where account_id is distinct from coalesce((select receiver from moves m where token = n.token_id and serial = -1 and m.sender = last.receiver and m.ts > last.ts), last.receiver)`},
}

// versionedTables are the tables with a history, and their keys.
var versionedTables = map[string]string{
	"entity": "id", "entity_stake": "id", "token": "token_id", "token_account": "account_id, token_id",
	"token_allowance":  "owner, spender, token_id",
	"token_airdrop":    "sender_account_id, receiver_account_id, token_id, serial_number",
	"crypto_allowance": "owner, spender",
	"nft_allowance":    "owner, spender, token_id", "nft": "token_id, serial_number", "custom_fee": "entity_id",
	"topic": "id", "node": "node_id",
	"registered_node": "registered_node_id", "hook": "owner_id, hook_id",
}

var oneRow = regexp.MustCompile(`ONE\((\w+)(.*)\)`)

// TestLaws checks the laws, and that each of them fails if its mutation has changed the database.
func TestLaws(t *testing.T) {
	t.Parallel()
	conn := pgtest.Connect(t, filled.Fresh(t))
	total := int64(0)
	for _, name := range slices.Sorted(maps.Keys(laws)) {
		l := laws[name]
		rows := one(t, conn, "select count(*) from "+l.rows)
		t.Logf("%6d rows: %s", rows, name)
		total += rows
		if n := one(t, conn, l.broken); n != 0 || rows == 0 {
			t.Errorf("%s: %d violations in %d rows", name, n, rows)
		}
		mutation := oneRow.ReplaceAllString(l.mutation, "ctid in (select $1.ctid from $1$2 limit 1)")
		pgtest.Exec(t, conn, "begin; "+mutation)
		if one(t, conn, l.broken) == 0 {
			t.Errorf("%s: not broken by %s", name, mutation)
		}
		pgtest.Exec(t, conn, "rollback")
	}
	for name, l := range decodedLaws {
		rows, broken := l.check(t, conn)
		t.Logf("%6d rows: %s", rows, name)
		total += rows
		if broken != 0 || rows == 0 {
			t.Errorf("%s: %d violations in %d rows", name, broken, rows)
		}
		pgtest.Exec(t, conn, "begin; "+l.mutation)
		if _, broken := l.check(t, conn); broken == 0 {
			t.Errorf("%s: not broken by %s", name, l.mutation)
		}
		pgtest.Exec(t, conn, "rollback")
	}
	t.Logf("%d laws, %d rows", len(laws)+len(decodedLaws), total)
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
		orphans := fmt.Sprintf("select count(*) from (select %[2]s from %[1]s_history except select %[2]s from "+
			"%[1]s) x", table, k)
		if n := one(t, conn, orphans); n != 0 {
			t.Errorf("%s: %d objects in the history only", table, n)
		}
	}
}

// TestSoundnessAtTurns loads the demo at times at which days, months and years turn.
func TestSoundnessAtTurns(t *testing.T) {
	t.Parallel()
	turns := []string{"2028-02-29T23:59:59Z", "2026-01-01T00:00:03Z", "2026-03-01T00:12:00Z"}
	for _, now := range turns[:breadth.Of(1, len(turns))] {
		t.Run(now, func(t *testing.T) {
			at, err := time.Parse(time.RFC3339, now)
			if err != nil {
				t.Fatal(err)
			}
			conn := pgtest.Connect(t, empty.Fresh(t))
			if err := Load(t.Context(), conn, at, nil); err != nil {
				t.Fatal(err)
			}
			for name, l := range laws {
				if strings.Contains(name, "snapshot") || strings.Contains(name, "block") ||
					strings.Contains(name, "reward") {
					if n := one(t, conn, l.broken); n != 0 {
						t.Errorf("%s: %d violations", name, n)
					}
				}
			}
		})
	}
}
