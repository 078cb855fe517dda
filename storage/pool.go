package storage

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"
)

// PoolOptions configures a connection pool.
type PoolOptions struct {
	// URL is the connection string of the database.
	URL string
	// StatementTimeout is the maximum duration of a statement, enforced by the server. 0 means no limit.
	StatementTimeout time.Duration
	// ConnectTimeout is the maximum duration of a connection attempt. 0 means no limit.
	ConnectTimeout time.Duration
	// MaxConnections is the maximum number of connections. 0 means the default of the driver.
	MaxConnections int32
	// Tracer observes every statement. It may be nil.
	Tracer pgx.QueryTracer
}

const (
	// cancelDelay is how long a statement may continue before it is canceled at the server. Most end within it, which is cheaper: a cancel request takes a
	// connection of its own and blocks the one of the statement for 100 ms.
	cancelDelay = 50 * time.Millisecond
	// cancelTimeout is how long a connection waits for the end of a canceled statement before it is closed.
	cancelTimeout = 5 * time.Second
)

// Config returns the configuration of the pool. Sessions use the given settings unless the URL contains the same setting.
func (o *PoolOptions) Config(settings map[string]string) (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(o.URL)
	if err != nil {
		return nil, fmt.Errorf("parsing the database URL: %w", err)
	}
	params := cfg.ConnConfig.RuntimeParams
	for name, value := range settings {
		if _, set := params[name]; !set {
			params[name] = value
		}
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
	// If the context of a statement ends, the statement is canceled at the server, and the connection stays usable. By default, the driver closes it.
	cfg.ConnConfig.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, CancelRequestDelay: cancelDelay, DeadlineDelay: cancelTimeout}
	}
	cfg.AfterConnect = func(_ context.Context, c *pgx.Conn) error {
		registerTypes(c.TypeMap())
		return nil
	}
	return cfg, nil
}
