package resolvers

import (
	"context"

	"heliograph/graph"
	"heliograph/graph/fault"
	"heliograph/graph/model"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/resolvers/loading"
	"heliograph/storage"
	"heliograph/storage/transactions"
)

// The lists of blocks, one per order. The last column of a position is always the block number.
var (
	blockList = listOf[ledger.Block]{"blocks", 2, func(b *ledger.Block) relay.Key {
		return relay.Key{int64(b.Timestamp.To.V), b.Number}
	}}
	blockNumberList = ofNumber("blocks by number", func(b *ledger.Block) int64 { return b.Number })
)

// spanOfBlock returns the time range of a block, by which its transactions, contract results and logs are read. Both
// ends belong to the block.
func spanOfBlock(b *ledger.Block) ledger.TimestampRange { return b.Timestamp }

// BlockTransactions resolves Block.transactions. It queues a read in the batch of q: a page of the transactions of
// each block, ordered by time. Invalid page arguments are BAD_USER_INPUT.
func (fields) BlockTransactions(
	ctx context.Context, q rowplan.Request, of []*ledger.Block, args graph.BlockTransactionsArgs,
) (
	rowplan.Results[*relay.TransactionConnection], error,
) {
	return transactionList.below(ctx, q, args.Order, args.Args,
		true /* countable */, func(b *storage.Batch, p storage.Page) (storage.Result[[][]*ledger.Transaction], error) {
			return transactions.QueueTransactionsBetween(b, list.Map(of, spanOfBlock), p), nil
		})
}

// Block resolves Query.block. It reads the block with a hash, or its first 32 bytes, or with a number, unless the
// operation has read that number; nil if it does not exist. Both or neither are BAD_USER_INPUT.
func (r queries) Block(ctx context.Context, args graph.QueryBlockArgs) (*ledger.Block, error) {
	if err := fault.OneOf("hash and number", args.Hash != nil, args.Number != nil); err != nil {
		return nil, err
	}
	if args.Hash != nil {
		return transactions.BlockByHash(ctx, r.db, *args.Hash)
	}
	return loading.LoadOne(ctx, r.db, blockType, *args.Number, transactions.QueueBlocks)
}

// Blocks resolves Query.blocks. It reads a page of blocks in one statement, ordered by time or number. Invalid page
// arguments are BAD_USER_INPUT. Unfiltered lists have a totalCount.
func (r queries) Blocks(ctx context.Context, args graph.QueryBlocksArgs) (*relay.BlockConnection, error) {
	l, byNumber := blockList, args.OrderBy == model.BlockOrderNumber
	if byNumber {
		l = blockNumberList
	}
	c, err := l.root(ctx, args.Order, args.Args, func(p storage.Page) ([]*ledger.Block, error) {
		return transactions.Blocks(ctx, r.db, args.Filter, byNumber, p)
	})
	count := func(ctx context.Context) (int64, error) { return transactions.CountBlocks(ctx, r.db) }
	return counted(c, unfiltered(args.Filter), count), err
}

// BlockPrevious resolves Block.previous. It queues a read in the batch of q: the block before each block, nil for the
// first.
func (fields) BlockPrevious(_ context.Context, q rowplan.Request, of []*ledger.Block) (
	rowplan.Results[*ledger.Block], error,
) {
	numbers := list.Map(of, func(b *ledger.Block) int64 { return b.Number - 1 })
	return transactions.QueueBlocks(loading.BatchOf(q), numbers), nil
}

// BlockNext resolves Block.next. It queues a read in the batch of q: the block after each block, nil for the newest.
func (fields) BlockNext(_ context.Context, q rowplan.Request, of []*ledger.Block) (
	rowplan.Results[*ledger.Block], error,
) {
	numbers := list.Map(of, func(b *ledger.Block) int64 { return b.Number + 1 })
	return transactions.QueueBlocks(loading.BatchOf(q), numbers), nil
}
