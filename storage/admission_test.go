package storage

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"heliograph/internal/base/turns"
	"heliograph/internal/base/values"
)

const maxWait = defaultMaxWait

// as returns the context of an operation of a client.
func as(t *testing.T, client string, class Class) context.Context {
	t.Helper()
	ctx := values.Context(t.Context(), turns.New(1, 1, 0).Turn(client).Value())
	return values.Context(ctx, Work(ctx, class, false))
}

//nolint:revive // t is first in tests
func mustEnter(t *testing.T, a *admission, ctx context.Context, class Class, sql string) *slot {
	t.Helper()
	s, err := a.enter(ctx, class, sql)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestShares checks that each class leaves connections to the others, that a client leaves one to others, and that an operation without a connection is
// refused after 100 ms.
func TestShares(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		class Class
		most  int
	}{
		"point reads": {PointReads, 6}, "lists": {Lists, 6}, "EVM": {EVM, 3},
	} {
		synctest.Test(t, func(t *testing.T) {
			a := newAdmission(11, 2, maxWait)
			for range c.most {
				mustEnter(t, a, as(t, "greedy", c.class), c.class, "")
			}
			start := time.Now()
			if _, err := a.enter(as(t, "greedy", c.class), c.class, ""); !errors.Is(err, ErrBusy) || FailureOf(err) != FailureBusy {
				t.Errorf("%s: %v", name, err)
			}
			if took := time.Since(start); took != maxWait {
				t.Errorf("%s: refused after %s", name, took)
			}
			if c.class != EVM {
				mustEnter(t, a, as(t, "modest", c.class), PointReads, "").leave()
			}
			for _, other := range []Class{PointReads, Lists, EVM} {
				if other != c.class {
					mustEnter(t, a, as(t, "modest", other), other, "").leave()
				}
			}
		})
	}
}

// TestFairness checks that a free connection goes to the client that uses the fewest.
func TestFairness(t *testing.T) {
	t.Parallel()
	a := newAdmission(5, 2, maxWait)
	var held []*slot
	for range 4 {
		held = append(held, mustEnter(t, a, as(t, "greedy", PointReads), PointReads, ""))
	}
	order := make(chan string, 4)
	enter := func(client string) {
		ctx := as(t, client, PointReads)
		go func() {
			if _, err := a.enter(ctx, PointReads, ""); err == nil {
				order <- client
			}
		}()
		for waiting := 0; waiting == 0; {
			a.mu.Lock()
			if c := a.byClient[client]; c != nil {
				waiting = c.waiting
			}
			a.mu.Unlock()
		}
	}
	enter("greedy")
	enter("modest")
	held[0].leave()
	if got := <-order; got != "modest" {
		t.Errorf("the connection went to the %s client", got)
	}
	held[1].leave()
	if got := <-order; got != "greedy" {
		t.Errorf("the second connection went to the %s client", got)
	}
}

// TestPerOperation checks that an operation waits for its own connections, longer than others wait for the first one.
func TestPerOperation(t *testing.T) {
	t.Parallel()
	a := newAdmission(11, 2, maxWait)
	ctx := as(t, "a", Lists)
	first := mustEnter(t, a, ctx, PointReads, "")
	mustEnter(t, a, ctx, PointReads, "")
	time.AfterFunc(3*maxWait, first.leave)
	start := time.Now()
	mustEnter(t, a, ctx, PointReads, "")
	if took := time.Since(start); took < 2*maxWait {
		t.Errorf("the third connection after %s", took)
	}
	ended, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	if _, err := a.enter(ended, PointReads, ""); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// TestScans checks that statements that take long, and later ones with the same text, use the share of scans, and leave connections to the lists of others.
func TestScans(t *testing.T) {
	t.Parallel()
	a := newAdmission(11, 2, maxWait)
	long := time.Now().Add(-2 * scanTime)
	var held []*slot
	for {
		s, err := a.enter(as(t, "greedy", Lists), PointReads, string(rune('a'+len(held))))
		if err != nil {
			break
		}
		a.mu.Lock()
		s.since = long
		a.sweep()
		a.mu.Unlock()
		held = append(held, s)
	}
	if n := len(held); n < a.most[Scans] || n > a.capacity-3 {
		t.Errorf("%d scans of different texts", n)
	}
	mustEnter(t, a, as(t, "modest", Lists), PointReads, "").leave()
	waiting, cancel := context.WithTimeout(as(t, "modest", Lists), 2*maxWait)
	defer cancel()
	if _, err := a.enter(waiting, PointReads, "a"); !errors.Is(err, context.DeadlineExceeded) { // a scan waits longer than maxWait
		t.Error(err)
	}
	for _, s := range held {
		s.leave()
	}
	s := mustEnter(t, a, as(t, "modest", Lists), PointReads, "a")
	if s.class != Scans {
		t.Errorf("class %d", s.class)
	}
	s.leave()
	if s = mustEnter(t, a, as(t, "modest", Lists), PointReads, "a"); s.class == Scans {
		t.Error("the statement is still a scan after it was fast")
	}
	s.leave()
	for range 100 { // the processors are busy
		s = mustEnter(t, a, as(t, "modest", Lists), PointReads, "a")
		s.since = time.Now().Add(-scanTime * 3 / 4)
		s.leave()
	}
	s = mustEnter(t, a, as(t, "modest", Lists), PointReads, "a")
	s.since = time.Now().Add(-2 * scanTime)
	a.mu.Lock()
	a.sweep()
	a.mu.Unlock()
	if s.class == Scans {
		t.Error("a statement is a scan although all take long")
	}
	s.leave()
	if len(a.byClient) != 0 || len(a.held) != 0 || a.used != [classes]int{} {
		t.Errorf("%d clients, %d connections, %v used", len(a.byClient), len(a.held), a.used)
	}
}

// TestManyScans checks that other clients have a connection of each class although all statements of a client turn out to be scans.
func TestManyScans(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAdmission(10, 2, maxWait)
		for class := range EVM { // operations that have run a statement wait patiently
			for range 20 {
				go func() {
					ctx := as(t, "greedy", class)
					if s, err := a.enter(ctx, class, "fast"); err == nil {
						time.Sleep(time.Millisecond)
						s.leave()
						_, _ = a.enter(ctx, class, "slow")
					}
				}()
			}
		}
		time.Sleep(10 * scanTime)
		for _, class := range []Class{PointReads, Lists, EVM} {
			mustEnter(t, a, as(t, "modest", class), class, "").leave()
		}
	})
}
