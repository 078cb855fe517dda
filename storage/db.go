package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"heliograph/internal/base/admission"
	"heliograph/internal/base/wrap"
	"heliograph/internal/domain/ledger"
)

// Options configures a [DB].
type Options struct {
	PoolOptions
	// PerOperation is the maximum number of connections that one operation uses at the same time. Default 2.
	PerOperation int
	// Queue decides which statements run. Default: a queue with default options.
	Queue *admission.Queue
	// MaxLag is the maximum age of the newest block of a server that is used, relative to that of the freshest server.
	// Default 10 s.
	MaxLag time.Duration
	// ReadOnly makes all sessions read-only, except behind a pooler.
	ReadOnly bool
	// Base contains the shard and realm of the ledger's system entities.
	Base ledger.EntityID
	// FileAttempts is the maximum number of versions of a system file that are tried if the newest cannot be decoded.
	// Default 12.
	FileAttempts int
	// ChainID is the chain ID of the network in the EVM. Default 0x128.
	ChainID ledger.Quantity
	// Fees describes which file has the price of gas.
	Fees ledger.FeeFiles
	// Cache allows values that do not change, such as gas prices, to be cached.
	Cache bool
}

const (
	defaultFileAttempts = 12
	defaultPerOperation = 2
)

// defaultChainID is the chain ID of the test network.
const defaultChainID ledger.Quantity = "0x128"

// DB reads a mirror database, which can have several servers with the same data.
type DB struct {
	servers *servers
	// conn, if not nil, runs all statements in place of the servers.
	conn       querier
	o          Options // with defaults
	statistics *statistics
	schema     *atomic.Pointer[schema]
	apart      *atomic.Bool // whether tables are distributed
}

// Open creates a pool for each host of the URL and, if there are several, starts goroutines that connect and check
// them until [DB.Close]. It does not wait for a connection, so that the gateway starts without the database. Several
// hosts have the same data, such as a primary and its standbys. If the URL has target_session_attrs, there is one
// pool, and the driver chooses its host. It fails if the URL is invalid.
func Open(ctx context.Context, o Options) (*DB, error) {
	settings := map[string]string{
		"application_name": "heliograph",
		"jit":              "off", // compilation takes longer than reading a page
	}
	if o.ReadOnly {
		settings["default_transaction_read_only"] = "on"
	}
	parsed, err := o.parse()
	if err != nil {
		return nil, err
	}
	o.FileAttempts, o.ChainID = cmp.Or(o.FileAttempts, defaultFileAttempts), cmp.Or(o.ChainID, defaultChainID)
	if o.Queue == nil {
		o.Queue = admission.New(admission.Options{})
	}
	all := &servers{maxLag: cmp.Or(o.MaxLag, defaultMaxLag)}
	for _, cfg := range hosts(parsed) {
		o.configure(cfg, settings)
		pool, err := pgxpool.NewWithConfig(ctx, cfg)
		if err != nil {
			return nil, fmt.Errorf("connecting to the database: %w", err)
		}
		name := net.JoinHostPort(cfg.ConnConfig.Host, strconv.Itoa(int(cfg.ConnConfig.Port)))
		admitted := o.Queue.Pool(int(cfg.MaxConns), cmp.Or(o.PerOperation, defaultPerOperation))
		all.list = append(all.list, &server{name: name, pool: pool, admission: admitted})
	}
	all.watch()
	return &DB{
		servers: all, o: o, statistics: &statistics{}, schema: &atomic.Pointer[schema]{}, apart: &atomic.Bool{},
	}, nil
}

// querier runs statements. It is a pool or a single connection.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// Acquire waits for a connection of the share of the EVM, on the server of the operation of ctx, also if db is bound
// by [DB.On]. If that server cannot be reached, it tries another one once. The caller must call release once unless
// Acquire fails. It fails if ctx ends, the queue rejects the operation, or no server can be reached.
func (db *DB) Acquire(ctx context.Context) (conn *pgxpool.Conn, release func(), err error) {
	err = db.on(ctx, admission.EVM, nil, func(one *server, s *admission.Slot) error {
		if conn, err = one.pool.Acquire(ctx); err != nil {
			s.Leave()
			return err //nolint:wrapcheck // it is wrapped below
		}
		held := conn
		release = func() {
			held.Release()
			s.Leave()
		}
		return nil
	})
	return conn, release, wrap.Error(err, "waiting for a connection")
}

// Queue returns the queue that decides which requests and statements run.
func (db *DB) Queue() *admission.Queue { return db.o.Queue }

// Close stops the checks of servers and closes all connections. It waits for connections in use.
func (db *DB) Close() { db.servers.close() }

// Pool returns the connection pool of the first server that is up, or of the first one if none is. Its connections
// bypass the queue.
func (db *DB) Pool() *pgxpool.Pool {
	for _, one := range db.servers.list {
		if one.up.Load() {
			return one.pool
		}
	}
	return db.servers.list[0].pool
}

// On returns a copy of db whose statements run on conn, in the transaction of conn if it has one. They bypass the
// queue, and are not repeated on another server.
func (db *DB) On(conn *pgx.Conn) *DB {
	bound := *db
	bound.conn = conn
	return &bound
}

// Concurrent reports whether statements can run concurrently: not on a single connection.
func (db *DB) Concurrent() bool { return db.conn == nil }

// NetworkChainID returns the chain ID of the network in the EVM, as it is configured.
func (db *DB) NetworkChainID() ledger.Quantity { return db.o.ChainID }

// FileAttempts returns the maximum number of versions of a system file that are tried.
func (db *DB) FileAttempts() int { return db.o.FileAttempts }

// FeeFiles returns the configuration that describes which system file has the price of gas at a time.
func (db *DB) FeeFiles() ledger.FeeFiles { return db.o.Fees }

// Cache reports whether the configuration permits callers to cache values that do not change.
func (db *DB) Cache() bool { return db.o.Cache }

// ChainID returns the chain ID of the network in the EVM, or 0 if db is nil or the configured ID is not a hexadecimal
// number of at most 64 bits.
func (db *DB) ChainID() uint64 {
	if db == nil {
		return 0
	}
	id, err := strconv.ParseUint(strings.TrimPrefix(string(db.o.ChainID), "0x"), 16, 64)
	if err != nil {
		return 0
	}
	return id
}

// ErrEmpty reports that the importer has not written an address book, which it does before anything else.
var ErrEmpty = errors.New("the database has no address book")

// Ready fails if the database cannot serve, with [ErrEmpty] if the address book is empty. It also calls a PL/pgSQL
// function of the mirror schema, if there is one: after an upgrade of PostgreSQL's packages, plain statements can
// succeed while functions fail. It bypasses the queue of statements.
func (db *DB) Ready(ctx context.Context) error {
	var filled, callable bool
	if err := db.Pool().QueryRow(ctx, `select exists (select 1 from address_book),
coalesce(has_function_privilege(to_regprocedure('get_transaction_info_by_hash(bytea)')::oid, 'execute'), false)`).Scan(&filled, &callable); err != nil {
		return fmt.Errorf("reading the address book: %w", err)
	}
	if !filled {
		return ErrEmpty
	}
	if callable {
		if _, err := db.Pool().Exec(ctx,
			`select from get_transaction_info_by_hash(decode(repeat('00', 32), 'hex'))`); err != nil {
			return fmt.Errorf("calling a function: %w", err)
		}
	}
	return nil
}

// ErrNoBlocks reports that the ledger has no blocks.
var ErrNoBlocks = errors.New("the database has no blocks")

// Lag reads the newest block and returns its age at now. It fails with [ErrNoBlocks] if there are none. Like
// [DB.Ready], it bypasses the queue of statements. It reads nothing if the checks of several servers have the result.
func (db *DB) Lag(ctx context.Context, now time.Time) (time.Duration, error) {
	if newest := db.servers.freshest(); newest > 0 { // known if there are several servers
		return ledger.Timestamp(newest).Age(now), nil
	}
	var newest *ledger.Timestamp
	if err := db.Pool().QueryRow(ctx, `select max(consensus_end) from `+
		db.servers.visible()).Scan(&newest); err != nil {
		return 0, fmt.Errorf("reading the newest block: %w", err)
	}
	if newest == nil {
		return 0, ErrNoBlocks
	}
	return newest.Age(now), nil
}

// Newest returns the end of the newest block as a consensus timestamp, or 0 if there are no blocks. With several
// servers it returns what their last checks have found. Otherwise, or if they have found none, it reads the database.
func (db *DB) Newest(ctx context.Context) (int64, error) {
	if newest := db.servers.freshest(); newest > 0 {
		return newest, nil
	}
	return Value[int64](ctx, db, "the newest block",
		`select coalesce((select consensus_end from record_file order by consensus_end desc limit 1), 0)`)
}

// SystemEntity returns the ID of the system entity with the given number in the configured shard and realm. It
// reads nothing.
func (db *DB) SystemEntity(number int64) ledger.EntityID { return db.o.Base.WithNum(number) }
