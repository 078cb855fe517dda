// Package migrations creates and updates the tables that the gateway uses.
//
// The ledger's tables are those that existing importers fill. A database that an importer created is complete and is
// not changed. [Ledger] is for databases that the gateway owns, such as the embedded one.
package migrations

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"heliograph/internal/base/wrap"
	"heliograph/storage"
)

//go:embed ledger/*.sql
var ledgerFiles embed.FS

//go:embed citus/*.sql
var citusFiles embed.FS

//go:embed status/*.sql
var statusFiles embed.FS

// A set is a folder of numbered SQL files and the table that records which files were run.
type set struct {
	files    fs.FS
	folder   string
	versions string // the version table, with its schema
	lockID   int64  // key of the advisory lock that prevents concurrent migrations
	path     string // search path for the files
}

// ledgerSet returns the migrations of the ledger's tables. Tables and version table are created in the schema public,
// regardless of the search path.
func ledgerSet() set {
	const helio = 0x68656c696f // "helio" in ASCII
	return set{
		files: ledgerFiles, folder: "ledger", versions: "public.heliograph_migration", lockID: helio,
		path: "public, temporary",
	}
}

// Version returns the newest version of the ledger's tables in this binary, which is the number of the last file.
func Version() int {
	return ledgerSet().newest()
}

// texts returns the SQL of all embedded migrations of the set, in order. It ignores errors: embedded files are always
// readable.
func (s set) texts() (texts []string) {
	files, _ := fs.Glob(s.files, s.folder+"/*.sql") // as in newest
	for _, name := range files {
		if text, err := fs.ReadFile(s.files, name); err == nil {
			texts = append(texts, string(text))
		}
	}
	return texts
}

// newest returns the number of the last embedded migration of the set.
func (s set) newest() int {
	// The embedded folder is always readable, and tests check that its files have numbers.
	names, _ := fs.Glob(s.files, s.folder+"/*.sql")
	newest := int64(0)
	for _, name := range names {
		if version, err := goose.NumericComponent(name); err == nil {
			newest = max(newest, version)
		}
	}
	return int(newest)
}

// Ledger creates or updates the ledger's tables in the database at url, a PostgreSQL connection string of either
// form, and adds the monthly partitions that are due. If the database already has all tables from another source, it
// does nothing. If it has only some of them, it fails with a [*ForeignError] and changes nothing. Tables that are
// newer than this binary only get partitions. Through a pooler it fails with [ErrPooler]. It is safe to call from
// several processes; all but one wait.
//
// The role must be allowed to create objects in the schema public, a schema, and the extensions btree_gist and
// pg_trgm. The owner of a database has these privileges.
func Ledger(ctx context.Context, url string, log *slog.Logger) error {
	config, err := parseURL(url, log)
	if err != nil {
		return err
	}
	conn, err := dial(ctx, config)
	if err != nil {
		return err
	}
	// The connection must also be closed if the caller's deadline has passed.
	defer conn.Close(context.WithoutCancel(ctx))

	found, err := inspect(ctx, conn, ledgerSet().versions)
	if err != nil {
		return fmt.Errorf("looking for ledger tables: %w", err)
	}
	switch {
	case found.version > Version():
		log.WarnContext(ctx, "ledger tables are newer than this binary and stay as they are",
			"version", found.version, "known", Version())
	case found.version == 0 && len(found.tables) > 0:
		if len(found.missing) > 0 {
			return &ForeignError{Owner: found.owner, Present: found.tables, Missing: found.missing}
		}
		log.InfoContext(ctx, "nothing to do: the ledger tables are complete and belong to another importer",
			"owner", found.owner)
		return nil
	default:
		if err := ledgerSet().up(ctx, config, log); err != nil {
			return fmt.Errorf("migrating the ledger tables: %w", err)
		}
	}
	return EnsurePartitions(ctx, conn, time.Time{})
}

// Distribute creates the ledger's tables as [Ledger] does, and distributes them over the workers of a Citus cluster.
// It fails if the tables contain rows or if the database does not have the extension citus. If the tables are
// distributed, it updates them. If it fails after [Ledger], the tables remain.
func Distribute(ctx context.Context, url string, log *slog.Logger) error {
	if err := Ledger(ctx, url, log); err != nil {
		return err
	}
	config, err := parseURL(url, log)
	if err != nil {
		return err
	}
	const citus = 0x6369747573 // "citus" in ASCII
	err = set{
		files: citusFiles, folder: "citus", versions: "public.heliograph_citus", lockID: citus,
		path: "public",
	}.up(ctx, config, log)
	return wrap.Error(err, "distributing the ledger tables")
}

var distributed = regexp.MustCompile(`create_distributed_table\('(\w+)', '(\w+)'`)

// Distribution returns, for each table that [Distribute] distributes over servers, the column by which its rows are
// distributed. It reads only the SQL files in this binary.
func Distribution() map[string]string {
	columns := map[string]string{}
	for _, m := range distributed.FindAllStringSubmatch(strings.Join(set{files: citusFiles, folder: "citus"}.texts(),
		""), -1) {
		columns[m[1]] = m[2]
	}
	return columns
}

// parseURL returns the settings of a connection to the primary server, which can create tables. Notices of the
// server go to log. It does not connect.
func parseURL(url string, log *slog.Logger) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("parsing the database URL: %w", err)
	}
	// The list of hosts may include replicas. Tables can be created on the primary server only.
	for _, other := range config.Fallbacks {
		if config.ValidateConnect == nil && (other.Host != config.Host || other.Port != config.Port) {
			config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
		}
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // statements run once, so preparing them has no benefit
	config.OnNotice = func(_ *pgconn.PgConn, notice *pgconn.Notice) {
		log.Debug("notice from PostgreSQL", "severity", notice.Severity, "message", notice.Message)
	}
	return config, nil
}

// ErrPooler reports that a connection pooler prevents a migration.
var ErrPooler = errors.New("the connection leads to a pooler, but migrations need a session of their own: set " +
	"--direct-database-url to the URL of the server")

// dial opens a connection to migrate, which the caller closes. If it does not lead to the server itself, dial closes
// it and fails with [ErrPooler].
func dial(ctx context.Context, config *pgx.ConnConfig) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connecting to the database to migrate: %w", err)
	}
	switch direct, err := storage.IsDirect(ctx, conn); {
	case err != nil:
		return nil, errors.Join(err, conn.Close(context.WithoutCancel(ctx)))
	case !direct:
		return nil, errors.Join(ErrPooler, conn.Close(context.WithoutCancel(ctx)))
	}
	return conn, nil
}

// up runs the files of the set that have not been run yet, each in its own transaction, on a connection pool of its
// own. If one fails, up keeps what those before it did, and returns the error. Other processes wait.
func (s set) up(ctx context.Context, config *pgx.ConnConfig, log *slog.Logger) error {
	db := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "set search_path = "+s.path)
		return wrap.Error(err, "setting the search path")
	}))
	defer db.Close()

	provider, err := s.provider(db)
	if err != nil {
		return err
	}
	results, err := provider.Up(ctx)
	for _, result := range results {
		log.DebugContext(ctx, "migrated", "file", result.Source.Path, "took", result.Duration)
	}
	if err != nil {
		return fmt.Errorf("running the files: %w", err)
	}
	if len(results) > 0 {
		log.InfoContext(ctx, "tables migrated", "set", s.folder, "files", len(results), "version", s.newest())
	}
	return nil
}

// provider returns the migrations of the set, as the library goose runs them on db: under a lock, for which it waits
// up to ten minutes. It runs none itself.
func (s set) provider(db *sql.DB) (*goose.Provider, error) {
	folder, err := fs.Sub(s.files, s.folder)
	if err != nil {
		return nil, fmt.Errorf("opening the folder %s: %w", s.folder, err)
	}
	// Try to get the lock every second for ten minutes, or until the context ends.
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockID(s.lockID), lock.WithLockTimeout(1, 600))
	if err != nil {
		return nil, fmt.Errorf("preparing the migration lock: %w", err)
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, folder,
		goose.WithTableName(s.versions), goose.WithSessionLocker(locker), goose.WithDisableGlobalRegistry(true))
	return provider, wrap.Error(err, "reading the migrations in %s", s.folder)
}

// A Beginner begins transactions. Connections and pools of pgx implement it.
type Beginner interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}

// EnsurePartitions creates the missing monthly partitions of the balance snapshots up to the month after now (UTC).
// The zero time means the session's setting heliograph.now, or else the server's clock. Rows of a new month move from
// the default partition into the new one. It is safe to call at any time and from several processes. It changes
// nothing if no partition is missing. The database must have been created by [Ledger].
func EnsurePartitions(ctx context.Context, conn Beginner, now time.Time) error {
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if !now.IsZero() {
			instant := now.UTC().Format(time.RFC3339)
			if _, err := tx.Exec(ctx, "select set_config('heliograph.now', $1, true)", instant); err != nil {
				return fmt.Errorf("setting the instant: %w", err)
			}
		}
		_, err := tx.Exec(ctx, "call public.create_mirror_node_time_partitions()")
		return wrap.Error(err, "call the procedure")
	})
	return wrap.Error(err, "add monthly partitions")
}

// statusSet returns the migrations of the status pages. Tables and version table are in a separate schema, so they can
// be in any database.
func statusSet() set {
	const page = 0x70616765 // "page" in ASCII
	return set{
		files: statusFiles, folder: "status", versions: "status.heliograph_migration", lockID: page,
		path: "pg_catalog",
	}
}

// StatusVersion returns the newest version of the status tables in this binary, which is the number of the last file.
func StatusVersion() int { return statusSet().newest() }

// Status creates or updates the schema status in the database at url and changes nothing else. It does not change a
// schema that is newer than this binary. Through a pooler it fails with [ErrPooler]. It is safe to call from several
// processes. The role must be allowed to create a schema, unless it owns an existing schema status.
func Status(ctx context.Context, url string, log *slog.Logger) error {
	config, err := parseURL(url, log)
	if err != nil {
		return err
	}
	conn, err := dial(ctx, config)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx)) // as in Ledger

	version, err := statusVersionOf(ctx, conn)
	if err != nil {
		return err
	}
	if version > StatusVersion() {
		log.WarnContext(ctx, "status tables are newer than this binary and stay as they are", "version", version,
			"known", StatusVersion())
		return nil
	}
	if err := createSchema(ctx, conn); err != nil {
		return err
	}
	return wrap.Error(statusSet().up(ctx, config, log), "migrating the status tables")
}

// createSchema creates the schema status if it does not exist. The check lets roles that own the schema work
// without the privilege to create one. Of several processes, all but one wait.
func createSchema(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `
		do $$ begin
			perform pg_advisory_xact_lock(hashtext('schema status'));
			if to_regnamespace('status') is null then
				create schema status;
			end if;
		end $$`)
	return wrap.Error(err, "creating the schema status")
}

// HasStatus reads whether the database of conn has the status tables in a version that this binary supports: its own
// or a newer one.
func HasStatus(ctx context.Context, conn Querier) (bool, error) {
	version, err := statusVersionOf(ctx, conn)
	return version >= StatusVersion(), err
}

// statusVersionOf reads the version of the status tables from the database of conn, or returns 0 if there are none.
func statusVersionOf(ctx context.Context, conn Querier) (int, error) {
	there, err := one[bool](ctx, conn, "select to_regclass($1) is not null", statusSet().versions)
	if err != nil || !there {
		return 0, err
	}
	return one[int](ctx, conn, "select coalesce(max(version_id), 0)::int from "+statusSet().versions)
}

// one runs a query about tables that returns exactly one row with one value. It fails if there is no row or more than
// one.
func one[T any](ctx context.Context, conn Querier, sql string, args ...any) (T, error) {
	rows, _ := conn.Query(ctx, sql, args...) // rows have the error
	v, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[T])
	return v, wrap.Error(err, "looking for tables")
}
