// Package statements has the statements of reads in files: those for PostgreSQL and those for Citus.
package statements

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/demo/demotest"
	"heliograph/storage/migrations"
	"heliograph/storage/pgtest"
)

var update = flag.Bool("update", false, "write the statements in testdata anew")

func TestMain(m *testing.M) { pgtest.Main(m) }

// recorder records the texts of statements, each once.
type recorder struct {
	mu    sync.Mutex
	texts []string
}

func (r *recorder) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	r.add(data.SQL)
	return ctx
}

func (*recorder) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (*recorder) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (r *recorder) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	r.add(data.SQL)
}

func (*recorder) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

func (r *recorder) add(sql string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	// other than the pool's ping, settings and transactions
	for _, reads := range []string{"select ", "with ", "/*"} {
		if strings.HasPrefix(sql, reads) && !strings.HasPrefix(sql, "select set_config") &&
			!slices.Contains(r.texts, sql) {
			r.texts = append(r.texts, sql)
		}
	}
}

// reset returns the recorded texts and forgets them.
func (r *recorder) reset() (texts []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	texts, r.texts = r.texts, nil
	return texts
}

// reads are functions that read or queue statements, by name.
type reads map[string]func(ctx context.Context, b *storage.Batch) error

// Values that the reads share.
const at = ledger.Timestamp(1_700_000_000_000_000_000)

var (
	before = &ledger.TimestampFilter{Lte: ptr(at)}
	page   = storage.Page{Limit: 25, Desc: true, Less: []any{int64(9000)}}
	pairs  = storage.Page{Limit: 25, Less: []any{int64(9000), int64(7)}}
	ids    = []ledger.EntityID{1001, 1002}
	serial = []ledger.NFTKey{{TokenID: 1009, SerialNumber: 1}, {TokenID: 1009, SerialNumber: 2}}
)

func ptr[T any](v T) *T { return &v }

// queued returns a read that only queues statements.
func queued(queue func(*storage.Batch)) func(context.Context, *storage.Batch) error {
	return func(_ context.Context, b *storage.Batch) error {
		queue(b)
		return nil
	}
}

// TestStatements compares the statements of reads, in both plans, with those in files.
func TestStatements(t *testing.T) {
	t.Parallel()
	plain, distributed := demotest.Network.Shared(t), demotest.Network.Fresh(t)
	if err := pgtest.Distributed(t.Context(), distributed, migrations.Distribution()); err != nil {
		t.Fatal(err)
	}
	for name, of := range map[string]reads{
		"entities": entityReads(), "transactions": transactionReads(), "evmstate": stateReads(),
		"ledgerstate": pastReads(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := statementsOf(t, "", plain, of)
			maps.Copy(got, statementsOf(t, ", distributed", distributed, of))
			compare(t, "testdata/"+name+".sql", got)
		})
	}
}

func statementsOf(t *testing.T, suffix, url string, of reads) map[string][]string {
	t.Helper()
	var rec recorder
	db, err := storage.Open(t.Context(), storage.Options{
		PoolOptions: storage.PoolOptions{URL: url, Tracer: &rec, MaxConnections: 2},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.ReadPlacement(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Frequencies(t.Context(), "transaction", "type"); err != nil { // which some reads need
		t.Fatal(err)
	}
	// Citus cannot move the rows of a subquery without columns from the workers.
	withoutColumns := regexp.MustCompile(`select\s+from`)
	out := map[string][]string{}
	for name, read := range of {
		rec.reset()
		b := db.NewBatch()
		if err := read(t.Context(), b); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := b.Run(t.Context()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name+suffix] = rec.reset()
		for _, text := range out[name+suffix] {
			if withoutColumns.MatchString(text) {
				t.Errorf("%s has a subquery without columns: %s", name, text)
			}
		}
	}
	return out
}

// compare compares the statements of reads with those in a file, or writes them there.
func compare(t *testing.T, file string, of map[string][]string) {
	t.Helper()
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(of)) {
		fmt.Fprintf(&out, "-- %s\n", name)
		for _, text := range of[name] {
			fmt.Fprintf(&out, "%s;\n", strings.TrimSpace(text))
		}
		out.WriteByte('\n')
	}
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, want := strings.Split(out.String(), "\n"), strings.Split(string(text), "\n")
	for i := range max(len(want), len(got)) {
		if i >= len(want) || i >= len(got) || want[i] != got[i] {
			t.Fatalf("line %d of %s, which -update rewrites:\ngot  %q\nwant %q",
				i+1, file, got[min(i, len(got)-1)], want[min(i, len(want)-1)])
		}
	}
}
