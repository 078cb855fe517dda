package storage

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"heliograph/internal/base/profile"
)

// Mark sets the field that reads the statements which are queued from now on, for the profile of the operation.
// Without a field, or with nil, it is that of the context of [Batch.Run].
func (b *Batch) Mark(at *profile.Place) { b.place = at }

// marked returns r, or if Mark was called a reader that also records the rows for that field.
func (b *Batch) marked(r reader) reader {
	if b.place == nil {
		return r
	}
	return &recorded{reader: r, at: b.place}
}

// recorded is a reader that also records what it has read.
type recorded struct {
	reader
	at      *profile.Place
	explain profile.Explain
	record  func(profile.Place, int64, profile.Explain) // of the round trip
}

// read reads the rows with the reader that it wraps, and records in the profile when they arrived and how many there
// were. Without a profile it only reads.
func (r *recorded) read(rows pgx.Rows) error {
	err := r.reader.read(rows)
	if r.record != nil {
		rows.Close()
		r.record(*r.at, rows.CommandTag().RowsAffected(), r.explain)
	}
	return err
}

// observe makes all readers of the batch record for the profile, if the client of ctx has requested one. Otherwise it
// changes no reader. For each statement except those of [DB.Estimate], the reader also gets [DB.analyze], which the
// profile can call later and which executes the statement again.
func (b *Batch) observe(ctx context.Context) {
	if w, ok := workKey.Of(ctx); ok {
		b.profile = w.Turn.Recorded()
	}
	if b.profile == nil {
		return
	}
	for setting, queries := range b.queries {
		for i, q := range queries {
			r, ok := q.rows.(*recorded)
			if !ok && q.rows != nil {
				r = &recorded{reader: q.rows, at: b.profile.Place(ctx)}
				queries[i].rows = r
			}
			if r != nil && !strings.Contains(q.sql, estimating) {
				r.explain = func(ctx context.Context) (float64, []profile.Scan, error) {
					return b.db.analyze(ctx, setting, q)
				}
			}
		}
	}
}

// begin starts a round trip of the profile, in which the readers of all record. Without a profile it does nothing.
func (b *Batch) begin(all []query) {
	record := b.profile.Trip()
	if record == nil {
		return
	}
	for _, q := range all {
		if r, ok := q.rows.(*recorded); ok {
			r.record = record
		}
	}
}

// planNode is a node of a plan of PostgreSQL.
type planNode struct {
	Type  string `json:"Node Type"`
	Table string `json:"Relation Name"`
	Index string `json:"Index Name"`
	Plans []planNode
}

// partition is what the names of partitions, and of their indexes, have after the name of the table.
var partition = regexp.MustCompile(`_p\d[\d_]*\d`)

// analysis reads the plan of a statement that was executed, and the milliseconds that it took.
type analysis []struct {
	Plan planNode
	Time float64 `json:"Execution Time"`
}

// read decodes the plan of a statement, in the JSON of EXPLAIN, into a. It implements the reader of a batch. It fails
// unless there is exactly one row, with valid JSON.
func (a *analysis) read(rows pgx.Rows) error {
	text, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[[]byte])
	if err != nil {
		return fmt.Errorf("explaining a statement: %w", err)
	}
	return json.Unmarshal(text, a) //nolint:wrapcheck // the caller ignores the reason
}

// analyze executes a statement again with EXPLAIN ANALYZE, on another connection, for a profile. It returns the time
// of the server in milliseconds, and what the statement reads, in the order of its plan. setting is the index of its
// planner setting in [settings]. Errors are those of [Batch.Run].
func (db *DB) analyze(ctx context.Context, setting int, q query) (float64, []profile.Scan, error) {
	free := *db
	free.conn = nil // the connection that has run the statement may be in use again
	b := free.NewBatch()
	var got analysis
	const explain = "explain (analyze, costs off, timing off, format json) "
	b.queries[setting] = []query{{sql: explain + q.sql, args: q.args, rows: &got}}
	if err := b.Run(ctx); err != nil {
		return 0, nil, err
	}
	return got[0].Time, got[0].Plan.scans(nil), nil
}

// scans appends to found the tables and indexes that a node and those below it read, each once. Partitions count
// as one table.
func (n *planNode) scans(found []profile.Scan) []profile.Scan {
	s := profile.Scan{Table: partition.ReplaceAllString(n.Table, ""), Index: partition.ReplaceAllString(n.Index, "")}
	if (n.Index != "" || n.Type == "Seq Scan") && !slices.Contains(found, s) {
		found = append(found, s)
	}
	for i := range n.Plans {
		found = n.Plans[i].scans(found)
	}
	return found
}
