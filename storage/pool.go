package storage

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
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
	cfg.AfterConnect = func(_ context.Context, c *pgx.Conn) error {
		registerTypes(c.TypeMap())
		return nil
	}
	return cfg, nil
}
