package admission_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"heliograph/internal/base/admission"
)

// simulation runs requests with a fake clock. A request takes the time of its statement; more connections than the
// pool has do not make it slower.
type simulation struct {
	q    *admission.Queue
	pool *admission.Pool

	mu      sync.Mutex
	clients map[string]*measured
}

// measured is what a client measured.
type measured struct {
	served, gone int
	refused      map[admission.Limit]int
	latencies    []time.Duration // of served requests
	refusals     []time.Duration // latencies of refused requests
	retries      []int
}

func (m *measured) p99() time.Duration {
	slices.Sort(m.latencies)
	return m.latencies[len(m.latencies)*99/100]
}

// simulate calls f with a queue in a bubble with a fake clock. 9 statements run at the same time, of one client 5.
func simulate(t *testing.T, o admission.Options, f func(t *testing.T, s *simulation)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o.Processors = 2
		s := &simulation{q: admission.New(o), clients: map[string]*measured{}}
		s.pool = s.q.Pool(10, 2)
		f(t, s)
	})
}

// request is a request with one statement.
type request struct {
	client, class string
	cost          time.Duration
	share         admission.Share
}

// run runs a request.
func (s *simulation) run(ctx context.Context, r request) (waited time.Duration, err error) {
	turn := s.q.Turn(r.client, r.class)
	defer turn.End()
	if err := turn.Enter(ctx); err != nil {
		return turn.Waited(), err
	}
	slot, err := s.pool.Enter(ctx, &admission.Operation{Turn: turn}, r.share, nil)
	if err != nil {
		return turn.Waited(), err
	}
	time.Sleep(r.cost)
	slot.Leave()
	return turn.Waited(), nil
}

// measure runs a request and counts its result.
func (s *simulation) measure(ctx context.Context, r request) error {
	begin := time.Now()
	_, err := s.run(ctx, r)
	took := time.Since(begin)
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.clients[r.client]
	if m == nil {
		m = &measured{refused: map[admission.Limit]int{}}
		s.clients[r.client] = m
	}
	switch refusal := admission.RefusalOf(err); {
	case refusal != nil:
		m.refused[refusal.Limit]++
		m.refusals = append(m.refusals, took)
		m.retries = append(m.retries, refusal.Seconds)
	case err != nil:
		m.gone++
	default:
		m.served++
		m.latencies = append(m.latencies, took)
	}
	return err
}

// closed keeps connections busy for a time.
func (s *simulation) closed(t *testing.T, all *sync.WaitGroup, connections int, d time.Duration, next func() request) {
	t.Helper()
	end := time.Now().Add(d)
	for range connections {
		all.Go(func() {
			for time.Now().Before(end) {
				if err := s.measure(t.Context(), next()); err != nil {
					time.Sleep(10 * time.Millisecond)
				}
			}
		})
	}
}

// open sends requests at a rate for a time.
func (s *simulation) open(t *testing.T, all *sync.WaitGroup, rate float64, d time.Duration, r request) {
	t.Helper()
	all.Go(func() {
		end, pause := time.Now().Add(d), time.Duration(float64(time.Second)/rate)
		for time.Now().Before(end) {
			all.Go(func() { _ = s.measure(t.Context(), r) })
			time.Sleep(pause)
		}
	})
}

// TestOrder checks that requests of one client run in order of arrival, that another client does not wait behind them,
// and that those that left do not run.
func TestOrder(t *testing.T) {
	t.Parallel()
	simulate(t, admission.Options{}, func(t *testing.T, s *simulation) {
		t.Helper()
		var all sync.WaitGroup
		var mu sync.Mutex
		var order []string
		start := func(ctx context.Context, client, name string) {
			all.Go(func() {
				turn := s.q.Turn(client, "class")
				defer turn.End()
				if turn.Enter(ctx) == nil {
					mu.Lock()
					order = append(order, name)
					mu.Unlock()
					time.Sleep(time.Second)
				}
			})
			synctest.Wait()
		}
		gone, leave := context.WithCancel(t.Context())
		for _, name := range []string{"1", "2", "3", "4", "5", "6"} {
			ctx := t.Context()
			if name == "5" {
				ctx = gone
			}
			start(ctx, "busy", name)
		}
		start(t.Context(), "other", "a")
		leave()
		all.Wait()
		slices.Sort(order[4:]) // they start at the same time
		if want := []string{"1", "2", "3", "a", "4", "6"}; !slices.Equal(order, want) {
			t.Errorf("order %v, want %v", order, want)
		}
	})
}

// TestEqualShares checks that clients with any number of connections get equal shares of the time, whatever their
// requests cost, within 15 %.
func TestEqualShares(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 1)) // the same numbers at each run
			simulate(t, admission.Options{Timeout: time.Hour}, func(t *testing.T, s *simulation) {
				t.Helper()
				const d = 60 * time.Second
				var all sync.WaitGroup
				costs := map[string]time.Duration{}
				for i := range 2 + random.IntN(7) {
					name := strconv.Itoa(i)
					costs[name] = time.Duration(1+random.IntN(50)) * time.Millisecond
					r := request{client: name, class: "class " + strconv.Itoa(i%3), cost: costs[name]}
					s.closed(t, &all, 16+random.IntN(50), d, func() request { return r })
				}
				all.Wait()
				total := time.Duration(0)
				for name, m := range s.clients {
					total += time.Duration(m.served) * costs[name]
				}
				for name, m := range s.clients {
					share := float64(time.Duration(m.served)*costs[name]) / (float64(total) / float64(len(costs)))
					if share < 0.85 || share > 1.15 || len(m.refused) > 0 {
						t.Errorf("client %s with requests of %s has %.2f of its share, %v refused",
							name, costs[name], share, m.refused)
					}
				}
			})
		})
	}
}

// TestExpensiveClient checks that a client whose requests become expensive gets fewer of them, and that the others
// keep their latency.
func TestExpensiveClient(t *testing.T) {
	t.Parallel()
	measure := func(cost time.Duration) (all map[string]*measured) {
		simulate(t, admission.Options{}, func(t *testing.T, s *simulation) {
			t.Helper()
			var running sync.WaitGroup
			for i := range 8 {
				r := request{client: strconv.Itoa(i), class: "blocks", cost: 2 * time.Millisecond}
				if i == 7 && cost > 0 {
					r.class, r.cost = "results", cost
				}
				s.closed(t, &running, 32, 20*time.Second, func() request { return r })
			}
			running.Wait()
			all = s.clients
		})
		return all
	}
	equal, mixed := measure(0), measure(200*time.Millisecond)
	if mixed["7"].served*10 > equal["7"].served {
		t.Errorf("%d expensive requests are served instead of %d", mixed["7"].served, equal["7"].served)
	}
	for name, m := range mixed {
		if name != "7" && (m.p99() > 2*equal[name].p99() || len(m.refused) > 0) {
			t.Errorf("client %s: p99 %s instead of %s, %v refused", name, m.p99(), equal[name].p99(), m.refused)
		}
	}
}

// TestClosedLoops checks that no request is refused if connections ÷ rate is below the timeout, that all have about
// the same latency, and that more connections do not lower the rate.
func TestClosedLoops(t *testing.T) {
	t.Parallel()
	for _, r := range []request{
		{"client", "class", 5 * time.Millisecond, admission.Reads},
		{"client", "class", 20 * time.Millisecond, admission.Reads},
		{"client", "class", 5 * time.Millisecond, admission.EVM},
		{"client", "class", 5 * time.Millisecond, admission.Scans},
	} {
		best := 0.0
		for _, connections := range []int{1, 8, 16, 64, 256, 1000} {
			simulate(t, admission.Options{}, func(t *testing.T, s *simulation) {
				t.Helper()
				const d = 20 * time.Second
				var all sync.WaitGroup
				s.closed(t, &all, connections, d, func() request { return r })
				all.Wait()
				m := s.clients["client"]
				rate := float64(m.served) / d.Seconds()
				best = max(best, rate)
				cycle := time.Duration(float64(connections) / rate * float64(time.Second))
				if len(m.refused) > 0 || connections >= 64 && (m.p99() > 2*cycle || rate < 0.95*best) {
					t.Errorf("share %d, %d connections: %.0f requests/s, p99 %s, cycle %s, %v refused",
						r.share, connections, rate, m.p99(), cycle, m.refused)
				}
			})
		}
	}
}

// TestOverload checks open loops: below the capacity nothing is refused. Above, the capacity is used, refusals are
// immediate and say when to retry, hardly any request waits in vain, and a client within its share has no refusal.
func TestOverload(t *testing.T) {
	t.Parallel()
	for _, times := range []float64{0.9, 1.2, 2, 10} {
		simulate(t, admission.Options{}, func(t *testing.T, s *simulation) {
			t.Helper()
			const (
				d        = time.Minute
				cost     = 10 * time.Millisecond
				capacity = 500.0 // 5 statements of one client at the same time
			)
			var all sync.WaitGroup
			s.open(t, &all, times*capacity, d, request{client: "busy", class: "class", cost: cost})
			s.open(t, &all, 20, d, request{client: "modest", class: "class", cost: cost})
			all.Wait()
			busy, modest := s.clients["busy"], s.clients["modest"]
			offered := min(times, 1) * (d + admission.DefaultTimeout).Seconds() * capacity
			if times < 1 {
				offered = times * d.Seconds() * capacity
			}
			if float64(busy.served) < 0.9*offered || times < 1 && len(busy.refused) > 0 {
				t.Errorf("%.1f × capacity: %d of %.0f served, %v refused", times, busy.served, offered, busy.refused)
			}
			if late := busy.refused[admission.ByTimeout]; float64(late) > times*d.Seconds()*capacity/100 {
				t.Errorf("%.1f × capacity: %d of %d requests waited in vain", times, late, busy.served)
			}
			for _, seconds := range busy.retries {
				if seconds < 1 || seconds > 12 {
					t.Fatalf("retry after %d s", seconds)
				}
			}
			if len(modest.refused) > 0 || modest.p99() > 10*cost {
				t.Errorf("%.1f × capacity: a modest client: p99 %s, %v refused", times, modest.p99(), modest.refused)
			}
		})
	}
}

// TestFull checks that a new request is refused if the queue is too long, also while a request that has run before
// waits at its head since a moment ago.
func TestFull(t *testing.T) {
	t.Parallel()
	simulate(t, admission.Options{}, func(t *testing.T, s *simulation) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		enter := func() (*admission.Turn, error) {
			turn := s.q.Turn("busy", "class")
			err := turn.Enter(ctx)
			return turn, err
		}
		var running []*admission.Turn
		for range 3 {
			turn, err := enter()
			if err != nil {
				t.Fatal(err)
			}
			running = append(running, turn)
		}
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				turn, _ := enter()
				<-ctx.Done()
				turn.End()
			})
		}
		time.Sleep(time.Second)
		running[0].End() // the first of the hundred starts: one a second
		time.Sleep(2 * time.Second)
		slot, err := s.pool.Enter(ctx, &admission.Operation{Turn: running[1]}, admission.Reads, nil)
		if err != nil {
			t.Fatal(err)
		}
		slot.Leave()
		all.Go(func() { _ = running[1].Build(ctx) })
		synctest.Wait()
		all.Go(func() {
			start := time.Now()
			_, err := enter()
			refusal := admission.RefusalOf(err)
			if refusal == nil || refusal.Limit != admission.ByQueue || time.Now() != start {
				t.Errorf("after %s: %v", time.Since(start), err)
			}
		})
		synctest.Wait()
		cancel()
		all.Wait()
	})
}

// TestReserve sends twice the requests that fit while the machine gets slower, for many requests by more: new requests
// are refused, and none waits for the timeout in vain.
func TestReserve(t *testing.T) {
	t.Parallel()
	// The second half of the requests takes so many halves of the time.
	halves := map[time.Duration]int{30 * time.Millisecond: 3, 6 * time.Millisecond: 6}
	for took, slower := range halves {
		simulate(t, admission.Options{}, func(t *testing.T, s *simulation) {
			t.Helper()
			var all sync.WaitGroup
			var refused, served, late atomic.Int64
			pause := took / 6 // three run at the same time
			requests := int(20 * time.Second / pause)
			for i := range requests {
				took := took
				if i > requests/2 {
					took = took / 2 * time.Duration(slower)
				}
				all.Go(func() {
					turn := s.q.Turn("busy", "class")
					defer turn.End()
					err := turn.Enter(t.Context())
					switch refusal := admission.RefusalOf(err); {
					case refusal == nil:
						time.Sleep(took)
						served.Add(1)
					case refusal.Limit == admission.ByQueue:
						refused.Add(1)
					default:
						late.Add(1)
					}
				})
				time.Sleep(pause)
			}
			all.Wait()
			// all could serve a half of the first half, and this part of it then
			most := int64(requests / 4 * (slower + 2) / slower)
			if late.Load() > 0 || served.Load() < most*9/10 || refused.Load() < int64(requests)/3 {
				t.Errorf("%s: %d served, %d refused at once, %d after the timeout, of %d", took, served.Load(),
					refused.Load(), late.Load(), requests)
			}
		})
	}
}

// TestStartedInVain checks that a request waits for its turn after others of its client have started and then waited
// for a connection until the timeout.
func TestStartedInVain(t *testing.T) {
	t.Parallel()
	simulate(t, admission.Options{}, func(t *testing.T, s *simulation) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		enter := func(client string) *admission.Turn {
			turn := s.q.Turn(client, "class")
			if err := turn.Enter(ctx); err != nil {
				t.Fatal(err)
			}
			return turn
		}
		for range 3 { // all connections for contract calls
			op := &admission.Operation{Turn: enter("other")}
			if _, err := s.pool.Enter(ctx, op, admission.EVM, nil); err != nil {
				t.Fatal(err)
			}
		}
		kept := enter("busy")
		defer kept.End()
		time.Sleep(2 * time.Second) // until it has the processors alone
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				_, err := s.run(ctx, request{"busy", "class", 0, admission.EVM})
				if refusal := admission.RefusalOf(err); refusal == nil || refusal.Limit != admission.ByTimeout {
					t.Error(err)
				}
			})
			time.Sleep(100 * time.Millisecond)
		}
		all.Wait()
		enter("busy")
		enter("busy")
		all.Go(func() {
			turn := s.q.Turn("busy", "class")
			defer turn.End()
			if err := turn.Enter(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("a request beside three that run: %v", err)
			}
		})
		synctest.Wait()
		cancel()
		all.Wait()
	})
}

// TestAborts checks that requests whose client has left do not run, and leave nothing behind.
func TestAborts(t *testing.T) {
	t.Parallel()
	simulate(t, admission.Options{}, func(t *testing.T, s *simulation) {
		t.Helper()
		var all sync.WaitGroup
		var running []*admission.Turn
		for range 3 { // as many as one client can have computing
			turn := s.q.Turn("busy", "class")
			if err := turn.Enter(t.Context()); err != nil {
				t.Fatal(err)
			}
			running = append(running, turn)
		}
		var statements atomic.Int64
		for i := range 1000 {
			ctx, leave := context.WithCancel(t.Context())
			all.Go(func() {
				turn := s.q.Turn("busy", "aborted")
				defer turn.End()
				if err := turn.Enter(ctx); err == nil {
					statements.Add(1)
				}
			})
			time.AfterFunc(time.Duration(i%5)*time.Millisecond, leave)
			if i%100 == 0 {
				time.Sleep(10 * time.Millisecond)
			}
		}
		all.Wait()
		for _, turn := range running {
			turn.End()
		}
		if s.q.Stats()["aborted"].Waiting != 0 || statements.Load() > 0 {
			t.Errorf("%d of 1000 aborted requests ran: %+v", statements.Load(), s.q.Stats())
		}
		for _, client := range []string{"busy", "other"} {
			if waited, err := s.run(t.Context(), request{client: client, class: "class"}); err != nil || waited > 0 {
				t.Errorf("afterwards, a request of %s waited %s: %v", client, waited, err)
			}
		}
	})
}

// TestDeadline checks that a request does not wait beyond its deadline, and is then refused like one that has waited
// for the timeout.
func TestDeadline(t *testing.T) {
	t.Parallel()
	simulate(t, admission.Options{}, func(t *testing.T, s *simulation) {
		t.Helper()
		for range 3 { // as many as one client can have computing
			if err := s.q.Turn("client", "class").Enter(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for _, deadline := range []time.Duration{time.Second, time.Minute} {
			want := min(deadline, admission.DefaultTimeout)
			ctx, cancel := context.WithTimeout(t.Context(), deadline)
			begin := time.Now()
			_, err := s.run(ctx, request{client: "client", class: "class"})
			cancel()
			refusal := admission.RefusalOf(err)
			if refusal == nil || refusal.Limit != admission.ByTimeout || time.Since(begin) != want {
				t.Errorf("deadline %s: refused after %s: %v", deadline, time.Since(begin), err)
			}
		}
	})
}

// TestMemory checks that requests of clients that use much memory are refused while it is used up, also before their
// body is read, and those of others are not.
func TestMemory(t *testing.T) {
	t.Parallel()
	const memory = 2 << 20
	simulate(t, admission.Options{Memory: memory}, func(t *testing.T, s *simulation) {
		t.Helper()
		for i := range 4 { // all processors are busy
			if err := s.q.Turn(strconv.Itoa(i), "class").Enter(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		results := map[string]chan error{"large": make(chan error, 40), "modest": make(chan error, 10)}
		wait := func(client string, bytes int) {
			turn := s.q.Turn(client, client)
			if err := turn.Receive(t.Context(), bytes); err != nil {
				turn.End()
				results[client] <- err
				return
			}
			go func() {
				defer turn.End()
				results[client] <- turn.Enter(t.Context())
			}()
			synctest.Wait()
		}
		for range 36 { // with 16 KB each
			wait("large", 60<<10)
		}
		wait("modest", 16<<10)
		if n := s.q.Stats()["large"].Refused; n < 8 || n > 10 {
			t.Errorf("%d requests of the large client are refused", n)
		}
		for range 3 {
			wait("modest", 16<<10)
		}
		if stats := s.q.Stats()["modest"]; stats.Waiting < 1 || stats.Refused < 1 || stats.Waiting > 2 {
			t.Errorf("a client with the 48th part of the memory: %+v", stats)
		}
		time.Sleep(time.Minute)
		for name, all := range results {
			for range len(all) {
				limit := admission.RefusalOf(<-all).Limit
				if limit != admission.ByTimeout && limit != admission.ByMemory {
					t.Errorf("client %s: refused by %s", name, limit)
				}
			}
		}
		turn := s.q.Turn("large", "large")
		turn.Hold(memory - 64<<10)
		if err := turn.Receive(t.Context(), 60<<10); err != nil {
			t.Errorf("the memory of requests that have left is in use: %v", err)
		}
	})
}

// TestRoomOfLeft checks that a client that leaves while its body waits for room is not refused: that would count, and
// lower the rate at which its next requests are expected to run.
func TestRoomOfLeft(t *testing.T) {
	t.Parallel()
	simulate(t, admission.Options{Memory: 16 << 20}, func(t *testing.T, s *simulation) {
		t.Helper()
		first, second := s.q.Turn("a", "a"), s.q.Turn("a", "a")
		defer first.End()
		defer second.End()
		if err := first.Receive(t.Context(), 2<<20); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		time.AfterFunc(time.Second, cancel)
		err := second.Receive(ctx, 2<<20)
		if refused := s.q.Stats()["a"].Refused; !errors.Is(err, context.Canceled) || refused != 0 {
			t.Errorf("%v, %d refused", err, refused)
		}
	})
}

// TestRoom checks that large bodies wait until other ones of their client leave room, in order of arrival and no longer
// than the timeout, that those of other clients and small ones do not, and that requests that have left make room.
func TestRoom(t *testing.T) {
	t.Parallel()
	simulate(t, admission.Options{Memory: 16 << 20}, func(t *testing.T, s *simulation) {
		t.Helper()
		var received []string
		refused := map[string]*admission.Refusal{}
		begin := func(ctx context.Context, client, name string, bytes int) *admission.Turn {
			turn := s.q.Turn(client, "class")
			go func() {
				err := turn.Receive(ctx, bytes)
				if err != nil {
					refused[name] = admission.RefusalOf(err)
					return
				}
				received = append(received, name)
			}()
			synctest.Wait()
			return turn
		}
		expect := func(what string, want ...string) {
			t.Helper()
			synctest.Wait()
			if !slices.Equal(received, want) {
				t.Errorf("%s: %v, want %v", what, received, want)
			}
			received = nil
		}
		first := begin(t.Context(), "large", "1", 1<<20)
		second := begin(t.Context(), "large", "2", 1<<20)
		gone, leave := context.WithCancel(t.Context())
		begin(gone, "large", "3", 1<<20)
		fourth := begin(t.Context(), "large", "4", 9<<20) // takes all room
		begin(t.Context(), "large", "5", 1<<20)
		begin(t.Context(), "large", "small", 1<<10)
		begin(t.Context(), "modest", "modest", 1<<20)
		expect("two large bodies fit", "1", "2", "small", "modest")
		leave()
		first.End()
		expect("the fourth needs all room")
		if err := second.Enter(t.Context()); err != nil {
			t.Error(err)
		}
		expect("the second runs", "4")
		time.Sleep(admission.DefaultTimeout)
		synctest.Wait()
		if r := refused["5"]; r == nil || r.Limit != admission.ByTimeout {
			t.Errorf("the fifth after the timeout: %v", r)
		}
		fourth.End()
		begin(t.Context(), "large", "6", 2<<20)
		expect("all have left", "6")
	})
}

// TestUnread checks that a client that does not read its responses is refused while they use up the memory, and no
// other.
func TestUnread(t *testing.T) {
	t.Parallel()
	simulate(t, admission.Options{Memory: 1 << 20}, func(t *testing.T, s *simulation) {
		t.Helper()
		turn := s.q.Turn("greedy", "class")
		if err := turn.Enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		turn.Leave()
		enter := func(client string) *admission.Refusal {
			other := s.q.Turn(client, "class")
			defer other.End()
			return admission.RefusalOf(other.Enter(t.Context()))
		}
		turn.Hold(1 << 20)
		if r := enter("greedy"); r == nil || r.Limit != admission.ByMemory || enter("modest") != nil {
			t.Errorf("a client with all of the memory in responses: %v", r)
		}
		turn.Hold(-1 << 20)
		if r := enter("greedy"); r != nil {
			t.Error(r)
		}
		turn.End()
	})
}

// TestProcessors checks how many requests of a client compute, alone and while others are active, and that those that
// wait for the database do not count.
func TestProcessors(t *testing.T) {
	t.Parallel()
	simulate(t, admission.Options{}, func(t *testing.T, s *simulation) {
		t.Helper()
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		fill := func(client string) (n int, all []*admission.Turn) {
			for ; ; n++ {
				turn := s.q.Turn(client, "class")
				if err := turn.Enter(ended); err != nil { // it has to wait
					turn.End()
					return n, all
				}
				all = append(all, turn)
			}
		}
		n, all := fill("greedy")
		if n != 3 {
			t.Errorf("%d turns compute, want 3", n)
		}
		m, others := fill("modest")
		if m != 1 {
			t.Errorf("%d turns are left to another client, want 1", m)
		}
		for _, turn := range slices.Concat(all, others) {
			turn.Leave()
			turn.End()
			turn.End()
		}
		if n, _ := fill("greedy"); n != 1 {
			t.Errorf("%d turns compute while another client is active, want 1", n)
		}
	})
	var none *admission.Turn
	none.Leave()
	none.End()
	none.Hold(1)
	_, err := none.Stream(0, 0)
	if err != nil || none.Build(t.Context()) != nil || none.Another() != nil || none.Client() != "" ||
		none.Enter(t.Context()) != nil {
		t.Error("a request without a turn has one")
	}
}

// TestBuild checks that one client builds few responses at the same time, in the order in which their statements have
// ended and before new requests run, and that these count until their turns end.
func TestBuild(t *testing.T) {
	t.Parallel()
	simulate(t, admission.Options{}, func(t *testing.T, s *simulation) {
		t.Helper()
		var mu sync.Mutex
		var built []string
		done := func(name string) {
			mu.Lock()
			defer mu.Unlock()
			built = append(built, name)
		}
		turns := map[string]*admission.Turn{}
		begin := func(ctx context.Context, client, name string) (build func()) {
			turn := s.q.Turn(client, "class")
			turns[name] = turn
			if err := turn.Enter(t.Context()); err != nil {
				t.Error(err)
			}
			slot, err := s.pool.Enter(t.Context(), &admission.Operation{Turn: turn}, admission.Reads, nil)
			if err != nil {
				t.Error(err)
			}
			return func() {
				slot.Leave()
				go func() {
					err := turn.Build(ctx)
					if err == nil {
						err = turn.Build(ctx) // the next root field
					}
					if err == nil {
						done(name)
					}
				}()
				synctest.Wait()
			}
		}
		expect := func(what string, want ...string) {
			t.Helper()
			synctest.Wait()
			if !slices.Equal(built, want) {
				t.Errorf("%s: %v, want %v", what, built, want)
			}
			built = nil
		}
		ended, cancel := context.WithCancel(t.Context())
		modest := begin(t.Context(), "modest", "modest")
		var all []func()
		for _, name := range []string{"1", "2", "3"} {
			all = append(all, begin(t.Context(), "greedy", name))
		}
		all = append(all, begin(ended, "greedy", "gone"))
		for _, build := range all {
			build()
		}
		expect("the first is being built", "1")
		go func() {
			turn := s.q.Turn("greedy", "class")
			defer turn.End()
			if turn.Enter(t.Context()) == nil {
				done("new")
			}
		}()
		modest()
		expect("a response of the other client", "modest")
		cancel()
		expect("the context of the last has ended")
		turns["1"].Leave()
		expect("the first has ended", "2")
		turns["2"].End()
		expect("the second has ended", "3")
		turns["3"].End()
		expect("no response is being built", "new")
	})
}

// TestStreams checks the limits of streams.
func TestStreams(t *testing.T) {
	t.Parallel()
	q := admission.New(admission.Options{})
	open := func(client string) (func(), error) { return q.Turn(client, "class").Stream(3, 2) }
	end, err := open("a")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		client string
		want   error
	}{{"a", nil}, {"a", admission.ErrClientStreams}, {"b", nil}, {"c", admission.ErrStreams}} {
		if _, err := open(c.client); !errors.Is(err, c.want) {
			t.Errorf("client %s: %v, want %v", c.client, err, c.want)
		}
	}
	end()
	if _, err := open("c"); err != nil {
		t.Error(err)
	}
}

// TestClients checks that clients that have left are forgotten.
func TestClients(t *testing.T) {
	t.Parallel()
	simulate(t, admission.Options{}, func(t *testing.T, s *simulation) {
		t.Helper()
		var all sync.WaitGroup
		for i := range 100 {
			r := request{client: strconv.Itoa(i), class: "class", cost: time.Duration(i) * time.Millisecond}
			s.closed(t, &all, 2, time.Second, func() request { return r })
		}
		all.Wait()
		if n := s.q.Clients(); n > 0 {
			t.Errorf("%d clients are remembered", n)
		}
	})
}

// TestEnterLetsOthersRun checks that a connection whose client sends its next request at once does not run before
// requests of others that have arrived. The scheduler of Go makes an exception once in 61 times.
func TestEnterLetsOthersRun(t *testing.T) { //nolint:paralleltest // changes the number of processors
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	q := admission.New(admission.Options{})
	const attempts = 20
	before := 0
	for range attempts {
		turn := q.Turn("a", "list")
		var other atomic.Bool
		go other.Store(true)
		if err := turn.Enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		if other.Load() {
			before++
		}
		turn.End()
	}
	if before < attempts*3/4 {
		t.Errorf("in %d of %d attempts the goroutine that waited ran before the turn started", before, attempts)
	}
}

// TestConcurrentParts checks that concurrent parts of an operation can wait for its turn one after the other, the
// second before the first runs on.
func TestConcurrentParts(t *testing.T) {
	t.Parallel()
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			q := admission.New(admission.Options{Processors: 1})
			pool := q.Pool(11, 2)
			// compute returns a turn that computes once its function is called, whether others do or not.
			compute := func() (*admission.Turn, func()) {
				turn := q.Turn("client", "class")
				if err := turn.Enter(t.Context()); err != nil {
					t.Fatal(err)
				}
				slot, err := pool.Enter(t.Context(), &admission.Operation{Turn: turn}, admission.Reads, nil)
				if err != nil {
					t.Fatal(err)
				}
				return turn, slot.Leave
			}
			turn, begin := compute()
			other, beginOther := compute()
			later, beginLater := compute()
			begin()
			beginOther()
			first := make(chan error, 1)
			go func() { first <- turn.Build(t.Context()) }()
			synctest.Wait()
			time.AfterFunc(time.Second, later.End)
			other.End() // the first part may run on
			beginLater()
			if err := turn.Build(t.Context()); err != nil {
				t.Error("the second part:", err)
			}
			if err := <-first; err != nil {
				t.Error("the first part:", err)
			}
			turn.End()
		})
	}
}
