package turns_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"heliograph/internal/base/turns"
	"heliograph/internal/base/values"
)

// fill enters turns of a client until it has to wait, and returns them.
func fill(t *testing.T, q *turns.Queue, client string, query bool) (all []*turns.Turn) {
	t.Helper()
	for {
		turn := q.Turn(client)
		if err := turn.Enter(t.Context()); errors.Is(err, turns.ErrBusy) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		if query {
			turn.Query(1)
		}
		all = append(all, turn)
	}
}

// TestShares checks that a client leaves turns to others, whether its requests compute or wait for the database, and gets all of its turns back.
func TestShares(t *testing.T) {
	t.Parallel()
	q := turns.New(14, 4, time.Millisecond)
	for _, want := range []int{3, 1} { // alone, and while others are active
		computing := fill(t, q, "greedy", false)
		if len(computing) != want {
			t.Errorf("%d turns that compute, want %d", len(computing), want)
		}
		for _, turn := range computing {
			turn.Query(1)
		}
		all := slices.Concat(computing, fill(t, q, "greedy", true))
		if len(all) != 12 {
			t.Errorf("%d turns that wait for the database, want 12", len(all))
		}
		if others := fill(t, q, "modest", true); len(others) != 2 {
			t.Errorf("%d turns are left to another client, want 2", len(others))
		} else {
			all = append(all, others...)
		}
		for _, turn := range all {
			turn.Query(1)
			turn.Query(-1)
			turn.Query(-1)
			turn.Leave()
			turn.Leave()
		}
	}
	var none *turns.Turn
	none.Query(1)
	none.Leave()
	if turns.Of(t.Context()) != nil || none.Another() != nil || none.Client() != "" || none.Enter(t.Context()) != nil {
		t.Error("a request without a turn has one")
	}
	if other := turns.Of(values.Context(t.Context(), q.Turn("a").Value())).Another(); other.Client() != "a" {
		t.Error(other.Client())
	}
}

// TestOrder checks that turns go to the client that uses the fewest, and of its requests to the newest, and that requests that left do not get one.
func TestOrder(t *testing.T) {
	t.Parallel()
	q := turns.New(4, 4, time.Minute)
	granted := make(chan string)
	var first []*turns.Turn
	for _, client := range []string{"greedy", "greedy", "other", "other"} {
		turn := q.Turn(client)
		if err := turn.Enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		turn.Query(1)
		first = append(first, turn)
	}
	begin := func(ctx context.Context, name, client string) *turns.Turn {
		turn, failed := q.Turn(client), make(chan error, 1)
		go func() {
			err := turn.Enter(ctx)
			if err == nil {
				turn.Query(1)
				granted <- name
			}
			failed <- err
		}()
		if ctx.Err() != nil {
			if err := <-failed; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
		time.Sleep(20 * time.Millisecond) // the turn waits now
		return turn
	}
	waiting := map[string]*turns.Turn{}
	for _, name := range []string{"oldest", "newest"} {
		waiting[name] = begin(t.Context(), name, "greedy")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	begin(ended, "left", "modest")
	waiting["modest"] = begin(t.Context(), "modest", "modest")
	var order []string
	for _, turn := range first[:3] {
		turn.Leave()
		order = append(order, <-granted)
	}
	if want := []string{"modest", "newest", "oldest"}; !slices.Equal(order, want) {
		t.Errorf("turns in the order %v, want %v", order, want)
	}
}

// TestFull checks that only so many turns wait that they can be served in time: fewer and for a shorter time if a client sends too many all the time.
func TestFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := turns.New(4, 2, time.Minute)
		for _, client := range []string{"greedy", "other"} { // all processors are busy
			if err := q.Turn(client).Enter(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		var refused atomic.Int64
		enter := func(client string) {
			go func() {
				if err := q.Turn(client).Enter(t.Context()); errors.Is(err, turns.ErrBusy) {
					refused.Add(1)
				}
			}()
			synctest.Wait()
		}
		fill := func(client string) (n int) {
			for ; !q.Full(client); n++ {
				enter(client)
			}
			return n
		}
		expect := func(want int64) {
			t.Helper()
			synctest.Wait()
			if got := refused.Load(); got != want {
				t.Errorf("%d turns were refused, want %d", got, want)
			}
		}
		if n := fill("greedy"); n != 32 {
			t.Errorf("%d turns of one of two clients wait, want 32", n)
		}
		enter("greedy")
		expect(1)
		if q.Full("modest") {
			t.Error("another client is refused")
		}
		enter("modest")
		time.Sleep(30 * time.Second)
		enter("modest")
		expect(1)
		time.Sleep(31 * time.Second)
		expect(1 + 32 + 1)
		if n := fill("modest"); n != 4 {
			t.Errorf("%d more turns of a client that sends too many wait, want 4", n)
		}
		time.Sleep(16 * time.Second)
		expect(34 + 4)
	})
}

// TestBuild checks that one client builds few responses at the same time, and that these count until their turns end.
func TestBuild(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := turns.New(8, 4, time.Minute)
		var built atomic.Int64
		begin := func(ctx context.Context, client string) *turns.Turn {
			turn := q.Turn(client)
			if err := turn.Enter(t.Context()); err != nil {
				t.Fatal(err)
			}
			turn.Query(1)
			go func() {
				turn.Query(-1)
				turn.Build(ctx)
				turn.Build(ctx) // the next root field
				built.Add(1)
			}()
			synctest.Wait()
			return turn
		}
		expect := func(want int64, what string) {
			t.Helper()
			synctest.Wait()
			if got := built.Load(); got != want {
				t.Errorf("%s: %d responses, want %d", what, got, want)
			}
		}
		begin(t.Context(), "modest").Leave()
		first := begin(t.Context(), "greedy")
		expect(2, "another client is active")
		first.Query(1)
		second := begin(t.Context(), "greedy")
		ended, cancel := context.WithCancel(t.Context())
		third := begin(ended, "greedy")
		expect(2, "the first is being built")
		begin(t.Context(), "modest")
		expect(3, "a response of the other client")
		first.Leave()
		expect(4, "the first has ended")
		cancel()
		expect(5, "the context of the third has ended")
		second.Leave()
		third.Leave()
		begin(t.Context(), "greedy")
		expect(6, "all others have ended")
	})
	(*turns.Turn)(nil).Build(t.Context())
}
