// Package tables has templates of test databases with empty tables.
package tables

import (
	"context"
	"errors"
	"log/slog"

	"heliograph/storage/migrations"
	"heliograph/storage/pgtest"
)

const self = "heliograph/storage/pgtest/tables"

// Templates of test databases. They are variables, because pgtest identifies templates by their addresses.
var (
	// Ledger has the tables of the ledger.
	Ledger = &pgtest.Template{Name: "ledger", Package: self, Prepare: addLedger}
	// Status has the tables of status pages.
	Status = &pgtest.Template{Name: "status", Package: self, Prepare: addStatus}
	// All has both.
	All = &pgtest.Template{Name: "all", From: Ledger, Package: self, Prepare: addStatus}
)

// addLedger creates the tables of the ledger in the test database at url, for the template [Ledger]. If
// HELIOGRAPH_TEST_KEYS is set, it makes gateways read them key by key, as if they were distributed. Errors of both
// steps are joined.
func addLedger(ctx context.Context, url string) error {
	return errors.Join(
		migrations.Ledger(ctx, url, slog.New(slog.DiscardHandler)),
		pgtest.KeyByKey(ctx, url, migrations.Distribution()),
	)
}

// addStatus creates the tables of status pages in the test database at url, with the migrations, for the templates
// [Status] and [All].
func addStatus(ctx context.Context, url string) error {
	return migrations.Status(ctx, url, slog.New(slog.DiscardHandler))
}
