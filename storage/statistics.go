package storage

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	"heliograph/internal/base/wrap"
)

// statisticsAge is how long planner statistics are used before they are read again.
const statisticsAge = 10 * time.Minute

// Frequencies are the planner's statistics of one column: how many rows its table has, and how many of them have a
// given value. They are estimates: they may decide how a statement finds rows, never which rows it finds.
type Frequencies struct {
	// Rows is the number of rows of the table. It is negative if the table was never analyzed.
	Rows float64
	// common contains the fraction of rows that have a frequent value.
	common map[string]float64
	// rest is the average fraction of rows that have any other value.
	rest float64
	// Lowest and Highest are the bounds of a number column without frequent values, or 0.
	Lowest, Highest int64
}

// Known reports whether the table exists and has been analyzed. If not, the other numbers are meaningless.
func (f *Frequencies) Known() bool { return f.Rows >= 0 }

// Of returns the estimated fraction of rows that have the value: between 0 and 1.
func (f *Frequencies) Of(value int64) float64 {
	if share, ok := f.common[strconv.FormatInt(value, 10)]; ok {
		return share
	}
	return f.rest
}

type statistics struct {
	mu      sync.Mutex
	read    time.Time
	columns map[string]*Frequencies
}

// Frequencies returns the planner's statistics of a column of a large table. It reads them from the catalog at
// intervals, outside of the queue, and caches them; other callers wait meanwhile. It fails if the read fails, and the
// next call reads again. The result is not [Frequencies.Known] if the table or its statistics are missing, or if the
// column is not one of those that [DB.readStatistics] reads.
func (db *DB) Frequencies(ctx context.Context, table, column string) (*Frequencies, error) {
	s := db.statistics
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now() //nolint:forbidigo // the age of a cache, not a time of the ledger
	if s.columns == nil || now.Sub(s.read) > statisticsAge {
		columns, err := db.readStatistics(ctx)
		if err != nil {
			return nil, err
		}
		s.columns, s.read = columns, now
	}
	return cmp.Or(s.columns[table+"."+column], &Frequencies{Rows: -1}), nil
}

// HasIndex reports whether the database had an optional index when statistics were last read. Until then it has none.
// It reads nothing, but waits while another call of [DB.Frequencies] reads.
func (db *DB) HasIndex(name string) bool {
	db.statistics.mu.Lock()
	defer db.statistics.mu.Unlock()
	return db.statistics.columns[name] != nil
}

// frequencyRow is a row of pg_stats. distinct is a number of values if positive, else a negative fraction of the rows.
type frequencyRow struct {
	column   string
	rows     float64
	distinct float64
	values   []string
	shares   []float64
	bounds   []string
}

// readStatistics reads the statistics of the columns that statements are chosen by, and which optional indexes exist,
// by name. It bypasses the queue, and does not change the cache.
func (db *DB) readStatistics(ctx context.Context) (map[string]*Frequencies, error) {
	q := db.conn
	if q == nil {
		q = db.Pool()
	}
	rows, err := q.Query(ctx, `select s.tablename || '.' || s.attname, c.reltuples, s.n_distinct, coalesce(s.most_common_vals::text::text[], '{}'),
  coalesce(s.most_common_freqs::float8[], '{}'), coalesce(s.histogram_bounds::text::text[], '{}')
from pg_stats s join pg_class c on c.oid = to_regclass(quote_ident(s.schemaname) || '.' || quote_ident(s.tablename))
where pg_table_is_visible(c.oid) and (s.tablename, s.attname) in (('transaction', 'type'), ('transaction', 'result'), ('transaction', 'consensus_timestamp'),
  ('crypto_transfer', 'entity_id'))
union all select c.relname, 0, 0, '{}', '{}', '{}' from pg_index i join pg_class c on c.oid = i.indexrelid
where i.indisvalid and pg_table_is_visible(c.oid) and c.relname = 'token_account__token_id_balance'`)
	if err != nil {
		return nil, fmt.Errorf("reading the planner's statistics: %w", err)
	}
	defer rows.Close()
	columns := map[string]*Frequencies{}
	for rows.Next() {
		var r frequencyRow
		if err := rows.Scan(&r.column, &r.rows, &r.distinct, &r.values, &r.shares, &r.bounds); err != nil {
			return nil, fmt.Errorf("decoding the planner's statistics: %w", err)
		}
		columns[r.column] = r.frequencies()
	}
	return columns, wrap.Error(rows.Err(), "reading the planner's statistics")
}

// frequencies returns the statistics of a column from a row of pg_stats: the shares of common values, the mean share
// of the others, which is 0 if there are none, and the bounds, which are 0 if they are not numbers. It reads nothing.
func (r *frequencyRow) frequencies() *Frequencies {
	f := &Frequencies{Rows: r.rows, common: make(map[string]float64, len(r.values))}
	left := 1.0
	for i, v := range r.values[:min(len(r.values), len(r.shares))] {
		f.common[v] = r.shares[i]
		left -= r.shares[i]
	}
	distinct := r.distinct
	if distinct < 0 {
		distinct *= -r.rows
	}
	if others := distinct - float64(len(f.common)); others >= 1 && left > 0 {
		f.rest = left / others
	}
	if n := len(r.bounds); n > 1 {
		_, _ = fmt.Sscan(r.bounds[0], &f.Lowest) // 0 if the column has no numbers
		_, _ = fmt.Sscan(r.bounds[n-1], &f.Highest)
	}
	return f
}

// Part returns the fraction of the rows between two values of the column, both inclusive: between 0 and 1. It assumes
// that values are distributed evenly. It is 0 if the bounds are not known, or if the range is outside of them.
func (f *Frequencies) Part(lower, upper int64) float64 {
	lower, upper = max(lower, f.Lowest), min(upper, f.Highest)
	if f.Highest <= f.Lowest || upper < lower {
		return 0
	}
	return (float64(upper) - float64(lower) + 1) / (float64(f.Highest) - float64(f.Lowest) + 1)
}

// Countable is a statement whose number of rows the planner can estimate.
type Countable string

// estimating stands before a statement that is not run.
const estimating = "explain (format json) "

// Estimate returns the planner's estimate of the number of rows of the statement what. It runs EXPLAIN in a batch of
// its own, and not the statement.
func (db *DB) Estimate(ctx context.Context, what Countable) (int64, error) {
	b := db.NewBatch()
	rows, err := Run(ctx, b, Values[[]byte]().queue(b, estimating, &Read{SQL: string(what)}, nil))
	if err != nil {
		return 0, fmt.Errorf("reading a plan: %w", err)
	}
	var plans []struct {
		Plan struct {
			Rows int64 `json:"Plan Rows"`
		} `json:"Plan"`
	}
	if err := json.Unmarshal(*rows[0], &plans); err != nil || len(plans) != 1 {
		return 0, fmt.Errorf("decoding a plan with %d elements: %w", len(plans), err)
	}
	return plans[0].Plan.Rows, nil
}
