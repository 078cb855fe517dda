// Package storage reads and writes the mirror database. SQL stands beside the function that runs it; rows come back as the values of
// internal/ledger. Storage knows nothing of GraphQL or HTTP.
package storage

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"heliograph/internal/ledger"
)

// Options say how to reach a database.
type Options struct {
	URL string
	// ReadOnly makes every session refuse to write: the database belongs to somebody else.
	ReadOnly bool
	// StatementTimeout ends statements in the server that take longer. 0 means never.
	StatementTimeout time.Duration
	// ConnectTimeout bounds the wait for a connection.
	ConnectTimeout time.Duration
	// MaxConnections bounds the pool. 0 leaves it to the driver.
	MaxConnections int32
	// Tracer sees every statement. Nil means none.
	Tracer pgx.QueryTracer
	// Base is the shard and realm of the ledger's system entities.
	Base ledger.EntityID
	// FileAttempts is how many versions of a system file are tried when the newest cannot be read. 0 means 12.
	FileAttempts int
	// ChainID is the network's chain id in the EVM; 0x128 when it is not given.
	ChainID ledger.Quantity
	Logger  *slog.Logger
}

// defaultChainID is the chain id of the test network.
const defaultChainID ledger.Quantity = "0x128"

// DB is a pool of connections to a mirror database.
type DB struct {
	pool *pgxpool.Pool
	// conn, if not nil, is the one connection that all statements run on, in a transaction of their own.
	conn         querier
	base         ledger.EntityID
	fileAttempts int
	chainID      ledger.Quantity
}

// Open connects to the database and makes sure that it answers.
func Open(ctx context.Context, o Options) (*DB, error) {
	cfg, err := pgxpool.ParseConfig(o.URL)
	if err != nil {
		return nil, fmt.Errorf("reading the database URL: %w", err)
	}
	params := cfg.ConnConfig.RuntimeParams
	if _, set := params["application_name"]; !set {
		params["application_name"] = "heliograph"
	}
	if o.ReadOnly {
		params["default_transaction_read_only"] = "on"
	}
	if o.StatementTimeout > 0 {
		params["statement_timeout"] = strconv.FormatInt(o.StatementTimeout.Milliseconds(), 10)
	}
	if o.ConnectTimeout > 0 {
		cfg.ConnConfig.ConnectTimeout = o.ConnectTimeout
	}
	if o.MaxConnections > 0 {
		cfg.MaxConns = o.MaxConnections
	}
	cfg.ConnConfig.Tracer = o.Tracer
	cfg.AfterConnect = func(_ context.Context, c *pgx.Conn) error {
		registerTypes(c.TypeMap())
		c.PgConn().CustomData()[arenaOf] = &arena{}
		return nil
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
	return &DB{pool: pool, base: o.Base, fileAttempts: o.FileAttempts, chainID: o.ChainID}, nil
}

// querier runs statements: the pool, or one connection.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// querier is what statements run on.
func (db *DB) querier() querier {
	if db.conn != nil {
		return db.conn
	}
	return db.pool
}

// Close ends all connections.
func (db *DB) Close() { db.pool.Close() }

// Pool is the pool itself, for what has SQL of its own.
func (db *DB) Pool() *pgxpool.Pool { return db.pool }

// ChainID is the network's chain id in the EVM.
func (db *DB) ChainID() uint64 {
	id, err := strconv.ParseUint(strings.TrimPrefix(string(db.chainID), "0x"), 16, 64)
	if err != nil {
		return 0 // no quantity is written otherwise
	}
	return id
}

// Ping makes sure that the database answers.
func (db *DB) Ping(ctx context.Context) error {
	if err := db.pool.Ping(ctx); err != nil {
		return fmt.Errorf("asking the database for a sign of life: %w", err)
	}
	return nil
}

// Ready tells whether the importer has filled the database so far that it can be read: there is an address book.
func (db *DB) Ready(ctx context.Context) (bool, error) {
	var ready bool
	if err := db.pool.QueryRow(ctx, `select exists (select from address_book)`).Scan(&ready); err != nil {
		return false, fmt.Errorf("looking for an address book: %w", err)
	}
	return ready, nil
}

// Newest is the newest consensus timestamp that the importer has brought, 0 when it has brought none: the end of the last block.
func (db *DB) Newest(ctx context.Context) (int64, error) {
	var newest int64
	if err := db.pool.QueryRow(ctx, `select coalesce((select consensus_end from record_file order by consensus_end desc limit 1), 0)`).Scan(&newest); err != nil {
		return 0, fmt.Errorf("looking for the newest block: %w", err)
	}
	return newest, nil
}

// SystemEntity is the id of the ledger's own entity of a number.
func (db *DB) SystemEntity(number int64) ledger.EntityID { return db.base.WithNum(number) }
