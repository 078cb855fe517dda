package storage

import (
	"context"
	"fmt"
	"strings"

	"heliograph/internal/domain/ledger"
)

const blockColumns = `index, '0x' || hash, '0x' || prev_hash, name, count, hapi_version_major || '.' || hapi_version_minor || '.' || hapi_version_patch,
  coalesce(size, length(bytes)), nullif(gas_used, -1), logs_bloom, consensus_start, consensus_end`

func blockTargets(b *ledger.Block, into []any) []any {
	return append(into, &b.Number, &b.Hash, &b.PreviousHash, &b.Name, &b.Count, &b.HapiVersion,
		&b.Size, &b.GasUsed, (*blob)(&b.LogsBloom), &b.Timestamp.From, &b.Timestamp.To)
}

// bloomSize is the size of a bloom filter in bytes.
const bloomSize = 256

// finishBlock fills a bloom that was stored without its leading zeros.
func finishBlock(b *ledger.Block) error {
	if n := len(b.LogsBloom); n > 0 && n < bloomSize {
		b.LogsBloom = append(make([]byte, bloomSize-n), b.LogsBloom...)
	}
	return nil
}

// Blocks reads a page of blocks, by number or by the consensus time of the last transaction.
func (db *DB) Blocks(ctx context.Context, f *ledger.BlockFilter, byNumber bool, p Page) ([]*ledger.Block, error) {
	var w where
	if f != nil {
		filter(&w, "index", f.Number)
		filter(&w, "consensus_end", f.Timestamp)
	}
	key := []string{"consensus_end", "index"}
	if byNumber {
		key = []string{"index"}
	}
	w.keyset(p, key...)
	rows, err := list(ctx, db, `select `+blockColumns+` from record_file where true`+w.String()+w.orderBy(p, key...), w.args, blockTargets, finishBlock)
	if err != nil {
		return nil, fmt.Errorf("reading blocks: %w", err)
	}
	return rows, nil
}

// BlockByHash reads the block with a hash, or with a hash that begins with it. Nil when there is none, or more than one.
func (db *DB) BlockByHash(ctx context.Context, hash string) (*ledger.Block, error) {
	return db.block(ctx, "hash like $1", strings.TrimPrefix(strings.ToLower(hash), "0x")+"%")
}

// BlockByNumber reads the block with a number. Nil when there is none, or more than one.
func (db *DB) BlockByNumber(ctx context.Context, number int64) (*ledger.Block, error) {
	return db.block(ctx, "index = $1", number)
}

func (db *DB) block(ctx context.Context, condition string, arg any) (*ledger.Block, error) {
	rows, err := list(ctx, db, `select `+blockColumns+` from record_file where `+condition+` limit 2`, []any{arg}, blockTargets, finishBlock)
	if err != nil {
		return nil, fmt.Errorf("reading a block: %w", err)
	}
	if len(rows) != 1 {
		return nil, nil //nolint:nilnil // nothing that can be meant
	}
	return rows[0], nil
}

// numberedBlock is a block with its place among those that were asked for.
type numberedBlock struct {
	ledger.Block
	ord int64
}

func numberedBlockTargets(b *numberedBlock, into []any) []any {
	return blockTargets(&b.Block, append(into, &b.ord))
}

// QueueBlocks queues reading blocks by their numbers; done gets one for each number, nil where there is none, or more than one.
func (b *Batch) QueueBlocks(numbers []int64, done func([]*ledger.Block)) {
	out := make([]*ledger.Block, len(numbers))
	queue(b, `select n.ord, `+blockColumns+` from unnest($1::bigint[]) with ordinality n(number, ord) join record_file on index = n.number`,
		[]any{numbers}, numberedBlockTargets, func(r *numberedBlock) error { return finishBlock(&r.Block) }, func(rows []*numberedBlock) {
			found := make([]int, len(numbers))
			for _, r := range rows {
				out[r.ord-1] = &r.Block
				found[r.ord-1]++
			}
			for i, n := range found {
				if n > 1 {
					out[i] = nil
				}
			}
			done(out)
		})
}

// QueueBlocksAt queues reading the blocks that hold the transactions of some consensus times; done gets one for each time, nil where the
// database has no such block.
func (b *Batch) QueueBlocksAt(times []ledger.Timestamp, done func([]*ledger.Block)) {
	out := make([]*ledger.Block, len(times))
	queue(b, `select t.ord, r.* from unnest($1::bigint[]) with ordinality t(at, ord)
cross join lateral (
  select `+blockColumns+` from record_file where consensus_end >= t.at order by record_file.consensus_end limit 1) r
where r.consensus_start <= t.at`, []any{int64s(times)}, numberedBlockTargets, func(r *numberedBlock) error { return finishBlock(&r.Block) }, func(rows []*numberedBlock) {
		for _, r := range rows {
			out[r.ord-1] = &r.Block
		}
		done(out)
	})
}
