package statuspages

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"heliograph/internal/domain/status"
	"heliograph/storage"
	"heliograph/storage/migrations"
)

// DB is a pool of connections to the status pages. It is apart from the ledger's pool, which refuses to write, and the pages may be in another
// database. A database without the schema status has no pages: reading them gives nothing, and no error.
//
// What reads takes its connection from the context: within [DB.Snapshot] and [DB.Write] that of their transaction, else any of the pool.
type DB struct {
	pool *pgxpool.Pool
}

// Open makes the pool. It does not connect: a page elsewhere must not keep the gateway from starting.
func Open(ctx context.Context, o storage.PoolOptions) (*DB, error) {
	cfg, err := o.Config(map[string]string{"application_name": "heliograph status"})
	if err != nil {
		return nil, fmt.Errorf("of status pages: %w", err)
	}
	// What an editor was told is written must survive a crash, whatever the server does for others: the embedded one does not wait for its disk.
	cfg.ConnConfig.RuntimeParams["synchronous_commit"] = "on"
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("making the status pool: %w", err)
	}
	return &DB{pool: pool}, nil
}

// Close ends all connections.
func (s *DB) Close() { s.pool.Close() }

// Pool is the pool itself, for what has SQL of its own.
func (s *DB) Pool() *pgxpool.Pool { return s.pool }

// Exists tells whether the database has status tables that the role may read.
func (s *DB) Exists(ctx context.Context) (bool, error) {
	there, err := migrations.HasStatus(ctx, s.pool)
	if missingTables(err) {
		return false, nil
	}
	return there, err
}

// missingTables tells whether a statement failed because there is no schema status, no table in it, or none that the role may read.
func missingTables(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "3F000" || pg.Code == "42P01" || pg.Code == "42501")
}

// sharedTx is the transaction of a context. Fields of a query are answered at the same time, and a connection can do one thing at a time.
type sharedTx struct {
	mu sync.Mutex
	tx pgx.Tx
}

type txKey struct{ db *DB }

// Snapshot returns a context in which everything is read as it is now, whatever others write meanwhile, and the function that ends it.
func (s *DB) Snapshot(ctx context.Context) (context.Context, func(), error) {
	tx, err := s.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, nil, fmt.Errorf("starting a snapshot: %w", err)
	}
	end := func() { _ = tx.Rollback(context.WithoutCancel(ctx)) } // nothing was written
	return context.WithValue(ctx, txKey{s}, &sharedTx{tx: tx}), end, nil
}

// read runs a statement and reads its rows.
func read[T any](ctx context.Context, s *DB, sql string, args []any, cols storage.Columns[T], finish func(*T) error) ([]*T, error) {
	var q interface {
		Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	} = s.pool
	own, _ := ctx.Value(txKey{s}).(*sharedTx)
	if own != nil {
		own.mu.Lock()
		defer own.mu.Unlock()
		q = own.tx
	}
	rows, err := q.Query(ctx, sql, args...)
	if err == nil {
		var out []*T
		if out, err = storage.Collect(rows, cols, finish); err == nil {
			return out, nil
		}
	}
	if own == nil && missingTables(err) {
		return nil, nil
	}
	return nil, fmt.Errorf("reading the status pages: %w", err)
}

// Channel is the channel on which writers tell what they have written: "code:revision" of the page.
const Channel = "status_page"

// ErrUnchanged is what the function of [DB.Write] returns when there was nothing to write: the transaction is undone, the page keeps its revision,
// and Write returns no error.
var ErrUnchanged = errors.New("nothing to write")

// ErrNoPage says that there is no such page.
var ErrNoPage = errors.New("there is no such status page")

// Tx is a write to a page while it goes on.
type Tx struct {
	pgx.Tx
	// Page is the page as it was before, with its row locked.
	Page *status.Page
	// At is the instant of the write, in milliseconds and the zone of the page.
	At time.Time
}

// Write writes to a page: in one transaction that locks it, does what write says, raises its revision and tells all readers. Readers see all of it or nothing.
// What write reads with its context it reads within the transaction. [ErrNoStatusPage] says that there is no page with this code.
func (s *DB) Write(ctx context.Context, page string, at time.Time, write func(ctx context.Context, tx *Tx) error) error {
	return s.write(ctx, page, at, nil, write)
}

// write is [DB.Write]; prepare, if not nil, comes before the page is looked for.
func (s *DB) write(ctx context.Context, page string, at time.Time, prepare func(tx pgx.Tx) error, write func(ctx context.Context, tx *Tx) error) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if prepare != nil {
			if err := prepare(tx); err != nil {
				return err
			}
		}
		// What is inserted from here on knows which revision it belongs to.
		if _, err := tx.Exec(ctx, `select set_config('heliograph.status_revision', (revision + 1)::text, true) from status.page where id = $1 for update`, page); err != nil {
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
		if err := write(ctx, &Tx{Tx: tx, Page: before, At: at}); err != nil {
			return err
		}
		return raise(ctx, tx, page, at)
	})
	if errors.Is(err, ErrUnchanged) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("writing to the status page: %w", err)
	}
	return nil
}

// raise raises a page's revision, keeps it, and tells all readers, who hear of it when the transaction has been committed.
func raise(ctx context.Context, tx pgx.Tx, page string, at time.Time) error {
	_, err := tx.Exec(ctx, `with raised as (
  update status.page set revision = revision + 1, updated_at = $2 where id = $1 returning id, revision),
kept as (
  insert into status.revision (page_id, revision, at) select id, revision, $2 from raised)
select pg_notify($3, id || ':' || revision) from raised`, page, at, Channel)
	if err != nil {
		return fmt.Errorf("raising the page's revision: %w", err)
	}
	return nil
}

// CreatePage makes a page. The first one of all is the default page, whatever the row says; revision and times are set here too.
func (s *DB) CreatePage(ctx context.Context, p *status.Page, at time.Time) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := insertPage(ctx, tx, p, at); err != nil {
			return err
		}
		return raise(ctx, tx, p.Code, status.Milliseconds(at))
	})
	if err != nil {
		return fmt.Errorf("making a status page: %w", err)
	}
	return nil
}

// insertPage inserts a page. The first one of all is the default page.
func insertPage(ctx context.Context, tx pgx.Tx, p *status.Page, at time.Time) error {
	// Who makes a page at the same time waits: else there could be no default page, or two.
	if _, err := tx.Exec(ctx, `lock table status.page in share row exclusive mode`); err != nil {
		return fmt.Errorf("locking the pages: %w", err)
	}
	_, err := tx.Exec(ctx, `insert into status.page (id, slug, name, url, hosts, is_default, time_zone, locale, vocabulary, mode, auto_publish, texts, created_at, updated_at)
values ($1, $2, $3, $4, coalesce($5::text[], '{}'), not exists (select from status.page where is_default), $6, $7, $8, $9, $10, coalesce($11::jsonb, '{}'), $12, $12)`,
		p.Code, p.Slug, p.Name, p.URL, p.Hosts, orText(p.TimeZone, "Etc/UTC"), orText(p.Locale, "en"), orText(string(p.Vocabulary), string(status.Documented)),
		orText(string(p.Mode), string(status.Own)), p.AutoPublish, p.Texts, status.Milliseconds(at))
	if err != nil {
		return fmt.Errorf("inserting the page: %w", err)
	}
	return nil
}

// orText is s, or other where s is empty.
func orText(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// Listen calls heard when it has begun to listen for writes, and whenever something was written to a page. It uses a connection of its own, and returns when that breaks or
// the context ends: what is written from then on is not heard.
func (s *DB) Listen(ctx context.Context, heard func()) error {
	conn, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig.Copy())
	if err != nil {
		return fmt.Errorf("connecting to listen: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // nothing is lost with it
	if _, err := conn.Exec(ctx, `listen `+Channel); err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	for {
		heard()
		if _, err := conn.WaitForNotification(ctx); err != nil {
			return fmt.Errorf("waiting for writes: %w", err)
		}
	}
}
