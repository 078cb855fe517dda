package storage

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/jackc/pgx/v5"

	"heliograph/internal/domain/ledger"
)

// A context can have a past moment of the ledger ([ledger.Moment]). A statement that runs with it reads every table as
// it was then: before the statement stand common table expressions with the names of its tables, which select their
// rows at the moment. PostgreSQL puts these queries in the place of the tables. So the statements of lists, filters,
// pages and counts are those of the present. A statement with a table whose past is unknown fails. As in
// [DB.replaced], a word that is the name of a table stands for it: the planner removes queries that are not used.

// then is the moment in the queries of [PastTables].
const then = "$then"

// openRange is the range of a version as it was at the moment: without its later end.
const openRange = ", int8range(lower(timestamp_range), null) as timestamp_range"

// versionedTables are the tables with a history table, with the columns that their versions have. The values of other
// columns are overwritten without a new version. They are null, except that the amount of an allowance is the amount
// that was granted.
var versionedTables = map[string]string{
	"entity": `auto_renew_account_id, auto_renew_period, created_timestamp, deleted, expiration_timestamp, id, key, memo,
  num, public_key, proxy_account_id, realm, shard, receiver_sig_required, max_automatic_token_associations, type, alias,
  null::bigint as ethereum_nonce, evm_address, decline_reward, staked_account_id, staked_node_id, stake_period_start,
  obtainer_id, permanent_removal, null::bigint as balance, null::bigint as balance_timestamp, delegation_address`,
	"token": `token_id, created_timestamp, decimals, freeze_default, freeze_key, initial_supply, kyc_key, name, supply_key,
  symbol, 0::bigint as total_supply, treasury_account_id, wipe_key, max_supply, supply_type, type, fee_schedule_key,
  pause_key, pause_status, freeze_status, kyc_status, metadata, metadata_key`,
	"token_account": `account_id, associated, automatic_association, created_timestamp, freeze_status, kyc_status, token_id,
  0::bigint as balance, null::bigint as balance_timestamp`,
	"nft": `account_id, created_timestamp, deleted, metadata, serial_number, token_id, ` +
		`delegating_spender, spender`,
	"crypto_allowance": `amount_granted, owner, payer_account_id, spender, amount_granted as amount`,
	"token_allowance":  `amount_granted, owner, payer_account_id, spender, token_id, amount_granted as amount`,
	"nft_allowance":    `approved_for_all, owner, payer_account_id, spender, token_id`,
	"custom_fee":       `fixed_fees, fractional_fees, royalty_fees, entity_id`,
	"topic":            `admin_key, created_timestamp, id, fee_exempt_key_list, fee_schedule_key, submit_key`,
	"node": `admin_key, created_timestamp, deleted, node_id, decline_reward, grpc_proxy_endpoint, account_id,
  associated_registered_nodes`,
	"registered_node": `admin_key, created_timestamp, deleted, description, registered_node_id, service_endpoints, ` +
		`type`,
	"entity_stake": `end_stake_period, id, pending_reward, staked_node_id_start, staked_to_me, stake_total_start`,
}

// appendedTables are the tables whose rows are never changed, with their time.
var appendedTables = map[string]string{
	"account_balance": "consensus_timestamp", "account_balance_file": "consensus_timestamp",
	"address_book_entry": "consensus_timestamp", "address_book_service_endpoint": "consensus_timestamp",
	"assessed_custom_fee": "consensus_timestamp", "contract_action": "consensus_timestamp",
	"contract_log": "consensus_timestamp", "contract_result": "consensus_timestamp",
	"contract_state_change": "consensus_timestamp", "contract_transaction": "consensus_timestamp",
	"contract_transaction_hash": "consensus_timestamp", "crypto_transfer": "consensus_timestamp",
	"entity_transaction": "consensus_timestamp", "ethereum_transaction": "consensus_timestamp",
	"file_data": "consensus_timestamp", "hook_storage_change": "consensus_timestamp",
	"network_freeze": "consensus_timestamp", "network_stake": "consensus_timestamp",
	"node_stake": "consensus_timestamp", "prng": "consensus_timestamp", "sidecar_file": "consensus_end",
	"staking_reward_transfer": "consensus_timestamp", "token_balance": "consensus_timestamp",
	"token_transfer": "consensus_timestamp", "topic_message": "consensus_timestamp",
	"transaction": "consensus_timestamp", "transaction_hash": "consensus_timestamp",
	"transaction_signature": "consensus_timestamp",
}

// MaxUnindexed is the maximum number of rows of a history without an index by object that are read for a past moment.
// Callers check that it does not have more.
const MaxUnindexed = 100_000

const (
	airdropColumns = "amount, receiver_account_id, sender_account_id, serial_number, state, token_id"
	hookColumns    = "contract_id, created_timestamp, hook_id, owner_id, extension_point, deleted, admin_key, type, "
)

// blockSpan is more than the duration of a block, in nanoseconds.
const blockSpan = "60000000000"

// PastTables returns the query of the rows of each table at the moment [then]. It is empty for tables whose past the
// database does not tell.
var PastTables = sync.OnceValue(func() map[string]string {
	all := map[string]string{
		"contract": "select * from contract", // only rows of entities are read, and these exist at the moment
		"address_book": `select start_consensus_timestamp, file_id, node_count, file_data,
  case when end_consensus_timestamp < $then then end_consensus_timestamp end as end_consensus_timestamp
  from address_book where start_consensus_timestamp <= $then`,
		// The block of the moment has begun. The second condition is for the index.
		"record_file": `select * from record_file where consensus_start <= $then and consensus_end <= $then + ` +
			blockSpan,
		"schedule": `select consensus_timestamp, creator_account_id, payer_account_id, schedule_id, transaction_body, expiration_time,
  wait_for_expiry, case when executed_timestamp <= $then then executed_timestamp end as executed_timestamp
  from schedule where consensus_timestamp <= $then`,
		"token_airdrop": `select ` + airdropColumns + openRange + ` from token_airdrop where lower(timestamp_range) <= $then
  union all select ` + airdropColumns + openRange + ` from (
    select * from token_airdrop_history where timestamp_range @> $then limit ` + strconv.Itoa(MaxUnindexed) + `) h`,
		"token_airdrop_history": `select * from token_airdrop_history where timestamp_range @> $then`,
		// The ranges of hooks can be null.
		"hook": `select ` + hookColumns + `case when timestamp_range is not null then int8range(lower(timestamp_range), null) end as timestamp_range
  from hook where coalesce(lower(timestamp_range), created_timestamp) <= $then
  union all select ` + hookColumns + `int8range(lower(timestamp_range), null) from (
    select * from hook_history limit ` + strconv.Itoa(MaxUnindexed) + `) h where timestamp_range @> $then`,
		"hook_history": `select * from hook_history`,
		"hook_storage": `select distinct on (owner_id, hook_id, key) owner_id, hook_id, key, value_written as value, deleted,
  consensus_timestamp as modified_timestamp, null::bigint as created_timestamp
  from hook_storage_change where consensus_timestamp <= $then and value_written is not null
  order by owner_id, hook_id, key, consensus_timestamp desc`,
	}
	for table, columns := range versionedTables {
		columns += openRange
		// A version of the history ends later. The index of some history tables has the ranges, that of others the
		// starts. The conditions stand outside of the union, because PostgreSQL plans a union as one table only if its
		// parts have none: then the indexes of both serve joins and the order of pages. The rows of the table itself
		// are valid from their start on: a range without ends, so that the planner does not expect that few are.
		all[table] = `select * from (
  select ` + columns + `, lower(timestamp_range) as since, '(,)'::int8range as valid from ` + table + `
  union all select ` + columns + `, lower(timestamp_range), timestamp_range from ` + table + `_history) versions
  where since <= $then and valid @> $then`
		all[table+"_history"] = `select * from ` + table + `_history where upper(timestamp_range) <= $then`
	}
	for table, column := range appendedTables {
		all[table] = `select * from ` + table + ` where ` + column + ` <= $then`
	}
	for _, table := range []string{
		"account_balance_old", "contract_state", "ledger", "live_hash", "non_fee_transfer", "reconciliation_job",
		"token_balance_old", "topic_message_lookup",
	} {
		all[table] = ""
	}
	return all
})

// UnknownPastError reports that a statement at a past moment needs a table whose past the database does not tell.
type UnknownPastError struct{ Table string }

// Error implements error. It names the table whose past is not stored.
func (e *UnknownPastError) Error() string {
	return "the table " + e.Table + " does not tell what it contained at a past moment"
}

// at returns the text of the statement and its arguments for a moment, or for the present if m is nil. For a moment,
// common table expressions replace the tables, and the moment follows args if one of them needs it. It fails with an
// [*UnknownPastError] if the past of a table is not stored, and with another error if args are named. Tables that the
// database lacks are not replaced. It does not change r or args.
func (r *Read) at(db *DB, m *ledger.Moment, args []any) (string, []any, error) {
	if m == nil {
		return r.text(db), args, nil
	}
	if len(args) > 0 {
		if _, named := args[0].(pgx.NamedArgs); named {
			return "", nil, fmt.Errorf("a statement with named arguments cannot read the state at %s", m.At)
		}
	}
	body, at := r.Query(db), "$"+strconv.Itoa(len(args)+1)+"::bigint"
	var with []expression
	// Names of tables are sorted before those of their histories: a query must not see the one for its history.
	for _, word := range slices.Compact(slices.Sorted(strings.FieldsFuncSeq(body, outsideNames))) {
		switch query, isTable := PastTables()[word]; {
		case !isTable || !db.Has(word, ""):
		case query == "":
			return "", nil, &UnknownPastError{word}
		default:
			query = db.with(nil, strings.ReplaceAll(query, then, at))
			with = append(with, expression{word, "not materialized ", query})
		}
	}
	if strings.HasPrefix(body, "with ") { // its expressions can have the names of tables, and read them
		body = "select * from (" + body + ") past"
	}
	text := (&DB{}).with(with, body)
	if strings.Contains(text, at) {
		args = append(slices.Clip(args), int64(m.At))
	}
	return text, args, nil
}

// outsideNames reports whether a character cannot be part of the name of a table of the mirror database, which has
// lower-case letters and "_" only.
func outsideNames(r rune) bool { return r != '_' && !unicode.IsLower(r) }

// prepare sets the texts of the queued statements: for the state at the moment of ctx, if it has one. It fails like
// [Read.at]. Statements that have a text already keep it.
func (b *Batch) prepare(ctx context.Context) error {
	m := ledger.MomentOf(ctx)
	for _, queries := range b.queries {
		for i := range queries {
			q := &queries[i]
			if q.of == nil {
				continue
			}
			text, args, err := q.of.at(b.db, m, q.args)
			if err != nil {
				return err
			}
			q.sql, q.args, q.of = q.sql+text, args, nil
		}
	}
	return nil
}
