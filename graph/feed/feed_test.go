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

// table is an in-memory table. A row consists of its position.
type table struct {
	mu    sync.Mutex
	rows  []feed.Position
	down  bool
	reads atomic.Int64
}

var errDown = errors.New("the database is down")

func (t *table) add(rows ...feed.Position) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows = append(t.rows, rows...)
}

func (t *table) setDown(down bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.down = down
}

func (t *table) between(
	after, until feed.Position, match func(feed.Position) bool, limit int,
) ([]feed.Position, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.down {
		return nil, errDown
	}
	var out []feed.Position
	for _, r := range t.rows {
		if r.After(after) && !r.After(until) && match(r) && len(out) < limit {
			out = append(out, r)
		}
	}
	return out, nil
}

func all(feed.Position) bool { return true }

var last = feed.Position{At: 1 << 62}

func (t *table) feed(keep int) *feed.Feed[feed.Position] {
	return feed.New(feed.Source[feed.Position]{
		Name:     "rows",
		Position: func(p feed.Position) feed.Position { return p },
		Newest: func(context.Context) (feed.Position, error) {
			t.mu.Lock()
			defer t.mu.Unlock()
			if t.down {
				return feed.Position{}, errDown
			}
			if len(t.rows) == 0 {
				return feed.Position{}, nil
			}
			return t.rows[len(t.rows)-1], nil
		},
		After: func(_ context.Context, after feed.Position, limit int) ([]feed.Position, error) {
			t.reads.Add(1)
			return t.between(after, last, all, limit)
		},
	}, feed.Options{Interval: time.Millisecond, Keep: keep, Logger: slog.New(slog.DiscardHandler)})
}

func (t *table) listener(
	from *feed.Position, match func(feed.Position) bool, end func(error),
) feed.Listener[feed.Position] {
	history := func(_ context.Context, after, until feed.Position, limit int) ([]feed.Position, error) {
		return t.between(after, until, match, limit)
	}
	return feed.Listener[feed.Position]{From: from, Match: match, End: end, History: history}
}

func identity(p feed.Position, _ bool) feed.Position { return p }

func at(n int) feed.Position { return feed.Position{At: ledger.Timestamp(n / 3), Tie: int64(n % 3)} }

// receive returns the next n rows of a subscription.
func receive(tb testing.TB, from <-chan feed.Position, n int) []feed.Position {
	tb.Helper()
	var got []feed.Position
	timeout := time.After(20 * time.Second)
	for len(got) < n {
		select {
		case p, ok := <-from:
			if !ok {
				tb.Fatalf("the feed ended after %d of %d rows", len(got), n)
			}
			got = append(got, p)
		case <-timeout:
			tb.Fatalf("only %d of %d rows were received in time", len(got), n)
		}
	}
	return got
}

// TestEachRowOnce subscribes from random positions while rows are added and the database fails. Each listener must
// receive the matching rows once and in order.
func TestEachRowOnce(t *testing.T) {
	t.Parallel()
	const past, total, listeners = 600, 1500, 30
	var rows table
	f := rows.feed(total) // a listener that gets little CPU time must not end with ErrSlow
	t.Cleanup(f.Close)
	for n := range past {
		rows.add(at(n))
	}
	var running sync.WaitGroup
	for i := range listeners {
		start := rand.IntN(past)
		match := func(p feed.Position) bool { return (int(p.At)*3+int(p.Tie))%(i+1) == 0 }
		var want []feed.Position
		for n := start + 1; n < total; n++ {
			if match(at(n)) {
				want = append(want, at(n))
			}
		}
		from := at(start)
		channel := feed.Listen(t.Context(), f, rows.listener(&from, match, func(err error) {
			t.Errorf("subscription %d ended: %v", i, err)
		}), identity)
		running.Go(func() {
			if got := receive(t, channel, len(want)); !slices.Equal(got, want) {
				t.Errorf("listener %d received %v, want %v", i, got, want)
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
	running.Wait()
}

// TestPresent subscribes from the present and from the future.
func TestPresent(t *testing.T) {
	t.Parallel()
	var rows table
	rows.add(at(1), at(2))
	f := rows.feed(50)
	t.Cleanup(f.Close)
	now := feed.Listen(t.Context(), f, rows.listener(nil, all, nil), identity)
	future := at(4)
	later := feed.Listen(t.Context(), f, rows.listener(&future, all, nil), identity)
	for f.Listeners() < 2 {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond) // let the reader find its start
	rows.add(at(3), at(4), at(5))
	if got := receive(t, now, 3); got[0] != at(3) {
		t.Errorf("the first row is %v, want %v", got[0], at(3))
	}
	if got := receive(t, later, 1); got[0] != at(5) {
		t.Errorf("the first row is %v, want %v", got[0], at(5))
	}
}

// TestSlow checks that a listener that falls behind the log ends with ErrSlow.
func TestSlow(t *testing.T) {
	t.Parallel()
	var rows table
	f := rows.feed(10)
	t.Cleanup(f.Close)
	end := make(chan error, 1)
	slow := feed.Listen(t.Context(), f, rows.listener(nil, all, func(err error) { end <- err }), identity)
	fast := feed.Listen(t.Context(), f, rows.listener(nil, all, func(err error) {
		t.Errorf("the subscription of the fast listener ended: %v", err)
	}), identity)
	for f.Listeners() < 2 {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond)
	for n := range 40 {
		rows.add(at(n + 1))
		receive(t, fast, 1)
	}
	for range slow { //nolint:revive // until the channel is closed
	}
	if err := <-end; !errors.Is(err, feed.ErrSlow) {
		t.Errorf("the subscription ended with %v", err)
	}
}

// TestCatchUp subscribes before rows that the log has dropped. The listener must receive these from the history and
// the others from the log.
func TestCatchUp(t *testing.T) {
	t.Parallel()
	var rows table
	f := rows.feed(10)
	t.Cleanup(f.Close)
	first := at(0)
	fast := feed.Listen(t.Context(), f, rows.listener(&first, all, func(err error) {
		t.Errorf("the first subscription ended: %v", err)
	}), identity)
	var want []feed.Position
	for n := 1; n <= 40; n++ {
		rows.add(at(n))
		want = append(want, at(n))
		receive(t, fast, 1)
	}
	late := feed.Listen(t.Context(), f, rows.listener(&first, all, func(err error) {
		t.Errorf("the second subscription ended: %v", err)
	}), identity)
	if got := receive(t, late, len(want)); !slices.Equal(got, want) {
		t.Errorf("received %v, want %v", got, want)
	}
}

// TestManyAtOnce checks that a listener receives all rows if a single read returns more than the log keeps, into a log
// without rows and into a full one.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	var rows table
	f := rows.feed(10)
	t.Cleanup(f.Close)
	events := feed.Listen(t.Context(), f, rows.listener(&feed.Position{}, all, func(err error) {
		t.Errorf("the subscription ended: %v", err)
	}), identity)
	for f.Listeners() < 1 {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond) // let the reader find its start
	for begin := 1; begin < 60; begin += 30 {
		var want []feed.Position
		for n := begin; n < begin+30; n++ {
			want = append(want, at(n))
		}
		rows.add(want...)
		if got := receive(t, events, len(want)); !slices.Equal(got, want) {
			t.Errorf("received %v, want %v", got, want)
		}
	}
}

// TestShutdown checks that all subscriptions end with ErrShutdown.
func TestShutdown(t *testing.T) {
	t.Parallel()
	var rows table
	f := rows.feed(10)
	end := make(chan error, 1)
	events := feed.Listen(t.Context(), f, rows.listener(nil, all, func(err error) { end <- err }), identity)
	time.Sleep(5 * time.Millisecond)
	f.Close()
	if _, ok := <-events; ok {
		t.Error("a row was delivered")
	}
	if err := <-end; !errors.Is(err, feed.ErrShutdown) {
		t.Errorf("the subscription ended with %v", err)
	}
}

// TestOneReader checks that many listeners cause as many reads as one, and that no listener causes none.
func TestOneReader(t *testing.T) {
	t.Parallel()
	var rows table
	f := rows.feed(10)
	t.Cleanup(f.Close)
	ctx, leave := context.WithCancel(t.Context())
	var channels []<-chan feed.Position
	for range 100 {
		channels = append(channels, feed.Listen(ctx, f, rows.listener(nil, all, nil), identity))
	}
	for f.Listeners() < 100 {
		time.Sleep(time.Millisecond)
	}
	start, before := time.Now(), rows.reads.Load()
	time.Sleep(50 * time.Millisecond)
	reads, most := rows.reads.Load()-before, int64(time.Since(start)/time.Millisecond)+1
	if reads == 0 || reads > most {
		t.Errorf("the source was read %d times, want 1 to %d for one reader", reads, most)
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
	before = rows.reads.Load()
	time.Sleep(20 * time.Millisecond)
	if again := rows.reads.Load(); again != before {
		t.Errorf("the source was read %d times without listeners", again-before)
	}
}

// TestWake checks that a wake-up causes an immediate read, however long the polling interval, and that rows added
// during a read are not missed.
func TestWake(t *testing.T) {
	t.Parallel()
	var rows table
	var mu sync.Mutex
	wake := make(chan struct{})
	notify := func() {
		mu.Lock()
		defer mu.Unlock()
		close(wake)
		wake = make(chan struct{})
	}
	f := feed.New(feed.Source[feed.Position]{
		Name: "rows", Position: func(p feed.Position) feed.Position {
			return p
		}, Newest: func(context.Context) (feed.Position, error) { return feed.Position{}, nil },
		After: func(_ context.Context, after feed.Position, limit int) ([]feed.Position, error) {
			return rows.between(after, last, all, limit)
		},
		Wake: func() <-chan struct{} {
			mu.Lock()
			defer mu.Unlock()
			return wake
		},
	}, feed.Options{Interval: time.Hour, Keep: 1000, Logger: slog.New(slog.DiscardHandler)})
	t.Cleanup(f.Close)
	events := feed.Listen(t.Context(), f, rows.listener(&feed.Position{}, all, nil), identity)
	for n := 1; n <= 300; n++ {
		rows.add(at(n))
		notify()
		if n%3 == 0 { // otherwise several at once
			for i, p := range receive(t, events, 3) {
				if want := at(n - 2 + i); p != want {
					t.Fatalf("got %v, want %v", p, want)
				}
			}
		}
	}
}
