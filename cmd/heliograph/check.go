package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/jackc/pgx/v5"

	"heliograph/storage"
	"heliograph/storage/migrations"
)

type checkCmd struct{ databaseSettings }

// checks are queries for a value and for what to do, which is null if nothing is wrong. $1 stands for the array of the names of the tables.
var checks = []struct{ name, sql string }{
	{"database", `select current_database() || ' of PostgreSQL ' || current_setting('server_version') || ', role ' || current_user, null::text`},
	{"tables without SELECT", `select count(*)::text, 'grant select on ' || string_agg(c.oid::regclass::text, ', ') || ' to ' || current_user
from pg_class c where c.relname = any($1) and pg_table_is_visible(c.oid) and not has_table_privilege(c.oid, 'select')`},
	{"tables with INSERT", `select count(*)::text, case when count(*) > 0 then 'use a role that only has SELECT' end
from pg_class c where c.relname = any($1) and pg_table_is_visible(c.oid) and has_table_privilege(c.oid, 'insert')`},
	{"tables without statistics", `select count(*)::text, 'analyze ' || string_agg(c.oid::regclass::text, ', ')
from pg_class c where c.relname = any($1) and pg_table_is_visible(c.oid) and c.reltuples < 0 and pg_relation_size(c.oid) > 0`},
	{"age of the newest block", `select coalesce(round(extract(epoch from now()) - max(consensus_end) / 1e9)::text || ' s', 'none'),
case when max(consensus_end) / 1e9 > extract(epoch from now()) - 60 then null else 'look whether the importer runs' end from record_file`},
	{"jit", `select setting, case setting when 'on' then 'alter role ' || current_user || ' set jit = off' end from pg_settings where name = 'jit'`},
	{"statement_timeout", `select setting || ' ms', case setting when '0' then 'alter role ' || current_user || ' set statement_timeout = ''20s''' end
from pg_settings where name = 'statement_timeout'`},
	{"random_page_cost", `select setting, case when setting::float8 > 2 then 'set it to 1.1 if the server has solid-state disks' end
from pg_settings where name = 'random_page_cost'`},
}

// Run prints the table. It fails if tables or columns are missing.
func (c *checkCmd) Run(ctx context.Context) error {
	if c.DatabaseURL == "" {
		return errors.New("there is no external database to check: set --database-url")
	}
	ctx, stop := context.WithTimeout(ctx, statusTimeout)
	defer stop()
	config, err := pgx.ParseConfig(c.DatabaseURL)
	if err != nil {
		return unreachable(c.DatabaseURL, err)
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeDescribeExec // through any pooler
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return unreachable(c.DatabaseURL, err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // nothing was written
	pooler, err := storage.PoolerOf(ctx, conn)
	if err != nil {
		return unreachable(c.DatabaseURL, err)
	}
	report, err := migrations.Inspect(ctx, conn)
	if err != nil {
		return unreachable(c.DatabaseURL, err)
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	row := func(name, value, todo string) { fmt.Fprintf(out, "%s\t%s\t%s\n", name, value, todo) }
	row("CHECK", "RESULT", "WHAT TO DO")
	for _, q := range checks {
		var value string
		var todo *string
		if err := conn.QueryRow(ctx, strings.ReplaceAll(q.sql, "$1", report.Names)).Scan(&value, &todo); err != nil {
			value = unreachable(c.DatabaseURL, err).Error()
		}
		row(q.name, value, *cmp.Or(todo, new(string)))
	}
	row("schema version", report.Version, "")
	advice := ""
	if pooler != storage.PoolerNone && c.DirectURL == "" {
		advice = "set --direct-database-url for LISTEN and migrate"
	}
	row("pooler", string(pooler), advice)
	for _, a := range report.Absent {
		advice = "upgrade the importer; what needs it responds with SCHEMA_MISMATCH"
		if a.Nullable {
			advice = "upgrade the importer; it is null in responses"
		}
		row("missing", a.String(), advice)
	}
	for _, name := range report.Unknown {
		row("unknown", name, "newer than the gateway, which ignores it")
	}
	for _, sql := range report.Indexes {
		row("missing index", strings.Fields(sql)[2], sql)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	if n := len(report.Absent); n > 0 {
		return fmt.Errorf("%d tables and columns are missing", n)
	}
	return nil
}
