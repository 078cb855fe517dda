package entities

import (
	"context"
	"slices"

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

// ExchangeRates reads exchange rates. For each hour it caches the version of the file that was read last.
type ExchangeRates struct{ cache *storage.Hours[rateVersion] }

// rateVersion is a version of the exchange rates that is in effect from its timestamp to until or longer.
type rateVersion struct {
	rates *ledger.ExchangeRateSet
	until ledger.Timestamp
}

// NewExchangeRates returns a reader of exchange rates. It caches them if db allows it.
func NewExchangeRates(db *storage.DB) *ExchangeRates {
	return &ExchangeRates{storage.NewHours[rateVersion](db)}
}

// Read returns the exchange rate at each of the given times, or an empty rate if the file has none. It takes one statement, or none if all are cached. Invalid
// contents are skipped in favor of earlier ones, as in [GasPrices.Read].
func (e *ExchangeRates) Read(ctx context.Context, db *storage.DB, times []ledger.Timestamp) ([]ledger.ExchangeRate, error) {
	out := make([]ledger.ExchangeRate, len(times))
	var missing []ledger.Timestamp
	var positions []int
	for i, at := range times {
		if v, ok := e.cache.Get(at); ok && v.rates.Timestamp <= at && at <= v.until {
			out[i] = v.rates.At(at)
		} else {
			missing, positions = append(missing, at), append(positions, i)
		}
	}
	if missing == nil {
		return out, nil
	}
	newest := slices.Max(times) // the database has all versions up to here
	for _, at := range missing[:len(positions)] {
		missing = append(missing, min(at-at%storage.Hour+storage.Hour-1, newest)) // the last time of the hour, so that the cache covers the hour
	}
	versions, since, err := systemFiles(ctx, db, ledger.ExchangeRateFile, missing, func(content []byte) (*ledger.ExchangeRateSet, error) {
		rates, err := ledger.DecodeExchangeRates(content)
		if err == nil && rates.CurrentRate == nil {
			err = ledger.ErrSyntax
		}
		return rates, err
	})
	if err != nil {
		return nil, err
	}
	for i, rates := range versions {
		if rates == nil {
			continue
		}
		rates.Timestamp = since[i]
		e.cache.Put(missing[i], rateVersion{rates, missing[i]})
		if i < len(positions) {
			out[positions[i]] = rates.At(missing[i])
		}
	}
	return out, nil
}

// GasPrices reads gas prices and caches them by hour.
type GasPrices struct{ cache *storage.Hours[int64] }

// NewGasPrices returns a reader of gas prices. It caches them if db allows it.
func NewGasPrices(db *storage.DB) *GasPrices { return &GasPrices{storage.NewHours[int64](db)} }

// Read returns the gas price in tinybars at each of the given times, or null if the system files do not contain one. Invalid contents are skipped in favor of
// earlier ones, at most FileAttempts times. Prices may be cached; the first price of an hour then applies to the whole hour.
func (g *GasPrices) Read(ctx context.Context, db *storage.DB, times []ledger.Timestamp) ([]ledger.Null[int64], error) {
	out := make([]ledger.Null[int64], len(times))
	var missing []ledger.Timestamp
	var positions []int
	for i, at := range times {
		if out[i].V, out[i].Valid = g.cache.Get(at); !out[i].Valid {
			missing, positions = append(missing, at), append(positions, i)
		}
	}
	if missing == nil {
		return out, nil
	}
	fees, _, err := systemFiles(ctx, db, ledger.FeeScheduleFile, missing, ledger.DecodeFeeSchedules)
	if err != nil {
		return nil, err
	}
	rates, _, err := systemFiles(ctx, db, ledger.ExchangeRateFile, missing, ledger.DecodeExchangeRates)
	if err != nil {
		return nil, err
	}
	for i, at := range missing {
		if fees[i] != nil && rates[i] != nil {
			price := fees[i].GasPrice(rates[i], at)
			if out[positions[i]] = price; price.Valid {
				g.cache.Put(at, price.V)
			}
		}
	}
	return out, nil
}

// systemFiles reads a system file as of each of the given times, and the time since when the content is in effect. The result is nil where no content is valid.
func systemFiles[T any](
	ctx context.Context, db *storage.DB, num int64, times []ledger.Timestamp, decode func([]byte) (*T, error),
) (out []*T, since []ledger.Timestamp, err error) {
	out, since = make([]*T, len(times)), make([]ledger.Timestamp, len(times))
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
			return nil, nil, err
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
					out[i], since[i] = content, ledger.Timestamp(v.since)
				}
			}
		}
		requests = again
	}
	return out, since, nil
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
