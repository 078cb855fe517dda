package storage

import (
	"context"
	"fmt"

	"heliograph/internal/ledger"
)

// The system files that say what gas costs.
const (
	feeScheduleNum   = 111
	exchangeRatesNum = 112
)

// fileWant asks for a system file as it was for some places of a list.
type fileWant struct {
	until  int64 // the latest instant whose pieces count
	places []int
}

// sharedFile is the contents of a file that some of those who asked share.
type sharedFile struct {
	since   int64
	content []byte
	ords    []int64
}

// GasPrices reads what a unit of gas cost at some times, in tinybars; unknown where the system files do not tell. Contents that cannot be read
// are passed over for those before them, FileAttempts times at most.
func (db *DB) GasPrices(ctx context.Context, times []ledger.Timestamp) ([]ledger.Null[int64], error) {
	out := make([]ledger.Null[int64], len(times))
	if len(times) == 0 {
		return out, nil
	}
	fees, err := systemFiles(ctx, db, feeScheduleNum, times, ledger.DecodeGasFee)
	if err != nil {
		return nil, err
	}
	rates, err := systemFiles(ctx, db, exchangeRatesNum, times, ledger.DecodeHbarRate)
	if err != nil {
		return nil, err
	}
	for i, at := range times {
		if fees[i] != nil && rates[i] != nil {
			out[i] = ledger.GasPrice(*fees[i], *rates[i], at)
		}
	}
	return out, nil
}

// systemFiles reads a system file as it was at some times; nil where nothing of it can be read.
func systemFiles[T any](ctx context.Context, db *DB, num int64, times []ledger.Timestamp, decode func([]byte) (T, error)) ([]*T, error) {
	out := make([]*T, len(times))
	wanted := wantsOf(times)
	for attempt := 0; attempt < db.fileAttempts && len(wanted) > 0; attempt++ {
		untils := make([]int64, len(wanted))
		for i, w := range wanted {
			untils[i] = w.until
		}
		versions, err := list(ctx, db, `select v.since, string_agg(d.file_data, '' order by d.consensus_timestamp), v.ords
from (
  select s.since, l.last, array_agg(w.ord) as ords from unnest($2::bigint[]) with ordinality w(until, ord)
  cross join lateral (select consensus_timestamp as since from file_data where entity_id = $1 and consensus_timestamp <= w.until
    and transaction_type in (17, 19) order by consensus_timestamp desc limit 1) s
  cross join lateral (select consensus_timestamp as last from file_data where entity_id = $1 and consensus_timestamp between s.since and w.until
    order by consensus_timestamp desc limit 1) l
  group by s.since, l.last) v
join file_data d on d.entity_id = $1 and d.consensus_timestamp between v.since and v.last
group by v.since, v.last, v.ords`, []any{int64(db.base.WithNum(num)), untils}, func(v *sharedFile, into []any) []any {
			return append(into, &v.since, &v.content, &v.ords)
		}, nil)
		if err != nil {
			return nil, fmt.Errorf("reading system file %d: %w", num, err)
		}
		var again []fileWant
		for _, v := range versions {
			content, err := decode(v.content)
			for _, ord := range v.ords {
				w := wanted[ord-1]
				if err != nil {
					again = append(again, fileWant{v.since - 1, w.places})
					continue
				}
				for _, i := range w.places {
					out[i] = &content
				}
			}
		}
		wanted = again
	}
	return out, nil
}

// wantsOf asks for the times of a list, each once.
func wantsOf(times []ledger.Timestamp) []fileWant {
	var wanted []fileWant
	seen := make(map[ledger.Timestamp]int, len(times))
	for i, at := range times {
		n, ok := seen[at]
		if !ok {
			n = len(wanted)
			seen[at] = n
			wanted = append(wanted, fileWant{until: int64(at)})
		}
		wanted[n].places = append(wanted[n].places, i)
	}
	return wanted
}
