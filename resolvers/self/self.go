// Package self implements the field of the query type with which the gateway describes itself.
package self

import (
	"context"

	"heliograph/graph/rowplan"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/transactions"
)

// Queries has the field.
type Queries struct {
	Database *storage.DB
	// Self is what does not change while the gateway runs.
	Self *ledger.Gateway
}

// Gateway resolves Query.gateway. It returns the description of the gateway, from its options, or nil if Self is nil.
// It reads the ranges of tables from the database if they are selected. If that fails, it returns the description
// without them beside the error.
func (q Queries) Gateway(ctx context.Context) (*ledger.Gateway, error) {
	if q.Self == nil || !rowplan.SelectionOf(ctx).Has("ranges") {
		return q.Self, nil
	}
	described := *q.Self
	var err error
	described.Ranges, err = transactions.Ranges(ctx, q.Database)
	return &described, err
}
