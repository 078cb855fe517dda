package entities

import (
	"context"
	"sync"
	"time"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// fileRequest identifies a version of a system file and the list positions that need it.
type fileRequest struct {
	until     int64 // parts up to this timestamp are included
	positions []int
}

// fileVersion is a version of a system file and the requests that it answers, from 1.
type fileVersion struct {
	since    int64
	content  []byte
	requests []int64
}

var fileVersionRows = storage.MapperOf(func(v *fileVersion, into []any) []any { return append(into, &v.since, &v.content, &v.requests) }, nil)

// maxGasPrices is the maximum number of cached prices, enough for more than a year.
const maxGasPrices = 10_000

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

// cached returns a cached price, or null.
func (g *GasPrices) cached(at ledger.Timestamp) ledger.Null[int64] {
	if g == nil {
		return ledger.Null[int64]{}
	}
	g.mu.RLock()
	defer g.mu.RUnlock()
	price, ok := g.byHour[at/priceHour]
	return ledger.Null[int64]{V: price, Valid: ok}
}

// keep caches a price unless it is null.
func (g *GasPrices) keep(at ledger.Timestamp, price ledger.Null[int64]) {
	if g == nil || !price.Valid {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.byHour) >= maxGasPrices {
		clear(g.byHour)
	}
	g.byHour[at/priceHour] = price.V
}

// Read returns the gas price in tinybars at each of the given times, or null if the system files do not contain one. Invalid contents are skipped in favor of
// earlier ones, at most FileAttempts times. Prices may be cached; the first price of an hour then applies to the whole hour.
func (g *GasPrices) Read(ctx context.Context, db *storage.DB, times []ledger.Timestamp) ([]ledger.Null[int64], error) {
	out := make([]ledger.Null[int64], len(times))
	var missing []ledger.Timestamp
	var positions []int
	for i, at := range times {
		if out[i] = g.cached(at); !out[i].Valid {
			missing, positions = append(missing, at), append(positions, i)
		}
	}
	if missing == nil {
		return out, nil
	}
	fees, err := systemFiles(ctx, db, ledger.FeeScheduleFile, missing, ledger.DecodeFeeSchedules)
	if err != nil {
		return nil, err
	}
	rates, err := systemFiles(ctx, db, ledger.ExchangeRateFile, missing, ledger.DecodeExchangeRates)
	if err != nil {
		return nil, err
	}
	for i, at := range missing {
		if fees[i] != nil && rates[i] != nil {
			price := fees[i].GasPrice(rates[i], at)
			out[positions[i]] = price
			g.keep(at, price)
		}
	}
	return out, nil
}

// systemFiles reads a system file as of each of the given times. The result is nil where no content is valid.
func systemFiles[T any](ctx context.Context, db *storage.DB, num int64, times []ledger.Timestamp, decode func([]byte) (*T, error)) ([]*T, error) {
	out := make([]*T, len(times))
	requests := fileRequests(times)
	for attempt := 0; attempt < db.FileAttempts() && len(requests) > 0; attempt++ {
		untils := list.Map(requests, func(r fileRequest) int64 { return r.until })
		versions, err := fileVersionRows.List(ctx, db, "versions of a system file",
			`select v.since, string_agg(d.file_data, '' order by d.consensus_timestamp), v.ords
from (
  select s.since, l.last, array_agg(w.ord) as ords from unnest((select $2::bigint[])) with ordinality w(until, ord)
  cross join lateral (select consensus_timestamp as since from file_data where entity_id = $1 and consensus_timestamp <= w.until
    and transaction_type in (17, 19) order by consensus_timestamp desc limit 1) s
  cross join lateral (select consensus_timestamp as last from file_data where entity_id = $1 and consensus_timestamp between s.since and w.until
    order by consensus_timestamp desc limit 1) l
  group by s.since, l.last) v
join file_data d on d.entity_id = $1 and d.consensus_timestamp between v.since and v.last
group by v.since, v.last, v.ords`, int64(db.SystemEntity(num)), untils)
		if err != nil {
			return nil, err
		}
		var again []fileRequest
		for _, v := range versions {
			content, err := decode(v.content)
			for _, n := range v.requests {
				r := requests[n-1]
				if err != nil {
					again = append(again, fileRequest{v.since - 1, r.positions})
					continue
				}
				for _, i := range r.positions {
					out[i] = content
				}
			}
		}
		requests = again
	}
	return out, nil
}

// fileRequests returns one request for each distinct time.
func fileRequests(times []ledger.Timestamp) []fileRequest {
	var requests []fileRequest
	seen := make(map[ledger.Timestamp]int, len(times))
	for i, at := range times {
		n, ok := seen[at]
		if !ok {
			n = len(requests)
			seen[at] = n
			requests = append(requests, fileRequest{until: int64(at)})
		}
		requests[n].positions = append(requests[n].positions, i)
	}
	return requests
}
