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

// columnsCSV contains the columns of all ledger tables. The first field is the table and the third the column.
//
//go:embed columns.csv
var columnsCSV string

// ErrForeign is wrapped by every [*ForeignError].
var ErrForeign = errors.New("the ledger tables were not created by heliograph")

// A ForeignError means that the database has incomplete ledger tables that [Ledger] did not create. Neither reading nor migrating them is safe.
type ForeignError struct {
	Owner   string   // role that owns the tables, or several, separated by commas
	Present []string // names of the ledger tables found
	Missing []string // missing tables, columns and functions, as returned by [Missing]
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("%v (role %s) and are not complete: found %d, missing %s; "+
		"let the importer that made them add these, or migrate an empty database",
		ErrForeign, e.Owner, len(e.Present), strings.Join(e.Missing, ", "))
}

// Unwrap returns [ErrForeign].
func (e *ForeignError) Unwrap() error { return ErrForeign }

// A Querier runs queries. Connections, pools and transactions of pgx implement it.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Missing returns the objects that the gateway reads and the database lacks, ordered by name: tables as "nft", columns of existing tables as
// "entity.balance", functions with their arguments as "get_transaction_info_by_hash(bytea)". Only objects in the connection's search path count as present. A
// view may replace a table. If the result is empty, the gateway can start.
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

// unread reports whether the gateway never reads a table: it is for writers only, or remains from earlier versions.
func unread(table string) bool {
	switch table {
	case "account_balance_old", "token_balance_old", "non_fee_transfer", // these tables are absent if Citus is used
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

// presentColumns returns the columns of the given tables that are in the search path.
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

// findings describe a database before its migration.
type findings struct {
	version int      // version of our migrations, 0 if none was run
	tables  []string // ledger tables in the search path or in public, ours or not, ordered by name
	owner   string   // roles that own them
	missing []string // see Missing; empty if there are no tables
}

// inspect reads the state of the database in one snapshot. Our version table is created before our first table, and each file's version is written in the
// transaction that runs the file. So the unfinished migration of another process cannot be mistaken for foreign tables.
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
