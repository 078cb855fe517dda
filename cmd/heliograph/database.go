package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"heliograph/internal/base/list"
	"heliograph/internal/base/repeat"
	"heliograph/internal/base/wrap"
	"heliograph/storage"
	"heliograph/storage/demo/demodb"
	"heliograph/storage/demo/statusdemo"
	"heliograph/storage/embedded"
	"heliograph/storage/migrations"
	"heliograph/storage/statuspages"
)

// connectTimeout is the timeout for connecting to a database at startup.
const connectTimeout = 5 * time.Second

const noURL = "is not a PostgreSQL URL such as postgres://user@host:5432/name, in which special characters of the " +
	"password are percent-encoded"

// database is the ledger database: an external one or the embedded one.
type database struct {
	url    string
	server *embedded.Server // nil for an external database
}

// open returns the configured database without connecting to it, or starts the embedded server and migrates its
// database. If the migration fails, it stops the server again; otherwise the caller must call [database.close]. An
// invalid URL is a usage error that does not contain the password.
func (s *databaseSettings) open(ctx context.Context, log *slog.Logger) (*database, error) {
	if s.DatabaseURL != "" {
		if _, err := pgx.ParseConfig(s.DatabaseURL); err != nil {
			// The error of the driver can contain the password.
			return nil, invalid("--database-url (HELIOGRAPH_DATABASE_URL) %s", noURL)
		}
		return &database{url: s.DatabaseURL}, nil
	}
	dir, err := s.dataDir()
	if err != nil {
		return nil, err
	}
	server, err := embedded.Start(ctx, embedded.Options{DataDir: dir, BinDir: s.PGBindir, Logger: log})
	if err != nil {
		return nil, err
	}
	d := &database{url: server.URL(embedded.Name), server: server}
	if err := errors.Join(migrations.Ledger(ctx, d.url, log), migrations.Status(ctx, d.url, log)); err != nil {
		return nil, errors.Join(fmt.Errorf("creating the tables: %w", err), d.close())
	}
	return d, nil
}

// partitionsInterval is the interval at which missing monthly partitions are added. Partitions are created a month
// ahead, so once a day is enough.
const partitionsInterval = 24 * time.Hour

// maintain adds partitions for coming months to the embedded database once a day until the context ends. The first
// time is a day after the call. It logs errors, and tries again a day later. It does nothing for an external
// database.
func (d *database) maintain(ctx context.Context, log *slog.Logger) {
	if d.server == nil {
		return
	}
	for repeat.Sleep(ctx, partitionsInterval) {
		if err := ensurePartitions(ctx, d.url); err != nil {
			log.WarnContext(ctx, "adding partitions failed", "error", err)
		}
	}
}

// ensurePartitions connects to the ledger database at url, creates the partitions that are missing at the current
// time of the database, and closes the connection.
func ensurePartitions(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	return errors.Join(migrations.EnsurePartitions(ctx, conn, time.Time{}), conn.Close(context.WithoutCancel(ctx)))
}

// close stops the embedded PostgreSQL, if this process has started one, and waits for up to 30 seconds. For an
// external database it does nothing.
func (d *database) close() error {
	if d.server == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return wrap.Error(d.server.Stop(ctx), "stopping the embedded PostgreSQL")
}

// done returns a channel that is closed when the embedded server has ended, by [database.close] or by itself. It
// returns nil, a channel that is never ready, for an external database.
func (d *database) done() <-chan struct{} {
	if d.server == nil {
		return nil
	}
	return d.server.Done()
}

// unreachable returns a one-line connection error that says what to do and does not contain the password of the URL.
// It has the last line of the text of err, which it does not wrap. An invalid URL is a usage error. A
// [*migrations.ForeignError], with which a database was reached, is returned as it is.
func unreachable(url string, err error) error {
	if _, foreign := errors.AsType[*migrations.ForeignError](err); foreign {
		return err
	}
	cfg, parseErr := pgx.ParseConfig(url)
	if parseErr != nil {
		return invalid("the database URL %s", noURL)
	}
	text := err.Error()
	text = strings.TrimSpace(text[strings.LastIndex(text, "\n")+1:])
	if cfg.Password != "" {
		text = strings.ReplaceAll(text, ":"+cfg.Password+"@", ":***@")
	}
	hint := "check the host and the port in its URL, and whether the server runs"
	if server := new(pgconn.PgError); errors.As(err, &server) {
		hint = cmp.Or(map[string]string{
			"3D000": "correct the name of the database in its URL",
			"28P01": "check the role and the password in its URL",
			"28000": "check the role and the password in its URL",
			"42501": "use the role that owns the tables, or grant the permissions that `heliograph check` lists",
		}[server.Code], "see the log of the server")
	}
	return fmt.Errorf("cannot use the database %s on %s: %s; %s", cfg.Database, cfg.Host, text, hint)
}

// essential are the tables without which nothing can be served.
const essential = " address_book entity record_file transaction "

// check compares the tables of the ledger database with those that the gateway reads, and records in db which are
// missing and whether the tables are distributed. It fails if essential tables are missing, and logs other
// differences and missing permissions as warnings.
func check(ctx context.Context, db *storage.DB, log *slog.Logger) error {
	absent, unknown, err := migrations.Compare(ctx, db.Pool())
	if err != nil {
		return fmt.Errorf("checking the tables: %w", err)
	}
	db.SetAbsent(absent)
	if err := db.ReadPlacement(ctx); err != nil {
		return err
	}
	const shown = 8
	text := strings.Join(list.Map(absent[:min(shown, len(absent))], storage.Absent.String), ", ")
	if more := len(absent) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	if slices.ContainsFunc(absent, func(a storage.Absent) bool {
		return strings.Contains(essential,
			" "+a.String()+" ")
	}) {
		return fmt.Errorf(
			"missing tables: %s; correct the name of the database in --database-url, or run `heliograph migrate` to "+
				"create them", text)
	}
	grant, err := migrations.Denied(ctx, db.Pool())
	if err != nil {
		return fmt.Errorf("checking the permissions: %w", err)
	}
	if grant != "" {
		log.WarnContext(ctx, "the role cannot read all tables, and requests that need the others fail", "todo", grant)
	}
	if len(absent)+len(unknown) > 0 {
		log.WarnContext(ctx, "the tables are those of another version: `heliograph check` lists the differences",
			"missing", text, "unknown", len(unknown))
	}
	return nil
}

// loadDemo writes the demo network to the ledger database at url if that is empty, otherwise it does nothing. With
// again, it replaces the demo network, and fails if the database contains other data. The network ends shortly before
// now. Loading is one transaction: after an error, the database is as before. It shows progress on standard error.
func loadDemo(ctx context.Context, url string, now time.Time, again bool) error {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return unreachable(url, err)
	}
	defer pool.Close()
	bar := newProgress(0)
	defer bar.end()
	if again {
		return demodb.Reload(ctx, pool, now, bar.show)
	}
	if empty, err := demodb.IsEmpty(ctx, pool); err != nil || !empty {
		return err
	}
	return demodb.Load(ctx, pool, now, bar.show)
}

// connect opens a single connection to the database at url and returns the function that closes it. Errors do not
// contain the password.
func connect(ctx context.Context, url string) (conn *pgx.Conn, done func(), err error) {
	conn, err = pgx.Connect(ctx, url)
	if err != nil {
		return nil, nil, unreachable(url, err)
	}
	return conn, func() { _ = conn.Close(context.WithoutCancel(ctx)) }, nil // what was written has been committed
}

// loadDemoStatus writes the demo status page to the status database at url, unless there are status pages. With
// again, it replaces the demo status page, and fails if there are other pages. The write is one transaction. The
// history of the page ends at now.
func loadDemoStatus(ctx context.Context, url string, now time.Time, again bool) error {
	conn, done, err := connect(ctx, url)
	if err != nil {
		return err
	}
	defer done()
	return statusdemo.Load(ctx, conn, now, again)
}

// isDemo connects to the database at url and reports whether it contains the demo network. Errors do not contain the
// password.
func isDemo(ctx context.Context, url string) (bool, error) {
	conn, done, err := connect(ctx, url)
	if err != nil {
		return false, err
	}
	defer done()
	return demodb.IsDemo(ctx, conn)
}

type checkCmd struct{ databaseSettings }

// checks are queries for a value and for what to do, which is null if nothing is wrong. $1 stands for the array of the
// names of the tables. The gateway sets pooled settings itself unless it is connected through a pooler.
var checks = []struct {
	name, sql string
	pooled    bool
}{
	{
		name: "database",
		sql: `select current_database() || ' of PostgreSQL ' || current_setting('server_version') || ', role ' || ` +
			`current_user, null::text`,
	},
	{name: "tables without SELECT", sql: `select count(*)::text, ` + migrations.GrantSelect},
	{name: "tables with INSERT", sql: `select count(*)::text, case when count(*) > 0 then 'use a role that only has SELECT' end
from pg_class c where c.relname = any($1) and pg_table_is_visible(c.oid) and has_table_privilege(c.oid, 'insert')`},
	{name: "tables without statistics", sql: `select count(*)::text, 'analyze ' || string_agg(c.oid::regclass::text, ', ')
from pg_class c where c.relname = any($1) and pg_table_is_visible(c.oid) and c.reltuples < 0 and pg_relation_size(c.oid) > 0`},
	{name: "age of the newest block", sql: `select coalesce(date_trunc('second', now() - to_timestamp(max(consensus_end) / 1e9))::text, 'none'),
case when max(consensus_end) / 1e9 > extract(epoch from now()) - 60 then null else 'look whether the importer runs' end from record_file`},
	{pooled: true, name: "jit", sql: `select setting, case setting when 'on' then 'alter role ' || current_user || ' set jit = off' end
from pg_settings where name = 'jit'`},
	{pooled: true, name: "statement_timeout", sql: `select setting || ' ms', case setting when '0' then
'alter role ' || current_user || ' set statement_timeout = ''20s''' end from pg_settings where name = 'statement_timeout'`},
	{name: "random_page_cost", sql: `select setting, case when setting::float8 > 2 then 'set it to 1.1 if the server has solid-state disks' end
from pg_settings where name = 'random_page_cost'`},
	// Citus opens and closes those connections to workers that it does not keep.
	{name: "citus.max_adaptive_executor_pool_size", sql: `select pool::text, case when pool > kept then
'alter role ' || current_user || ' set citus.max_adaptive_executor_pool_size = ' || kept end
from (select current_setting('citus.max_adaptive_executor_pool_size', true)::int pool, current_setting('citus.max_cached_conns_per_worker', true)::int kept) s
where to_regclass('citus_tables') is not null`},
}

// Run inspects the external database, with a read for each check, counts the pages of the status database, and prints
// a table with results and what to do. A check that fails is a row of the table. Run changes nothing. It fails
// without --database-url, if a database URL is invalid, if the ledger database cannot be reached, if tables or
// columns are missing, if the role cannot read a table or a check has failed, and after [statusTimeout].
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
	denied := false
	for _, q := range checks {
		if report.Empty && q.name != "database" || q.pooled && pooler == storage.PoolerNone {
			continue
		}
		var value string
		var todo *string
		err := conn.QueryRow(ctx, strings.ReplaceAll(q.sql, "$1", report.Names)).Scan(&value, &todo)
		if errors.Is(err, pgx.ErrNoRows) { // the check does not apply
			continue
		}
		if err != nil {
			value, todo = "failed", new(unreachable(c.DatabaseURL, err).Error())
		}
		denied = denied || err != nil || todo != nil && strings.HasPrefix(*todo, "grant ")
		row(q.name, value, *cmp.Or(todo, new(string)))
	}
	err = c.statusPages(ctx, row)
	if err != nil {
		return err
	}
	advice := ""
	if pooler != storage.PoolerNone && c.DirectURL == "" {
		advice = "set --direct-database-url for LISTEN and migrate"
	}
	row("pooler", string(pooler), advice)
	if report.Empty {
		row("missing", "all tables",
			"correct the name of the database in --database-url, or the search_path of the role")
		err = out.Flush()
		if err != nil {
			return fmt.Errorf("printing the report: %w", err)
		}
		return errors.New(
			"the database has no mirror tables: see the last column; `heliograph migrate` creates the tables in an " +
				"empty database")
	}
	row("schema version", report.Version, "")
	row("missing tables and columns", strconv.Itoa(len(report.Absent)), "")
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
		row("missing index", strings.Fields(strings.Replace(sql, " concurrently", "", 1))[2], sql)
	}
	for _, p := range report.Further {
		row("optional index", p.Name+" (about "+p.Size+")", p.SQL+" -- for "+p.Use)
	}
	err = out.Flush()
	if err != nil {
		return fmt.Errorf("printing the report: %w", err)
	}
	if n := len(report.Absent); n > 0 {
		return fmt.Errorf("%d tables and columns are missing: see the last column", n)
	}
	if denied {
		return errors.New("the role cannot read all tables: see the last column")
	}
	return nil
}

// statusPages reads the status database and prints its row of the report with row. A database that cannot be read
// is a row too; only an invalid setting is an error.
func (c *checkCmd) statusPages(ctx context.Context, row func(name, value, todo string)) error {
	url, err := c.statusURL(c.DatabaseURL)
	if err != nil {
		return err
	}
	db, err := statuspages.Open(ctx, c.pool(url, statusTimeout, 1))
	if err != nil {
		return unreachable(url, err)
	}
	defer db.Close()
	exists, err := db.Exists(ctx)
	pages, unread := db.Pages(ctx)
	switch err := cmp.Or(err, unread); {
	case err != nil:
		row("status pages", "failed", "--status-database-url: "+unreachable(url, err).Error())
	case !exists:
		row("status pages", "no tables", "run `heliograph migrate --status-only` if you want a status page")
	case len(pages) == 0:
		row("status pages", "0", "run `heliograph status init` if you want a status page")
	default:
		row("status pages", strconv.Itoa(len(pages)), "")
	}
	return nil
}
