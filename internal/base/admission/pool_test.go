package admission_test

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"heliograph/internal/base/admission"
)

// statements enters statements in a bubble with a fake clock.
type statements struct {
	t    *testing.T
	q    *admission.Queue
	pool *admission.Pool
}

func testPool(t *testing.T, connections int, f func(t *testing.T, s *statements)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		q := admission.New(admission.Options{Processors: 2})
		f(t, &statements{t, q, q.Pool(connections, 2)})
	})
}

// operation returns a new operation of a client.
func (s *statements) operation(client string, share admission.Share) *admission.Operation {
	return &admission.Operation{Share: share, Turn: s.q.Turn(client, "class")}
}

// start enters a statement. The result is nil if it has to wait.
func (s *statements) start(o *admission.Operation) (slot *admission.Slot) {
	ctx, cancel := context.WithCancel(s.t.Context())
	go func() { slot, _ = s.pool.Enter(ctx, o, o.Share, nil) }()
	synctest.Wait()
	cancel()
	synctest.Wait()
	return slot
}

// enter enters a statement of a new operation.
func (s *statements) enter(client string, share admission.Share) *admission.Slot {
	return s.start(s.operation(client, share))
}

// fill enters statements of new operations until one has to wait.
func (s *statements) fill(client string, share admission.Share) (all []*admission.Slot) {
	for slot := s.enter(client, share); slot != nil; slot = s.enter(client, share) {
		all = append(all, slot)
	}
	return all
}

// TestShares checks how many connections one client uses for each share, that others have connections then, and that an
// operation without a connection is refused after the timeout.
func TestShares(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		share admission.Share
		most  int
	}{"reads": {admission.Reads, 5}, "scans": {admission.Scans, 2}, "EVM": {admission.EVM, 3}} {
		testPool(t, 11, func(t *testing.T, s *statements) {
			t.Helper()
			if n := len(s.fill("greedy", c.share)); n != c.most {
				t.Errorf("%s: %d statements run, want %d", name, n, c.most)
			}
			for _, other := range []admission.Share{admission.Reads, admission.Scans, admission.EVM} {
				if c.share == other && other != admission.Reads {
					continue
				}
				slot := s.enter("modest", other)
				if slot == nil {
					t.Fatalf("%s: no connection is left for share %d of another client", name, other)
				}
				slot.Leave()
			}
			begin := time.Now()
			_, err := s.pool.Enter(t.Context(), s.operation("greedy", c.share), c.share, nil)
			if took := time.Since(begin); admission.RefusalOf(err) == nil || took != admission.DefaultTimeout {
				t.Errorf("%s: refused after %s: %v", name, took, err)
			}
		})
	}
}

// TestConnections checks that a free connection goes to the client that has used the least, and that operations end
// before others begin.
func TestConnections(t *testing.T) {
	t.Parallel()
	testPool(t, 9, func(t *testing.T, s *statements) {
		t.Helper()
		begun := s.operation("greedy", admission.Reads)
		held := append([]*admission.Slot{s.start(begun)}, s.fill("greedy", admission.Reads)...)
		for _, other := range []string{"a", "b", "c", "d"} {
			held = append(held, s.enter(other, admission.Reads))
		}
		time.Sleep(10 * time.Millisecond)
		order := make(chan string, 4)
		enter := func(name string, o *admission.Operation) {
			go func() {
				if _, err := s.pool.Enter(t.Context(), o, o.Share, nil); err == nil {
					order <- name
				}
			}()
			synctest.Wait()
		}
		enter("new", s.operation("greedy", admission.Reads))
		enter("begun", begun)
		enter("modest", s.operation("modest", admission.Reads))
		for i, slot := range held {
			slot.Leave()
			synctest.Wait()
			got, want := "", map[int]string{0: "modest", 3: "begun", 4: "new"}[i]
			select {
			case got = <-order:
			default:
			}
			if got != want {
				t.Errorf("after %d connections are free: %q, want %q", i+1, got, want)
			}
		}
	})
}

// TestPerOperation checks that an operation waits for its own connections, longer than others wait for the first one.
func TestPerOperation(t *testing.T) {
	t.Parallel()
	testPool(t, 11, func(t *testing.T, s *statements) {
		t.Helper()
		o := s.operation("a", admission.Reads)
		first := s.start(o)
		s.start(o)
		time.AfterFunc(3*admission.DefaultTimeout, first.Leave)
		begin := time.Now()
		_, err := s.pool.Enter(t.Context(), o, o.Share, nil)
		if err != nil || time.Since(begin) != 3*admission.DefaultTimeout {
			t.Errorf("the third connection after %s: %v", time.Since(begin), err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.pool.Enter(ended, o, o.Share, nil); err == nil {
			t.Error("a client that has left waits for a connection")
		}
	})
}

// TestSlow checks that statements that do not end leave connections to other clients, also to those whose own
// statements take long because the machine is busy.
func TestSlow(t *testing.T) {
	t.Parallel()
	testPool(t, 10, func(t *testing.T, s *statements) {
		t.Helper()
		for _, share := range []admission.Share{admission.Reads, admission.Scans} {
			for range 20 { // operations that have run a statement wait for longer
				go func() {
					o := s.operation("greedy", share)
					if slot, err := s.pool.Enter(t.Context(), o, share, nil); err == nil {
						time.Sleep(time.Millisecond)
						slot.Leave()
						if slot, err = s.pool.Enter(t.Context(), o, share, nil); err == nil {
							time.Sleep(time.Minute)
							slot.Leave()
						}
					}
				}()
			}
		}
		time.Sleep(time.Second)
		for range 5 {
			o := s.operation("modest", admission.Reads)
			slot := s.start(o)
			if slot == nil {
				t.Fatal("no connection for a client that holds none")
			}
			time.Sleep(2 * time.Second)
			slot.Leave()
		}
		if n := len(s.fill("also greedy", admission.Reads)); n != 2 {
			t.Errorf("a second client that holds connections has %d, want 2", n)
		}
		for _, share := range []admission.Share{admission.Reads, admission.EVM} {
			slot := s.enter("modest", share)
			if slot == nil {
				t.Fatalf("no connection of share %d", share)
			}
			slot.Leave()
		}
		time.Sleep(time.Hour)
		if n := s.pool.Load(); n != 2 {
			t.Errorf("%d statements run or wait, want 2", n)
		}
	})
}

// TestParking checks that requests that wait for a connection do not keep others from running, unless they are many.
func TestParking(t *testing.T) {
	t.Parallel()
	testPool(t, 11, func(t *testing.T, s *statements) {
		t.Helper()
		scan := func() {
			turn := s.q.Turn("client", "scans")
			defer turn.End()
			if turn.Enter(t.Context()) != nil {
				return
			}
			o := &admission.Operation{Turn: turn, Share: admission.Scans}
			slot, err := s.pool.Enter(t.Context(), o, o.Share, nil)
			if err == nil {
				time.Sleep(time.Second)
				slot.Leave()
			}
		}
		for range 60 { // two at the same time
			go scan()
		}
		time.Sleep(100 * time.Millisecond)
		for range 20 {
			turn := s.q.Turn("client", "class")
			if err := turn.Enter(t.Context()); err != nil || turn.Waited() > 0 {
				t.Errorf("a request waited %s behind scans: %v", turn.Waited(), err)
			}
			turn.End()
		}
		for range 60 {
			go scan()
		}
		time.Sleep(3 * time.Second)
		turn := s.q.Turn("client", "class")
		defer turn.End()
		refusal := admission.RefusalOf(turn.Enter(t.Context()))
		if refusal == nil || refusal.Seconds < 5 || refusal.Seconds > 30 {
			t.Errorf("with a hundred scans of a second waiting for two connections: %v", refusal)
		}
		time.Sleep(time.Minute)
	})
}

// TestOperationWithoutTurn checks that operations without a turn leave nothing in the queue, also if their statements
// overlap or are canceled.
func TestOperationWithoutTurn(t *testing.T) {
	t.Parallel()
	q := admission.New(admission.Options{Processors: 2})
	pool := q.Pool(2, 1)
	var op admission.Operation
	first, err := pool.Enter(t.Context(), &op, admission.Reads, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := pool.Enter(ctx, &op, admission.Reads, nil); err == nil {
		t.Fatal("a second statement runs on the only connection")
	}
	first.Leave()
	second, err := pool.Enter(t.Context(), &op, admission.Reads, nil)
	if err != nil {
		t.Fatal(err)
	}
	second.Leave()
	if n := q.Clients(); n != 0 {
		t.Errorf("the queue remembers %d clients", n)
	}
}

// trip is a batch whose statements have a text. most batches can share a round trip with it.
type trip struct {
	text string
	most int
}

func (t trip) Most() int { return t.most }

func (t trip) Joins(other admission.Trip) bool { return t.text == other.(trip).text }

// TestTakenAlong checks which statements a slot takes along: those that wait, with the same text and in the same share,
// up to the number of its trip. They end with it, also if their contexts have ended before, and are refused nothing.
func TestTakenAlong(t *testing.T) {
	t.Parallel()
	testPool(t, 2, func(t *testing.T, s *statements) {
		t.Helper()
		blocker := s.enter("busy", admission.Reads)
		type result struct {
			slot *admission.Slot
			err  error
		}
		results := map[string]*result{}
		enter := func(ctx context.Context, name, client string, share admission.Share, of trip) {
			got := new(result)
			results[name] = got
			turn := s.q.Turn(client, "class")
			go func() {
				slot, err := s.pool.Enter(ctx, &admission.Operation{Share: share, Turn: turn}, share, of)
				*got = result{slot, err}
			}()
			synctest.Wait()
		}
		aborted, abort := context.WithCancel(t.Context())
		defer abort()
		left, leave := context.WithCancel(t.Context())
		enter(t.Context(), "first", "a", admission.Reads, trip{"x", 3})
		enter(t.Context(), "other text", "b", admission.Reads, trip{"y", 3})
		enter(t.Context(), "other share", "b", admission.Scans, trip{"x", 3})
		enter(left, "left", "b", admission.Reads, trip{"x", 3})
		leave()
		synctest.Wait()
		enter(aborted, "second", "b", admission.Reads, trip{"x", 3})
		enter(t.Context(), "third", "c", admission.Reads, trip{"x", 3})
		enter(t.Context(), "too many", "c", admission.Reads, trip{"x", 3})
		if r := results["left"]; r.slot != nil || !errors.Is(r.err, context.Canceled) {
			t.Errorf("a statement whose client left: %+v", r)
		}
		blocker.Leave()
		synctest.Wait()
		first := results["first"].slot
		if first == nil || first.Taken() || len(first.Along()) != 2 {
			t.Fatalf("the first statement: %+v", results["first"])
		}
		abort()
		time.Sleep(2 * admission.DefaultTimeout) // longer than they could wait for a connection
		for _, name := range []string{"second", "third"} {
			if r := results[name]; r.slot != nil || r.err != nil {
				t.Errorf("the %s statement has ended before those that took it along: %+v", name, r)
			}
		}
		first.Leave()
		synctest.Wait()
		for _, name := range []string{"second", "third"} {
			if r := results[name]; r.slot == nil || !r.slot.Taken() {
				t.Errorf("the %s statement: %+v", name, r)
			}
		}
		for _, name := range []string{"other text", "other share", "too many"} {
			if r := results[name]; admission.RefusalOf(r.err) == nil {
				t.Errorf("%s: not refused while the only connection is in use: %+v", name, r)
			}
		}
	})
}

// TestPatience checks which statements wait although there are connections, on two processors: those that can share a
// round trip with many, while two or more young round trips with four batches in all have the same text. They share
// the next one, or run after 20 ms.
func TestPatience(t *testing.T) {
	t.Parallel()
	testPool(t, 16, func(t *testing.T, s *statements) {
		t.Helper()
		var slots []*atomic.Pointer[admission.Slot]
		ctx, leave := context.WithCancel(t.Context())
		enter := func(of trip) (has func() bool) {
			got := new(atomic.Pointer[admission.Slot])
			o := s.operation(strconv.Itoa(len(slots)), admission.Reads)
			slots = append(slots, got)
			go func() {
				slot, err := s.pool.Enter(ctx, o, admission.Reads, of)
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				got.Store(slot)
			}()
			synctest.Wait()
			return func() bool {
				synctest.Wait()
				return got.Load() != nil
			}
		}
		many := trip{"x", 4}
		for i := range 4 {
			if has := enter(many); !has() {
				t.Fatalf("batch %d waits", i)
			}
		}
		for _, other := range []trip{{"y", 4}, {"x", 3}} {
			if has := enter(other); !has() {
				t.Errorf("a batch of %q waits, of which a round trip can have %d", other.text, other.most)
			}
		}
		first, second := enter(many), enter(many)
		slots[0].Load().Leave()
		if first() || second() {
			t.Fatal("batches do not wait for round trips with four others")
		}
		slots[1].Load().Leave()
		if !first() || second() || len(slots[6].Load().Along()) != 1 {
			t.Fatal("batches do not share a round trip when others have three")
		}
		slots[6].Load().Leave()
		if !second() || !slots[7].Load().Taken() {
			t.Error("a batch does not end with the one that has taken it along")
		}
		if last := enter(many); !last() {
			t.Error("a batch waits for round trips with three others")
		}
		late := enter(many)
		time.Sleep(19 * time.Millisecond)
		if late() {
			t.Error("a batch does not wait for 20 ms")
		}
		time.Sleep(2 * time.Millisecond)
		if !late() {
			t.Error("a batch waits for more than 20 ms although there are connections")
		}
		for range 3 {
			if old := enter(many); !old() {
				t.Error("a batch waits for round trips that have taken more than 20 ms, or for three others")
			}
		}
		canceled := enter(many)
		leave()
		if canceled() {
			t.Error("a batch has a connection whose client has left while it waited for others")
		}
	})
}

// TestCostsOfTrip checks that the operations whose statements share a round trip share its cost: a client that takes
// others along does not pay for them.
func TestCostsOfTrip(t *testing.T) {
	t.Parallel()
	testPool(t, 2, func(t *testing.T, s *statements) {
		t.Helper()
		blocker := s.enter("busy", admission.Reads)
		var turns []*admission.Turn
		var slots [4]*admission.Slot
		for i := range slots {
			turn := s.q.Turn(strconv.Itoa(i), "class")
			turns = append(turns, turn)
			go func() {
				slots[i], _ = s.pool.Enter(t.Context(), &admission.Operation{Turn: turn}, admission.Reads,
					trip{"x", 4})
			}()
		}
		synctest.Wait()
		blocker.Leave()
		synctest.Wait()
		time.Sleep(time.Second)
		for _, slot := range slots {
			if slot != nil {
				slot.Leave()
			}
		}
		for i, turn := range turns {
			if cost := turn.Cost(); cost < 0.24 || cost > 0.26 {
				t.Errorf("operation %d of four in a round trip of a second costs %.2f s", i, cost)
			}
		}
	})
}
