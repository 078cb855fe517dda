package admission

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/semaphore"

	"heliograph/internal/base/profile"
	"heliograph/internal/base/values"
)

// state is the state of a turn.
type state uint8

const (
	arriving state = iota // not in the queue yet
	waiting
	running
	left
)

// Turn is the permission of a request to run. It is used once, and its user must call End. The methods of a nil turn
// do nothing.
type Turn struct {
	// Charge counts points towards the rate limit of the client. It reports false if the limit is exceeded. Nil means
	// no limit.
	Charge func(points int) bool
	// Profile records what the request takes. It is nil if the client has not requested that.
	Profile *profile.Profile

	q         *Queue
	name      string
	className string

	client  *client // nil before it has arrived
	class   *class
	state   state
	arrived time.Time
	waited  time.Duration
	ready   chan struct{} // closed when a waiting turn starts or is refused
	refused *Refusal
	wake    func() // called if the turn is refused before it waits
	bytes   int64  // memory that it uses while it waits
	room    int64  // what it has of the client's room for bodies, in bytes
	ended   bool
	kept    any

	builds   bool  // its response is being built, or will be soon
	building int64 // what it has of the processors on which the client builds responses

	away       int       // statements that run or wait for a connection: the request does not compute
	statements int       // that run
	since      time.Time // up to which the cost is known
	cost, paid float64   // in seconds; paid is the part of the average cost that is not used up
}

var key = values.NewKey[*Turn]()

// Turn returns a turn of the named client that has not arrived yet: it counts nothing before Hold, Receive or
// Enter. The names of classes must be few.
func (q *Queue) Turn(client, class string) *Turn { return &Turn{q: q, name: client, className: class} }

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
	return t.name
}

// Waited returns how long the turn has waited in the queue.
func (t *Turn) Waited() time.Duration { return t.waited }

// Kept returns the value that the request keeps for its statements. The first call makes it. The turn must not be nil.
func (t *Turn) Kept(first func() any) any {
	t.q.mu.Lock()
	defer t.q.mu.Unlock()
	if t.kept == nil {
		t.kept = first()
	}
	return t.kept
}

// Another returns another turn of the client that has not arrived, with the same rate limit, for a further
// operation of the request. It returns nil for a nil turn.
func (t *Turn) Another() *Turn {
	if t == nil {
		return nil
	}
	other := t.q.Turn(t.name, t.className)
	other.Charge = t.Charge
	return other
}

// Hold counts more memory that the request uses until it runs, in bytes, or less if they are negative, before it waits.
// It fails with a [Refusal] if too much is in use.
func (t *Turn) Hold(bytes int) error {
	if t == nil {
		return nil
	}
	t.q.mu.Lock()
	defer t.q.mu.Unlock()
	t.arrive()
	return t.hold(int64(bytes))
}

// Receive is called before the body of a request is read, and counts its memory as Hold does. A large body waits until
// the other bodies of the client leave room for it, so that many at the same time are served one after the other
// instead of being refused for their memory. wake is called if the turn is refused later because of another request,
// before it waits.
func (t *Turn) Receive(ctx context.Context, bytes int, wake func()) error {
	t.q.mu.Lock()
	defer t.q.mu.Unlock()
	t.arrive()
	if bytes >= largeBody {
		t.enterRoom(ctx, int64(bytes))
	}
	t.wake = wake
	return t.hold(int64(bytes))
}

// enterRoom waits until the bodies of the client leave room for bytes, or refuses the turn after the timeout of
// the queue. The caller holds the lock, which is released meanwhile.
func (t *Turn) enterRoom(ctx context.Context, bytes int64) {
	ctx, t.wake = context.WithTimeout(ctx, t.q.o.Timeout)
	defer t.wake()
	if t.hold(overhead) != nil {
		return
	}
	c, most := t.client, t.q.o.Memory/roomShare
	if c.room == nil {
		c.room = semaphore.NewWeighted(most)
	}
	t.q.mu.Unlock()
	err := c.room.Acquire(ctx, min(bytes, most))
	t.q.mu.Lock()
	if err == nil {
		t.room = min(bytes, most)
	} else if t.refused == nil {
		t.refuse(ByTimeout)
	}
}

// arrive registers the turn with its client and class, unless it has done so. The caller holds the lock.
func (t *Turn) arrive() {
	if t.client == nil {
		t.client, t.class, t.arrived = t.q.join(t.name), t.q.class(t.className), now()
	}
}

// hold counts memory in bytes. As long as too much is in use, it refuses the newest turns of the client that uses
// the most. It returns the refusal of this turn, if any. The caller holds the lock.
func (t *Turn) hold(bytes int64) error {
	if t.refused != nil {
		return t.refused
	}
	if t.bytes == 0 {
		t.client.holding = append(t.client.holding, t)
	}
	t.add(bytes)
	for t.q.bytes > t.q.o.Memory && t.refused == nil {
		worst, refused := t.q.heaviest(), t
		if worst != t.client {
			refused = worst.holding[len(worst.holding)-1]
		}
		refused.refuse(ByMemory)
	}
	if t.refused != nil {
		return t.refused
	}
	return nil
}

// add changes the memory in use of the turn, its client and the queue by a number of bytes.
func (t *Turn) add(bytes int64) {
	for _, n := range []*int64{&t.bytes, &t.client.bytes, &t.q.bytes} {
		*n += bytes
	}
}

// release returns all memory that the turn has counted, and its room for bodies. The caller holds the lock.
func (t *Turn) release() {
	if t.bytes > 0 { // most requests hold nothing when they end, and the list can be long
		t.add(-t.bytes)
		t.client.holding = remove(t.client.holding, t)
	}
	if t.room > 0 {
		t.client.room.Release(t.room)
		t.room = 0
	}
}

// refuse refuses a turn that waits or has not arrived, returns its memory and wakes its request. The caller holds
// the lock.
func (t *Turn) refuse(by Limit) {
	t.class.Refused++
	t.refused = &Refusal{by, t.client.remaining()}
	t.release()
	if t.state == waiting {
		t.dequeue()
		close(t.ready)
	} else if t.wake != nil {
		t.wake()
	}
}

// Enter waits for the turn. It fails with a [Refusal], or if the context ends.
func (t *Turn) Enter(ctx context.Context) error {
	if t == nil {
		return nil
	}
	t.q.mu.Lock()
	defer t.q.mu.Unlock()
	if err := t.enter(); t.state != waiting {
		return err
	}
	t.q.mu.Unlock()
	await(ctx, t.ready, t.q.o.Timeout)
	t.q.mu.Lock()
	switch {
	case t.state != waiting:
	case errors.Is(ctx.Err(), context.Canceled):
		t.dequeue()
	default:
		t.client.best = t.client.rate
		t.refuse(ByTimeout)
	}
	if t.refused != nil {
		return t.refused
	}
	return ctx.Err() //nolint:wrapcheck // the caller knows its context
}

// await waits until ready is closed, for at most a duration, or until the context ends.
func await(ctx context.Context, ready chan struct{}, most time.Duration) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-ready:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// enter starts the turn and returns nil, or adds it to the queue, or returns a refusal. The caller holds the lock,
// and waits if the state is waiting.
func (t *Turn) enter() error {
	t.arrive()
	q, c := t.q, t.client
	if t.name != q.last {
		if q.last != "" {
			q.changed = now()
		}
		q.last = t.name
	}
	t.wake = nil
	if len(c.waiting)+c.parked == 0 { // it has used none of the time since
		c.virtual = max(c.virtual, q.virtual)
	}
	switch {
	case t.refused != nil:
	case c.unread > min(maxUnread, q.o.Memory/2):
		t.refuse(ByMemory)
	case len(c.waiting) == 0 && q.fits(c):
		t.start()
		return nil
	case q.full(c):
		t.refuse(ByQueue)
	}
	if err := t.hold(overhead); err != nil {
		return err
	}
	t.arrived, t.state, t.ready = now(), waiting, make(chan struct{})
	t.class.Waiting++
	if c.waiting = append(c.waiting, t); len(c.waiting) == 1 {
		c.started, c.since, c.rate, c.best = 0, t.arrived, 0, 0
		q.queued = append(q.queued, c)
		q.watch()
	}
	return nil
}

// dequeue removes the turn from the queue and records how long it has waited. The caller holds the lock.
func (t *Turn) dequeue() {
	c := t.client
	t.state, t.waited = arriving, now().Sub(t.arrived)
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
	t.state, t.since, t.paid = running, now(), t.class.cost
	t.class.Served++
	q.virtual = max(q.virtual, c.virtual)
	c.virtual += t.paid
	t.use(1, 1)
}

// use changes the numbers of turns of the queue and the client that run, and of those that compute.
func (t *Turn) use(all, computing int) {
	for _, n := range []*count{&t.q.used, &t.client.used} {
		n.all += all
		n.computing += computing
	}
}

// Send adds bytes of a response that is being sent to those that the client has not read; they are negative after
// they were sent. Clients with too many are refused.
func (t *Turn) Send(bytes int64) {
	t.q.mu.Lock()
	defer t.q.mu.Unlock()
	t.client.unread += bytes
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

// leave ends the turn of a request, if it still runs, and grants its place to requests that wait. The caller holds
// the lock of the queue.
func (t *Turn) leave() {
	t.builds = false
	if t.building > 0 {
		t.client.builders.Release(t.building)
		t.building = 0
	}
	if t.state != running {
		return
	}
	t.accrue()
	t.state = left
	t.use(-1, min(t.away, 1)-1)
	t.q.grant()
}

// End ends the turn and its request: the client gets back the difference to the real cost, and the next request may
// run. A second call and a nil turn do nothing.
func (t *Turn) End() {
	if t == nil {
		return
	}
	t.q.mu.Lock()
	defer t.q.mu.Unlock()
	t.leave()
	if t.client == nil || t.ended {
		return
	}
	t.ended = true
	t.release()
	if t.state == left {
		t.client.virtual -= t.paid
		t.paid = 0
		t.class.cost += (t.cost - t.class.cost) / 16
	}
	t.q.drop(t.client)
}

// accrue adds the time since the last call to the cost of the turn. Its client pays what exceeds the average cost
// of the class. The caller holds the lock.
func (t *Turn) accrue() {
	units := t.statements
	if t.state == running && t.away == 0 {
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
	if after := min(t.away, 1); t.state == running && after != before {
		t.use(0, before-after)
		t.q.grant()
	}
}

// Build waits until the client can build another response: requests that waited for the database at the same time
// should not all compute at the same time. Without it, another client waits for 83 ms instead of 31 (the 99th
// percentile) while one requests large responses. The response counts until Leave or End is called.
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
	t.arrive()
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

// Stream counts a stream of the client until end is called, which the caller must do. It fails with [ErrStreams]
// or [ErrClientStreams] if most streams are open, or perClient of the client; 0 is no limit for the client. A nil
// turn has no limit.
func (t *Turn) Stream(most, perClient int) (end func(), err error) {
	if t == nil {
		return func() {}, nil
	}
	q := t.q
	q.mu.Lock()
	defer q.mu.Unlock()
	c := q.join(t.name)
	if q.streams >= most {
		err = ErrStreams
	} else if perClient > 0 && c.streams >= perClient {
		err = ErrClientStreams
	}
	if err != nil {
		q.drop(c)
		return nil, err
	}
	q.streams++
	c.streams++
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.streams--
		c.streams--
		q.drop(c)
	}, nil
}
