package storage

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// PoolOptions say how to reach a database.
type PoolOptions struct {
	URL string
	// StatementTimeout ends statements in the server that take longer. 0 means never.
	StatementTimeout time.Duration
	// ConnectTimeout bounds the wait for a connection.
	ConnectTimeout time.Duration
	// MaxConnections bounds the pool. 0 leaves it to the driver.
	MaxConnections int32
	// Tracer sees every statement. Nil means none.
	Tracer pgx.QueryTracer
}

// Config is the configuration of a pool. Sessions get the settings where the URL does not say otherwise.
func (o *PoolOptions) Config(settings map[string]string) (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(o.URL)
	if err != nil {
		return nil, fmt.Errorf("reading the database URL: %w", err)
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
