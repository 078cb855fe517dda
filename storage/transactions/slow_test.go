//go:build slow

package transactions_test

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"heliograph/storage/pgtest"
	"heliograph/storage/pgtest/tables"
)

// loaded has enough rows to give the planner a choice: 50,000 accounts, 200,000 transactions with their transfers,
// 100,000 messages and 20,000 blocks. Transactions are ten milliseconds apart. Many of them involve the accounts 98
// (the fee collector) and 1001 (the payer of a tenth of them).
var loaded = &pgtest.Template{
	Name: "loaded", From: tables.Ledger,
	Prepare: func(ctx context.Context, url string) error {
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			return err
		}
		defer conn.Close(ctx)
		for _, sql := range []string{
			`set synchronous_commit = off`,
			`insert into entity (id, num, realm, shard, type, timestamp_range, created_timestamp, balance, balance_timestamp, public_key, alias, evm_address)
select i, i, 0, 0, case when i % 50 = 0 then 'CONTRACT' when i % 10 = 1 then 'TOPIC' else 'ACCOUNT' end::entity_type, int8range(i, null), i, i * 1000, i,
  case when i % 3 = 0 then md5(i::text) || md5((i + 1)::text) end, case when i % 4 = 0 then decode(md5(i::text), 'hex') end, case when i % 5 = 0 then decode(left(md5(i::text) || md5(i::text), 40), 'hex') end
from generate_series(1, 50000) i`,
			`insert into entity_stake (id, end_stake_period, pending_reward, staked_node_id_start, staked_to_me, stake_total_start, timestamp_range)
select i, 1, 1, 0, 0, 0, '[1,)' from generate_series(1, 50000, 2) i`,
			`insert into entity_history (id, num, realm, shard, type, timestamp_range) select i, i, 0, 0, 'ACCOUNT', ` +
				`int8range(0, i) from generate_series(1, 50000, 3) i`,
			`insert into token_account (account_id, token_id, associated, balance, timestamp_range)
select i, t, true, i, '[1,)' from generate_series(2, 20000) i, generate_series(60001, 60003) t`,
			`create temporary table tx as select 1700000000000000000 + i * 10000000::bigint as at, case when i % 10 = 0 then 1001 else 2000 + i * 7919 % 40000 end as payer,
  2000 + i * 104729 % 40000 as other, case when i % 20 = 0 then 27 when i % 1000 = 1 then 37 else 14 end as type, i from generate_series(1::bigint, 200000) i`,
			`insert into transaction (consensus_timestamp, type, result, payer_account_id, valid_start_ns, entity_id, transaction_hash)
select at, type, case when i % 50 = 0 then 10 else 22 end, payer, at - 1, case when type = 27 then 11 + i / 20 % 50 * 10 end, decode(md5(i::text) || md5(i::text) || md5(i::text), 'hex') from tx`,
			`insert into crypto_transfer (entity_id, consensus_timestamp, amount, payer_account_id)
select e, at, case when e = payer then -3 else 1 end, payer from tx, unnest(array[payer, other, 98]) e`,
			`insert into token_transfer (token_id, account_id, consensus_timestamp, amount, payer_account_id) select ` +
				`60001, other, at, 1, payer from tx where i % 5 = 0`,
			`insert into entity_transaction (consensus_timestamp, entity_id, payer_account_id, result, type) ` +
				`select at, ` +
				`11 + i / 20 % 50 * 10, payer, 22, 27 from tx where type = 27`,
			`insert into topic_message (consensus_timestamp, message, running_hash, sequence_number, payer_account_id, topic_id)
select 1700000000000000000 + i * 10000000::bigint, '\x01', '\x01', i / 50 + 1, 1001, 11 + i % 50 * 10 from generate_series(1, 100000) i`,
			`insert into record_file (name, load_start, load_end, hash, prev_hash, consensus_start, consensus_end, count, digest_algorithm, version, file_hash, index)
select i || '.rcd', 0, 0, md5(i::text) || md5(i::text) || md5(i::text), '', 1700000000000000000 + i * 100000000::bigint, 1700000000000000000 + (i + 1) * 100000000::bigint - 1, 10, 0, 6, '', i
from generate_series(1, 20000) i`,
			`insert into account_balance (consensus_timestamp, account_id, balance) select s, i, i from ` +
				`generate_series(1, 20000) i, unnest(array[1700000000000000000, 1700000900000000000, ` +
				`1700001800000000000]) s`,
			`insert into token_balance (consensus_timestamp, account_id, token_id, balance) select ` +
				`1700000000000000000, ` +
				`i, t, 1 from generate_series(2, 20000) i, generate_series(60001, 60002) t`,
		} {
			if _, err := conn.Exec(ctx, sql); err != nil {
				return fmt.Errorf("%s: %w", sql, err)
			}
		}
		return nil
	},
}
