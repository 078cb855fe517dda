package resolvers

import (
	"context"

	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/transactions"
)

// blockRelations are the arrows from blocks.
type blockRelations struct {
	previous     *rowplan.Relation[*ledger.Block, *ledger.Block]
	next         *rowplan.Relation[*ledger.Block, *ledger.Block]
	transactions *rowplan.Relation[*ledger.Block, *relay.TransactionConnection]
}

func newBlockRelations() blockRelations {
	return blockRelations{previous: blockBeside(-1), next: blockBeside(1), transactions: queued(queueBlockTransactions)}
}

func (r *blockRelations) add(t *rowplan.Tables) {
	block := func() *rowplan.Object[*ledger.Block] { return t.Block }
	t.Block.Add("previous", rowplan.RelatedOne(r.previous, block))
	t.Block.Add("next", rowplan.RelatedOne(r.next, block))
	t.Block.Add("transactions", rowplan.RelatedOne(r.transactions, func() *rowplan.Object[*relay.TransactionConnection] { return t.TransactionConnection }))
}

// blockBeside is the relation to the block some places further.
func blockBeside(step int64) *rowplan.Relation[*ledger.Block, *ledger.Block] {
	return queued(func(_ context.Context, b *storage.Batch, parents []*ledger.Block, _ rowplan.Args, done func([]*ledger.Block)) error {
		transactions.QueueBlocks(b, keys(parents, func(b *ledger.Block) int64 { return b.Number + step }), done)
		return nil
	})
}

func queueBlockTransactions(ctx context.Context, b *storage.Batch, parents []*ledger.Block, args rowplan.Args, done func([]*relay.TransactionConnection)) error {
	p, err := pageArgs(ctx, args, transactionKind, 1)
	if err != nil {
		return err
	}
	transactions.QueueTransactionsBetween(b, keys(parents, func(b *ledger.Block) ledger.TimestampRange { return b.Timestamp }), storagePage(p), func(rows [][]*ledger.Transaction) {
		done(connections(transactionKind, p, rows, transactionKey))
	})
	return nil
}

// blockKey is a block's place by the order of its list. The number is always its last part.
func blockKey(byNumber bool) func(*ledger.Block) relay.Key {
	if byNumber {
		return func(b *ledger.Block) relay.Key { return relay.Key{b.Number} }
	}
	return func(b *ledger.Block) relay.Key { return relay.Key{int64(b.Timestamp.To.V), b.Number} }
}
