package storage_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"

	"heliograph/storage"
)

// shared reads 40 numbers concurrently, each with a statement that divides 100 by it, until some statements have shared
// a round trip, which has one transaction. It returns the results and errors of that attempt, and the number of
// transactions.
func shared(
	t *testing.T, db *storage.DB, contextOf func(number int) context.Context,
) (got [40]int64, errs [40]error, transactions int) {
	t.Helper()
	type quotient struct{ value, transaction int64 }
	rows := storage.MapperOf(func(q *quotient, into []any) []any {
		return append(into, &q.value, &q.transaction)
	}, nil)
	const sql = `select 100 / $1::bigint, pg_current_xact_id()::text::bigint`
	for range 1000 {
		seen := make([]int64, len(got))
		var all sync.WaitGroup
		for i := range got {
			all.Go(func() {
				got[i] = 0
				row, err := rows.One(contextOf(i), db, "a quotient", sql, int64(i))
				if errs[i] = err; row != nil {
					got[i], seen[i] = row.value, row.transaction
				}
			})
		}
		all.Wait()
		slices.Sort(seen)
		if transactions = len(slices.Compact(seen)); transactions < len(got)/2 {
			return got, errs, transactions
		}
	}
	t.Fatal("no statements share a round trip")
	return got, errs, transactions
}

// TestTrips checks that statements with the same text share round trips, and that each has the rows for its own
// arguments.
func TestTrips(t *testing.T) {
	t.Parallel()
	db := open(t, func(o *storage.Options) { o.MaxConnections = 3 })
	got, errs, transactions := shared(t, db, func(int) context.Context { return t.Context() })
	t.Logf("%d statements ran in %d transactions", len(got), transactions)
	for i := range got {
		if i > 0 && (got[i] != 100/int64(i) || errs[i] != nil) {
			t.Errorf("100 / %d is %d: %v", i, got[i], errs[i])
		}
	}
	if storage.FailureOf(errs[0]) != storage.FailureOutOfBounds {
		t.Errorf("a division by zero, whose error is not that of the others: %v", errs[0])
	}
}

// TestTripOfLeftClient checks that clients that leave do not make the statements of others fail that share their round
// trips.
func TestTripOfLeftClient(t *testing.T) {
	t.Parallel()
	db := open(t, func(o *storage.Options) { o.MaxConnections = 3 })
	for range 20 {
		var ctxs [40]context.Context
		for i := range ctxs {
			ctx, cancel := context.WithCancel(t.Context())
			t.Cleanup(cancel)
			if ctxs[i] = ctx; i%3 == 0 {
				go cancel()
			}
		}
		_, errs, _ := shared(t, db, func(i int) context.Context { return ctxs[i] })
		for i, err := range errs {
			switch {
			case i%3 == 0 && err != nil && !errors.Is(err, context.Canceled) && i > 0:
				t.Errorf("statement %d, whose client left: %v", i, err)
			case i%3 > 0 && err != nil:
				t.Errorf("statement %s: %v", strconv.Itoa(i), err)
			}
		}
	}
}
