package storage_test

import (
	"errors"
	"log/slog"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"

	"heliograph/storage"
	"heliograph/storage/migrations"
	"heliograph/storage/pgtest"
)

func TestDetectPooler(t *testing.T) {
	t.Parallel()
	direct := grid.Fresh(t)
	pooled := pgtest.Pooled(t, direct)
	if kind, err := storage.PoolerOf(t.Context(), pgtest.Connect(t, direct)); kind != storage.PoolerNone {
		t.Error(kind, err)
	}
	kind, err := storage.PoolerOf(t.Context(), pgtest.Connect(t, pooled))
	if want := pooled != direct; err != nil || want != (kind != storage.PoolerNone) {
		t.Error(kind, err)
	}
	for url, want := range map[string]bool{direct: true, pooled: direct == pooled} {
		conn, ok, err := (&storage.PoolOptions{URL: url}).ConnectDirect(t.Context())
		if ok != want || err != nil {
			t.Errorf("a direct connection: %v %v, want %v", ok, err, want)
		}
		if ok {
			_ = conn.Close(t.Context())
		}
	}
	if err := migrations.Ledger(t.Context(), pooled, slog.New(slog.DiscardHandler)); errors.Is(err,
		migrations.ErrPooler) != (pooled != direct) {
		t.Errorf("a migration: %v", err)
	}
	conn, ok, err := (&storage.PoolOptions{URL: pooled, DirectURL: direct}).ConnectDirect(t.Context())
	if !ok {
		t.Fatal("the direct URL is not used", err)
	}
	_ = conn.Close(t.Context())
}

// TestNoSessionState checks the mode for poolers: no settings of the session, no named statements, and the same binary
// columns as directly.
func TestNoSessionState(t *testing.T) {
	t.Parallel()
	url := grid.Fresh(t)
	const sql = `select 1::int2, 2::int4, 3::int8, true, 'a'::text, 'b'::varchar, '\x00'::bytea, '{1}'::int8[], '{a}'::text[], now(), 1.5::numeric, 2.5::float8,
'[1,2)'::int8range, gen_random_uuid(), '2026-01-01'::date`
	formats := func(kind storage.Pooler) (got []int16) {
		o := storage.Options{
			PoolOptions: storage.PoolOptions{URL: url, MaxConnections: 1, Pooler: kind},
			ReadOnly:    true,
		}
		if kind == storage.PoolerTransaction {
			o.URL = pgtest.Pooled(t, url)
		}
		db, err := storage.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for range 3 {
			rows, err := db.Pool().Query(t.Context(), sql)
			if err != nil {
				t.Fatal(err)
			}
			rows.Close()
			if err := rows.Err(); err != nil {
				t.Fatal(err)
			}
			got = nil
			for _, f := range rows.FieldDescriptions() {
				got = append(got, f.Format)
			}
		}
		prepared, err := storage.Value[int64](t.Context(), db, "statements",
			`select count(*) from pg_prepared_statements`)
		if err != nil || (prepared > 0) != (kind == storage.PoolerNone) {
			t.Errorf("%s: %d prepared statements, %v", kind, prepared, err)
		}
		readOnly, err := storage.Value[string](t.Context(), db, "a setting", `show default_transaction_read_only`)
		if err != nil || (readOnly == "on") != (kind == storage.PoolerNone) {
			t.Errorf("%s: read-only is %s, %v", kind, readOnly, err)
		}
		return got
	}
	direct, pooled := formats(storage.PoolerNone), formats(storage.PoolerTransaction)
	for i, format := range direct {
		if format != pooled[i] {
			t.Errorf("column %d has the format %d directly and %d through a pooler", i+1, format, pooled[i])
		}
		if format != pgx.BinaryFormatCode && i != 4 && i != 5 {
			t.Errorf("column %d is text", i+1)
		}
	}
	if os.Getenv("HELIOGRAPH_TEST_PGBOUNCER") != "" && pgtest.Pooled(t, url) == url {
		t.Error("the tests do not use the pooler")
	}
}
