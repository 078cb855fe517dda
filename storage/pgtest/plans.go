package pgtest

import (
	"context"
	"encoding/json"
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

// TraceQueryStart implements pgx.QueryTracer.
func (r *Recorder) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	r.add(data.SQL, data.Args)
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (r *Recorder) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TraceBatchStart implements pgx.BatchTracer.
func (r *Recorder) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

// TraceBatchQuery implements pgx.BatchTracer.
func (r *Recorder) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	r.add(data.SQL, data.Args)
}

// TraceBatchEnd implements pgx.BatchTracer.
func (r *Recorder) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

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
}

// Reset removes the recorded statements.
func (r *Recorder) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = nil
}

type explained struct {
	statement
	plan node
}

// explain explains all statements since the last Reset with their arguments.
func (r *Recorder) explain(ctx context.Context, pool *pgxpool.Pool) ([]explained, error) {
	r.mu.Lock()
	statements := slices.Clone(r.all)
	r.mu.Unlock()
	tx, err := pool.Begin(ctx)
	if err != nil {
		return nil, fmt.Errorf("explaining statements: %w", err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }() // nothing has been written
	var out []explained
	for _, s := range statements {
		switch {
		case strings.HasPrefix(s.sql, "select set_config"): // affects the following statements
			_, err = tx.Exec(ctx, s.sql, s.args...)
		case !strings.HasPrefix(s.sql, "/*"): // has no settings of its own
			_, err = tx.Exec(ctx, `reset all`)
		}
		if err == nil && !strings.HasPrefix(s.sql, "select set_config") {
			var text []byte
			var plans []struct{ Plan node }
			if err = tx.QueryRow(ctx, "explain (analyze, format json) "+s.sql, s.args...).Scan(&text); err == nil {
				err = json.Unmarshal(text, &plans)
			}
			if err == nil {
				out = append(out, explained{s, plans[0].Plan})
			}
		}
		if err != nil {
			return nil, fmt.Errorf("explaining %s: %w", s.sql, err)
		}
	}
	return out, nil
}

// RowsRead explains all statements since the last Reset and returns how many rows they read from tables.
func (r *Recorder) RowsRead(ctx context.Context, pool *pgxpool.Pool) (float64, error) {
	all, err := r.explain(ctx, pool)
	rows := 0.0
	for i := range all {
		rows += all[i].plan.read()
	}
	return rows, err
}

// read returns the number of rows that a node and the nodes below it read from tables.
func (n *node) read() float64 {
	rows := 0.0
	if n.Relation != "" {
		rows = n.scanned()
	}
	for i := range n.Plans {
		rows += n.Plans[i].read()
	}
	return rows
}

func (n *node) scanned() float64 { return (n.Rows + n.Removed + n.Rechecked) * n.Loops }

// CheckPlans explains all statements since the last Reset with their arguments. It fails the test if one of them scans
// a big table or one of its partitions sequentially, or reads more than most rows of it.
func (r *Recorder) CheckPlans(t *testing.T, pool *pgxpool.Pool, big []string, most float64) {
	t.Helper()
	all, err := r.explain(t.Context(), pool)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Error("no statements were recorded")
	}
	for _, s := range all {
		if s.plan.check(t, big, most) {
			t.Log(s.sql, s.args)
		}
	}
}

// check reports whether a node scans a big table sequentially or reads too many rows.
func (n *node) check(t *testing.T, big []string, most float64) (bad bool) {
	t.Helper()
	isBig := slices.ContainsFunc(big, func(name string) bool {
		return n.Relation == name || strings.HasPrefix(n.Relation, name+"_p")
	})
	if read := n.scanned(); isBig && read > 0 {
		if n.Type == "Seq Scan" {
			t.Errorf("sequential scan of %s", n.Relation)
			bad = true
		}
		if read > most {
			t.Errorf("%s: %s of index %q reads %.0f rows and removes %.0f of them",
				n.Relation, n.Type, n.Index, read, n.Removed*n.Loops)
			bad = true
		}
	}
	for i := range n.Plans {
		bad = n.Plans[i].check(t, big, most) || bad
	}
	return bad
}
