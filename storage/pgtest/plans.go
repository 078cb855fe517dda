package pgtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// statement is a recorded statement with its arguments.
type statement struct {
	sql  string
	args []any
}

// Recorder is a tracer for pgx that records statements and their arguments.
type Recorder struct {
	mu  sync.Mutex
	all []statement
}

// TraceQueryStart implements pgx.QueryTracer: it records the statement and its arguments, and returns ctx.
func (r *Recorder) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	r.add(data.SQL, data.Args)
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer. It does nothing.
func (r *Recorder) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TraceBatchStart implements pgx.BatchTracer. It only returns ctx.
func (r *Recorder) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

// TraceBatchQuery implements pgx.BatchTracer: it records the statement and its arguments.
func (r *Recorder) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	r.add(data.SQL, data.Args)
}

// TraceBatchEnd implements pgx.BatchTracer. It does nothing.
func (r *Recorder) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// add records a statement with a copy of its arguments, except for the pool's pings. Connections call it concurrently.
func (r *Recorder) add(sql string, args []any) {
	if sql == "" || strings.HasPrefix(sql, "--") { // the pool's ping
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, statement{sql, slices.Clone(args)})
}

// node is a node of a query plan.
type node struct {
	Type     string  `json:"Node Type"`
	Relation string  `json:"Relation Name"`
	Index    string  `json:"Index Name"`
	Rows     float64 `json:"Actual Rows"`
	Loops    float64 `json:"Actual Loops"`
	Removed  float64 `json:"Rows Removed by Filter"`
	// Rechecked is the number of rows that an index returned and the recheck removed.
	Rechecked float64 `json:"Rows Removed by Index Recheck"`
	Plans     []node
	statement
}

// scans appends to found the nodes that read tables, of n and those below it, and records their statement in them.
func (n *node) scans(of statement, found []node) []node {
	if n.Relation != "" {
		n.statement = of
		found = append(found, *n)
	}
	for i := range n.Plans {
		found = n.Plans[i].scans(of, found)
	}
	return found
}

// read returns the number of rows that a node reads from its table, with those that filters remove. The plan has
// averages of its loops.
func (n *node) read() float64 { return (n.Rows + n.Removed + n.Rechecked) * n.Loops }

// Reset removes the recorded statements.
func (r *Recorder) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = nil
}

// explain executes all statements since the last Reset again with EXPLAIN ANALYZE, in a transaction that it rolls
// back. Recorded statements that set parameters are only run, so that they apply to the following ones; a statement
// without a leading comment runs with the default parameters. It returns the nodes of their plans that read tables. If
// r is the tracer of pool, it records these statements too, so that a Reset must follow before the next use.
func (r *Recorder) explain(ctx context.Context, pool *pgxpool.Pool) (found []node, err error) {
	r.mu.Lock()
	statements := slices.Clone(r.all)
	r.mu.Unlock()
	tx, err := pool.Begin(ctx)
	if err != nil {
		return nil, fmt.Errorf("explaining statements: %w", err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }() // nothing has been written
	for _, s := range statements {
		var text []byte
		var plans []struct{ Plan node }
		switch {
		case strings.HasPrefix(s.sql, "select set_config"): // affects the following statements
			_, err = tx.Exec(ctx, s.sql, s.args...)
			text = []byte("[]")
		case !strings.HasPrefix(s.sql, "/*"): // has no settings of its own
			_, err = tx.Exec(ctx, `reset all`)
		}
		if err == nil && text == nil {
			err = tx.QueryRow(ctx, "explain (analyze, format json) "+s.sql, s.args...).Scan(&text)
		}
		err = errors.Join(err, json.Unmarshal(text, &plans))
		if err != nil {
			return nil, fmt.Errorf("explaining %s: %w", s.sql, err)
		}
		for _, p := range plans {
			found = p.Plan.scans(s, found)
		}
	}
	return found, nil
}

// RowsRead executes all statements since the last Reset again with EXPLAIN ANALYZE and returns how many rows they
// read from tables. It rolls them back. If r is the tracer of pool, it records them again, so that a Reset must
// follow.
func (r *Recorder) RowsRead(ctx context.Context, pool *pgxpool.Pool) (float64, error) {
	scans, err := r.explain(ctx, pool)
	rows := 0.0
	for i := range scans {
		rows += scans[i].read()
	}
	return rows, err
}

// CheckPlans explains all statements since the last Reset with their arguments. It fails the test if one of them
// scans a big table or one of its partitions sequentially, or reads more than most rows of it, or if no statement
// that reads tables was recorded. A statement that cannot be explained ends the test. If r is the tracer of pool, a
// Reset must follow.
func (r *Recorder) CheckPlans(t *testing.T, pool *pgxpool.Pool, big []string, most float64) {
	t.Helper()
	scans, err := r.explain(t.Context(), pool)
	if err != nil {
		t.Fatal(err)
	}
	if len(scans) == 0 {
		t.Error("no statements that read tables were recorded")
	}
	for _, n := range scans {
		isBig := slices.ContainsFunc(big, func(name string) bool {
			return n.Relation == name || strings.HasPrefix(n.Relation, name+"_p")
		})
		if read := n.read(); isBig && read > 0 && (n.Type == "Seq Scan" || read > most) {
			t.Errorf("%s of %s with index %q reads %.0f rows and removes %.0f of them: %s %v",
				n.Type, n.Relation, n.Index, read, n.Removed*n.Loops, n.sql, n.args)
		}
	}
}
