package feed_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"heliograph/graph/feed"
	"heliograph/internal/domain/ledger"
)

// table is an in-memory table. Its rows are their own places.
type table struct {
	mu   sync.Mutex
	rows []feed.Place
	down bool
	asks atomic.Int64
}

var errDown = errors.New("the database is down")

func (t *table) add(rows ...feed.Place) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows = append(t.rows, rows...)
}

func (t *table) setDown(down bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.down = down
}

func (t *table) between(after, until feed.Place, match func(feed.Place) bool, limit int) ([]feed.Place, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.down {
		return nil, errDown
	}
	var out []feed.Place
	for _, r := range t.rows {
		if r.Beyond(after) && !r.Beyond(until) && match(r) && len(out) < limit {
			out = append(out, r)
		}
	}
	return out, nil
}

func all(feed.Place) bool { return true }

var last = feed.Place{At: 1 << 62}

func (t *table) feed(keep int) *feed.Feed[feed.Place] {
	return feed.New(feed.Source[feed.Place]{
		Name:  "rows",
		Place: func(p feed.Place) feed.Place { return p },
		Newest: func(context.Context) (feed.Place, error) {
			t.mu.Lock()
			defer t.mu.Unlock()
			if t.down {
				return feed.Place{}, errDown
			}
			if len(t.rows) == 0 {
				return feed.Place{}, nil
			}
			return t.rows[len(t.rows)-1], nil
		},
		After: func(_ context.Context, after feed.Place, limit int) ([]feed.Place, error) {
			t.asks.Add(1)
			return t.between(after, last, all, limit)
		},
	}, feed.Options{Interval: time.Millisecond, Keep: keep, Logger: slog.New(slog.DiscardHandler)})
}

func (t *table) listener(from *feed.Place, match func(feed.Place) bool, end func(error)) feed.Listener[feed.Place] {
	return feed.Listener[feed.Place]{From: from, Match: match, End: end, History: func(_ context.Context, after, until feed.Place, limit int) ([]feed.Place,
		error) {
		return t.between(after, until, match, limit)
	}}
}

func itself(p feed.Place, _ bool) feed.Place { return p }

func at(n int) feed.Place { return feed.Place{At: ledger.Timestamp(n / 3), Tie: int64(n % 3)} }

// hear receives n rows.
func hear(tb testing.TB, from <-chan feed.Place, n int) []feed.Place {
	tb.Helper()
	var got []feed.Place
	timeout := time.After(20 * time.Second)
	for len(got) < n {
		select {
		case p, ok := <-from:
			if !ok {
				tb.Fatalf("the feed ended after %d of %d rows", len(got), n)
			}
			got = append(got, p)
		case <-timeout:
			tb.Fatalf("only %d of %d rows came", len(got), n)
		}
	}
	return got
}

// TestEachRowOnce subscribes from random places while rows are added and the database fails. Each listener must receive the matching rows once and in order.
func TestEachRowOnce(t *testing.T) {
	t.Parallel()
	var rows table
	f := rows.feed(50)
	t.Cleanup(f.Close)
	const past, total, listeners = 600, 1500, 30
	for n := range past {
		rows.add(at(n))
	}
	var heard sync.WaitGroup
	for i := range listeners {
		start := rand.IntN(past)
		match := func(p feed.Place) bool { return (int(p.At)*3+int(p.Tie))%(i+1) == 0 }
		var want []feed.Place
		for n := start + 1; n < total; n++ {
			if match(at(n)) {
				want = append(want, at(n))
			}
		}
		from := at(start)
		channel := feed.Listen(t.Context(), f, rows.listener(&from, match, func(err error) { t.Errorf("listener %d was ended: %v", i, err) }), itself)
		heard.Go(func() {
			if got := hear(t, channel, len(want)); !slices.Equal(got, want) {
				t.Errorf("listener %d heard %v, not %v", i, got, want)
			}
		})
	}
	for n := past; n < total; n++ {
		rows.add(at(n))
		if n%100 == 0 {
			rows.setDown(true)
			time.Sleep(3 * time.Millisecond)
			rows.setDown(false)
		}
		if n%5 == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	heard.Wait()
}

// TestPresent subscribes from the present and from the future.
func TestPresent(t *testing.T) {
	t.Parallel()
	var rows table
	rows.add(at(1), at(2))
	f := rows.feed(50)
	t.Cleanup(f.Close)
	now := feed.Listen(t.Context(), f, rows.listener(nil, all, nil), itself)
	future := at(4)
	later := feed.Listen(t.Context(), f, rows.listener(&future, all, nil), itself)
	for f.Listeners() < 2 {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond) // let the reader find its start
	rows.add(at(3), at(4), at(5))
	if got := hear(t, now, 3); got[0] != at(3) {
		t.Errorf("the first row is %v", got[0])
	}
	if got := hear(t, later, 1); got[0] != at(5) {
		t.Errorf("the first row is %v", got[0])
	}
}

// TestSlow checks that a listener that falls behind the log ends with ErrSlow.
func TestSlow(t *testing.T) {
	t.Parallel()
	var rows table
	f := rows.feed(10)
	t.Cleanup(f.Close)
	end := make(chan error, 1)
	slow := feed.Listen(t.Context(), f, rows.listener(nil, all, func(err error) { end <- err }), itself)
	quick := feed.Listen(t.Context(), f, rows.listener(nil, all, func(err error) { t.Errorf("who read in time was ended: %v", err) }), itself)
	for f.Listeners() < 2 {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond)
	for n := range 40 {
		rows.add(at(n + 1))
		hear(t, quick, 1)
	}
	for range slow { //nolint:revive // until the channel is closed
	}
	if err := <-end; !errors.Is(err, feed.ErrSlow) {
		t.Errorf("it ended with %v", err)
	}
}

// TestShutdown checks that all subscriptions end with ErrShutdown.
func TestShutdown(t *testing.T) {
	t.Parallel()
	var rows table
	f := rows.feed(10)
	end := make(chan error, 1)
	heard := feed.Listen(t.Context(), f, rows.listener(nil, all, func(err error) { end <- err }), itself)
	time.Sleep(5 * time.Millisecond)
	f.Close()
	if _, ok := <-heard; ok {
		t.Error("something was heard")
	}
	if err := <-end; !errors.Is(err, feed.ErrShutdown) {
		t.Errorf("it ended with %v", err)
	}
}

// TestOneReader checks that many listeners cause as many reads as one, and that no listener causes none.
func TestOneReader(t *testing.T) {
	t.Parallel()
	var rows table
	f := rows.feed(10)
	t.Cleanup(f.Close)
	ctx, leave := context.WithCancel(t.Context())
	var channels []<-chan feed.Place
	for range 100 {
		channels = append(channels, feed.Listen(ctx, f, rows.listener(nil, all, nil), itself))
	}
	for f.Listeners() < 100 {
		time.Sleep(time.Millisecond)
	}
	start, before := time.Now(), rows.asks.Load()
	time.Sleep(50 * time.Millisecond)
	asked, most := rows.asks.Load()-before, int64(time.Since(start)/time.Millisecond)+1
	if asked == 0 || asked > most {
		t.Errorf("the source was asked %d times, at most %d for one reader", asked, most)
	}
	leave()
	for _, c := range channels {
		for range c { //nolint:revive // until the channel is closed
		}
	}
	for f.Listeners() > 0 {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(5 * time.Millisecond)
	before = rows.asks.Load()
	time.Sleep(20 * time.Millisecond)
	if again := rows.asks.Load(); again != before {
		t.Errorf("the source was asked %d times though nobody listens", again-before)
	}
}

// TestWake checks that a wake-up causes an immediate read, however long the polling interval, and that rows added during a read are not missed.
func TestWake(t *testing.T) {
	t.Parallel()
	var rows table
	var mu sync.Mutex
	wake := make(chan struct{})
	tell := func() {
		mu.Lock()
		defer mu.Unlock()
		close(wake)
		wake = make(chan struct{})
	}
	f := feed.New(feed.Source[feed.Place]{
		Name: "rows", Place: func(p feed.Place) feed.Place { return p }, Newest: func(context.Context) (feed.Place, error) { return feed.Place{}, nil },
		After: func(_ context.Context, after feed.Place, limit int) ([]feed.Place, error) {
			return rows.between(after, last, all, limit)
		},
		Wake: func() <-chan struct{} {
			mu.Lock()
			defer mu.Unlock()
			return wake
		},
	}, feed.Options{Interval: time.Hour, Keep: 1000, Logger: slog.New(slog.DiscardHandler)})
	t.Cleanup(f.Close)
	heard := feed.Listen(t.Context(), f, rows.listener(&feed.Place{}, all, nil), itself)
	for n := 1; n <= 300; n++ {
		rows.add(at(n))
		tell()
		if n%3 == 0 { // otherwise several at once
			for i, p := range hear(t, heard, 3) {
				if want := at(n - 2 + i); p != want {
					t.Fatalf("%v comes in place of %v", p, want)
				}
			}
		}
	}
}
