package admission

import (
	"context"
	"math"
	"runtime"
	"slices"
	"time"
)

// Share is a kind of statement. Each has a share of the connections to the database.
type Share uint8

// The shares.
const (
	// Reads are statements that can use all connections.
	Reads Share = iota
	// Scans are statements of operations that usually read many rows. They use a quarter of the connections at most.
	Scans
	// EVM are the snapshots of contract calls and traces. They use a third of the connections at most.
	EVM

	shares
	// brief is the kind of waiting statements with a [Trip].
	brief = shares
)

// Pool divides the connections to one server of the database among shares and clients.
type Pool struct {
	q                      *Queue
	number                 int // of the pool, from 0
	capacity, perOperation int
	most, used             [shares]int // connections that a share uses at most, and now
	held                   []*Slot     // in use
	waiting                []*Slot     // in order of arrival
}

// Operation is an operation whose statements run on the database.
type Operation struct {
	// Share is that of its statements.
	Share Share
	// Turn is that of its request.
	Turn *Turn

	started bool // a statement has run
	held    int  // connections in use
	own     bool // Turn is one of the client without a name, which ends with the statements of the operation
}

// Slot is the permission to use a connection.
type Slot struct {
	p      *Pool
	op     *Operation
	client *client
	share  Share
	ready  chan struct{} // closed when a waiting slot is granted, or after its statements have run if it is taken along
	trip   Trip          // nil if its statements are sent alone
	all    []*Slot       // that use the connection: itself, and those that it has taken along
	began  time.Duration // when it was granted, as of [now]
	taken  bool          // another slot has taken it along, so that it no longer waits

	patient bool // it waits to share a round trip, although there may be a connection; see [Pool.Enter]
}

const (
	// manyShared is the number of batches in a round trip from which a statement waits for one. Few connections
	// then run many such statements, with less work for each (docs/performance.md).
	manyShared = 4
	// patience is how long it waits. A round trip that has taken longer, as one with slow arguments, is not waited for.
	patience = 20 * time.Millisecond
)

// Trip is the brief statements of a batch, which can be sent in one round trip with those of others.
type Trip interface {
	// Most returns the number of batches that a round trip with this one can have, itself included.
	Most() int
	// Joins reports whether the round trip of another batch can have this one.
	Joins(other Trip) bool
}

// Pool returns a new pool of all connections to a server. One of them is not divided: it is for health checks. An
// operation uses at most perOperation at the same time. It opens no connection.
func (q *Queue) Pool(all, perOperation int) *Pool {
	n := max(1, all-1)
	most := [shares]int{Reads: n, Scans: max(1, n/4), EVM: max(1, n/3)}
	q.pools++
	return &Pool{q: q, number: q.pools - 1, capacity: n, perOperation: perOperation, most: most}
}

// Load returns the number of statements that have a connection or wait for one, by which a server is selected.
func (p *Pool) Load() int {
	p.q.mu.Lock()
	defer p.q.mu.Unlock()
	return len(p.held) + len(p.waiting)
}

// Enter waits for the permission to run a statement. Unless it fails, or the slot is taken, the caller must call Leave.
// The first statement of an operation is refused with a [Refusal] if its request has waited for [Options.Timeout]; the
// others wait until the context ends. An operation without a turn has one of the client without a name while statements
// of it run or wait. At the deadline of ctx any statement that waits is refused; if ctx is canceled, the error is that
// of ctx.
//
// Statements with a trip, which can be nil, first let requests run that have arrived: these can add theirs. If a round
// trip can have manyShared of them, and those that they could join use as many connections as there are processors and
// have twice as many batches, they wait for up to patience to share the next one. If another slot takes them along,
// Enter returns when they have run, whether ctx ends or not, with a slot that is [Slot.Taken].
func (p *Pool) Enter(ctx context.Context, op *Operation, share Share, trip Trip) (*Slot, error) {
	q := p.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if op.Turn == nil {
		op.Turn, op.own = q.turn("", &class{}), true
	}
	t := op.Turn
	s := &Slot{p: p, op: op, client: t.client, share: max(share, op.Share), trip: trip}
	t.query(1, 0)
	for len(s.client.held) <= p.number {
		s.client.held = append(s.client.held, 0)
	}
	if trip == nil && p.fits(s) {
		s.take()
		return s, nil
	}
	s.ready = make(chan struct{})
	p.waiting = append(p.waiting, s)
	s.pend(1)
	most := q.o.Timeout - t.waited
	if op.started {
		most = math.MaxInt64
	}
	if trip != nil {
		s.patient = trip.Most() >= manyShared
		q.mu.Unlock()
		runtime.Gosched()
		q.mu.Lock()
		if !s.try() && s.patient {
			q.pause(ctx, s.ready, min(most, patience))
			s.patient = false
			if ctx.Err() == nil {
				s.try()
			}
		}
	}
	if s.waits() {
		q.pause(ctx, s.ready, most)
	}
	switch {
	case s.taken: // its rows are read for it, whether ctx ends or not
		q.mu.Unlock()
		<-s.ready
		q.mu.Lock()
	case !closed(s.ready):
		err := t.late(ctx.Err())
		s.dequeue()
		op.leave(0)
		q.grant()
		return nil, err
	}
	return s, nil
}

// waits reports whether the slot, which has waited, still does. The caller holds the lock of the queue.
func (s *Slot) waits() bool { return !s.taken && !closed(s.ready) }

// try grants the slot, which has waited, if it fits, and reports whether it no longer waits. The caller holds the lock
// of the queue.
func (s *Slot) try() bool {
	if s.waits() && s.p.fits(s) {
		s.grant()
		s.p.q.grant()
	}
	return !s.waits()
}

// grant grants a slot that waits. The caller holds the lock of the queue.
func (s *Slot) grant() {
	s.dequeue()
	s.take()
	close(s.ready)
}

// pend adds n to the numbers of statements of the queue and the client that wait. The caller holds the lock of the
// queue.
func (s *Slot) pend(n int) {
	kind := s.share
	if s.trip != nil {
		kind = brief
	}
	s.p.q.pending[kind] += n
	s.client.pending[kind] += n
}

// Taken reports whether the statements of the slot were sent with those of another slot. There is then no connection
// to use, and Leave must not be called.
func (s *Slot) Taken() bool { return s.taken }

// Along returns the trips whose statements must be sent with those of the slot, before [Slot.Leave].
func (s *Slot) Along() (all []Trip) {
	for _, other := range s.all[1:] {
		all = append(all, other.trip)
	}
	return all
}

// dequeue removes the slot from those that wait. The caller holds the lock of the queue.
func (s *Slot) dequeue() {
	s.p.waiting = remove(s.p.waiting, s)
	s.pend(-1)
}

// take grants the slot: its pool and its operation count it as held, and its turn counts one more statement that runs;
// [Pool.Enter] has counted it among those that run or wait. Later statements of the operation wait without a timeout.
// A slot that waited must have been removed from those that wait. It takes along those whose statements it can send,
// whose turns count a part of the statement each. The caller holds the lock of the queue.
func (s *Slot) take() {
	s.all, s.began = []*Slot{s}, now()
	if s.trip != nil {
		most := s.trip.Most()
		s.p.waiting = slices.DeleteFunc(s.p.waiting, func(other *Slot) bool {
			return len(s.all) < most && s.takeAlong(other)
		})
	}
	s.p.held = append(s.p.held, s)
	s.count(1)
	for _, one := range s.all {
		one.op.started = true
		one.op.Turn.query(0, 1/float64(len(s.all)))
	}
}

// count adds n to the numbers of connections that the operation, the share and the client of the slot use. The caller
// holds the lock of the queue.
func (s *Slot) count(n int) {
	s.op.held += n
	s.p.used[s.share] += n
	s.client.held[s.p.number] += n
}

// takeAlong reports whether s takes a waiting slot along, which then must be removed from those that wait. The caller
// holds the lock of the queue.
func (s *Slot) takeAlong(other *Slot) bool {
	joins := s.joins(other)
	if joins {
		other.pend(-1)
		other.taken = true
		s.all = append(s.all, other)
	}
	return joins
}

// joins reports whether the statements of another slot can be sent in one round trip with those of s, which has a trip.
func (s *Slot) joins(other *Slot) bool {
	return other.trip != nil && other.share == s.share && other.trip.Joins(s.trip)
}

// Leave returns the permission to run a statement, so that others can. It must be called once. Statements and requests
// that wait and fit now start, and those that were taken along end.
func (s *Slot) Leave() {
	p := s.p
	p.q.mu.Lock()
	defer p.q.mu.Unlock()
	p.held = remove(p.held, s)
	s.count(-1)
	for _, one := range s.all {
		one.op.leave(1 / float64(len(s.all)))
		if one.taken {
			close(one.ready)
		}
	}
	p.grant()
	p.q.grant()
}

// leave counts a statement of the operation as ended: running is the part of a statement that its turn has counted, 0
// if it has waited in vain. It ends the operation's own turn with its last statement. The caller holds the lock of the
// queue.
func (op *Operation) leave(running float64) {
	op.Turn.query(-1, -running)
	if op.own && op.Turn.away == 0 {
		op.Turn.end()
		op.Turn, op.own = nil, false
	}
}

// fits reports whether a slot can be granted now. One client uses at most half of the connections, and the last
// quarter is for clients that use none, because nobody knows how long statements take. The caller holds the lock of
// the queue. Beside this, the share of the slot and the operation have limits of their own: the fields most and
// perOperation of the pool. A patient slot does not fit while it is about to share a round trip.
func (p *Pool) fits(s *Slot) bool {
	trips, batches := 0, 0 // that it could have joined
	for _, h := range p.held {
		if s.patient && now()-h.began < patience && s.joins(h) {
			trips++
			batches += len(h.all)
		}
	}
	if enough := p.q.o.Processors; trips >= enough && batches >= 2*enough {
		return false
	}
	own, free := s.client.held[p.number], p.capacity-len(p.held)
	return p.used[s.share] < p.most[s.share] && (own == 0 && free > 0 ||
		own < (p.capacity+1)/2 && free > p.capacity/4 && s.op.held < p.perOperation)
}

// grant grants waiting slots as long as one fits. Clients have the order of the queue, and the operations of a client
// end before others begin. The caller holds the lock of the queue.
func (p *Pool) grant() {
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
		next.grant()
	}
}
