package transactions

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/demo/demotest"
	"heliograph/storage/pgtest"
)

// TestTooManyRows checks that statistics which would read too many rows name the largest range that would not.
func TestTooManyRows(t *testing.T) {
	t.Parallel()
	db, err := storage.Open(t.Context(),
		storage.Options{PoolOptions: storage.PoolOptions{URL: pgtest.Pooled(t, demotest.Network.Shared(t))}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for name, c := range map[string]struct {
		of   Statistics
		id   ledger.EntityID
		rows string
	}{
		"account": {PaidStatistics, 1001, "from transaction where payer_account_id = 1001"},
		"token":   {TokenStatistics, 2001, "from token_transfer"}, // the index has the transfers of all tokens
	} {
		few, times := c.of, "select consensus_timestamp "+c.rows+" order by 1 limit 1 offset 3"
		few.most = 3
		count := func(until ledger.Timestamp) error {
			b := db.NewBatch()
			read := few.Queue(b, c.id, []ledger.Timestamp{0, until})
			if err := b.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			_, err := read()
			return err
		}
		fourth, err := storage.Value[ledger.Timestamp](t.Context(), db, "a time", times)
		if err != nil {
			t.Fatal(err)
		}
		var many *TooManyRowsError
		if err := count(ledger.MaxTimestamp); !errors.As(err, &many) || many.Most != 3 || many.Until != fourth {
			t.Fatalf("%s: %v, want the end %s", name, err, fourth)
		}
		if err := count(many.Until); err != nil {
			t.Errorf("%s until %s: %v", name, many.Until, err)
		}
		if err := count(many.Until + 1); !errors.As(err, &many) {
			t.Errorf("%s after %s: %v", name, fourth, err)
		}
	}
}

// TestBlockStatistics checks that hours which have ended are read once, and that too many blocks are refused only if
// they are not cached.
func TestBlockStatistics(t *testing.T) {
	t.Parallel()
	const first = 480_000 // the hour of the first block, since 1970
	db, err := storage.Open(t.Context(),
		storage.Options{PoolOptions: storage.PoolOptions{URL: demotest.Network.Fresh(t)}, Cache: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := db.Pool().Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(`delete from record_file`)
	exec(`insert into record_file (name, load_start, load_end, hash, prev_hash, consensus_start, consensus_end, count, gas_used, digest_algorithm, version, file_hash, index)
		select n, 0, 0, n, n, at, at, 1, 10, 5, 6, n, n from generate_series(0, 8) n, lateral (select ($1::bigint * 3600 + n * 1200 + 5) * 1000000000 as at) t`, int64(first))
	s := NewBlockStatistics(db)
	at := func(minutes int64) ledger.Timestamp {
		return first*storage.Hour + ledger.Timestamp(minutes)*storage.Hour/60
	}
	read := func(bounds ...ledger.Timestamp) (sums []int64) {
		t.Helper()
		periods, err := s.Read(t.Context(), db, bounds)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range periods {
			if p.First.V != p.Rows && p.First.V != p.Rows+100 || p.Second.V != 10*p.Rows {
				t.Errorf("%+v", p)
			}
			sums = append(sums, p.First.V)
		}
		return sums
	}
	check := func(want string, bounds ...ledger.Timestamp) {
		t.Helper()
		if got := fmt.Sprint(read(bounds...)); got != want {
			t.Errorf("%d: %s, want %s", bounds, got, want)
		}
	}
	// the first hour is cut, the last one can have more blocks
	check("[2 6]", at(10), at(60), at(1000))
	exec(`update record_file set count = 101 where index in (0, 4, 8)`) // one in each hour
	check("[103]", at(0), at(60))
	check("[3 103]", at(60), at(120), at(240))
	exec(`update record_file set count = 1 where index = 0`)
	check("[103 3 103]", at(0), at(60), at(120), at(240))
	check("[2 3 1]", at(10), at(60), at(120), at(130)) // parts of hours are read
	s.most = 3
	check("[103 3 103]", at(0), at(60), at(120), at(240))
	var many *TooManyRowsError
	s.cache = nil
	if _, err := s.Read(t.Context(), db, []ledger.Timestamp{at(0), at(240)}); !errors.As(err, &many) ||
		many.Until != at(60)+5*storage.Hour/3600 {
		t.Error(err)
	}
	check("[3]", at(0), many.Until)

	warm := NewBlockStatistics(db)
	if err := warm.Warm(t.Context(), db, 0); err != nil {
		t.Fatal(err)
	}
	exec(`delete from record_file where index < 8`)
	s = warm
	check("[3 103 101]", at(0), at(60), at(120), at(240)) // the newest hour has not ended
	if err := warm.Warm(t.Context(), db, time.Hour); err != nil {
		t.Error(err) // would wait after an hour that it counts
	}
	s = NewBlockStatistics(db)
	s.cache = nil
	exec(`insert into record_file (name, load_start, load_end, hash, prev_hash, consensus_start, consensus_end, count, gas_used, digest_algorithm, version, file_hash, index)
		select n, 0, 0, n, n, at, at, 1, 10, 5, 6, n, n from generate_series(9, 60008) n, lateral (select ($1::bigint * 3600 + 12000 + n) * 1000000000 as at) t`, int64(first))
	check("[2492 57609]", at(0), at(240), at(6000)) // on several connections
	conn, err := db.Pool().Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	periods, err := s.Read(t.Context(), db.On(conn.Conn()), []ledger.Timestamp{at(0), at(240), at(6000)})
	if err != nil || periods[1].First.V != 57609 {
		t.Error(periods, err)
	}
}
