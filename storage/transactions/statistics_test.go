package transactions

import (
	"errors"
	"testing"

	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/demo/demotest"
	"heliograph/storage/pgtest"
)

// TestTooManyRows checks that statistics which would read too many rows name the largest range that would not.
func TestTooManyRows(t *testing.T) {
	t.Parallel()
	db, err := storage.Open(t.Context(), storage.Options{PoolOptions: storage.PoolOptions{URL: pgtest.Pooled(t, demotest.Network.Shared(t))}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	few := PaidStatistics
	few.most = 3
	count := func(until ledger.Timestamp) (rows int64, failed error) {
		b := db.NewBatch()
		few.Queue(b, 1001, []ledger.Timestamp{0, until}, func(p []Period, err error) {
			if failed = err; err == nil {
				rows = p[0].Rows
			}
		})
		if err := b.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		return rows, failed
	}
	var many *TooManyRowsError
	if _, err := count(ledger.MaxTimestamp); !errors.As(err, &many) || many.Most != 3 {
		t.Fatal(err)
	}
	if rows, err := count(many.Until); rows != 3 || err != nil {
		t.Errorf("%d rows until %s: %v", rows, many.Until, err)
	}
	if _, err := count(many.Until + 1); !errors.As(err, &many) {
		t.Error(err)
	}
}
