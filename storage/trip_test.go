package storage_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"heliograph/storage"
)

// slow is the number whose quotient takes two seconds.
const slow = 41

// quotients reads 100 / number for 40 numbers concurrently, with statements of the same text. It returns the results,
// the order in which they arrived, and the number of transactions: the statements of a round trip have the same.
func quotients(
	db *storage.DB, first int, contextOf func(i int) context.Context,
) (got [40]int64, errs [40]error, order []int, transactions int) {
	type quotient struct{ value, transaction int64 }
	rows := storage.MapperOf(func(q *quotient, into []any) []any {
		return append(into, &q.value, &q.transaction)
	}, nil)
	const sql = `select 100 / $1::bigint, pg_current_xact_id()::text::bigint
from (select case when $1::bigint = 41 then pg_sleep(2) end) t`
	var mu sync.Mutex
	var seen []int64
	var all sync.WaitGroup
	for i := range got {
		all.Go(func() {
			row, err := rows.One(contextOf(i), db, "a quotient", sql, int64(first+i))
			mu.Lock()
			defer mu.Unlock()
			errs[i], order = err, append(order, i)
			if row != nil {
				got[i] = row.value
				seen = append(seen, row.transaction)
			}
		})
	}
	all.Wait()
	slices.Sort(seen)
	return got, errs, order, len(slices.Compact(seen))
}

// share sends statements of [quotients] until some have shared round trips.
func share(t *testing.T, db *storage.DB) {
	t.Helper()
	for attempt := range 1000 {
		if attempt%20 == 0 { // a busy machine can make statements slow
			storage.ForgetPaces()
		}
		got, errs, _, transactions := quotients(db, 1, func(int) context.Context { return t.Context() })
		for i := range got {
			if got[i] != 100/int64(i+1) || errs[i] != nil {
				t.Fatalf("100 / %d is %d: %v", i+1, got[i], errs[i])
			}
		}
		if transactions < len(got)*3/4 {
			return
		}
	}
	t.Fatal("no statements share a round trip")
}

// openShared returns a database for statements that share round trips.
func openShared(t *testing.T) *storage.DB {
	t.Helper()
	return open(t, func(o *storage.Options) { o.MaxConnections = 8 })
}

// TestPaces checks how many batches share a round trip: those that take 4 ms together, without the time of the network.
func TestPaces(t *testing.T) { //nolint:paralleltest // other tests send statements
	const ms = time.Millisecond
	for _, c := range []struct {
		network time.Duration
		trips   []time.Duration
		want    int
	}{
		{ms / 10, nil, 1},
		{ms / 10, []time.Duration{ms / 5}, 16},
		{ms / 10, []time.Duration{ms + ms/10}, 4},
		{ms / 10, []time.Duration{5 * ms}, 1},
		{20 * ms, []time.Duration{20*ms + ms/10}, 1},              // of which an eighth counts
		{2 * ms, []time.Duration{2*ms + ms/10}, 15},               // a database far away
		{0, []time.Duration{50 * ms}, 1},                          // the first one, of which nothing is known
		{ms / 10, []time.Duration{ms / 5, 10 * ms}, 5},            // the average rises by a sixteenth
		{ms / 10, []time.Duration{2 * ms, ms / 5, ms / 5, ms}, 3}, // and falls by a quarter
	} {
		if got := storage.MostShared(c.network, c.trips...); got != c.want {
			t.Errorf("network %v, trips %v: %d batches share a round trip, not %d", c.network, c.trips, got, c.want)
		}
	}
}

// TestTrips checks that statements with the same text share round trips, that each has the rows for its own arguments,
// and that one that fails does so alone, after which they no longer share any.
func TestTrips(t *testing.T) { //nolint:paralleltest // other tests make the same statements fail
	db := openShared(t)
	failed := 0
	for attempt := 0; failed < 5; attempt++ {
		if attempt == 500 {
			t.Fatal("statements that fail share no round trips")
		}
		share(t, db)
		got, errs, _, _ := quotients(db, 0, func(int) context.Context { return t.Context() })
		for i := range got {
			if i > 0 && (got[i] != 100/int64(i) || errs[i] != nil) {
				t.Errorf("100 / %d is %d: %v", i, got[i], errs[i])
			}
		}
		if storage.FailureOf(errs[0]) != storage.FailureOutOfBounds {
			t.Errorf("a division by zero: %v", errs[0])
		}
		if storage.SentAlone() {
			failed++
			storage.ForgetPaces()
		}
	}
}

// TestTripOfLeftClients checks that clients that leave do not make round trips fail that others share.
func TestTripOfLeftClients(t *testing.T) { //nolint:paralleltest // as above
	db := openShared(t)
	failed := 0
	for range 20 {
		share(t, db)
		var ctxs [40]context.Context
		for i := range ctxs {
			ctx, cancel := context.WithCancel(t.Context())
			t.Cleanup(cancel)
			if ctxs[i] = ctx; i%3 == 0 {
				go cancel()
			}
		}
		_, errs, _, _ := quotients(db, 1, func(i int) context.Context { return ctxs[i] })
		for i, err := range errs {
			if err != nil && (i%3 > 0 || !errors.Is(err, context.Canceled)) {
				t.Errorf("statement %d: %v", i, err)
			}
		}
		if storage.SentAlone() {
			failed++
			storage.ForgetPaces()
		}
	}
	if failed > 15 { // a busy machine can make some of them slow
		t.Errorf("round trips failed in %d of 20 attempts", failed)
	}
}

// TestSettingsOfTrip checks that the settings of statements in a shared round trip do not apply to statements without
// them.
func TestSettingsOfTrip(t *testing.T) { //nolint:paralleltest // as above
	db := openShared(t)
	values := storage.Values[string]()
	const sql = `select current_setting('enable_bitmapscan')`
	for range 1000 {
		var all sync.WaitGroup
		var seen sync.Map
		for range 40 {
			all.Go(func() {
				b := db.NewBatch()
				off := values.QueueRead(b, &storage.Read{Setting: storage.NoBitmaps, SQL: sql}, nil)
				on := values.QueueRead(b, &storage.Read{SQL: sql}, nil)
				transaction := values.QueueRead(b, &storage.Read{SQL: `select pg_current_xact_id()::text`}, nil)
				got, err := storage.Run(t.Context(), b, storage.All([]storage.Result[[]*string]{off, on, transaction}))
				if err != nil || *got[0][0] != "off" || *got[1][0] != "on" {
					t.Errorf("settings: %v", err)
					return
				}
				seen.Store(*got[2][0], true)
			})
		}
		all.Wait()
		transactions := 0
		seen.Range(func(any, any) bool {
			transactions++
			return true
		})
		if transactions < 30 || t.Failed() {
			return
		}
	}
	t.Error("no batches share a round trip")
}

// TestTripWithSlowStatement checks that statements do not wait for a slow one with the same text.
func TestTripWithSlowStatement(t *testing.T) { //nolint:paralleltest // as above
	db := openShared(t)
	share(t, db)
	got, errs, order, _ := quotients(db, slow-39, func(int) context.Context { return t.Context() })
	if order[39] != 39 {
		t.Errorf("the slow statement does not end last: %v", order)
	}
	for i := range got {
		if number := int64(slow - 39 + i); got[i] != 100/number || errs[i] != nil {
			t.Errorf("100 / %d is %d: %v", number, got[i], errs[i])
		}
	}
}
