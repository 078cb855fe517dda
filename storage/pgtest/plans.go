package pgtest

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// statement is what was sent to the database.
type statement struct {
	sql  string
	args []any
}

// Recorder keeps the statements that are sent, with their values: a tracer for pgx.
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

// node is a node of a plan.
type node struct {
	Type     string  `json:"Node Type"`
	Relation string  `json:"Relation Name"`
	Index    string  `json:"Index Name"`
	Rows     float64 `json:"Actual Rows"`
	Loops    float64 `json:"Actual Loops"`
	Removed  float64 `json:"Rows Removed by Filter"`
	// Rechecked are rows that an index found and that do not match.
	Rechecked float64 `json:"Rows Removed by Index Recheck"`
	Plans     []node
}

// Reset forgets what has been sent.
func (r *Recorder) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = nil
}

// CheckPlans explains all statements that were sent since the last Reset, with the values they were sent with, and says which of them read one of
// some big tables, or a partition of it, as a whole, or more than most rows of it.
func (r *Recorder) CheckPlans(t *testing.T, pool *pgxpool.Pool, big []string, most float64) {
	t.Helper()
	r.mu.Lock()
	statements := slices.Clone(r.all)
	r.mu.Unlock()
	if len(statements) == 0 {
		t.Error("nothing was asked")
	}
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }() // nothing has been written
	for _, s := range statements {
		if strings.HasPrefix(s.sql, "select set_config") { // holds for the rest
			if _, err := tx.Exec(t.Context(), s.sql, s.args...); err != nil {
				t.Fatal(err)
			}
			continue
		}
		var text []byte
		if err := tx.QueryRow(t.Context(), "explain (analyze, format json) "+s.sql, s.args...).Scan(&text); err != nil {
			t.Fatalf("%v in %s", err, s.sql)
		}
		var plans []struct{ Plan node }
		if err := json.Unmarshal(text, &plans); err != nil {
			t.Fatal(err)
		}
		if plans[0].Plan.check(t, big, most) {
			t.Log(s.sql, s.args)
		}
	}
}

// check looks for scans of whole tables, and for nodes that look at too many rows. It tells whether there are any.
func (n *node) check(t *testing.T, big []string, most float64) (bad bool) {
	t.Helper()
	isBig := slices.ContainsFunc(big, func(name string) bool { return n.Relation == name || strings.HasPrefix(n.Relation, name+"_p") })
	if read := (n.Rows + n.Removed + n.Rechecked) * n.Loops; isBig && read > 0 {
		if n.Type == "Seq Scan" {
			t.Errorf("%s is read as a whole", n.Relation)
			bad = true
		}
		if read > most {
			t.Errorf("%s: %.0f rows are looked at by %s of %s, %.0f of them in vain", n.Relation, read, n.Type, n.Index, n.Removed*n.Loops)
			bad = true
		}
	}
	for i := range n.Plans {
		bad = n.Plans[i].check(t, big, most) || bad
	}
	return bad
}
