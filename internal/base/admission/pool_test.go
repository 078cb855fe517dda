package admission_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"heliograph/internal/base/admission"
)

const scanTime = 250 * time.Millisecond

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
func (s *statements) start(o *admission.Operation, sql string) (slot *admission.Slot) {
	ctx, cancel := context.WithCancel(s.t.Context())
	go func() { slot, _ = s.pool.Enter(ctx, o, o.Share, sql) }()
	synctest.Wait()
	cancel()
	synctest.Wait()
	return slot
}

// enter enters a statement of a new operation.
func (s *statements) enter(client string, share admission.Share, sql string) *admission.Slot {
	return s.start(s.operation(client, share), sql)
}

// TestShares checks that each share leaves connections to the others, that a client leaves one to others, and that an
// operation without a connection is refused after the timeout.
func TestShares(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		share admission.Share
		most  int
	}{"point reads": {admission.PointReads, 6}, "lists": {admission.Lists, 6}, "EVM": {admission.EVM, 3}} {
		testPool(t, 11, func(t *testing.T, s *statements) {
			t.Helper()
			n := 0
			for s.enter("greedy", c.share, "") != nil {
				n++
			}
			if n != c.most {
				t.Errorf("%s: %d statements run, want %d", name, n, c.most)
			}
			for _, other := range []admission.Share{admission.PointReads, admission.Lists, admission.EVM} {
				if c.share == admission.EVM && other == admission.EVM {
					continue
				}
				slot := s.enter("modest", other, "")
				if slot == nil {
					t.Errorf("%s: no connection is left for share %d of another client", name, other)
				}
				slot.Leave()
			}
			if c.share != admission.EVM { // the others count as scans soon
				return
			}
			begin := time.Now()
			_, err := s.pool.Enter(t.Context(), s.operation("greedy", c.share), c.share, "")
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
	testPool(t, 5, func(t *testing.T, s *statements) {
		t.Helper()
		var held []*admission.Slot
		begun := s.operation("greedy", admission.PointReads)
		for range 3 {
			held = append(held, s.enter("greedy", admission.PointReads, ""))
		}
		held = append(held, s.start(begun, ""))
		time.Sleep(10 * time.Millisecond)
		order := make(chan string, 4)
		enter := func(name string, o *admission.Operation) {
			go func() {
				if _, err := s.pool.Enter(t.Context(), o, o.Share, ""); err == nil {
					order <- name
				}
			}()
			synctest.Wait()
		}
		enter("new", s.operation("greedy", admission.PointReads))
		enter("begun", begun)
		enter("modest", s.operation("modest", admission.PointReads))
		for i, want := range []string{"modest", "begun", "new"} {
			held[i].Leave()
			if got := <-order; got != want {
				t.Errorf("connection %d: %s, want %s", i, got, want)
			}
		}
	})
}

// TestPerOperation checks that an operation waits for its own connections, longer than others wait for the first one.
func TestPerOperation(t *testing.T) {
	t.Parallel()
	testPool(t, 11, func(t *testing.T, s *statements) {
		t.Helper()
		o := s.operation("a", admission.Lists)
		first := s.start(o, "")
		s.start(o, "")
		time.AfterFunc(3*admission.DefaultTimeout, first.Leave)
		begin := time.Now()
		_, err := s.pool.Enter(t.Context(), o, o.Share, "")
		if err != nil || time.Since(begin) != 3*admission.DefaultTimeout {
			t.Errorf("the third connection after %s: %v", time.Since(begin), err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.pool.Enter(ended, o, o.Share, ""); err == nil {
			t.Error("a client that has left waits for a connection")
		}
	})
}

// TestScans checks that statements that take long, and later ones with the same text, use the share of scans, and
// leave connections to the lists of others.
func TestScans(t *testing.T) {
	t.Parallel()
	testPool(t, 11, func(t *testing.T, s *statements) {
		t.Helper()
		var scans atomic.Int32
		for i := range 20 {
			go func() {
				o, sql := s.operation("greedy", admission.Lists), string(rune('a'+i))
				if slot, err := s.pool.Enter(t.Context(), o, o.Share, sql); err == nil {
					scans.Add(1)
					time.Sleep(4 * time.Second)
					slot.Leave()
				}
			}()
			synctest.Wait()
		}
		time.Sleep(2 * time.Second)
		if n := scans.Load(); n < 2 || n > 7 {
			t.Errorf("%d scans of different texts", n)
		}
		s.enter("modest", admission.Lists, "fast").Leave()
		if s.enter("modest", admission.Lists, "a") != nil {
			t.Error("a statement with the text of a scan does not wait for the share of scans")
		}
		time.Sleep(20 * time.Second)
		s.enter("modest", admission.Lists, "a").Leave()
		for range 100 { // the processors are busy
			slot := s.enter("modest", admission.Lists, "b")
			time.Sleep(scanTime * 3 / 4)
			slot.Leave()
		}
		slow := s.enter("modest", admission.Lists, "c")
		time.Sleep(2 * scanTime)
		slow.Leave()
		var all []*admission.Slot
		for range 6 {
			all = append(all, s.enter("modest", admission.Lists, "c"))
		}
		for i, slot := range all {
			if slot == nil {
				t.Errorf("statement %d counts as a scan although all take long", i)
			}
			slot.Leave()
		}
		if n := s.pool.Load(); n != 0 {
			t.Errorf("%d statements run or wait", n)
		}
	})
}

// TestManyScans checks that other clients have a connection of each share although all statements of a client turn out
// to be scans.
func TestManyScans(t *testing.T) {
	t.Parallel()
	testPool(t, 10, func(t *testing.T, s *statements) {
		t.Helper()
		for share := range admission.EVM { // operations that have run a statement wait for longer
			for range 20 {
				go func() {
					o := s.operation("greedy", share)
					if slot, err := s.pool.Enter(t.Context(), o, share, "fast"); err == nil {
						time.Sleep(time.Millisecond)
						slot.Leave()
						if slot, err = s.pool.Enter(t.Context(), o, share, "slow"); err == nil {
							time.Sleep(time.Minute)
							slot.Leave()
						}
					}
				}()
			}
		}
		time.Sleep(10 * scanTime)
		for _, share := range []admission.Share{admission.PointReads, admission.Lists, admission.EVM} {
			slot := s.enter("modest", share, "")
			if slot == nil {
				t.Errorf("no connection of share %d", share)
			}
			slot.Leave()
		}
		time.Sleep(time.Hour)
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
			slot, err := s.pool.Enter(t.Context(), o, o.Share, "scan")
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
		if refusal := s.q.Full("client"); refusal == nil || refusal.Seconds() < 5 || refusal.Seconds() > 30 {
			t.Errorf("with a hundred scans of a second waiting for two connections: %v", refusal)
		}
		time.Sleep(time.Minute)
	})
}
