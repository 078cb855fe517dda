//go:build slow

package v1_test

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"heliograph/app/testing/testenv"
	"heliograph/storage/pgtest"
)

// crowded fills every table that lists read with enough rows for the planner to have a choice: 40,000 accounts and
// 60,000 transactions, ten milliseconds apart, each of which executes a contract. Most other rows belong to one
// account, token, contract or topic. First ids: accounts 1001, tokens 50001 (the first is fungible, the second has
// NFTs), contracts 60001, topics 70001, schedules 80001.
var crowded = &pgtest.Template{
	Name: "crowded", From: testenv.Empty,
	Prepare: func(ctx context.Context, url string) error {
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			return err
		}
		defer conn.Close(ctx)
		for _, sql := range []string{
			`set synchronous_commit = off`,
			// The sample for the statistics has all rows, so that the estimates of the planner are always the same.
			`do $$ begin execute format('alter database %I set default_statistics_target = 1000', ` +
				`current_database()); end $$`,
			`create function pg_temp.at(i bigint) returns bigint immutable language sql as 'select ` +
				`1700000000000000000 ` +
				`+ i * 10000000'`,
			`insert into entity (id, num, realm, shard, type, timestamp_range, created_timestamp, balance, balance_timestamp, deleted, public_key, evm_address)
select i, i, 0, 0, t::entity_type, int8range(i, null), i, i, i, false, case when i % 2 = 0 then repeat(md5((i / 4)::text), 2) end, case when t <> 'TOKEN' then decode(left(md5(i::text) || md5(i::text), 40), 'hex') end
from (select i, 'ACCOUNT' t from generate_series(1001, 41000) i union all select i, 'TOKEN' from generate_series(50001, 54000) i union all
  select i, 'CONTRACT' from generate_series(60001, 62000) i union all select i, 'TOPIC' from generate_series(70001, 70100) i union all
  select i, 'SCHEDULE' from generate_series(80001, 100000) i) e`,
			`insert into token (token_id, created_timestamp, decimals, initial_supply, name, symbol, treasury_account_id, timestamp_range, type, freeze_status, kyc_status)
select i, i, 2, 0, 'Coin ' || md5(i::text), 'C', 1001, int8range(i, null), case when i % 2 = 0 then 'NON_FUNGIBLE_UNIQUE' else 'FUNGIBLE_COMMON' end::token_type, 0, 0 from generate_series(50001, 54000) i`,
			`insert into token_account (account_id, token_id, associated, balance, timestamp_range)
select i, 50001, true, i, '[1,)'::int8range from generate_series(1001, 41000) i union all select 1001, t, true, 5, '[1,)'::int8range from generate_series(50002, 54000) t union all
select i, 50002 + (i * 7 + k) % 3998, true, i, '[1,)'::int8range from generate_series(1002, 41000) i, generate_series(1, 2) k`,
			`insert into nft (token_id, serial_number, account_id, spender, created_timestamp, deleted, timestamp_range)
select 50002, s, 1001 + s % 20, case when s % 5 = 0 then 1100 + s % 3 end, s, false, int8range(s, null) from generate_series(1, 20000) s union all
select t, s, 1001 + (t + s) % 4000, null, s, false, int8range(s, null) from generate_series(50004, 54000, 2) t, generate_series(1, 20) s`,
			`insert into nft_history (token_id, serial_number, account_id, timestamp_range)
select 50002, 1 + s % 400, 1001, int8range(pg_temp.at(s), pg_temp.at(s + 1)) from generate_series(1, 40000) s`,
			`insert into crypto_allowance (owner, spender, amount, amount_granted, payer_account_id, timestamp_range)
select case when i <= 5000 then 1001 else 1002 + i % 5000 end, 2000 + i, 5, 9, 1001, '[1,)'::int8range from generate_series(1, 40000) i`,
			`insert into token_allowance (owner, spender, token_id, amount, amount_granted, payer_account_id, timestamp_range)
select case when i <= 5000 then 1001 else 1002 + i % 5000 end, 2000 + i / 5, 50001 + i % 5 * 2, 5, 9, 1001, '[1,)'::int8range from generate_series(1, 40000) i`,
			`insert into nft_allowance (owner, spender, token_id, approved_for_all, payer_account_id, timestamp_range)
select case when i <= 5000 then 1001 else 1002 + i % 5000 end, case when i % 8 = 0 then 1002 else 2000 + i / 5 end, 50002 + i * 2 % 4000, true, 1001, '[1,)'::int8range from generate_series(1, 40000) i on conflict do nothing`,
			`insert into token_airdrop (sender_account_id, receiver_account_id, token_id, serial_number, amount, state, timestamp_range)
select case when i <= 5000 then 1001 else 1002 + i % 5000 end, case when i % 8 = 0 then 1002 else 2000 + i / 5 end, 50001 + i % 4000, 0, 7, 'PENDING'::airdrop_state, '[1,)'::int8range from generate_series(1, 40000) i on conflict do nothing`,
			`insert into hook (hook_id, owner_id, contract_id, created_timestamp, timestamp_range)
select k, 1001, 60001, 1, '[1,)'::int8range from generate_series(1, 5000) k union all select k, i, 60002, 1, '[1,)'::int8range from generate_series(1002, 20000) i, generate_series(1, 2) k`,
			`insert into hook_storage (owner_id, hook_id, key, value, created_timestamp, modified_timestamp)
select 1001, 1, decode(lpad(to_hex(k), 64, '0'), 'hex'), '\x01'::bytea, 1, 1 from generate_series(1, 5000) k union all
select i, 1, decode(lpad(to_hex(k), 64, '0'), 'hex'), '\x01'::bytea, 1, 1 from generate_series(1002, 10000) i, generate_series(1, 3) k`,
			`insert into hook_storage_change (owner_id, hook_id, key, consensus_timestamp, value_read, value_written)
select owner_id, hook_id, key, pg_temp.at(v), '\x'::bytea, value from hook_storage, generate_series(1, 2) v`,
			`insert into staking_reward_transfer (account_id, amount, consensus_timestamp, payer_account_id)
select case when i % 4 = 0 then 1001 else 1002 + i % 5000 end, 3, pg_temp.at(i), 1001 from generate_series(1, 60000) i`,
			`insert into transaction (consensus_timestamp, type, result, payer_account_id, valid_start_ns, entity_id, transaction_hash, nonce)
select pg_temp.at(i), case when i % 2 = 0 then 7 else 27 end, case when i % 40 = 0 then 10 else 22 end, case when i % 5 = 0 then 1001 else 1002 + i * 7 % 20000 end, pg_temp.at(i) - 1, case when i % 2 = 0 then 60001 + i % 200 else 70002 + i / 2 % 99 end, decode(repeat(md5(i::text), 3), 'hex'), 0
from generate_series(1, 60000) i`,
			`insert into transaction_hash (consensus_timestamp, hash, hash_suffix, payer_account_id) select ` +
				`consensus_timestamp, substr(transaction_hash, 1, 32), substr(transaction_hash, 33), ` +
				`payer_account_id from transaction`,
			`insert into crypto_transfer (entity_id, consensus_timestamp, amount, payer_account_id)
select e, consensus_timestamp, case when e = payer_account_id then -2 else 1 end, payer_account_id from transaction, unnest(array[payer_account_id::bigint, 98, 1500 + consensus_timestamp / 10000000 % 1000]) e`,
			`insert into token_transfer (token_id, account_id, consensus_timestamp, amount, payer_account_id) select ` +
				`50001, case when consensus_timestamp / 10000000 % 400 = 0 then 1001 else 1002 + ` +
				`consensus_timestamp / 10000000 % 5000 end, consensus_timestamp, 1, payer_account_id from ` +
				`transaction where type = 7`,
			`insert into record_file (name, load_start, load_end, hash, prev_hash, consensus_start, consensus_end, count, digest_algorithm, version, file_hash, index)
select i || '.rcd', 0, 0, repeat(md5(i::text), 3), '', pg_temp.at(i * 3), pg_temp.at(i * 3 + 3) - 1, 3, 0, 6, '', i from generate_series(0, 20000) i`,
			`insert into contract (id) select i from generate_series(60001, 62000) i`,
			`insert into contract_result (consensus_timestamp, contract_id, sender_id, payer_account_id, function_parameters, gas_limit, gas_used, transaction_hash, transaction_index, transaction_nonce, transaction_result)
select pg_temp.at(i), case when i % 3 = 0 then 60001 else 60001 + i % 200 end, case when i % 5 = 0 then 1001 else 1002 + i % 2000 end, case when i % 5 = 0 then 1001 else 1002 + i * 7 % 20000 end, '\x'::bytea, 100, 50, decode(repeat(md5(i::text), 2), 'hex'), i % 3,
  case when i % 7 = 0 then 1 else 0 end, 22 from generate_series(1, 60000) i`,
			`insert into contract_log (consensus_timestamp, index, contract_id, payer_account_id, bloom, data, topic0, transaction_hash, transaction_index, synthetic)
select consensus_timestamp, k, contract_id, payer_account_id, '\x'::bytea, '\x01'::bytea, decode(md5((k + transaction_index)::text), 'hex'), transaction_hash, transaction_index, consensus_timestamp / 10000000 % 10 = 0 from contract_result, generate_series(0, 1) k`,
			`insert into contract_action (consensus_timestamp, index, call_depth, caller, caller_type, gas, gas_used, result_data_type, value, payer_account_id)
select consensus_timestamp, k, k, 1001, 'ACCOUNT'::entity_type, 1, 1, 11, 0, payer_account_id from contract_result, generate_series(0, 1) k union all
select pg_temp.at(1), k, k, 1001, 'ACCOUNT'::entity_type, 1, 1, 11, 0, 1009 from generate_series(2, 200) k`,
			`insert into contract_transaction (consensus_timestamp, entity_id, contract_ids, payer_account_id) ` +
				`select ` +
				`consensus_timestamp, e, array[contract_id], payer_account_id from contract_result, ` +
				`unnest(array[contract_id::bigint, payer_account_id]) e on conflict do nothing`,
			`insert into contract_transaction_hash (consensus_timestamp, hash, payer_account_id, entity_id, ` +
				`transaction_result) select consensus_timestamp, transaction_hash, payer_account_id, contract_id, ` +
				`22 from contract_result`,
			`insert into ethereum_transaction (consensus_timestamp, data, gas_limit, hash, max_gas_allowance, nonce, payer_account_id, signature_r, signature_s, type)
select consensus_timestamp, '\x'::bytea, 100, transaction_hash, 0, 1, payer_account_id, '\x01'::bytea, '\x02'::bytea, 2 from contract_result where consensus_timestamp / 10000000 % 2 = 0`,
			`insert into contract_state (contract_id, slot, value, created_timestamp, modified_timestamp)
select 60001, decode(lpad(to_hex(k), 64, '0'), 'hex'), '\x01'::bytea, 1, 1 from generate_series(1, 10000) k union all
select c, decode(lpad(to_hex(k), 64, '0'), 'hex'), '\x01'::bytea, 1, 1 from generate_series(60002, 62000) c, generate_series(1, 10) k`,
			`insert into contract_state_change (consensus_timestamp, contract_id, payer_account_id, slot, value_read, value_written)
select pg_temp.at(v), contract_id, 1001, decode(case when length(ltrim(encode(slot, 'hex'), '0')) % 2 = 1 then '0' else '' end || ltrim(encode(slot, 'hex'), '0'), 'hex'), '\x'::bytea, '\x01'::bytea from contract_state, generate_series(1, 2) v`,
			`insert into topic (id, timestamp_range, created_timestamp) select i, '[1,)'::int8range, 1 from ` +
				`generate_series(70001, 70100) i`,
			`insert into custom_fee (entity_id, timestamp_range) select i, '[1,)'::int8range from ` +
				`generate_series(70001, 70100) i union all select i, '[1,)'::int8range from generate_series(50001, ` +
				`54000) i`,
			`insert into topic_message (consensus_timestamp, message, running_hash, sequence_number, payer_account_id, topic_id)
select pg_temp.at(i), '\x01'::bytea, '\x01'::bytea, case when i % 2 = 0 then i / 2 else i / 2 / 99 + 1 end, 1001, case when i % 2 = 0 then 70001 else 70002 + i / 2 % 99 end from generate_series(1, 80000) i`,
			`insert into schedule (schedule_id, consensus_timestamp, creator_account_id, payer_account_id, transaction_body)
select i, pg_temp.at(i - 80000), case when i % 4 = 0 then 1001 else 1002 + i % 5000 end, 1001, '\x'::bytea from generate_series(80001, 100000) i`,
			`insert into transaction_signature (entity_id, consensus_timestamp, public_key_prefix, signature, type) ` +
				`select schedule_id, consensus_timestamp, decode(lpad(to_hex(k), 2, '0'), 'hex'), '\x01'::bytea, 3 ` +
				`from schedule, generate_series(1, 2) k`,
			`insert into account_balance (consensus_timestamp, account_id, balance) select pg_temp.at(v), i, i from ` +
				`generate_series(1001, 41000) i, unnest(array[1000, 50000]) v union all select pg_temp.at(v), 2, 1 ` +
				`from unnest(array[1000, 50000]) v`,
			`insert into token_balance (consensus_timestamp, account_id, token_id, balance) select pg_temp.at(v), i, 50001, 1 from generate_series(1001, 41000) i, unnest(array[1000, 50000]) v union all
select pg_temp.at(1000), i, 50002 + (i * 7 + k) % 3998, 1 from generate_series(1002, 41000) i, generate_series(1, 2) k`,
			`insert into registered_node (registered_node_id, created_timestamp, deleted, timestamp_range, type) ` +
				`select ` +
				`i, 1, false, '[1,)'::int8range, array[1]::smallint[] from generate_series(1, 200) i`,
			`insert into file_data (consensus_timestamp, entity_id, transaction_type, file_data) select ` +
				`pg_temp.at(i), ` +
				`2000 + i % 5000, 17, '\x01'::bytea from generate_series(1, 60000) i`,
		} {
			if _, err := conn.Exec(ctx, sql); err != nil {
				return fmt.Errorf("%s: %w", sql, err)
			}
		}
		return nil
	},
}
