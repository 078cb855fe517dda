package statements

import (
	"context"

	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/ledgerstate"
)

// pastReads are the reads of package ledgerstate. They run at the present, so that the texts have no common table
// expressions for the tables.
func pastReads() reads {
	m := &ledger.Moment{At: at, Balances: ledger.Of(ledger.SnapshotWindow{From: at - 20, At: at - 10})}
	after := []*ledger.BalanceEffect{{AccountID: 1001, TokenID: 1009}}
	return reads{
		"balances": queued(func(b *storage.Batch) {
			ledgerstate.QueueBalances(b, m, ids)
		}),
		"balances of tokens": queued(func(b *storage.Batch) {
			ledgerstate.QueueTokenBalances(b, m, []ledgerstate.Holding{{Account: 1001, Token: 1009}})
		}),
		"holders": queued(func(b *storage.Batch) {
			ledgerstate.QueueHolders(b, m, 1009, ledger.TokenHolderFilter{}, true, false, pairs)
		}),
		"supplies": queued(func(b *storage.Batch) {
			ledgerstate.QueueSupplies(b, m, ids)
		}),
		"length of a history": queued(func(b *storage.Batch) {
			ledgerstate.QueueFits(b, ledgerstate.AirdropHistory)
		}),
		"known stakes": queued(func(b *storage.Batch) {
			ledgerstate.QueueStakesKnown(b)
		}),
		"hbars after transactions": queued(func(b *storage.Batch) {
			ledgerstate.QueueHbarsAfter(b, after)
		}),
		"tokens after transactions": queued(func(b *storage.Batch) {
			ledgerstate.QueueTokensAfter(b, after)
		}),
		"balance history": queued(func(b *storage.Batch) {
			ledgerstate.QueueBalanceHistory(b, 1001, []ledger.Timestamp{at})
		}),
		"nearest snapshots": func(ctx context.Context, b *storage.Batch) error {
			_, err := ledgerstate.NearestSnapshots(ctx, b.DB(), m)
			return err
		},
	}
}
