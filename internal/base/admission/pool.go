package admission

import (
	"context"
	"math"
	"slices"
	"time"
)

// Share is a kind of statement. Each has a share of the connections to the database.
type Share uint8

// The shares.
const (
	// PointReads are statements of operations without lists. They can use all connections that are not reserved for
	// other shares.
	PointReads Share = iota
	// Lists are statements of operations with lists. They can use all connections that are not reserved for other
	// shares.
	Lists
	// Scans are statements that take longer than [scanTime], or did so lately. They use a quarter of the connections
	// at most.
	Scans
	// EVM are the snapshots of contract calls and traces. They use a third of the connections at most.
	EVM

	shares
)

const (
	// scanTime is the duration after which a statement counts as a scan, or maxScanTime if all statements take long
	// because the processors are busy. Later statements with the same text count as scans for scanMemory, or until one
	// is fast.
	scanTime    = 250 * time.Millisecond
	maxScanTime = 2 * time.Second
	scanMemory  = 10 * time.Second
	// maxScans is the number of texts of scans that are remembered.
	maxScans = 1000
)

// Pool divides the connections to one server of the database among shares and clients. Each can use more than its
// share while no other waits.
type Pool struct {
	q                      *Queue
	capacity, perOperation int
	most                   [shares]int          // connections that a share uses at most
	reserved               int                  // connections that are kept for each share
	held                   []*Slot              // in use
	waiting                []*Slot              // in order of arrival
	scans                  map[string]time.Time // texts of scans, and when they end to count as scans
	typical                time.Duration        // moving average of the durations of statements that are no scans
}

// Operation is an operation whose statements run on the database.
type Operation struct {
	// Share is that of its statements.
	Share Share
	// Turn is that of its request.
	Turn *Turn

	started bool // a statement has run
	held    int  // connections in use
}

// Slot is the permission to use a connection.
type Slot struct {
	p      *Pool
	op     *Operation
	client *client
	share  Share
	sql    string
	since  time.Time     // when it began to run
	ready  chan struct{} // closed when a waiting slot is granted
}

// Pool registers a new pool of all connections with the queue, which then lets more requests run. One of them is
// not divided: it is for health checks. An operation uses at most perOperation at the same time. It opens no
// connection.
func (q *Queue) Pool(all, perOperation int) *Pool {
	n := max(1, all-1)
	p := &Pool{q: q, capacity: n, perOperation: perOperation, scans: map[string]time.Time{}}
	p.most = [shares]int{PointReads: n, Lists: n, Scans: max(1, n/4), EVM: max(1, n/3)}
	if n > int(shares) {
		p.reserved = 1
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pools = append(q.pools, p)
	q.most.all += all
	return p
}

// Load returns the number of statements that run or wait, by which a server is selected.
func (p *Pool) Load() int {
	p.q.mu.Lock()
	defer p.q.mu.Unlock()
	return len(p.held) + len(p.waiting)
}

// Enter waits for the permission to run a statement. Unless it fails, the caller must call Leave. The first statement
// of an operation is refused with a [Refusal] if its request has waited for [Options.Timeout]; the others wait until
// the context ends. If a statement that can take long has to wait, the turn of its request ends. An operation without
// a turn gets one of the client without a name.
func (p *Pool) Enter(ctx context.Context, op *Operation, share Share, sql string) (*Slot, error) {
	q := p.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if op.Turn == nil {
		op.Turn = &Turn{q: q, client: q.join(""), class: &class{}}
	}
	t := op.Turn
	s := &Slot{p: p, op: op, client: t.client, share: max(share, op.Share), sql: sql}
	if s.share < Scans && now().Before(p.scans[sql]) {
		s.share = Scans
	}
	t.query(1, 0)
	if p.fits(s) {
		s.take()
		return s, nil
	}
	s.ready = make(chan struct{})
	p.waiting = append(p.waiting, s)
	q.watch()
	if s.share >= Scans { // let others start
		s.client.parked++
		t.leave()
	}
	most := q.o.Timeout - t.waited
	if op.started {
		most = math.MaxInt64
	}
	q.mu.Unlock()
	await(ctx, s.ready, most)
	q.mu.Lock()
	if !slices.Contains(p.waiting, s) {
		return s, nil
	}
	s.dequeue()
	t.query(-1, 0)
	q.grant()
	if ctx.Err() != nil {
		return nil, ctx.Err() //nolint:wrapcheck // the caller knows its context
	}
	s.client.started-- // it was not served
	return nil, t.refuse(ByTimeout)
}

// dequeue removes the slot from those that wait. If its statement can take long, the client has one fewer that is
// parked. The caller holds the lock of the queue.
func (s *Slot) dequeue() {
	s.p.waiting = remove(s.p.waiting, s)
	if s.share >= Scans {
		s.client.parked--
	}
}

// take grants the slot: it counts it as held, from now, by its pool and its operation. The caller holds the lock
// of the queue.
func (s *Slot) take() {
	p := s.p
	p.held = append(p.held, s)
	s.since, s.op.started = now(), true
	s.op.held++
	s.op.Turn.query(0, 1)
}

// Leave returns the permission to run a statement, so that others can, and updates which statements count as
// scans. A nil slot does nothing. It must be called once.
func (s *Slot) Leave() {
	if s == nil {
		return
	}
	p := s.p
	p.q.mu.Lock()
	defer p.q.mu.Unlock()
	p.held = remove(p.held, s)
	s.op.held--
	s.op.Turn.query(-1, -1)
	took := now().Sub(s.since)
	if took < scanTime {
		delete(p.scans, s.sql)
	}
	if s.share < Scans {
		p.typical += (took - p.typical) / 16
	}
	p.grant()
	p.q.grant()
}

// fits reports whether a slot can be granted now. It changes nothing. The caller holds the lock of the queue.
func (p *Pool) fits(s *Slot) bool {
	var used [shares]int
	own, scans := 0, 0 // of the client
	for _, h := range p.held {
		used[h.share]++
		if h.client == s.client {
			own++
			if h.share == Scans {
				scans++
			}
		}
	}
	free := p.capacity - len(p.held)
	for share := range shares {
		if share != s.share {
			free -= max(0, p.reserved-used[share])
		}
	}
	if s.share < Scans && (scans >= p.most[Scans] || own >= p.capacity/2) {
		// For other clients: statements that turn out to be scans or are being canceled do not end soon.
		free -= p.reserved
	}
	// The statements of one client can become scans, and then no longer use what is kept for these.
	return free > 0 && own <= p.capacity-p.reserved*int(shares) && used[s.share] < p.most[s.share] &&
		s.op.held < p.perOperation
}

// sweep counts held statements that take long as scans, except those of the share [EVM], stores their SQL, and ends
// the turns of their requests. Before it stores more than maxScans texts, it drops all. The caller holds the lock of
// the queue.
func (p *Pool) sweep() {
	at := now()
	slow := min(max(scanTime, 4*p.typical), maxScanTime)
	for _, s := range p.held {
		if s.share == EVM || at.Sub(s.since) < slow {
			continue
		}
		s.op.Turn.accrue()
		if len(p.scans) >= maxScans {
			clear(p.scans)
		}
		p.scans[s.sql] = at.Add(scanMemory)
		s.share = Scans
		s.op.Turn.leave()
	}
}

// grant sweeps and then grants waiting slots as long as one fits. Clients have the order of the queue, and the
// operations of a client end before others begin. The caller holds the lock of the queue.
func (p *Pool) grant() {
	p.sweep()
	for {
		var next *Slot
		for _, s := range p.waiting {
			if p.fits(s) && (next == nil || s.client.virtual < next.client.virtual ||
				s.client == next.client && s.op.started && !next.op.started) {
				next = s
			}
		}
		if next == nil {
			return
		}
		next.dequeue()
		next.take()
		close(next.ready)
	}
}
