package migrations

import (
	"context"
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// columnsCSV lists the columns of all ledger tables; the first and the third field are table and column.
//
//go:embed columns.csv
var columnsCSV string

// ErrForeign is what every [*ForeignError] wraps.
var ErrForeign = errors.New("the ledger tables belong to somebody else")

// A ForeignError says that a database has ledger tables which were not made by [Ledger] and are not complete
// either, so that neither reading nor migrating them is safe.
type ForeignError struct {
	Owner   string   // role that owns the tables, or several, separated by commas
	Present []string // names of the ledger tables found
	Missing []string // what is missing, as [Missing] returns it
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("%v (role %s) and are not complete: found %d, missing %s; "+
		"let the importer that made them add these, or migrate an empty database",
		ErrForeign, e.Owner, len(e.Present), strings.Join(e.Missing, ", "))
}

// Unwrap returns [ErrForeign].
func (e *ForeignError) Unwrap() error { return ErrForeign }

// A Querier runs queries: a connection, a pool or a transaction of pgx.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Missing returns what the gateway reads and the database lacks, in the order of names: tables as "nft", columns of
// existing tables as "entity.balance", functions with their arguments as "get_transaction_info_by_hash(bytea)". Only
// what the connection's search path reaches counts as present; a view may stand for a table. The result is empty
// where the gateway can start.
func Missing(ctx context.Context, conn Querier) ([]string, error) {
	tables, err := ledgerTables()
	if err != nil {
		return nil, err
	}
	found, err := presentColumns(ctx, conn, tables)
	if err != nil {
		return nil, err
	}
	var missing []string
	for table, columns := range tables {
		if unread(table) {
			continue
		}
		present, ok := found[table]
		if !ok {
			missing = append(missing, table)
			continue
		}
		for _, column := range columns {
			if !slices.Contains(present, column) {
				missing = append(missing, table+"."+column)
			}
		}
	}
	const hashFunction = "get_transaction_info_by_hash(bytea)"
	rows, err := conn.Query(ctx, "select to_regprocedure($1) is not null", hashFunction)
	if err != nil {
		return nil, fmt.Errorf("look for functions of the ledger: %w", err)
	}
	hasFunction, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[bool])
	if err != nil {
		return nil, fmt.Errorf("look for functions of the ledger: %w", err)
	}
	if !hasFunction {
		missing = append(missing, hashFunction)
	}
	slices.Sort(missing)
	return missing, nil
}

// unread tells the tables that the gateway never reads: they are for writers, or left from earlier versions.
func unread(table string) bool {
	switch table {
	case "account_balance_old", "token_balance_old", "non_fee_transfer", // absent where Citus is used
		"account_balance_file", "ledger", "live_hash", "network_freeze", "prng", "reconciliation_job", "sidecar_file":
		return true
	default:
		return false
	}
}

// ledgerTables returns the columns of every ledger table in order.
func ledgerTables() (map[string][]string, error) {
	records, err := csv.NewReader(strings.NewReader(columnsCSV)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read the list of ledger columns: %w", err)
	}
	tables := make(map[string][]string)
	for _, record := range records[1:] {
		tables[record[0]] = append(tables[record[0]], record[2])
	}
	return tables, nil
}

// presentColumns returns the columns of those of the tables that the search path reaches.
func presentColumns(ctx context.Context, conn Querier, tables map[string][]string) (map[string][]string, error) {
	rows, err := conn.Query(ctx, `
		select c.relname::text, array_agg(a.attname::text)
		from pg_class c
		join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
		where c.relname = any($1) and c.relkind in ('r', 'p', 'v', 'm', 'f') and pg_table_is_visible(c.oid)
		group by c.oid`, names(tables))
	if err != nil {
		return nil, fmt.Errorf("list the ledger's columns: %w", err)
	}
	found := make(map[string][]string)
	var table string
	var columns []string
	_, err = pgx.ForEachRow(rows, []any{&table, &columns}, func() error {
		found[table] = slices.Clone(columns)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the ledger's columns: %w", err)
	}
	return found, nil
}

func names(tables map[string][]string) []string {
	result := make([]string, 0, len(tables))
	for table := range tables {
		result = append(result, table)
	}
	slices.Sort(result)
	return result
}

// findings is what a database holds before it is migrated.
type findings struct {
	version int      // of our migrations, 0 when none was run
	tables  []string // ledger tables in the search path or in public, ours or not, in the order of names
	owner   string   // roles that own them
	missing []string // see Missing; empty when there are no tables at all
}

// inspect looks at the database in one snapshot. Our version table exists before our first table does, and each
// file's version is written in the transaction that runs the file: so another process that is migrating just now
// cannot make its half-finished work look like foreign tables.
func inspect(ctx context.Context, conn *pgx.Conn, versions string) (findings, error) {
	var found findings
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err := pgx.BeginTxFunc(ctx, conn, options, func(tx pgx.Tx) error {
		tables, err := ledgerTables()
		if err != nil {
			return err
		}
		var hasVersions bool
		err = tx.QueryRow(ctx, `
			select to_regclass($1) is not null, array_agg(relname::text order by relname),
			       coalesce(string_agg(distinct pg_get_userbyid(relowner), ', '), '')
			from pg_class
			where relname = any($2) and relkind in ('r', 'p', 'v', 'm', 'f')
			  and (pg_table_is_visible(oid) or relnamespace = to_regnamespace('public'))`,
			versions, names(tables)).Scan(&hasVersions, &found.tables, &found.owner)
		if err != nil {
			return fmt.Errorf("list tables: %w", err)
		}
		if hasVersions {
			err = tx.QueryRow(ctx, "select coalesce(max(version_id), 0) from "+versions).Scan(&found.version)
			if err != nil {
				return fmt.Errorf("read %s: %w", versions, err)
			}
		}
		if len(found.tables) > 0 {
			found.missing, err = Missing(ctx, tx)
		}
		return err
	})
	return found, err
}
