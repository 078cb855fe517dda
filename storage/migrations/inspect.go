package migrations

import (
	"context"
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"heliograph/internal/base/list"
	"heliograph/internal/base/wrap"
	"heliograph/storage"
)

// columnsCSV contains the columns of all ledger tables. The first field is the table and the third the column.
//
//go:embed columns.csv
var columnsCSV string

// ErrForeign is wrapped by every [*ForeignError].
var ErrForeign = errors.New("the ledger tables were not created by heliograph")

// A ForeignError means that the database has incomplete ledger tables that [Ledger] did not create. Neither reading
// nor migrating them is safe.
type ForeignError struct {
	Owner   string   // role that owns the tables, or several, separated by commas
	Present []string // names of the ledger tables found
	Missing []string // missing tables, columns and functions, as returned by [Missing]
}

// Error implements error. It names the owner, the number of tables and those that are missing, and says what to
// do.
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

// Compare compares the database with the objects that the gateway reads. absent contains the missing tables and the
// missing columns of other tables. unknown contains columns of these tables that the gateway does not know, as
// "entity.balance". Both are ordered by name. A function counts as a table, with its arguments in the name. Only
// objects in the connection's search path count as present. A view may replace a table. Ledger tables that the gateway
// never reads are not compared. With an error, the lists are not complete.
func Compare(ctx context.Context, conn Querier) (absent []storage.Absent, unknown []string, err error) {
	tables, err := ledgerTables()
	if err != nil {
		return nil, nil, err
	}
	found, err := presentColumns(ctx, conn, tables)
	if err != nil {
		return nil, nil, err
	}
	for _, table := range names(tables) {
		present, ok := found[table]
		if unread(table) {
			continue
		}
		if !ok {
			absent = append(absent, storage.Absent{Table: table})
			continue
		}
		for _, c := range tables[table] {
			i := slices.Index(present, c.Column)
			if i < 0 {
				absent = append(absent, c)
			} else {
				present = slices.Delete(present, i, i+1)
			}
		}
		unknown = append(unknown, list.Map(slices.Sorted(slices.Values(present)), func(name string) string {
			return table + "." + name
		})...)
	}
	const hashFunction = "get_transaction_info_by_hash(bytea)"
	there, err := one[bool](ctx, conn, "select to_regprocedure($1) is not null", hashFunction)
	if err == nil && !there {
		absent = append(absent, storage.Absent{Table: hashFunction})
	}
	slices.SortFunc(absent, func(a, b storage.Absent) int { return strings.Compare(a.String(), b.String()) })
	return absent, unknown, err
}

// Missing reads the catalog of the database of conn, and returns the names of the absent objects of [Compare],
// ordered. With an error, the list is not complete.
func Missing(ctx context.Context, conn Querier) ([]string, error) {
	absent, _, err := Compare(ctx, conn)
	return list.Map(absent, storage.Absent.String), err
}

// Report describes a database for its operator.
type Report struct {
	Version string           // of the tables, or of the importer's migrations
	Names   string           // SQL array of the names of the tables that the gateway reads
	Empty   bool             // none of these tables exists
	Absent  []storage.Absent // see [Compare]
	Unknown []string         // see [Compare]; then tables
	Indexes []string         // statements that create missing indexes
	Further []Proposal       // missing indexes that some requests of the graph would use
}

// Proposal is an optional index.
type Proposal struct {
	Name, Use, SQL, Size string // Size is an estimate
	table                string
	bytes                int // of an entry
}

var proposals = []Proposal{
	{
		Name: "token_account__token_id_balance", Use: "holders of any token by balance", table: "token_account",
		bytes: 40,
		SQL: "create index concurrently token_account__token_id_balance on token_account (token_id, balance, " +
			"account_id) where associated and balance > 0",
	},
	{
		Name: "record_file__counts", Use: "statistics of the network", table: "record_file", bytes: 40,
		SQL: "create index concurrently record_file__counts on record_file (consensus_end) include (count, gas_used)",
	},
}

var createIndex = regexp.MustCompile(`(?m)^create index (\w+) on (\w+) [^;]*`)

// GrantSelect is a column with the statement that allows the role to read all tables, and the rest of its query. $1
// stands for the array of their names.
const GrantSelect = `case when count(*) > 9 then 'grant select on all tables in schema ' || min(relnamespace::regnamespace::text) || ' to ' || current_user
when count(*) > 0 then 'grant select on ' || string_agg(oid::regclass::text, ', ') || ' to ' || current_user end
from pg_class where relname = any($1) and pg_table_is_visible(oid) and not has_table_privilege(oid, 'select')`

// Denied returns a GRANT statement that allows the role to read the tables that it cannot read, or an empty
// string. It only reads the catalog and grants nothing.
func Denied(ctx context.Context, conn Querier) (grant string, err error) {
	tables, err := ledgerTables()
	if err != nil {
		return "", err
	}
	maps.DeleteFunc(tables, func(t string, _ []storage.Absent) bool { return unread(t) })
	statement, err := one[*string](ctx, conn, "select "+GrantSelect, names(tables))
	if statement != nil {
		grant = *statement
	}
	return grant, err
}

// Inspect compares the database with the tables that the gateway reads, and their indexes by name, for the command
// that checks a database. It changes nothing. If reading the version or an optional index fails, the report lacks it.
func Inspect(ctx context.Context, conn Querier) (*Report, error) {
	tables, err := ledgerTables()
	if err != nil {
		return nil, err
	}
	array := func(list []string) string { return "'{" + strings.Join(list, ",") + "}'::text[]" }
	all := array(names(tables))
	maps.DeleteFunc(tables, func(t string, _ []storage.Absent) bool { return unread(t) })
	r := &Report{Names: array(names(tables))}
	if r.Absent, r.Unknown, err = Compare(ctx, conn); err != nil {
		return nil, err
	}
	r.Empty = !slices.ContainsFunc(names(tables), func(t string) bool {
		return !slices.Contains(r.Absent, storage.Absent{Table: t})
	})
	more, err := one[[]string](ctx, conn, `select coalesce(array_agg(c.relname::text order by 1), '{}') from pg_class c
where c.relkind in ('r', 'p') and not c.relispartition and pg_table_is_visible(c.oid) and c.relnamespace = to_regnamespace('public')
and c.relname !~ '^(heliograph|flyway|clpr)_' and c.relname <> 'record_file_watermark' and c.relname <> all(`+all+`)`)
	if err != nil {
		return nil, err
	}
	r.Unknown = append(r.Unknown, more...)
	for _, version := range []string{
		"select 'heliograph ' || max(version_id)::text from " + ledgerSet().versions,
		"select 'importer ' || version from flyway_schema_history where success order by installed_rank desc limit 1",
	} {
		if v, err := one[string](ctx, conn, version); err == nil && r.Version == "" {
			r.Version = v
		}
	}
	for _, file := range ledgerSet().texts() {
		for _, m := range createIndex.FindAllStringSubmatch(file, -1) {
			kind, err := one[string](ctx,
				conn,
				"select coalesce((select relkind::text from pg_class where oid = to_regclass($2) and "+
					"to_regclass($1) is null), '')",
				m[1], m[2])
			if err != nil {
				return nil, err
			}
			if strings.Contains(m[0], "gin_trgm_ops") {
				m[0] += " -- needs the extension pg_trgm"
			} else if strings.Contains(m[0], "gist (account_id") {
				m[0] += " -- needs the extension btree_gist"
			}
			switch kind {
			case "":
			case "p": // an index of a partitioned table cannot be created concurrently
				r.Indexes = append(r.Indexes, m[0])
			default:
				r.Indexes = append(r.Indexes, strings.Replace(m[0], "create index ", "create index concurrently ", 1))
			}
		}
	}
	for _, p := range proposals {
		p.Size, err = one[string](ctx, conn, `select case when to_regclass($1) is null then pg_size_pretty(greatest(reltuples, 0)::bigint * $3::int) else '' end
from pg_class where oid = to_regclass($2)`, p.Name, p.table, p.bytes)
		if err == nil && p.Size != "" {
			r.Further = append(r.Further, p)
		}
	}
	return r, nil
}

// unread reports whether the gateway never reads a table: it is for writers only, or remains from earlier versions.
func unread(table string) bool {
	return slices.Contains([]string{
		"account_balance_old", "token_balance_old", "non_fee_transfer", // these tables are absent if Citus is used
		"account_balance_file", "ledger", "live_hash", "network_freeze", "prng", "reconciliation_job", "sidecar_file",
	}, table)
}

// ledgerTables returns the columns of every ledger table, in order, by the name of the table, from the embedded list.
// Each call returns a new map. It reads no database, and fails only if the list is malformed.
func ledgerTables() (map[string][]storage.Absent, error) {
	records, err := csv.NewReader(strings.NewReader(columnsCSV)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("reading the list of ledger columns: %w", err)
	}
	tables := make(map[string][]storage.Absent)
	for _, r := range records[1:] {
		tables[r[0]] = append(tables[r[0]], storage.Absent{
			Table: r[0], Column: r[2], Type: r[6],
			Nullable: r[4] == "yes",
		})
	}
	return tables, nil
}

// presentColumns reads the catalog of the database of conn, and returns the columns of the given tables that are in
// the search path. Tables without any are missing from the map.
func presentColumns(
	ctx context.Context, conn Querier, tables map[string][]storage.Absent,
) (map[string][]string, error) {
	rows, _ := conn.Query(ctx, `
		select c.relname::text, array_agg(a.attname::text)
		from pg_class c
		join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
		where c.relname = any($1) and c.relkind in ('r', 'p', 'v', 'm', 'f') and pg_table_is_visible(c.oid)
		group by c.oid`, names(tables)) // rows have the error
	found := make(map[string][]string)
	var table string
	var columns []string
	_, err := pgx.ForEachRow(rows, []any{&table, &columns}, func() error {
		found[table] = slices.Clone(columns)
		return nil
	})
	return found, wrap.Error(err, "listing the ledger's columns")
}

// names returns the names of tables, sorted.
func names(tables map[string][]storage.Absent) []string { return slices.Sorted(maps.Keys(tables)) }

// findings describe a database before its migration.
type findings struct {
	version int      // version of our migrations, 0 if none was run
	tables  []string // ledger tables in the search path or in public, ours or not, ordered by name
	owner   string   // roles that own them
	missing []string // see Missing; empty if there are no tables
}

// inspect reads in one snapshot which ledger tables exist, who owns them, what is missing, and the version of the
// migrations in the table versions, before [Ledger] changes anything. Our version table is created before our first
// table, and each file's version is written in the transaction that runs the file. So the unfinished migration of
// another process cannot be mistaken for foreign tables.
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
			return fmt.Errorf("listing tables: %w", err)
		}
		if hasVersions {
			err = tx.QueryRow(ctx, "select coalesce(max(version_id), 0) from "+versions).Scan(&found.version)
			if err != nil {
				return fmt.Errorf("reading %s: %w", versions, err)
			}
		}
		if len(found.tables) > 0 {
			found.missing, err = Missing(ctx, tx)
		}
		return err
	})
	return found, err
}
