package entities

import (
	"context"
	"slices"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/fees"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// fileRequest identifies a version of a system file and the list positions that need it.
type fileRequest struct {
	until     int64 // parts up to this timestamp are included
	positions []int
}

// hourly is a value that is cached for an hour of the ledger: the one that was read last, with the time up to which it
// applies at least.
type hourly[V any] struct {
	fileVersionAt[V]
	until ledger.Timestamp
}

// readHourly returns the value at each of the given times, or null if there is none. Values that are not cached are
// read together, with those at the end of their hours, so that the cache covers these. Such an end is not after the
// newest of the times, nor past change, at which all values may change. With a nil cache it reads the given times
// only. read returns one value for each time, in order. If it fails, nothing is cached.
func readHourly[V any](
	cache *storage.Hours[hourly[V]], times []ledger.Timestamp, change ledger.Timestamp,
	read func([]ledger.Timestamp) ([]fileVersionAt[V], error),
) ([]ledger.Null[V], error) {
	out := make([]ledger.Null[V], len(times))
	var missing []ledger.Timestamp
	var positions []int
	for i, at := range times {
		if v, ok := cache.Get(at); ok && v.from <= at && at <= v.until {
			out[i] = ledger.Of(v.content)
		} else {
			missing, positions = append(missing, at), append(positions, i)
		}
	}
	if missing == nil {
		return out, nil
	}
	if newest := slices.Max(times); cache != nil { // the database has all versions up to here
		for _, at := range missing[:len(positions)] {
			last := min(at-at%storage.Hour+storage.Hour-1, newest)
			if at < change {
				last = min(last, change-1)
			}
			missing = append(missing, last)
		}
	}
	found, err := read(missing)
	if err != nil {
		return nil, err
	}
	for i, v := range found {
		if !v.found {
			continue
		}
		cache.Put(missing[i], hourly[V]{v, missing[i]})
		if i < len(positions) {
			out[positions[i]] = ledger.Of(v.content)
		}
	}
	return out, nil
}

// ExchangeRates reads exchange rates. For each hour it caches the version of the file that was read last.
type ExchangeRates struct {
	cache *storage.Hours[hourly[*ledger.ExchangeRateSet]]
}

// NewExchangeRates returns a reader of exchange rates, which it reads from system file 0.0.112. It caches them if
// db allows it. It reads nothing yet.
func NewExchangeRates(db *storage.DB) *ExchangeRates {
	return &ExchangeRates{storage.NewHours[hourly[*ledger.ExchangeRateSet]](db)}
}

// Read returns the exchange rate at each of the given times, or an empty rate if the file has none. It takes one
// statement, or none if all are cached. Invalid contents are skipped in favor of earlier ones, with a statement for
// each attempt, as in [GasPrices.Read]. It fills the cache; calls can overlap. With an error, the rates are empty.
func (e *ExchangeRates) Read(
	ctx context.Context, db *storage.DB, times []ledger.Timestamp,
) ([]ledger.ExchangeRate, error) {
	sets, err := readHourly(e.cache, times, 0,
		func(missing []ledger.Timestamp) ([]fileVersionAt[*ledger.ExchangeRateSet], error) {
			versions, err := systemFiles(ctx, db, ledger.ExchangeRateFile, missing,
				func(content []byte) (*ledger.ExchangeRateSet, error) {
					rates, err := ledger.DecodeExchangeRates(content)
					if err == nil && rates.CurrentRate == nil {
						err = ledger.ErrSyntax
					}
					return rates, err
				})
			for _, v := range versions {
				if v.found {
					v.content.Timestamp = v.since
				}
			}
			return versions, err
		})
	out := make([]ledger.ExchangeRate, len(times))
	for i, s := range sets {
		if s.Valid {
			out[i] = s.V.At(times[i])
		}
	}
	return out, err
}

// GasPrices reads gas prices in tinybars. For each hour it caches the price that was read last.
type GasPrices struct {
	cache *storage.Hours[hourly[int64]]
	calls bool
}

// NewGasPrices returns a reader of the prices that contract results have: those of the file that the network used at
// the time. It caches them if db allows it. It reads nothing yet.
func NewGasPrices(db *storage.DB) *GasPrices {
	return &GasPrices{cache: storage.NewHours[hourly[int64]](db)}
}

// NewCallPrices returns a reader of the prices in contract calls: those of the simple fee schedule at any time, or of
// a new network's schedule if the database has none. It caches them if db allows it. It reads nothing yet.
func NewCallPrices(db *storage.DB) *GasPrices {
	return &GasPrices{storage.NewHours[hourly[int64]](db), true}
}

// Read returns the gas price in tinybars at each of the given times, or null if the system files do not contain one.
// It takes no statement if all are cached, else one or more for the files with the price and one for the exchange
// rates. Invalid contents are skipped in favor of earlier ones, at most FileAttempts times, with a statement for each
// attempt. It fills the cache; calls can overlap.
func (g *GasPrices) Read(ctx context.Context, db *storage.DB, times []ledger.Timestamp) ([]ledger.Null[int64], error) {
	return readHourly(g.cache, times, db.FeeFiles().Since,
		func(missing []ledger.Timestamp) ([]fileVersionAt[int64], error) {
			files, err := g.files(ctx, db, missing)
			if err != nil {
				return nil, err
			}
			rates, err := systemFiles(ctx, db, ledger.ExchangeRateFile, missing, ledger.DecodeExchangeRates)
			if err != nil {
				return nil, err
			}
			out := make([]fileVersionAt[int64], len(missing))
			for i, at := range missing {
				if !files[i].found || !rates[i].found {
					continue
				}
				price := files[i].content.GasPrice(rates[i].content, at)
				out[i].content, out[i].found = price.V, price.Valid
				out[i].from = max(files[i].from, rates[i].from)
			}
			return out, nil
		})
}

// files reads the file with the price of gas at each of the given times. It uses [storage.DB.FeeFiles], and the other
// of the two files if that of the time has no valid content, unless the configuration forbids it (Strict). For calls
// it uses the simple fee schedule, and that of a new network if the database has none. Each file takes a statement of
// its own. The result has one element per time, or is nil with an error.
func (g *GasPrices) files(
	ctx context.Context, db *storage.DB, times []ledger.Timestamp,
) ([]fileVersionAt[ledger.GasFile], error) {
	if g.calls {
		out, err := systemFiles(ctx, db, ledger.SimpleFeeFile, times, DecodeGasFile(ledger.SimpleFeeFile))
		if err != nil {
			return nil, err
		}
		var builtIn ledger.GasFile
		for i := range out {
			if out[i].found {
				continue
			}
			if builtIn == nil {
				if builtIn, err = defaultGas(); err != nil {
					return nil, err
				}
			}
			out[i].content, out[i].found = builtIn, true
		}
		return out, nil
	}
	out := make([]fileVersionAt[ledger.GasFile], len(times))
	change := db.FeeFiles().Since
	first := make([]int64, len(times))
	second := make([]int64, len(times))
	for i, at := range times {
		first[i], second[i] = db.FeeFiles().At(at)
		if at >= change {
			out[i].from = change
		}
	}
	for _, wanted := range [][]int64{first, second} {
		for _, file := range []int64{ledger.FeeScheduleFile, ledger.SimpleFeeFile} {
			var at []ledger.Timestamp
			var places []int
			for i := range out {
				if wanted[i] == file && !out[i].found {
					at, places = append(at, times[i]), append(places, i)
				}
			}
			if at == nil {
				continue
			}
			read, err := systemFiles(ctx, db, file, at, DecodeGasFile(file))
			if err != nil {
				return nil, err
			}
			for n, i := range places {
				read[n].from = max(read[n].from, out[i].from)
				out[i] = read[n]
			}
		}
	}
	return out, nil
}

// DecodeGasFile returns the function that decodes the content of a file with the price of gas. file is its number:
// [ledger.SimpleFeeFile] for 0.0.113; any other is taken for 0.0.111, [ledger.FeeScheduleFile]. The function fails if
// the content is invalid.
func DecodeGasFile(file int64) func([]byte) (ledger.GasFile, error) {
	if file == ledger.SimpleFeeFile {
		return func(content []byte) (ledger.GasFile, error) { return fees.GasPrice(content) }
	}
	return func(content []byte) (ledger.GasFile, error) { return ledger.DecodeFeeSchedules(content) }
}

// defaultGas returns the price of gas of a new network, from the built-in fee schedule. It does not read the database.
func defaultGas() (ledger.GasFile, error) {
	content, err := fees.DefaultFile()
	if err != nil {
		return nil, err
	}
	return fees.GasPrice(content)
}

// fileVersionAt is the valid content of a system file at a time.
type fileVersionAt[T any] struct {
	content T
	found   bool             // else no content is valid
	since   ledger.Timestamp // of the first part of the content
	from    ledger.Timestamp // the content is the same at all times from here to the requested one
}

// systemFiles reads a system file as of each of the given times, and decodes the contents. num is the number of the
// file. Contents that decode rejects are skipped in favor of earlier ones, at most FileAttempts times, with one
// statement for each attempt. A time without valid content has found = false. The result has one element for each
// time, or is nil with an error.
func systemFiles[T any](
	ctx context.Context, db *storage.DB, num int64, times []ledger.Timestamp, decode func([]byte) (T, error),
) ([]fileVersionAt[T], error) {
	out := make([]fileVersionAt[T], len(times))
	requests := fileRequests(times)
	for attempt := 0; attempt < db.FileAttempts() && len(requests) > 0; attempt++ {
		untils := list.Map(requests, func(r fileRequest) int64 { return r.until })
		versions, err := fileVersionRows.ListRead(ctx, db, "versions of a system file", &storage.Read{
			Select: fileVersionColumns,
			Page: `
  select s.since, l.last, array_agg(w.ord) as ords from unnest(` + db.Hidden(`$2::bigint[]`) + `) with ordinality w(until, ord)
  cross join lateral (select consensus_timestamp as since from file_data where entity_id = $1 and consensus_timestamp <= w.until
    and transaction_type in (17, 19) order by consensus_timestamp desc limit 1) s
  cross join lateral (select consensus_timestamp as last from file_data where entity_id = $1 and consensus_timestamp between s.since and w.until
    order by consensus_timestamp desc limit 1) l
  group by s.since, l.last`, As: "v",
			Joins: []storage.Join{storage.Joined(
				` join file_data d on d.entity_id = $1 and d.consensus_timestamp between v.since and v.last`,
				"file_data", `entity_id = $1`,
			)},
			Rest: ` group by v.since, v.last, v.ords`,
		}, []any{int64(db.SystemEntity(num)), untils})
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
				}
				for _, i := range r.positions {
					if attempt == 0 {
						out[i].from = ledger.Timestamp(v.last)
					}
					if err == nil {
						out[i].content, out[i].found, out[i].since = content, true, ledger.Timestamp(v.since)
					}
				}
			}
		}
		requests = again
	}
	return out, nil
}

// fileRequests returns one request for each distinct time, in the order of their first places, with the positions of
// that time in times. It is part of [systemFiles].
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
