package pgtest

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Allow allows connections to a database, or closes all connections and rejects new ones, as if the server were down.
func Allow(tb testing.TB, url string, yes bool) {
	tb.Helper()
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		tb.Fatal(err)
	}
	name := pgx.Identifier{cfg.Database}.Sanitize()
	statements := []string{`alter database ` + name + ` allow_connections true`}
	if !yes {
		statements = []string{
			`alter database ` + name + ` allow_connections false`,
			`select pg_terminate_backend(pid) from pg_stat_activity where datname = '` + cfg.Database + `'`,
		}
	}
	cfg.Database = "postgres"
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }() // every statement has been committed
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			tb.Fatal(err)
		}
	}
}
