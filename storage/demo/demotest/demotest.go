// Package demotest has test databases with the demo network.
package demotest

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/storage/demo/demodb"
	"heliograph/storage/demo/statusdemo"
	"heliograph/storage/pgtest"
	"heliograph/storage/pgtest/tables"
)

// Now returns the fixed time for which the demo network of tests is created.
func Now() time.Time { return time.Date(2026, 5, 17, 12, 34, 56, 0, time.UTC) }

const self = "heliograph/storage/demo/demotest"

// Templates of test databases. They are variables, because pgtest identifies templates by their addresses.
var (
	// Network is the ledger of the demo network at [Now].
	Network = &pgtest.Template{Name: "network", From: tables.Ledger, Package: self, Prepare: loadLedger}
	// Full is the demo network at [Now] with its status page.
	Full = &pgtest.Template{Name: "full", From: tables.All, Package: self, Prepare: loadAll}
)

// loadLedger writes the demo network into the empty test database at url, as of [Now]. It prepares a template of
// package pgtest.
func loadLedger(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err //nolint:wrapcheck // of the test database
	}
	defer func() { _ = conn.Close(ctx) }() // everything has been committed
	return demodb.Load(ctx, conn, Now(), nil)
}

// loadAll writes the demo network and its status page into the empty test database at url, as of [Now], with one
// connection for each. It prepares a template of package pgtest.
func loadAll(ctx context.Context, url string) error {
	if err := loadLedger(ctx, url); err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err //nolint:wrapcheck // as above
	}
	defer func() { _ = conn.Close(ctx) }() // everything has been committed
	return statusdemo.Load(ctx, conn, Now(), false)
}
