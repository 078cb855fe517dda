// Package storage reads and writes the mirror database. SQL stands beside the function that runs it; rows come back as the values of
// internal/domain/ledger. Storage knows nothing of GraphQL or HTTP.
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

// Options say how to reach a database.
type Options struct {
	PoolOptions
	// ReadOnly makes every session refuse to write: the database belongs to somebody else.
	ReadOnly bool
	// Base is the shard and realm of the ledger's system entities.
	Base ledger.EntityID
	// FileAttempts is how many versions of a system file are tried when the newest cannot be read. 0 means 12.
	FileAttempts int
	// ChainID is the network's chain id in the EVM; 0x128 when it is not given.
	ChainID ledger.Quantity
	// Cache keeps what does not change, such as the prices of gas.
	Cache bool
}

// defaultFileAttempts is how many versions of a system file are tried unless something else is configured.
const defaultFileAttempts = 12

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
	cache        bool
}

// Open connects to the database and makes sure that it answers.
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
	return &DB{pool: pool, base: o.Base, fileAttempts: o.FileAttempts, chainID: o.ChainID, cache: o.Cache}, nil
}

// pagePlans are settings of the planner that suit statements which read one page in the order of an index. Who sets them in the database's URL
// decides otherwise.
func pagePlans() map[string]string {
	return map[string]string{
		// A bitmap finds all rows that match before the first can be sorted, where an index gives the page's rows in order and stops. The planner
		// expects every account, token and contract to have the average number of rows, and so prefers bitmaps for the busy ones.
		"enable_bitmapscan": "off",
		// Compiling takes longer than any page does.
		"jit": "off",
	}
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

// On returns a DB whose statements run on conn, and so in its transaction.
func (db *DB) On(conn *pgx.Conn) *DB {
	bound := *db
	bound.conn = conn
	return &bound
}

// NetworkChainID returns the network's chain ID in the EVM as a quantity.
func (db *DB) NetworkChainID() ledger.Quantity { return db.chainID }

// FileAttempts returns how many versions of a system file are tried when the newest cannot be read.
func (db *DB) FileAttempts() int { return db.fileAttempts }

// Cache reports whether values that do not change may be cached between requests.
func (db *DB) Cache() bool { return db.cache }

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
