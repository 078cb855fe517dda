// Package statuspages reads and writes the status pages: pages, components, incidents, maintenance windows, probes and
// their audit. They are in the schema status, which can be in another database than the ledger.
//
// Methods of [DB] read, in the transaction of the context if it has one. Methods of [Editor] are the commands of
// editors, probes and schedules. A command is one transaction: it locks the page, applies the rules of package status
// to a working copy, writes the rows and the audit log, increments the revision of the page, and notifies readers. Its
// errors are a [*status.Error] for invalid input, an [*Unwritable], or those of the database. Methods with the prefix
// Claim, Record or Prune are for background tasks: they write their rows only, without audit log and revision.
package statuspages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"heliograph/internal/base/admission"
	"heliograph/internal/base/repeat"
	"heliograph/internal/base/wrap"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/storage"
	"heliograph/storage/migrations"
)

// DB is a pool of connections to the database of the status pages, which may be another one than the ledger's. Outside
// of a transaction, reads of a database without the schema status return no rows and no error.
//
// Reads use the transaction of the context if it comes from [DB.Snapshot] or [DB.Write], and a connection of the pool
// otherwise.
type DB struct {
	pool    *pgxpool.Pool
	options storage.PoolOptions
}

// Open creates the pool of the status database. It does not connect, so that the gateway starts without the database.
// It fails if the URL is invalid. With an error, the DB must not be used, even if it is not nil.
func Open(ctx context.Context, o storage.PoolOptions) (*DB, error) {
	cfg, err := o.Config(map[string]string{"application_name": "heliograph status"})
	if err != nil {
		return nil, fmt.Errorf("status pages: %w", err)
	}
	// After a restore, each prepared statement fails once because types have other OIDs. A connection that reports it
	// is closed.
	cfg.ConnConfig.OnPgError = func(_ *pgconn.PgConn, err *pgconn.PgError) bool {
		return err.Severity != "FATAL" && err.Code != "0A000"
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	return &DB{pool, o}, wrap.Error(err, "creating the pool for status pages")
}

// Close closes all connections. It waits for connections in use.
func (s *DB) Close() { s.pool.Close() }

// Pool returns the pool, for callers with their own SQL. Their statements do not belong to a transaction of a
// context.
func (s *DB) Pool() *pgxpool.Pool { return s.pool }

// Exists reports whether the database has the status tables in a version that this binary supports.
func (s *DB) Exists(ctx context.Context) (bool, error) {
	there, err := migrations.HasStatus(ctx, s.pool)
	if missingTables(err) {
		return false, nil
	}
	return there, err
}

// A TaskLog logs the errors of a background task that runs again and again: each error once, and that the task
// succeeds again. If the database is unreachable, it logs at level debug: the cache of status pages reports that for
// all tasks.
type TaskLog struct {
	Logger *slog.Logger
	Task   string // such as "running probes"
	Alone  bool   // there is no cache: log at level warn if the database is unreachable

	mu    sync.Mutex
	last  string // error of the last run, or empty
	level slog.Level
}

// Record logs the result of a run of a background task if it differs from the result before, and keeps it for the next
// call. A first success is not logged, and nothing if ctx has ended. Calls can overlap.
func (l *TaskLog) Record(ctx context.Context, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case ctx.Err() != nil:
	case err == nil && l.last != "":
		l.Logger.Log(ctx, min(l.level, slog.LevelInfo), "a background task succeeds again", "task", l.Task)
		l.last = ""
	case err != nil && err.Error() != l.last:
		if l.level = storage.LevelOf(err); l.Alone {
			l.level = slog.LevelWarn
		}
		l.Logger.Log(ctx, l.level, "a background task failed", "task", l.Task, "error", err)
		l.last = err.Error()
	}
}

// missingTables reports whether a statement failed because the schema status or a table does not exist.
func missingTables(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "3F000" || pg.Code == "42P01")
}

// sharedTx is the transaction of a context. The mutex serializes the fields of a query, which are resolved
// concurrently.
type sharedTx struct {
	mu sync.Mutex
	tx pgx.Tx
}

type txKey struct{ db *DB }

// Snapshot starts a read-only transaction and returns a context whose reads see one snapshot of the database. The
// caller must call the function that ends it. Until then, it holds a connection of the pool, and the reads run one
// after the other.
func (s *DB) Snapshot(ctx context.Context) (context.Context, func(), error) {
	tx, err := s.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, nil, fmt.Errorf("starting a snapshot: %w", err)
	}
	end := func() { _ = tx.Rollback(context.WithoutCancel(ctx)) } // nothing was written
	return context.WithValue(ctx, txKey{s}, &sharedTx{tx: tx}), end, nil
}

// read runs a query and returns its rows: in the transaction of ctx if it has one, one query at a time, else on the
// pool. finish, if not nil, fills their computed fields. If the status tables do not exist, a read on the pool returns
// no rows and no error. If the plan of the request is recorded, the statement is added to it, also if it fails.
func read[T any](
	ctx context.Context, s *DB, cols storage.Columns[T], finish func(*T) error, sql string, args ...any,
) ([]*T, error) {
	var q interface {
		Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	} = s.pool
	own, _ := ctx.Value(txKey{s}).(*sharedTx)
	if own != nil {
		own.mu.Lock()
		defer own.mu.Unlock()
		q = own.tx
	}
	recorded := admission.Of(ctx).Recorded()
	record := recorded.Trip()
	rows, _ := q.Query(ctx, sql, args...) // rows have the error
	out, err := storage.MapperOf(cols, finish).Collect(rows)
	if record != nil {
		record(*recorded.Place(ctx), rows.CommandTag().RowsAffected(), nil)
	}
	if own == nil && missingTables(err) {
		return nil, nil
	}
	return out, wrap.Error(err, "reading the status pages")
}

// readOne runs a query in the transaction of ctx, or without one on the pool, as [read] does, and returns its first
// row, completed by finish, or nil.
func readOne[T any](
	ctx context.Context, s *DB, cols storage.Columns[T], finish func(*T) error, sql string, args ...any,
) (*T, error) {
	return storage.FirstOf(read(ctx, s, cols, finish, sql, args...))
}

// owned is a row with the index of the object that it belongs to, starting at 1.
type owned[T any] struct {
	row   T
	owner int
}

// readOwned runs a query whose first column is the position, from 1, of the object that a row belongs to. It returns
// the rows of each of n objects, after finish, which must not be nil, has filled their computed fields. A position
// beyond n makes it panic. With an error, the lists are empty.
func readOwned[T any](
	ctx context.Context, s *DB, n int, cols storage.Columns[T], finish func(row *T, owner int), sql string, args ...any,
) ([][]*T, error) {
	rows, err := read(ctx, s, func(r *owned[T], into []any) []any {
		return cols(&r.row, append(into, &r.owner))
	}, nil, sql, args...)
	out := make([][]*T, n)
	for _, r := range rows {
		finish(&r.row, r.owner-1)
		out[r.owner-1] = append(out[r.owner-1], &r.row)
	}
	return out, err
}

// readValue runs a query in the transaction of ctx, or without one on the pool, as [read] does, and returns the value
// of its first row, or the zero value.
func readValue[T any](ctx context.Context, s *DB, sql string, args ...any) (T, error) {
	row, err := readOne(ctx, s, value[T], nil, sql, args...)
	return ledger.FromPointer(row).V, err
}

// value appends the scan target of a single column.
func value[T any](v *T, into []any) []any { return append(into, v) }

// Channel is the notification channel for writes. The payload is "code:revision" of the page.
const Channel = "status_page"

// ErrUnchanged is returned by the function of [DB.Write] if there is nothing to write. The transaction is rolled back,
// the revision stays, and Write returns no error.
var ErrUnchanged = errors.New("nothing to write")

// ErrNoPage reports that a page does not exist.
var ErrNoPage = errors.New("the status page does not exist")

// Tx is the transaction of a write to a page.
type Tx struct {
	pgx.Tx
	// Page is the page before the write. Its row is locked.
	Page *status.Page
	// At is the time of the write, in milliseconds and in the zone of the page.
	At time.Time
}

// begin runs do in a transaction that is committed unless do fails. Confirmed writes must survive a crash, even if
// asynchronous commits are the default of the server, as they are of the embedded one.
func (s *DB) begin(ctx context.Context, do func(pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{BeginQuery: `begin; set local synchronous_commit = on`}, do)
}

// Write writes to a page in a transaction that calls prepare, if not nil, locks the page, calls do, adds messages
// to the outbox, increments the revision and notifies readers. Reads with the context of do belong to the
// transaction. It fails with [ErrNoPage] if the page does not exist. If do returns [ErrUnchanged], it rolls back
// and returns nil.
func (s *DB) Write(
	ctx context.Context, page string, at time.Time, prepare func(tx pgx.Tx) error,
	do func(ctx context.Context, tx *Tx) error,
) error {
	err := s.begin(ctx, func(tx pgx.Tx) error {
		if prepare != nil {
			if err := prepare(tx); err != nil {
				return err
			}
		}
		// The default of the revision columns.
		_, err := tx.Exec(ctx, `select set_config('heliograph.status_revision', (revision + 1)::text, true)
from status.page where id = $1 for update`, page)
		if err != nil {
			return fmt.Errorf("locking the page: %w", err)
		}
		ctx := context.WithValue(ctx, txKey{s}, &sharedTx{tx: tx})
		before, err := s.PageByCode(ctx, page)
		if err != nil {
			return err
		}
		if before == nil {
			return ErrNoPage
		}
		at := status.Milliseconds(at).In(before.Zone)
		written := &Tx{Tx: tx, Page: before, At: at}
		if err := do(ctx, written); err != nil {
			return err
		}
		if err := s.notify(ctx, written); err != nil {
			return err
		}
		return incrementRevision(ctx, tx, page, at)
	})
	if errors.Is(err, ErrUnchanged) {
		return nil
	}
	return wrap.Error(err, "writing to the status page")
}

// incrementRevision increments the revision of a page and records it, in a transaction that notifies readers when
// it is committed.
func incrementRevision(ctx context.Context, tx pgx.Tx, page string, at time.Time) error {
	_, err := tx.Exec(ctx, `with incremented as (
  update status.page set revision = revision + 1, updated_at = $2 where id = $1 returning id, revision),
recorded as (
  insert into status.revision (page_id, revision, at) select id, revision, $2 from incremented)
select pg_notify($3, id || ':' || revision) from incremented`, page, at, Channel)
	return wrap.Error(err, "incrementing the revision of the page")
}

// insertPage inserts a page in a transaction, in which it locks the table of pages. Settings that are empty get
// defaults. The first page of all is the default page. A slug that is in use is an error of the database.
func insertPage(ctx context.Context, tx pgx.Tx, p *status.Page, at time.Time) error {
	// Concurrent inserts could result in no default page, or two.
	if _, err := tx.Exec(ctx, `lock table status.page in share row exclusive mode`); err != nil {
		return fmt.Errorf("locking the pages: %w", err)
	}
	_, err := tx.Exec(ctx, `insert into status.page (id, slug, name, url, hosts, is_default, time_zone, locale, vocabulary, mode, auto_publish, texts,
created_at, updated_at)
values ($1, $2, $3, $4, coalesce($5::text[], '{}'), not exists (select from status.page where is_default), $6, $7, $8, $9, $10, coalesce($11::jsonb, '{}'),
$12, $12)`,
		p.Code, p.Slug, p.Name, p.URL, p.Hosts, cmp.Or(p.TimeZone, "Etc/UTC"), cmp.Or(p.Locale, "en"),
		cmp.Or(p.Vocabulary, status.Documented),
		cmp.Or(p.Mode, status.Own), p.AutoPublish, p.Texts, status.Milliseconds(at))
	return wrap.Error(err, "inserting the page")
}

// pollInterval is the interval at which writes are looked for behind a pooler.
const pollInterval = time.Second

// Listen calls changed once it listens for writes, and then after each write to a page. It uses a connection of its
// own, and returns the error when that is lost or the context ends, never nil. Writes after that are not reported. If
// a pooler prevents listening, it polls.
func (s *DB) Listen(ctx context.Context, changed func()) error {
	conn, ok, err := s.options.ConnectDirect(ctx)
	if err != nil {
		return fmt.Errorf("connecting to listen: %w", err)
	}
	if !ok {
		return s.poll(ctx, changed)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // an error has no consequences
	if _, err := conn.Exec(ctx, `listen `+Channel); err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	for {
		changed()
		if _, err := conn.WaitForNotification(ctx); err != nil {
			return fmt.Errorf("waiting for writes: %w", err)
		}
	}
}

// poll is [DB.Listen] without notifications: it reads the revisions at intervals and calls changed if they differ. It
// calls changed after the first read too. It returns the error of the first read that fails, or that of ctx.
func (s *DB) poll(ctx context.Context, changed func()) error {
	last := int64(-1)
	for range repeat.Every(ctx, pollInterval) {
		pages, err := s.Pages(ctx)
		if err != nil {
			return err
		}
		sum := int64(len(pages)) // revisions never decrease
		for _, p := range pages {
			sum += p.Revision
		}
		if sum != last {
			last = sum
			changed()
		}
	}
	return ctx.Err() //nolint:wrapcheck // the caller knows its context
}
