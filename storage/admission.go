package storage

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"heliograph/internal/base/turns"
	"heliograph/internal/base/values"
)

// Class is a class of work on the database. Each class has a share of the connections.
type Class uint8

// The classes.
const (
	// PointReads are statements of operations without lists. They can use all connections that are not reserved for other classes.
	PointReads Class = iota
	// Lists are statements of operations with lists. They can use all connections that are not reserved for other classes.
	Lists
	// Scans are statements that take longer than [scanTime], or did so lately. They use a quarter of the connections at most.
	Scans
	// EVM are the snapshots of contract calls and traces. They use a third of the connections at most.
	EVM

	classes
)

const (
	// scanTime is the duration after which a statement counts as a scan, or maxScanTime if all statements take long because the processors are busy. Later
	// statements with the same text count as scans for scanMemory, or until one is fast.
	scanTime    = 250 * time.Millisecond
	maxScanTime = 2 * time.Second
	scanMemory  = 10 * time.Second
	// sweepInterval is the interval at which waiting statements check for statements that became scans.
	sweepInterval = 25 * time.Millisecond
	// Limits of waiting statements, and of the texts of scans that are remembered.
	maxWaiting          = 1000
	maxWaitingPerClient = 64
	maxScans            = 1000
	// maxRunning is the number of waiting statements above which the requests of further ones end their turns. They exceed it only if others take long.
	maxRunning = 8
)

// ErrBusy reports that no connection became free in time.
var ErrBusy = errors.New("all database connections of the share are busy")

// work is an operation whose statements run on the database.
type work struct {
	class   Class
	turn    *turns.Turn // of its request; nil if it has none
	latest  bool        // needs all rows that subscriptions have read
	own     place       // of an operation without a turn
	started bool        // a statement has run
	held    int         // connections in use
}

var workKey = values.NewKey[*work]()

// Work returns the context value of a new operation of the client of ctx. An operation for an event of a subscription reads from a server that has the event.
func Work(ctx context.Context, class Class, event bool) values.Value {
	w := newWork(ctx, class)
	w.latest = event
	return workKey.Is(w)
}

func newWork(ctx context.Context, class Class) *work {
	return &work{class: class, turn: turns.Of(ctx)}
}

// admission decides which statements run. Each class and each client has a share of the connections, and can use more while no other waits.
type admission struct {
	capacity, perOperation int
	maxWait                time.Duration
	most, reserved         [classes]int // connections that a class uses at most, and that are kept for it

	mu       sync.Mutex
	used     [classes]int
	held     []*slot // in use
	waiting  []*slot // in order of arrival
	byClient map[string]*client
	scans    map[string]time.Time // texts of scans, and when they end to count as scans
	typical  time.Duration        // moving average of the durations of statements that are no scans
}

// client has the statements of a client that run, those of them that are scans, and those that wait.
type client struct{ held, scans, waiting int }

// slot is the permission to use a connection.
type slot struct {
	a      *admission
	work   *work
	client *client
	class  Class
	sql    string
	since  time.Time
	ready  chan struct{} // closed when a waiting slot is granted
}

// newAdmission divides connections. One of them is not divided: it is for health checks.
func newAdmission(connections, perOperation int, maxWait time.Duration) *admission {
	n := max(1, connections-1)
	a := &admission{capacity: n, perOperation: perOperation, maxWait: maxWait, byClient: map[string]*client{}, scans: map[string]time.Time{}}
	a.most = [classes]int{PointReads: n, Lists: n, Scans: max(1, n/4), EVM: max(1, n/3)}
	if n > int(classes) {
		a.reserved = [classes]int{1, 1, 1, 1}
	}
	return a
}

// load returns the number of statements that run or wait.
func (a *admission) load() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.held) + len(a.waiting)
}

// enter waits for the permission to run a statement. The caller must call leave. It fails with [ErrBusy] if the operation has not run a statement yet and no
// connection becomes free within [Options.MaxWait]; scans and further statements wait until the deadline of the request.
func (a *admission) enter(ctx context.Context, class Class, sql string) (*slot, error) {
	w, ok := workKey.Of(ctx)
	if !ok {
		w = newWork(ctx, class)
	}
	s := &slot{a: a, work: w, class: max(class, w.class), sql: sql}
	w.turn.Query(1)
	a.mu.Lock()
	if s.class < Scans && len(a.scans) > 0 && time.Now().Before(a.scans[sql]) { //nolint:forbidigo // measures a duration, and the injected clock may be fixed
		s.class = Scans
	}
	name := w.turn.Client()
	if s.client = a.byClient[name]; s.client == nil {
		s.client = &client{}
		a.byClient[name] = s.client
	}
	if a.fits(s) {
		a.take(s)
		a.mu.Unlock()
		return s, nil
	}
	if !w.started && (len(a.waiting) >= maxWaiting || s.client.waiting >= maxWaitingPerClient) {
		a.forget(s)
		a.mu.Unlock()
		w.turn.Query(-1)
		return nil, ErrBusy
	}
	s.ready = make(chan struct{})
	s.client.waiting++
	a.waiting = append(a.waiting, s)
	patient, crowded := w.started || s.class == Scans, s.class == Scans || len(a.waiting) > maxRunning
	a.mu.Unlock()
	if crowded {
		w.turn.Leave()
	}
	if err := s.wait(ctx, patient); err != nil {
		w.turn.Query(-1)
		return nil, err
	}
	return s, nil
}

// wait waits until the slot is granted. It removes the slot if that fails. A request that waits for long ends its turn, so that others can start.
func (s *slot) wait(ctx context.Context, patient bool) error {
	timer := time.NewTimer(s.a.maxWait)
	defer timer.Stop()
	tick := time.NewTicker(sweepInterval)
	defer tick.Stop()
	var err error
	for err == nil {
		select {
		case <-s.ready:
			return nil
		case <-tick.C:
			s.a.mu.Lock()
			s.a.grant()
			s.a.mu.Unlock()
		case <-timer.C:
			s.work.turn.Leave()
			if !patient {
				err = ErrBusy
			}
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	s.a.mu.Lock()
	if i := slices.Index(s.a.waiting, s); i >= 0 {
		s.a.waiting = slices.Delete(s.a.waiting, i, i+1)
		s.client.waiting--
		s.a.forget(s)
		s.a.mu.Unlock()
		return err //nolint:wrapcheck // the caller knows its context
	}
	s.a.mu.Unlock() // granted at the same time
	return nil
}

// leave returns the connection. A nil slot is none.
func (s *slot) leave() {
	if s == nil {
		return
	}
	s.work.turn.Query(-1)
	a := s.a
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sweep()
	a.used[s.class]--
	a.held = slices.DeleteFunc(a.held, func(h *slot) bool { return h == s })
	s.work.held--
	s.client.held--
	if s.class == Scans {
		s.client.scans--
	}
	took := time.Since(s.since) //nolint:forbidigo // as above
	if took < scanTime {
		delete(a.scans, s.sql)
	}
	if s.class < Scans {
		a.typical += (took - a.typical) / 16
	}
	a.forget(s)
	a.grant()
}

// forget removes the client of a slot if it has no statements.
func (a *admission) forget(s *slot) {
	if s.client.held+s.client.waiting == 0 {
		delete(a.byClient, s.work.turn.Client())
	}
}

// fits reports whether a slot can be granted now.
func (a *admission) fits(s *slot) bool {
	if s.work.held >= a.perOperation || a.used[s.class] >= a.most[s.class] {
		return false
	}
	free, kept := a.capacity-len(a.held), 0
	for class := range classes {
		kept += a.reserved[class]
		if class != s.class {
			free -= max(0, a.reserved[class]-a.used[class])
		}
	}
	if s.class < Scans && (s.client.scans >= a.most[Scans] || s.client.held >= a.capacity/2) {
		free -= a.reserved[s.class] // for other clients: statements that turn out to be scans or are being canceled do not end soon
	}
	return free > 0 && s.client.held <= a.capacity-kept // statements of one client can become scans, and no longer use what is kept for these
}

func (a *admission) take(s *slot) {
	a.used[s.class]++
	a.held = append(a.held, s)
	s.since = time.Now() //nolint:forbidigo // as above
	s.work.started = true
	s.work.held++
	s.client.held++
	if s.class == Scans {
		s.client.scans++
	}
}

// sweep counts statements that take long as scans, and ends the turns of their requests.
func (a *admission) sweep() {
	now := time.Now() //nolint:forbidigo // as above
	slow := min(max(scanTime, 4*a.typical), maxScanTime)
	for _, s := range a.held {
		if s.class == EVM || now.Sub(s.since) < slow {
			continue
		}
		if len(a.scans) >= maxScans {
			clear(a.scans)
		}
		a.scans[s.sql] = now.Add(scanMemory)
		if s.class != Scans {
			a.used[s.class]--
			a.used[Scans]++
			s.class = Scans
			s.client.scans++
			s.work.turn.Leave()
		}
	}
}

// grant grants waiting slots: first those of the client that uses the fewest connections, and of these, those of operations that have started.
func (a *admission) grant() {
	if len(a.waiting) == 0 {
		return
	}
	a.sweep()
	for {
		var next *slot
		for _, s := range a.waiting {
			if a.fits(s) && (next == nil || s.before(next)) {
				next = s
			}
		}
		if next == nil {
			return
		}
		a.waiting = slices.DeleteFunc(a.waiting, func(s *slot) bool { return s == next })
		next.client.waiting--
		a.take(next)
		close(next.ready)
	}
}

// before reports whether a slot precedes an older one.
func (s *slot) before(older *slot) bool {
	if s.client.held != older.client.held {
		return s.client.held < older.client.held
	}
	return s.work.started && !older.work.started
}
