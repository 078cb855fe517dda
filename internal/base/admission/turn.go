package admission

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"heliograph/internal/base/profile"
	"heliograph/internal/base/values"
)

// Turn is the permission of a request to run. It is used once, and its user must call End. The methods of a nil turn
// do nothing, except for Receive, Refuse and Waited, which need a turn.
type Turn struct {
	// Charge counts points towards the rate limit of the client. It reports false if the limit is exceeded. Nil means
	// no limit.
	Charge func(points int) bool
	// Profile records what the request takes. It is nil if the client has not requested that.
	Profile *profile.Profile
	// Kept is a value that the statements of the request share.
	Kept atomic.Value

	q        *Queue
	client   *client
	class    *class
	arrived  time.Duration // when it arrived in the queue, as of [now]
	before   int           // requests of the client that had started then
	waited   time.Duration // in the queue
	ready    chan struct{} // closed when a waiting turn starts
	started  bool
	running  bool
	computes bool // it runs, and no statement of it runs or waits
	ended    bool
	bytes    int64 // memory that it uses while it waits or its response is not read
	room     int64 // what it has of the client's room for bodies, in bytes

	away       int           // statements that run or wait for a connection
	statements float64       // that run; of those that share a round trip, a part each
	since      time.Duration // up to which the cost is known, as of [now]
	cost, paid float64       // in seconds; paid is the average cost of the class when it started
}

var key = values.NewKey[*Turn]()

// Of returns the turn of the request whose context is ctx, or nil if it has none.
func Of(ctx context.Context) *Turn {
	t, _ := key.Of(ctx)
	return t
}

// Recorded returns the profile in which the statements of the request are recorded, or nil if they are not or the
// turn is nil.
func (t *Turn) Recorded() *profile.Profile {
	if t == nil {
		return nil
	}
	return t.Profile
}

// Value returns a value that makes the turn that of a context; see [Of].
func (t *Turn) Value() values.Value { return key.Is(t) }

// Client returns the name of the client, or an empty string for a nil turn.
func (t *Turn) Client() string {
	if t == nil {
		return ""
	}
	return t.client.name
}

// Waited returns how long the turn, which must not be nil, has waited in the queue until it started or gave up. It is
// 0 if it did either at once. It takes no lock, so it must be called after Enter has returned, which no longer changes
// the time.
func (t *Turn) Waited() time.Duration { return t.waited }

// Another returns another turn of the client that has not started, with the same rate limit, for a further operation
// of the request. It records no profile. The caller must call End. It returns nil for a nil turn.
func (t *Turn) Another() *Turn {
	if t == nil {
		return nil
	}
	t.q.mu.Lock()
	defer t.q.mu.Unlock()
	other := t.q.turn(t.client.name, t.class)
	other.Charge = t.Charge
	return other
}

// Hold adds bytes to the memory that the request uses until it runs, or of its response that is not read. They are
// negative when it uses less. A nil turn counts nothing.
func (t *Turn) Hold(bytes int) {
	if t == nil {
		return
	}
	t.q.mu.Lock()
	defer t.q.mu.Unlock()
	t.add(int64(bytes))
}

// Receive is called before the body of a request is read, and counts its memory as Hold does. bytes is the size of the
// body, or the largest possible one if it is unknown. A large body waits until the other bodies of the client leave
// room for it, so that many at the same time are served one after the other instead of being refused for their memory.
// The turn keeps the room until it starts, ends or is refused. Receive fails with a [Refusal] if too much memory is in
// use, after the timeout of the queue, or at the deadline of ctx. If ctx is canceled, the error is that of ctx. The
// turn must not be nil.
func (t *Turn) Receive(ctx context.Context, bytes int) error {
	q := t.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if bytes >= largeBody {
		err := t.hold(overhead)
		if err != nil {
			return err
		}
		ctx, stop := context.WithTimeout(ctx, q.o.Timeout)
		defer stop()
		room := min(int64(bytes), q.o.Memory/roomShare)
		q.mu.Unlock()
		err = t.client.room.Acquire(ctx, room)
		q.mu.Lock()
		if err != nil {
			return t.late(err)
		}
		t.room = room
	}
	return t.hold(int64(bytes))
}

// hold counts memory in bytes. It refuses the turn if more than the memory of the queue is in use, and the client uses
// more than its share: that memory divided by roomShare and by the number of clients. The caller holds the lock.
func (t *Turn) hold(bytes int64) error {
	q := t.q
	t.add(bytes)
	share := q.o.Memory / roomShare / int64(len(q.clients))
	if q.bytes <= q.o.Memory || t.client.bytes <= share {
		return nil
	}
	return t.refuse(ByMemory)
}

// add changes the memory in use of the turn, its client and the queue by a number of bytes, and refuses nothing. The
// caller holds the lock.
func (t *Turn) add(bytes int64) {
	for _, n := range []*int64{&t.bytes, &t.client.bytes, &t.q.bytes} {
		*n += bytes
	}
}

// release returns all memory that the turn has counted, and its room for bodies. The caller holds the lock.
func (t *Turn) release() {
	t.add(-t.bytes)
	if t.room > 0 {
		t.client.room.Release(t.room)
		t.room = 0
	}
}

// Refuse counts and returns the refusal of a turn, which must not be nil, for a reason that the queue does not know.
func (t *Turn) Refuse(by Limit) error {
	t.q.mu.Lock()
	defer t.q.mu.Unlock()
	return t.refuse(by)
}

// refuse counts and returns the refusal of a turn, and returns its memory. The time after which to retry is that in
// which the requests of the client that wait start, at its rate or at one per second if that is lower. It is at most a
// minute. A refusal by timeout sets the rate to that since the turn arrived, without those that started in vain. The
// caller holds the lock.
func (t *Turn) refuse(by Limit) error {
	c := t.client
	t.class.Refused++
	t.release()
	c.refused = now()
	if by == ByTimeout {
		if t.started {
			c.started--
		}
		t.measure()
	}
	seconds := math.Ceil(float64(len(c.waiting)) / max(1, c.rate))
	return &Refusal{by, int(min(max(1, seconds), 60))}
}

// late returns the error of a turn that has waited in vain: that of its context if it was canceled, else a refusal.
// The caller holds the lock.
func (t *Turn) late(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return t.refuse(ByTimeout)
}

// measure sets the rate of the client to that since the turn arrived. Less than a tenth of the timeout is too short for
// that. The caller holds the lock.
func (t *Turn) measure() {
	if took := now() - t.arrived; took >= t.q.o.Timeout/10 {
		t.client.rate = float64(max(0, t.client.started-t.before)) / took.Seconds()
	}
}

// Enter waits for the turn, for at most the timeout of the queue. It fails with a [Refusal]: at once if too much
// memory is in use or the queue of the client is too long, else after that time or at the deadline of ctx. If ctx is
// canceled, the error is that of ctx. A nil turn does not wait. Other goroutines that can run do so first:
// otherwise a connection whose client sends its next request at once keeps the processor for up to 10 ms.
func (t *Turn) Enter(ctx context.Context) error {
	if t == nil {
		return nil
	}
	runtime.Gosched() // requests that have arrived run before this one
	q, c := t.q, t.client
	q.mu.Lock()
	defer q.mu.Unlock()
	if c.name != q.last {
		if q.last != "" {
			q.changed = now()
		}
		q.last = c.name
	}
	err := t.hold(overhead)
	if err != nil {
		return err
	}
	if len(c.waiting) == 0 {
		c.virtual = max(c.virtual, q.virtual) // it has used none of the time since
		if q.fits(t) {
			t.start()
			return nil
		}
	}
	if q.full(c) {
		return t.refuse(ByQueue)
	}
	return t.wait(ctx, len(c.waiting))
}

// wait lets the turn wait at a place in the queue of its client until it starts. The caller holds the lock, which it
// releases meanwhile. It fails with the error of ctx if that is canceled, else with a counted [Refusal] after the
// timeout of the queue or at the deadline of ctx. After an error the turn has left the queue.
func (t *Turn) wait(ctx context.Context, place int) error {
	q, c := t.q, t.client
	t.arrived, t.before, t.ready = now(), c.started, make(chan struct{})
	t.class.Waiting++
	if c.waiting = slices.Insert(c.waiting, place, t); len(c.waiting) == 1 {
		c.rate = 0
		q.queued = append(q.queued, c)
	}
	ready := t.ready // concurrent parts of an operation can wait for the turn one after the other
	q.pause(ctx, ready, q.o.Timeout)
	if closed(ready) {
		return nil
	}
	defer t.dequeue()
	return t.late(ctx.Err())
}

// pause waits until ready is closed or ctx ends, for at most a duration. The caller holds the lock, which it releases
// meanwhile.
func (q *Queue) pause(ctx context.Context, ready chan struct{}, most time.Duration) {
	q.mu.Unlock()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-ready:
	case <-timer.C:
	case <-ctx.Done():
	}
	runtime.Gosched() // the turn that ended has started this one next, before requests that have arrived are read
	q.mu.Lock()
}

// closed reports whether a channel on which nothing is sent is closed. It does not wait.
func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// dequeue removes the turn from the queue and records how long it has waited before it started. The caller holds the
// lock.
func (t *Turn) dequeue() {
	c := t.client
	if !t.started {
		t.waited = now() - t.arrived
	}
	t.class.Waiting--
	if c.waiting = remove(c.waiting, t); len(c.waiting) == 0 {
		t.q.queued = remove(t.q.queued, c)
	}
}

// start lets a turn run. When it has not run before, its body is no longer counted as waiting, its client is charged
// with the expected cost, and the rate of the client is measured. The caller holds the lock of the queue.
func (t *Turn) start() {
	q, c := t.q, t.client
	if !t.started {
		t.started, t.paid = true, t.class.cost
		t.release()
		t.class.Served++
		q.virtual = max(q.virtual, c.virtual)
		c.virtual += t.paid
		c.started++
		t.measure()
	}
	t.run(true)
}

// run lets the turn run, or no longer. The caller holds the lock of the queue.
func (t *Turn) run(on bool) {
	t.accrue()
	t.running = on
	t.count()
}

// count updates the numbers of turns that compute, after a change of this one. If it no longer computes, another may
// start. The caller holds the lock of the queue.
func (t *Turn) count() {
	computes := t.running && t.away == 0
	switch {
	case computes == t.computes:
	case computes:
		t.computes = true
		t.q.computing++
		t.client.computing++
	default:
		t.computes = false
		t.q.computing--
		t.client.computing--
		t.q.grant()
	}
}

// Leave ends the turn if it is in use, so that others can start. The request can run on, for example to send the
// response.
func (t *Turn) Leave() {
	if t == nil {
		return
	}
	t.q.mu.Lock()
	defer t.q.mu.Unlock()
	t.run(false)
}

// End ends the turn and its request: the client pays the difference to the real cost, and the next request may run. A
// second call and a nil turn do nothing.
func (t *Turn) End() {
	if t == nil {
		return
	}
	t.q.mu.Lock()
	defer t.q.mu.Unlock()
	if !t.ended {
		t.end()
	}
}

// end ends a turn that has not ended, and its request: the client pays the difference to the real cost, the memory of
// the turn is released, and the next request may run. A client without other turns is removed. The caller holds the
// lock of the queue.
func (t *Turn) end() {
	c := t.client
	t.run(false)
	t.ended = true
	t.release()
	if t.started {
		c.virtual += t.cost - t.paid
		t.class.cost += (t.cost - t.class.cost) / 16
	}
	c.turns--
	if c.turns == 0 {
		delete(t.q.clients, c.name)
	}
}

// accrue adds the time since the last call to the cost of the turn: once while it computes, else once for each
// statement that runs, or its part if several share a round trip. The caller holds the lock.
func (t *Turn) accrue() {
	units := t.statements
	if t.computes {
		units = 1
	}
	at := now()
	t.cost += units * (at - t.since).Seconds()
	t.since = at
}

// query changes the number of statements of the turn that run or wait, and of those that run. A turn that waits
// for statements does not compute, so another may start. The caller holds the lock.
func (t *Turn) query(away int, statements float64) {
	t.accrue()
	t.away += away
	t.statements += statements
	t.count()
}

// Build waits while other requests of the client use all processors that it can have: requests that waited for the
// database at the same time should not all compute at the same time. Without it, another client waits for 54 ms
// instead of 42 (the 99th percentile) while one requests large responses. It fails with a [Refusal] after the timeout
// of the queue or at the deadline of ctx, and with the error of ctx if that is canceled. Requests that have begun run
// before new ones. A turn that does not run, or is nil, does not wait. After an error the turn no longer runs.
func (t *Turn) Build(ctx context.Context) error {
	if t == nil {
		return nil
	}
	c := t.client
	t.q.mu.Lock()
	defer t.q.mu.Unlock()
	if !t.computes || c.computing <= t.q.processors() {
		return nil
	}
	t.run(false)
	return t.wait(ctx, c.begun())
}

// Errors of [Turn.Stream], for clients.
var (
	ErrStreams       = errors.New("too many subscriptions are open on this server; retry later")
	ErrClientStreams = errors.New("too many subscriptions of your address or key are open; close some of them")
)

// Stream counts a stream of the client until end is called, which the caller must do once. It fails with [ErrStreams]
// or [ErrClientStreams] if most streams are open, or perClient of the client; 0 is no limit for the client. A nil turn
// has no limit.
func (t *Turn) Stream(most, perClient int) (end func(), err error) {
	if t == nil {
		return func() {}, nil
	}
	q, c := t.q, t.client
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.streams >= most:
		return nil, ErrStreams
	case perClient > 0 && c.streams >= perClient:
		return nil, ErrClientStreams
	}
	q.streams++
	c.streams++
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.streams--
		c.streams--
	}, nil
}
