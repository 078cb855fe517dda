// Package storage is the kernel of the database access: the connection pool, batches of statements, decoding of rows, composition of filters and
// keyset pages, and classification of errors. The packages below it contain the queries and import this package, never the other way round.
// Nothing here depends on GraphQL or HTTP.
package storage

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"heliograph/internal/domain/ledger"
)

// Options configures a [DB].
type Options struct {
	PoolOptions
	// ReadOnly makes all sessions read-only.
	ReadOnly bool
	// Base contains the shard and realm of the ledger's system entities.
	Base ledger.EntityID
	// FileAttempts is the maximum number of versions of a system file that are tried if the newest cannot be decoded. Default 12.
	FileAttempts int
	// ChainID is the chain ID of the network in the EVM. Default 0x128.
	ChainID ledger.Quantity
	// Cache allows values that do not change, such as gas prices, to be cached.
	Cache bool
}

const defaultFileAttempts = 12

// defaultChainID is the chain ID of the test network.
const defaultChainID ledger.Quantity = "0x128"

// DB is a pool of connections to a mirror database.
type DB struct {
	pool *pgxpool.Pool
	// conn, if not nil, runs all statements in place of the pool.
	conn         querier
	base         ledger.EntityID
	fileAttempts int
	chainID      ledger.Quantity
	cache        bool
	statistics   *statistics
}

// Open creates the pool and fails if the database does not respond.
func Open(ctx context.Context, o Options) (*DB, error) {
	settings := pagePlans()
	settings["application_name"] = "heliograph"
	cfg, err := o.Config(settings)
	if err != nil {
		return nil, err
	}
	if o.ReadOnly {
		cfg.ConnConfig.RuntimeParams["default_transaction_read_only"] = "on"
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("connecting to the database: %w", err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("connecting to the database: %w", err)
	}
	if o.FileAttempts == 0 {
		o.FileAttempts = defaultFileAttempts
	}
	if o.ChainID == "" {
		o.ChainID = defaultChainID
	}
	return &DB{pool: pool, base: o.Base, fileAttempts: o.FileAttempts, chainID: o.ChainID, cache: o.Cache, statistics: &statistics{}}, nil
}

// pagePlans returns planner settings for statements that read one page in the order of an index. Settings in the database URL take precedence.
func pagePlans() map[string]string {
	return map[string]string{
		// A bitmap scan finds all matching rows before it sorts them. An index scan returns the rows in order and stops at the end of the page. The
		// planner assumes that every account, token and contract has the average number of rows, and prefers bitmaps for the busy ones.
		"enable_bitmapscan": "off",
		// JIT compilation takes longer than reading a page.
		"jit": "off",
	}
}

// querier runs statements. It is a pool or a single connection.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

func (db *DB) querier() querier {
	if db.conn != nil {
		return db.conn
	}
	return db.pool
}

// Close closes all connections.
func (db *DB) Close() { db.pool.Close() }

// Pool returns the connection pool.
func (db *DB) Pool() *pgxpool.Pool { return db.pool }

// On returns a copy of db whose statements run on conn, in the transaction of conn if it has one.
func (db *DB) On(conn *pgx.Conn) *DB {
	bound := *db
	bound.conn = conn
	return &bound
}

// NetworkChainID returns the chain ID of the network in the EVM, as it is configured.
func (db *DB) NetworkChainID() ledger.Quantity { return db.chainID }

// FileAttempts returns the maximum number of versions of a system file that are tried.
func (db *DB) FileAttempts() int { return db.fileAttempts }

// Cache reports whether values that do not change may be cached.
func (db *DB) Cache() bool { return db.cache }

// ChainID returns the chain ID of the network in the EVM, or 0 if it is not a hexadecimal number.
func (db *DB) ChainID() uint64 {
	id, err := strconv.ParseUint(strings.TrimPrefix(string(db.chainID), "0x"), 16, 64)
	if err != nil {
		return 0
	}
	return id
}

// Ping fails if the database does not respond.
func (db *DB) Ping(ctx context.Context) error {
	if err := db.pool.Ping(ctx); err != nil {
		return fmt.Errorf("pinging the database: %w", err)
	}
	return nil
}

// Ready reports whether the importer has written an address book, which it does before anything else.
func (db *DB) Ready(ctx context.Context) (bool, error) {
	var ready bool
	if err := db.pool.QueryRow(ctx, `select exists (select from address_book)`).Scan(&ready); err != nil {
		return false, fmt.Errorf("reading the address book: %w", err)
	}
	return ready, nil
}

// Newest returns the end of the newest block as a consensus timestamp, or 0 if there are no blocks.
func (db *DB) Newest(ctx context.Context) (int64, error) {
	var newest int64
	if err := db.pool.QueryRow(ctx, `select coalesce((select consensus_end from record_file order by consensus_end desc limit 1), 0)`).Scan(&newest); err != nil {
		return 0, fmt.Errorf("reading the newest block: %w", err)
	}
	return newest, nil
}

// SystemEntity returns the ID of the system entity with the given number.
func (db *DB) SystemEntity(number int64) ledger.EntityID { return db.base.WithNum(number) }
