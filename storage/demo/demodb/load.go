// Package demodb writes the demo network into a database and keeps it up to date.
package demodb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/internal/base/wrap"
	"heliograph/storage/demo/scenario"
	"heliograph/storage/demo/world"
)

// ErrNotEmpty is returned if the database contains data. Load fills empty databases only.
var ErrNotEmpty = errors.New("the ledger database is not empty")

// ErrNotDemo is returned if the database contains other data than the demo network.
var ErrNotDemo = errors.New("the ledger database holds data other than the demo network; use an empty database")

// Querier is a connection, a pool or a transaction.
type Querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// DB is a connection or a pool.
type DB interface {
	BeginTx(ctx context.Context, options pgx.TxOptions) (pgx.Tx, error)
}

// Progress reports the progress of a load: the current step, and the number of written and of all rows.
type Progress func(step string, done, total int)

// tables are the tables of a ledger database with data of the ledger.
var tables = strings.Fields(`account_balance account_balance_file address_book address_book_entry address_book_service_endpoint
 assessed_custom_fee contract contract_action contract_log contract_result contract_state contract_state_change contract_transaction
 contract_transaction_hash crypto_allowance crypto_allowance_history crypto_transfer custom_fee custom_fee_history entity entity_history
 entity_stake entity_stake_history entity_transaction ethereum_transaction file_data hook hook_history hook_storage hook_storage_change
 ledger live_hash network_freeze network_stake nft nft_allowance nft_allowance_history nft_history node node_history node_stake prng
 reconciliation_job record_file registered_node registered_node_history schedule sidecar_file staking_reward_transfer token token_account
 token_account_history token_airdrop token_airdrop_history token_allowance token_allowance_history token_balance token_history
 token_transfer topic topic_history topic_message topic_message_lookup transaction transaction_hash transaction_signature`)

// enums are the enum types to register before rows are copied.
var enums = []string{
	"airdrop_state", "entity_type", "errata_type", "hook_extension_point", "hook_type", "token_pause_status",
	"token_supply_type",
	"token_type",
}

// marker starts the comment on the block table that identifies a demo network. The hash of the last block of the
// scenario follows. The comment becomes invalid if another process writes blocks.
const marker = "heliograph demo network, last block "

// IsEmpty reports whether all ledger tables of a database are empty, which it reads with one statement. The tables must
// exist.
func IsEmpty(ctx context.Context, db Querier) (bool, error) {
	var filled bool
	err := db.QueryRow(ctx, "select exists (select 1 from "+strings.Join(tables,
		") or exists (select 1 from ")+")").Scan(&filled)
	return !filled, wrap.Error(err, "checking whether the ledger tables are empty")
}

// IsDemo reports whether the database contains the demo network and nothing else: the newest block is the last block
// of the scenario, or a live block, whose hash is derived from the hashes of its transactions. It returns false if
// the block table has no comment that starts with [marker]. It reads with one statement.
func IsDemo(ctx context.Context, db Querier) (bool, error) {
	const query = `
		select exists (
			select from record_file story
			cross join lateral (select * from record_file order by index desc limit 1) newest
			where story.hash = substring(obj_description('record_file'::regclass, 'pg_class') from length($1::text) + 1)
			  and starts_with(obj_description('record_file'::regclass, 'pg_class'), $1)
			  and (newest.hash = story.hash or newest.hash = encode(sha384(convert_to(newest.prev_hash, 'UTF8') || (
				select string_agg(transaction_hash, ''::bytea order by consensus_timestamp) from transaction
				where consensus_timestamp between newest.consensus_start and newest.consensus_end)), 'hex')))`
	var demo bool
	err := db.QueryRow(ctx, query, marker).Scan(&demo)
	return demo, wrap.Error(err, "checking for the demo network")
}

// Load fills an empty ledger database with the demo network, whose newest block ends four seconds before now. It uses
// one transaction. The same time gives the same rows. It returns [ErrNotEmpty] if the database contains data. progress
// can be nil.
func Load(ctx context.Context, db DB, now time.Time, progress Progress) error {
	return load(ctx, db, now, progress, func(tx pgx.Tx) error {
		empty, err := IsEmpty(ctx, tx)
		if err == nil && !empty {
			err = ErrNotEmpty
		}
		return err
	})
}

// Reload is like Load for a database that is empty or contains the demo network, which it replaces. It returns
// [ErrNotDemo] for any other database and does not change it.
func Reload(ctx context.Context, db DB, now time.Time, progress Progress) error {
	return load(ctx, db, now, progress, func(tx pgx.Tx) error {
		empty, err := IsEmpty(ctx, tx)
		if err != nil || empty {
			return err
		}
		demo, err := IsDemo(ctx, tx)
		if err != nil {
			return err
		}
		if !demo {
			return ErrNotDemo
		}
		return exec(ctx, tx, "truncating the ledger tables", "truncate "+strings.Join(tables, ", "))
	})
}

// exec runs a statement in a transaction. what describes it in errors.
func exec(ctx context.Context, tx pgx.Tx, what, sql string) error {
	_, err := tx.Exec(ctx, sql)
	return wrap.Error(err, "%s", what)
}

// load creates the demo network in memory, which ends four seconds before now, and writes it in one transaction, in
// which prepare is called first. An error of prepare ends the load, and nothing is written. The transaction locks the
// blocks of the ledger, so that a second load waits. load also marks the database, and updates the statistics of the
// planner. progress can be nil.
func load(ctx context.Context, db DB, now time.Time, progress Progress, prepare func(pgx.Tx) error) error {
	if progress == nil {
		progress = func(string, int, int) {}
	}
	progress("creating the demo network", 0, 0)
	w, err := scenario.New(now.Truncate(time.Second).UnixNano() - 4*world.Second)
	if err != nil {
		return err
	}
	return pgx.BeginTxFunc(ctx, db, pgx.TxOptions{}, func(tx pgx.Tx) error {
		// Two concurrent loads would both find an empty database. The lock makes the second one wait.
		err := exec(ctx, tx, "locking the ledger tables", "lock table record_file in share row exclusive mode")
		if err != nil {
			return err
		}
		err = prepare(tx)
		if err != nil {
			return err
		}
		err = copyTo(ctx, tx, w, progress)
		if err != nil {
			return err
		}
		blocks := w.Rows("record_file")
		last := blocks[len(blocks)-1]["hash"].(string)
		err = exec(ctx, tx, "marking the demo network", "comment on table record_file is '"+marker+last+"'")
		if err != nil {
			return err
		}
		// Without statistics, the planner would assume empty tables until the next automatic analyze.
		return exec(ctx, tx, "analyzing the ledger tables", "analyze "+strings.Join(tables, ", "))
	})
}

// registerTypes registers the enum types of the ledger tables with a connection. It reads them from the database
// and fails if they are missing.
func registerTypes(ctx context.Context, conn *pgx.Conn) error {
	types, err := conn.LoadTypes(ctx, enums)
	if err != nil {
		return fmt.Errorf("loading the enum types of the ledger tables: %w", err)
	}
	conn.TypeMap().RegisterTypes(types)
	return nil
}

// copyTo copies the rows of all tables of a scenario into the database in a transaction, and calls progress before
// each table. Before the first, it registers the enum types with the connection of tx. The first error ends it; the
// caller rolls back.
func copyTo(ctx context.Context, tx pgx.Tx, w *scenario.Scenario, progress Progress) error {
	err := registerTypes(ctx, tx.Conn())
	if err != nil {
		return err
	}
	total, done := 0, 0
	for _, table := range tables {
		total += len(w.Rows(table))
	}
	for _, table := range tables {
		rows := w.Rows(table)
		progress("writing its rows", done, total)
		err := copyRows(ctx, tx, table, rows)
		if err != nil {
			return err
		}
		done += len(rows)
	}
	return nil
}

// copyRows inserts the rows of a table with COPY. A column that a row does not have is null.
func copyRows(ctx context.Context, tx pgx.Tx, table string, rows []world.Row) error {
	if len(rows) == 0 {
		return nil
	}
	columns := columnsOf(rows)
	values := make([]any, len(columns))
	source := pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) {
		for j, c := range columns {
			values[j] = rows[i][c]
		}
		return values, nil
	})
	_, err := tx.CopyFrom(ctx, pgx.Identifier{table}, columns, source)
	return wrap.Error(err, "writing table %s", table)
}

// columnsOf returns the columns that any of the rows has, in alphabetical order.
func columnsOf(rows []world.Row) []string {
	all := world.Row{}
	for _, r := range rows {
		maps.Copy(all, r)
	}
	return slices.Sorted(maps.Keys(all))
}
