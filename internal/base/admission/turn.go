package admission

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"heliograph/internal/base/profile"
	"heliograph/internal/base/values"
)

// Turn is the permission of a request to run. It is used once, and its user must call End. The methods of a nil turn
// do nothing, except for Receive, Send and Waited, which need a turn.
type Turn struct {
	// Charge counts points towards the rate limit of the client. It reports false if the limit is exceeded. Nil means
	// no limit.
	Charge func(points int) bool
	// Profile records what the request takes. It is nil if the client has not requested that.
	Profile *profile.Profile
	// Kept is a value that the statements of the request share.
	Kept atomic.Value

	q       *Queue
	client  *client
	class   *class
	arrived time.Time     // in the queue
	waited  time.Duration // in the queue
	ready   chan struct{} // closed when a waiting turn starts
	running bool
	left    bool // it has run
	ended   bool
	bytes   int64 // memory that it uses while it waits or its response is not read
	room    int64 // what it has of the client's room for bodies, in bytes

	builds   bool  // its response is being built, or will be soon
	building int64 // what it has of the processors on which the client builds responses

	away       int       // statements that run or wait for a connection: the request does not compute
	statements int       // that run
	since      time.Time // up to which the cost is known
	cost, paid float64   // in seconds; paid is the part of the average cost that is not used up
}

var key = values.NewKey[*Turn]()

// Turn returns a turn of the named client that has not started. The caller must call End. The names of classes must be
// few.
func (q *Queue) Turn(client, class string) *Turn {
	q.mu.Lock()
	defer q.mu.Unlock()
	return &Turn{q: q, client: q.join(client), class: q.class(class)}
}

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

// Waited returns how long the turn, which must not be nil, has waited in the queue. It is 0 if the turn started at
// once or still waits.
func (t *Turn) Waited() time.Duration { return t.waited }

// Another returns another turn of the client that has not started, with the same rate limit, for a further operation
// of the request. It records no profile. The caller must call End. It returns nil for a nil turn.
func (t *Turn) Another() *Turn {
	if t == nil {
		return nil
	}
	t.q.mu.Lock()
	defer t.q.mu.Unlock()
	return &Turn{q: t.q, client: t.q.join(t.client.name), class: t.class, Charge: t.Charge}
}

// Hold counts more memory that the request uses until it runs, in bytes, or less if they are negative. It fails with a
// [Refusal] if too much is in use, and then counts no memory of the turn anymore. A nil turn counts nothing.
func (t *Turn) Hold(bytes int) error {
	if t == nil {
		return nil
	}
	t.q.mu.Lock()
	defer t.q.mu.Unlock()
	return t.hold(int64(bytes))
}

// Receive is called before the body of a request is read, and counts its memory as Hold does. bytes is the size of the
// body, or the largest possible one if it is unknown. A large body waits until the other bodies of the client leave
// room for it, so that many at the same time are served one after the other instead of being refused for their memory.
// The turn keeps the room until it starts, ends or is refused. Receive fails with a [Refusal] if too much memory is in
// use, after the timeout of the queue, or at the end of ctx. The turn must not be nil.
func (t *Turn) Receive(ctx context.Context, bytes int) error {
	q, c := t.q, t.client
	q.mu.Lock()
	defer q.mu.Unlock()
	if bytes < largeBody {
		return t.hold(int64(bytes))
	}
	err := t.hold(overhead)
	if err != nil {
		return err
	}
	most := q.o.Memory / roomShare
	if c.room == nil {
		c.room = semaphore.NewWeighted(most)
	}
	ctx, stop := context.WithTimeout(ctx, q.o.Timeout)
	defer stop()
	room := min(int64(bytes), most)
	q.mu.Unlock()
	err = c.room.Acquire(ctx, room)
	q.mu.Lock()
	switch {
	case errors.Is(err, context.Canceled):
		return err //nolint:wrapcheck // the caller knows its context
	case err != nil:
		return t.refuse(ByTimeout)
	}
	t.room = room
	return t.hold(int64(bytes))
}

// hold counts memory in bytes. It refuses the turn if they are positive, more than the memory of the queue is in use,
// and the client uses more than its share: that memory divided by roomShare and by the number of clients. The caller
// holds the lock.
func (t *Turn) hold(bytes int64) error {
	q := t.q
	t.add(bytes)
	share := q.o.Memory / roomShare / int64(len(q.clients))
	if bytes <= 0 || q.bytes <= q.o.Memory || t.client.bytes <= share {
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

// refuse counts and returns the refusal of a turn, and returns its memory. A refusal by timeout also sets the highest
// rate of the client, which [Queue.full] uses, to the current one. The caller holds the lock.
func (t *Turn) refuse(by Limit) error {
	t.class.Refused++
	t.release()
	if by == ByTimeout {
		t.client.best = t.client.rate
	}
	return t.client.refusal(by)
}

// Enter waits for the turn, for at most the timeout of the queue. It fails with a [Refusal], also at the deadline of
// ctx, or with the error of ctx if that is canceled. A nil turn does not wait.
func (t *Turn) Enter(ctx context.Context) error {
	if t == nil {
		return nil
	}
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
	if len(c.waiting)+c.parked == 0 { // it has used none of the time since
		c.virtual = max(c.virtual, q.virtual)
	}
	switch {
	case len(c.waiting) == 0 && q.fits(c):
		t.start()
		return nil
	case q.full(c):
		return t.refuse(ByQueue)
	}
	t.arrived, t.ready = now(), make(chan struct{})
	t.class.Waiting++
	if c.waiting = append(c.waiting, t); len(c.waiting) == 1 {
		c.started, c.since, c.rate, c.best = 0, t.arrived, 0, 0
		q.queued = append(q.queued, c)
		q.watch()
	}
	q.mu.Unlock()
	await(ctx, t.ready, q.o.Timeout)
	runtime.Gosched() // the turn that ended has started this one next, before requests that have arrived are read
	q.mu.Lock()
	if t.running {
		return nil
	}
	t.dequeue()
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err() //nolint:wrapcheck // the caller knows its context
	}
	return t.refuse(ByTimeout)
}

// await waits until ready is closed, for at most a duration, or until the context ends. The caller has to check which
// of these happened.
func await(ctx context.Context, ready chan struct{}, most time.Duration) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-ready:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// dequeue removes the turn from the queue and records how long it has waited. The caller holds the lock.
func (t *Turn) dequeue() {
	c := t.client
	t.waited = now().Sub(t.arrived)
	t.class.Waiting--
	if c.waiting = remove(c.waiting, t); len(c.waiting) == 0 {
		t.q.queued = remove(t.q.queued, c)
	}
}

// start lets a turn run that was granted: its body is no longer counted as waiting, and its client is charged with
// the expected cost. The caller holds the lock of the queue.
func (t *Turn) start() {
	q, c := t.q, t.client
	t.release()
	t.running, t.since, t.paid = true, now(), t.class.cost
	t.class.Served++
	q.virtual = max(q.virtual, c.virtual)
	c.virtual += t.paid
	t.use(1, 1)
}

// use changes the numbers of turns of the queue and the client that run, and of those that compute; negative numbers
// lower them. The caller holds the lock.
func (t *Turn) use(all, computing int) {
	for _, n := range []*count{&t.q.used, &t.client.used} {
		n.all += all
		n.computing += computing
	}
}

// Send adds bytes of a response that is being sent to the memory that the client uses; they are negative after they
// were sent. It refuses nothing. The turn must not be nil.
func (t *Turn) Send(bytes int64) {
	t.q.mu.Lock()
	defer t.q.mu.Unlock()
	t.add(bytes)
}

// Leave ends the turn if it is in use, and its response if it is being built, so that others can start. The request
// can run on, for example to send the response.
func (t *Turn) Leave() {
	if t == nil {
		return
	}
	t.q.mu.Lock()
	defer t.q.mu.Unlock()
	t.leave()
}

// leave ends the building of the response, and the turn of a request if it still runs, and grants its place to
// requests that wait. The caller holds the lock of the queue.
func (t *Turn) leave() {
	t.builds = false
	if t.building > 0 {
		t.client.builders.Release(t.building)
		t.building = 0
	}
	if !t.running {
		return
	}
	t.accrue()
	t.running, t.left = false, true
	t.use(-1, min(t.away, 1)-1)
	t.q.grant()
}

// End ends the turn and its request: the client gets back the difference to the real cost, and the next request may
// run. A second call and a nil turn do nothing.
func (t *Turn) End() {
	if t == nil {
		return
	}
	q, c := t.q, t.client
	q.mu.Lock()
	defer q.mu.Unlock()
	t.leave()
	if t.ended {
		return
	}
	t.ended = true
	t.release()
	if t.left {
		c.virtual -= t.paid
		t.paid = 0
		t.class.cost += (t.cost - t.class.cost) / 16
	}
	c.turns--
	if c.turns == 0 {
		delete(q.clients, c.name)
	}
}

// accrue adds the time since the last call to the cost of the turn: once while it computes, else once for each
// statement that runs. Its client pays what exceeds the average cost of the class. The caller holds the lock.
func (t *Turn) accrue() {
	units := t.statements
	if t.running && t.away == 0 {
		units = 1
	}
	at := now()
	cost := float64(units) * at.Sub(t.since).Seconds()
	t.since = at
	t.cost += cost
	paid := min(cost, t.paid)
	t.paid -= paid
	t.client.virtual += cost - paid
}

// query changes the number of statements of the turn that run or wait, and of those that run. A turn that waits
// for statements does not compute, so another may start. The caller holds the lock.
func (t *Turn) query(away, statements int) {
	t.accrue()
	before := min(t.away, 1)
	t.away += away
	t.statements += statements
	if after := min(t.away, 1); t.running && after != before {
		t.use(0, before-after)
		t.q.grant()
	}
}

// Build waits until the client can build another response: requests that waited for the database at the same time
// should not all compute at the same time. Without it, another client waits for 83 ms instead of 31 (the 99th
// percentile) while one requests large responses. The response counts until Leave or End is called. It does not count
// if ctx ends before, when Build returns too. A turn that builds already or has ended does not wait.
func (t *Turn) Build(ctx context.Context) {
	if t == nil {
		return
	}
	q := t.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if t.builds || t.ended { // events of subscriptions need no turn
		return
	}
	t.builds = true
	c, most := t.client, int64(q.most.computing-1)
	if c.builders == nil {
		c.builders = semaphore.NewWeighted(most)
	}
	share := most / int64(q.processors())
	if !c.builders.TryAcquire(share) {
		t.query(1, 0) // it does not compute
		q.mu.Unlock()
		err := c.builders.Acquire(ctx, share)
		q.mu.Lock()
		t.query(-1, 0)
		if err != nil {
			return
		}
	}
	t.building += share
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
