package entities

import (
	"context"
	"fmt"
	"sync"
	"time"

	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// System files from which gas prices are computed.
const (
	feeScheduleNum   = 111
	exchangeRatesNum = 112
)

// fileWant identifies a version of a system file and the list positions that need it.
type fileWant struct {
	until  int64 // parts up to this timestamp are included
	places []int
}

// sharedFile is a file version that several requests share.
type sharedFile struct {
	since   int64
	content []byte
	ords    []int64
}

// mostGasPrices is the maximum number of cached prices, enough for more than a year.
const mostGasPrices = 10_000

// priceHour is the time for which a cached price is valid. System files are read as of the start of the hour.
const priceHour = ledger.Timestamp(time.Hour)

// GasPrices reads gas prices and caches them by hour. A nil *GasPrices does not cache.
type GasPrices struct {
	mu     sync.RWMutex
	byHour map[ledger.Timestamp]int64
}

// NewGasPrices returns a reader of gas prices. It caches them if db allows it.
func NewGasPrices(db *storage.DB) *GasPrices {
	if db == nil || !db.Cache() {
		return nil
	}
	return &GasPrices{byHour: map[ledger.Timestamp]int64{}}
}

// fill copies cached prices to out and returns the positions of missing ones.
func (g *GasPrices) fill(times []ledger.Timestamp, out []ledger.Null[int64]) (missing []int) {
	if g != nil {
		g.mu.RLock()
		defer g.mu.RUnlock()
	}
	for i, at := range times {
		var known bool
		if g != nil {
			var price int64
			if price, known = g.byHour[at/priceHour]; known {
				out[i] = ledger.Of(price)
			}
		}
		if !known {
			missing = append(missing, i)
		}
	}
	return missing
}

// keep caches a price unless it is null.
func (g *GasPrices) keep(at ledger.Timestamp, price ledger.Null[int64]) {
	if g == nil || !price.Valid {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.byHour) >= mostGasPrices {
		clear(g.byHour)
	}
	g.byHour[at/priceHour] = price.V
}

// Read returns the gas price in tinybars at each of the given times, or null if the system files do not contain one. Invalid contents are skipped in favor of
// earlier ones, at most FileAttempts times. Prices may be cached; the first price of an hour then applies to the whole hour.
func (g *GasPrices) Read(ctx context.Context, db *storage.DB, times []ledger.Timestamp) ([]ledger.Null[int64], error) {
	out := make([]ledger.Null[int64], len(times))
	missing := g.fill(times, out)
	if len(missing) == 0 {
		return out, nil
	}
	asked := make([]ledger.Timestamp, len(missing))
	for i, place := range missing {
		asked[i] = times[place]
	}
	prices, err := readGasPrices(ctx, db, asked)
	if err != nil {
		return nil, err
	}
	for i, place := range missing {
		out[place] = prices[i]
		g.keep(asked[i], prices[i])
	}
	return out, nil
}

// readGasPrices reads prices from the system files.
func readGasPrices(ctx context.Context, db *storage.DB, times []ledger.Timestamp) ([]ledger.Null[int64], error) {
	out := make([]ledger.Null[int64], len(times))
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

// systemFiles reads a system file as of each of the given times. The result is nil where no content is valid.
func systemFiles[T any](ctx context.Context, db *storage.DB, num int64, times []ledger.Timestamp, decode func([]byte) (T, error)) ([]*T, error) {
	out := make([]*T, len(times))
	wanted := wantsOf(times)
	for attempt := 0; attempt < db.FileAttempts() && len(wanted) > 0; attempt++ {
		untils := make([]int64, len(wanted))
		for i, w := range wanted {
			untils[i] = w.until
		}
		versions, err := storage.List(ctx, db, `select v.since, string_agg(d.file_data, '' order by d.consensus_timestamp), v.ords
from (
  select s.since, l.last, array_agg(w.ord) as ords from unnest((select $2::bigint[])) with ordinality w(until, ord)
  cross join lateral (select consensus_timestamp as since from file_data where entity_id = $1 and consensus_timestamp <= w.until
    and transaction_type in (17, 19) order by consensus_timestamp desc limit 1) s
  cross join lateral (select consensus_timestamp as last from file_data where entity_id = $1 and consensus_timestamp between s.since and w.until
    order by consensus_timestamp desc limit 1) l
  group by s.since, l.last) v
join file_data d on d.entity_id = $1 and d.consensus_timestamp between v.since and v.last
group by v.since, v.last, v.ords`, []any{int64(db.SystemEntity(num)), untils}, func(v *sharedFile, into []any) []any {
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

// wantsOf returns one fileWant for each distinct time.
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
