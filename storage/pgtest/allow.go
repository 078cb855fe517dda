package pgtest

import (
	"context"
	"strconv"
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
	database := cfg.Database
	cfg.Database = "postgres"
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }() // every statement has been committed
	exec := func(sql string) int64 {
		tag, err := conn.Exec(ctx, sql)
		if err != nil {
			tb.Fatal(err)
		}
		return tag.RowsAffected()
	}
	exec(`alter database ` + pgx.Identifier{database}.Sanitize() + ` allow_connections ` + strconv.FormatBool(yes))
	for idle := 0; !yes && idle < 3; idle++ { // a connection that is being opened appears late
		if exec(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '`+database+`'`) > 0 {
			idle = 0
		}
		time.Sleep(50 * time.Millisecond)
	}
}
