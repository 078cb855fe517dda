package transactions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"heliograph/internal/base/admission"
	"heliograph/internal/base/list"
	"heliograph/internal/base/values"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// MaxStatisticsBlocks is the maximum number of blocks that statistics read. A month has 1.3 million.
const MaxStatisticsBlocks = 1_500_000

// BlockStatistics counts the blocks of the network. An hour after which the database has blocks does not change: its
// counts are cached.
type BlockStatistics struct {
	cache *storage.Hours[Period]
	most  int64 // blocks that are read at once

	counted ledger.Timestamp // hours before it are not counted ahead any more
}

// NewBlockStatistics returns statistics of blocks. Full hours are cached if db allows it. It reads nothing yet.
func NewBlockStatistics(db *storage.DB) *BlockStatistics {
	return &BlockStatistics{cache: storage.NewHours[Period](db), most: MaxStatisticsBlocks}
}

// Read returns the numbers of blocks (Rows), transactions (First.V) and gas (Second.V) in the periods between bounds,
// which ascend and are at least two; it does not set Valid. It reads hours that are not cached from the database, with
// up to maxBlockReaders statements at the same time, and caches full hours that have ended. All bounds but the first
// and the last are full hours. It fails with a [*TooManyRowsError] if too many blocks are not cached. Calls can
// overlap.
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
	// the newest block before the others are read
	newestRow := storage.Values[ledger.Timestamp]().Queue(b, `select coalesce(max(consensus_end), 0) from record_file`,
		nil)
	rangeRows := blockRangeRows.Queue(b, `
select `+blockRangeColumns+`
from unnest($1::bigint[], $2::bigint[]) with ordinality s(lower, upper, ord)
cross join lateral (select consensus_end, index from record_file where consensus_end >= lower and consensus_end < upper order by consensus_end limit 1) a
cross join lateral (select consensus_end, index from record_file where consensus_end >= lower and consensus_end < upper order by consensus_end desc limit 1) z
order by ord`, []any{lower, upper})
	if err := b.Run(ctx); err != nil {
		return nil, fmt.Errorf("counting blocks: %w", err)
	}
	newest, err := storage.First(newestRow)()
	if err != nil {
		return nil, err
	}
	ranges, err := rangeRows()
	if err != nil {
		return nil, err
	}
	var blocks int64
	for _, r := range ranges {
		n := r.lastIndex - r.firstIndex + 1
		if blocks+n > s.most {
			until, err := storage.Value[ledger.Timestamp](ctx, db, "a block",
				`select consensus_end from record_file where index = $1`, r.firstIndex+s.most-blocks)
			return nil, cmp.Or[error](err, &TooManyRowsError{s.most, until})
		}
		blocks += n
	}
	hours, err := s.hours(ctx, db, ranges, min(1+blocks/20_000, maxBlockReaders))
	if err != nil {
		return nil, fmt.Errorf("counting blocks: %w", err)
	}
	for _, h := range hours {
		start := ledger.Timestamp(h.index) * storage.Hour
		if end := start + storage.Hour; from <= start && end <= to && end <= *newest {
			s.cache.Put(start, h.Period)
		}
		add(max(from, start), h.Period)
	}
	return periods, nil
}

// maxBlockReaders is the number of connections that one request counts blocks with.
const maxBlockReaders = 4

// hours reads the numbers of blocks, transactions and gas of each hour with blocks in some ranges, in no order; index
// is the number of the hour since 1970. It runs as many concurrent statements as there are readers, or one if db is a
// single connection, waits for all of them, and joins their errors. With an error, the rows are not complete.
func (s *BlockStatistics) hours(
	ctx context.Context, db *storage.DB, ranges []*blockRangeRow, readers int64,
) ([]*periodRow, error) {
	if !db.Concurrent() {
		readers = 1
	}
	lower, upper := list.Map(ranges, func(r *blockRangeRow) int64 {
		return int64(r.first)
	}), list.Map(ranges, func(r *blockRangeRow) int64 { return int64(r.last) })
	parts, errs := make([][]*periodRow, readers), make([]error, readers)
	var group sync.WaitGroup
	for i := range readers {
		group.Go(func() {
			b := db.NewBatch()
			rows := periodRows.Queue(b, `select h::int, r.* from unnest($1::bigint[], $2::bigint[]) s(lower, upper)
cross join lateral generate_series(lower / 3600000000000, upper / 3600000000000) h cross join lateral (
  select count(*), sum(count)::bigint, coalesce(sum(gas_used), 0)::bigint, max(consensus_end) from record_file
  where consensus_end >= greatest(lower, h * 3600000000000) and consensus_end <= least(upper, h * 3600000000000 + 3599999999999)) r
where h % $3 = $4 and r.count > 0`, []any{lower, upper, readers, i})
			parts[i], errs[i] = storage.Run(ctx, b, rows)
		})
	}
	group.Wait()
	return slices.Concat(parts...), errors.Join(errs...)
}

// warmed is how long before the newest block hours are counted ahead.
const warmed = 31 * 24 * storage.Hour

// Warm reads the blocks of the hours that have ended and fills the cache with their counts, from the newest hour
// backwards, with a pause after each hour. It goes back a month, or to the newest hour of the last call that
// succeeded. It returns the first error, and what was cached before stays. Calls must not overlap. Without a cache it
// does nothing.
func (s *BlockStatistics) Warm(ctx context.Context, db *storage.DB, pause time.Duration) error {
	if s.cache == nil {
		return nil
	}
	ctx = values.Context(ctx, storage.Work(ctx, admission.Scans, false))
	newest, err := storage.Value[ledger.Timestamp](ctx, db, "a block",
		`select coalesce(max(consensus_end), 0) from record_file`)
	if err != nil {
		return err
	}
	newest -= newest % storage.Hour
	for at := newest; at > max(s.counted, newest-warmed); {
		at -= storage.Hour
		if _, ok := s.cache.Get(at); ok {
			continue
		}
		if _, err := s.Read(ctx, db, []ledger.Timestamp{at, at + storage.Hour}); err != nil {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return fmt.Errorf("counting blocks ahead: %w", ctx.Err())
		}
	}
	s.counted = newest
	return nil
}

// MaxStatistics is the maximum number of rows that statistics of an object read.
const MaxStatistics = 200_000

// TooManyRowsError reports a range whose statistics would read too many rows.
type TooManyRowsError struct {
	Most  int64
	Until ledger.Timestamp // the latest end of a range that would not
}

// Error implements error. It names the limit and the latest possible end of the range.
func (e *TooManyRowsError) Error() string {
	return fmt.Sprintf("the statistics would read more than %d rows: the range must end at %s or before", e.Most,
		e.Until)
}

// Period has the number of rows of a period, and two sums over them. A sum that exceeds 64 bits is null.
type Period struct {
	Rows          int64
	First, Second ledger.Null[int64]
}

type periodRow struct {
	Period
	index int32            // from 1, or 0 for all rows that were read
	last  ledger.Timestamp // of the rows
}

var periodRows = storage.MapperOf(func(p *periodRow, into []any) []any {
	return append(into, &p.index, &p.Rows, &p.First, &p.Second, &p.last)
}, nil)

// Statistics counts rows by period. The rows are those of the object $1; the parameters of limits are the start and
// the end of the range, and the maximum number of rows plus one.
type Statistics struct {
	sql  string
	most int64 // 0 if the rows read do not depend on the range
}

const inRange = ` and consensus_timestamp >= $3 and consensus_timestamp < $4`

// The statistics. Their sums are named in brackets.
var (
	// PaidStatistics counts the transactions that an account paid for.
	PaidStatistics = countRows(`select consensus_timestamp as at from transaction where payer_account_id = $1`+inRange,
		`0`, `0`)
	// TransferStatistics counts the hbar transfers of an account (to it, from it). The index does not have those of
	// the fee account.
	TransferStatistics = countRows(`select consensus_timestamp as at, amount from crypto_transfer where entity_id = `+
		`$1 and entity_id <> 98`+inRange,
		`sum(amount) filter (where amount > 0)`, `-sum(amount) filter (where amount < 0)`)
	// RewardStatistics counts the staking rewards of an account (their amounts).
	RewardStatistics = countRows(`select consensus_timestamp as at, amount from staking_reward_transfer where `+
		`account_id = $1`+inRange, `sum(amount)`, `0`)
	// ResultStatistics counts the results of a contract (gas).
	ResultStatistics = countRows(`select consensus_timestamp as at, gas_used from contract_result where `+
		`contract_id = $1`+inRange,
		`sum(gas_used)`, `0`)
	// TokenStatistics counts transfers to accounts of one token (1 each, their amounts). The index begins with the
	// time, so the transfers of all tokens are read in it. If they are too many, the period 0 has the end of those
	// that are not, and no other is read.
	TokenStatistics = Statistics{`with s as materialized (select consensus_timestamp as at from token_transfer where true` + inRange + `
  order by at offset $5 - 1 limit 1)
select 0, $5::bigint, 0::bigint, 0::bigint, at from s union all (` + periodsOf(`select consensus_timestamp as at, amount from token_transfer
  where token_id = $1 and amount > 0 and not exists (select 1 from s)`+inRange, `count(*)`, `sum(amount)`) + `)`, MaxStatistics}
	// MessageStatistics counts the messages of a topic by their sequence numbers, which have no gaps.
	MessageStatistics = Statistics{sql: `select i::int, n, 0::bigint, 0::bigint, 0::bigint from (
  select i, lead(seq) over (order by i) - seq as n from (
    select i, coalesce((select sequence_number from topic_message where topic_id = $1 and consensus_timestamp >= t order by consensus_timestamp limit 1),
      (select sequence_number + 1 from topic_message where topic_id = $1 order by sequence_number desc limit 1), 0) as seq
    from unnest($2::bigint[]) with ordinality b(t, i)) b) p
where n > 0`}
)

// countRows returns the statistics that count rows per period, with two sums. The arguments are SQL: a statement
// and two expressions.
func countRows(rows, first, second string) Statistics {
	return Statistics{periodsOf(rows, first, second), MaxStatistics}
}

// periodsOf returns the statement that counts the rows of a statement per period and sums two SQL expressions. Its
// parameters are those of [Statistics]: $2 are the bounds, and $5 is the maximum number of rows plus one. A sum with
// more than 63 bits is null.
func periodsOf(rows, first, second string) string {
	sum := func(of string) string {
		return `case when coalesce(` + of + `, 0) < 9223372036854775808 then coalesce(` + of + `, 0)::bigint end`
	}
	return `select width_bucket(at, $2::bigint[]), count(*), ` + sum(first) + `, ` + sum(second) + `, max(at) from (
  ` + rows + ` order by at limit $5) r group by 1`
}

// Queue queues a statement that counts the rows of an object in the periods between bounds, which ascend and are at
// least two. What the two sums are depends on s. The result has one element for each period, with zeros for one
// without rows. It fails with a [*TooManyRowsError] if there are more rows than the maximum.
func (s Statistics) Queue(
	b *storage.Batch, of ledger.EntityID, bounds []ledger.Timestamp,
) storage.Result[[]Period] {
	args := []any{int64(of), storage.Int64s(bounds)}
	if s.most > 0 {
		args = append(args, int64(bounds[0]), int64(bounds[len(bounds)-1]), s.most+1)
	}
	read := periodRows.Queue(b, s.sql, args)
	return func() ([]Period, error) {
		rows, err := read()
		if err != nil {
			return nil, err
		}
		periods, read, last := make([]Period, len(bounds)-1), int64(0), ledger.Timestamp(0)
		for i := range periods {
			periods[i].First.Valid, periods[i].Second.Valid = true, true
		}
		var all int64
		for _, r := range rows {
			if last = max(last, r.last); r.index == 0 {
				all = r.Rows
				continue
			}
			periods[r.index-1] = r.Period
			read += r.Rows
		}
		read = max(read, all)
		if s.most > 0 && read > s.most {
			return nil, &TooManyRowsError{s.most, last}
		}
		return periods, nil
	}
}
