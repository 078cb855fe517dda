// Package demotest has a test database with the demo network, for tests below the gateway.
package demotest

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/storage/demo/demodb"
	"heliograph/storage/migrations"
	"heliograph/storage/pgtest"
)

// Now returns the time of the demo network.
func Now() time.Time { return time.Date(2026, 5, 17, 12, 34, 56, 0, time.UTC) }

// Network is the ledger of the demo network at [Now], with the planner's statistics.
var Network = &pgtest.Template{Name: "network", Prepare: func(ctx context.Context, url string) error {
	if err := migrations.Ledger(ctx, url, slog.New(slog.DiscardHandler)); err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err //nolint:wrapcheck // of the test database
	}
	defer func() { _ = conn.Close(ctx) }() // everything has been committed
	if err := errors.Join(demodb.Load(ctx, conn, Now(), nil), pgtest.KeyByKey(ctx, url, migrations.Distribution())); err != nil {
		return err
	}
	_, err = conn.Exec(ctx, `analyze`)
	return err //nolint:wrapcheck // as above
}}
