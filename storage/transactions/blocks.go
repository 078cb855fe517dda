package transactions

import (
	"context"
	"strings"

	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// bloomSize is the size of a bloom filter in bytes.
const bloomSize = 256

// finishBlock left-pads the bloom filter and the receipts root of a block, which are stored without leading zeros. The
// error is always nil.
func finishBlock(b *ledger.Block) error {
	if n := len(b.LogsBloom); n > 0 && n < bloomSize {
		b.LogsBloom = append(make([]byte, bloomSize-n), b.LogsBloom...)
	}
	b.ReceiptsRoot = word(b.ReceiptsRoot)
	return nil
}

// NewestBlock reads the block with the newest last transaction, or nil if there are no blocks.
func NewestBlock(ctx context.Context, db *storage.DB) (*ledger.Block, error) {
	return storage.FirstOf(Blocks(ctx, db, ledger.BlockFilter{}, false, storage.Page{Limit: 1, Desc: true}))
}

// Blocks reads a page of blocks, ordered by number if byNumber, otherwise by the consensus time of the last
// transaction.
func Blocks(
	ctx context.Context, db *storage.DB, f ledger.BlockFilter, byNumber bool, p storage.Page,
) ([]*ledger.Block, error) {
	var w storage.Where
	r := storage.Read{Select: blockColumns}
	storage.Filter(&w, "index", f.Number)
	storage.Filter(&w, "consensus_end", f.Timestamp)
	if f.Number != nil && f.Timestamp != nil { // each has an index
		r.Setting = storage.NoBitmaps
	}
	key := []string{"consensus_end", "index"}
	if byNumber {
		key = []string{"index"}
	}
	w.Keyset(p, key...)
	r.From = `record_file where true` + w.String() + w.OrderBy(p, key...)
	return blockRows.ListRead(ctx, db, "blocks", &r, w.Args)
}

// BlockByHash reads the block whose hash starts with the given hash, in hex with or without "0x". The caller has
// checked that it is hex. It returns nil if no block or more than one matches.
func BlockByHash(ctx context.Context, db *storage.DB, hash string) (*ledger.Block, error) {
	return blockRows.One(ctx, db, "a block", blockByHash, startOf(hash))
}

// QueueBlocksByHash queues a query for the blocks, usually one at most, whose hash starts with the given hash. If
// more than two match, the result has two of them.
func QueueBlocksByHash(b *storage.Batch, hash ledger.Hash) storage.Result[[]*ledger.Block] {
	return blockRows.Queue(b, blockByHash, []any{startOf(hash.String())})
}

const blockByHash = `select ` + blockColumns + ` from record_file where hash like $1 limit 2`

// startOf returns the LIKE pattern of the stored hashes that start with a hash, in hex with or without "0x". It
// escapes nothing: the callers have checked that the hash is hex.
func startOf(hash string) string { return strings.TrimPrefix(strings.ToLower(hash), "0x") + "%" }

var blocksByNumber = storage.ByKeys(`select ` + blockColumns + ` from record_file where index = ` + storage.Any1)

// QueueBlocks queues a query for blocks by number. The result has one block per number, or nil if no block or more than
// one has the number.
func QueueBlocks(b *storage.Batch, numbers []int64) storage.Result[[]*ledger.Block] {
	r, args := blocksByNumber.For(b.DB(), numbers)
	return storage.Map(blockRows.QueueRead(b, r, args), func(found []*ledger.Block) []*ledger.Block {
		count := make(map[int64]int, len(found))
		for _, r := range found {
			count[r.Number]++
		}
		blocks := storage.ForKeys(found, numbers, func(r *ledger.Block) int64 { return r.Number })
		for i, number := range numbers {
			if count[number] > 1 {
				blocks[i] = nil
			}
		}
		return blocks
	})
}

// QueueBlocksAt queues a query for the blocks that contain the transactions with the given consensus times. The
// result has one block per time, or nil if the database has no such block.
func QueueBlocksAt(b *storage.Batch, times []ledger.Timestamp) storage.Result[[]*ledger.Block] {
	ps, _ := b.ParentsOrOne("at", storage.Int64s(times))
	at := ps.Key("at")
	return blockRows.QueueChild(b, len(times), &storage.Read{
		Parents: ps, Select: `p.ord, r.*`, From: ps.From,
		Page: `
  select ` + blockColumns + ` from record_file where consensus_end >= ` + at + ` order by record_file.consensus_end limit 1`,
		As: "r", Rest: ` where r.consensus_start <= ` + at,
	}, ps.Args)
}

// CountBlocks reads the number of blocks. Block numbers have no gaps, so the first and the last number are sufficient.
// Without blocks it is 0.
func CountBlocks(ctx context.Context, db *storage.DB) (int64, error) {
	return storage.Value[int64](ctx, db, "the number of blocks",
		`select coalesce(max(index) - min(index) + 1, 0) from record_file`)
}
