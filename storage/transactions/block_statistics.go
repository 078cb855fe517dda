package transactions

import (
	"context"
	"fmt"
	"slices"

	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// maxStatisticsBlocks is the maximum number of blocks that statistics read. A month has 1.3 million.
const maxStatisticsBlocks = 1_500_000

// BlockStatistics counts the blocks of the network. An hour after which the database has blocks does not change: its counts are cached.
type BlockStatistics struct {
	cache *storage.Hours[Period]
	most  int64 // blocks that are read at once
}

// NewBlockStatistics returns statistics of blocks. They are cached if db allows it.
func NewBlockStatistics(db *storage.DB) *BlockStatistics {
	return &BlockStatistics{storage.NewHours[Period](db), maxStatisticsBlocks}
}

// Read counts the blocks in the periods between bounds (transactions, gas). All bounds but the first and the last are full hours. It fails with a
// [*TooManyRowsError] if too many blocks are not cached.
func (s *BlockStatistics) Read(ctx context.Context, db *storage.DB, bounds []ledger.Timestamp) ([]Period, error) {
	from, to := bounds[0], bounds[len(bounds)-1]
	periods := make([]Period, len(bounds)-1)
	add := func(at ledger.Timestamp, p Period) {
		i, starts := slices.BinarySearch(bounds, at)
		if !starts {
			i--
		}
		periods[i].Rows += p.Rows
		periods[i].First.V += p.First.V
		periods[i].Second.V += p.Second.V
	}
	var lower, upper []int64 // the ranges that are not cached
	for at := from; at < to; {
		end := min(at-at%storage.Hour+storage.Hour, to)
		if p, ok := s.cache.Get(at); ok && end-at == storage.Hour {
			add(at, p)
		} else if n := len(upper); n > 0 && upper[n-1] == int64(at) {
			upper[n-1] = int64(end)
		} else {
			lower, upper = append(lower, int64(at)), append(upper, int64(end))
		}
		at = end
	}
	if lower == nil {
		return periods, nil
	}
	b := db.NewBatch()
	var newest ledger.Timestamp // before the others are read
	storage.Values[ledger.Timestamp]().Queue(b, `select coalesce(max(consensus_end), 0) from record_file`, nil,
		func(rows []*ledger.Timestamp) { newest = *rows[0] })
	var hours []*periodRow
	periodRows.Queue(b, `select (at / 3600000000000)::int, count(*), sum(count)::bigint, coalesce(sum(gas_used), 0)::bigint, max(at) from (
  select r.* from unnest($1::bigint[], $2::bigint[]) s(lower, upper) cross join lateral (
    select consensus_end as at, count, gas_used from record_file where consensus_end >= lower and consensus_end < upper order by consensus_end limit $3) r
  limit $3) r group by 1`, []any{lower, upper, s.most + 1}, func(rows []*periodRow) { hours = rows })
	if err := b.Run(ctx); err != nil {
		return nil, fmt.Errorf("counting blocks: %w", err)
	}
	var read int64
	var last ledger.Timestamp
	for _, h := range hours {
		read, last = read+h.Rows, max(last, h.last)
	}
	if read > s.most {
		return nil, &TooManyRowsError{s.most, last}
	}
	for _, h := range hours {
		start := ledger.Timestamp(h.index) * storage.Hour
		if end := start + storage.Hour; from <= start && end <= to && end <= newest {
			s.cache.Put(start, h.Period)
		}
		add(max(from, start), h.Period)
	}
	return periods, nil
}
