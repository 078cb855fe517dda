// Package turns limits how many requests run at the same time, and divides the turns among clients.
package turns

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"heliograph/internal/base/values"
)

// ErrBusy reports that a request did not get a turn in time.
var ErrBusy = errors.New("too many requests are running")

// waitingPerComputing is the maximum number of turns that wait, for each turn that can run without waiting for the database. More would wait in vain.
const waitingPerComputing = 32

// overloaded divides the limits of waiting under overload, and bounds the turns of all clients that wait.
const overloaded = 4

// Queue has the turns.
type Queue struct {
	most        count
	mostWaiting int
	maxWait     time.Duration

	mu      sync.Mutex
	used    count
	clients map[string]*client // those with turns
	waiting int
	last    string    // client of the newest turn
	changed time.Time // when another client had it
}

// shared is how long after a turn of another client the processors are shared.
const shared = time.Second

// count is a number of turns in use, and of those that do not wait for the database.
type count struct{ all, computing int }

// client has the turns of a client that are in use, those that wait in order of arrival, and its responses.
type client struct {
	used     count
	waiting  []*Turn
	idle     time.Time       // when none was waiting last
	building int             // responses that are being built
	builders []chan struct{} // closed when a waiting response can be built
}

// New returns a queue with the given number of turns. A turn can start while fewer than computing of them do not wait for the database, which should be twice
// the number of processors. One client leaves half that number of turns to others, and half of the processors if others are active. A turn waits for at most
// maxWait.
func New(turns, computing int, maxWait time.Duration) *Queue {
	return &Queue{most: count{turns, computing}, mostWaiting: waitingPerComputing * computing, maxWait: maxWait, clients: map[string]*client{}}
}

// Turn is the permission of a request to run. It is used once. The methods of a nil turn do nothing.
type Turn struct {
	q          *Queue
	name       string
	client     *client       // nil unless the turn is in use or waits
	ready      chan struct{} // closed when a waiting turn is granted
	statements int           // that run or wait for a connection
	kept       any
	builds     bool // its response counts as one that is being built
}

var key = values.NewKey[*Turn]()

// Turn returns a turn of the named client that is not in use yet.
func (q *Queue) Turn(client string) *Turn { return &Turn{q: q, name: client} }

// Of returns the turn of ctx, or nil.
func Of(ctx context.Context) *Turn {
	t, _ := key.Of(ctx)
	return t
}

// Value returns the context value of the turn.
func (t *Turn) Value() values.Value { return key.Is(t) }

// Client returns the name of the client, or an empty string for a nil turn.
func (t *Turn) Client() string {
	if t == nil {
		return ""
	}
	return t.name
}

// Kept returns the value that the request keeps for its statements. The first call makes it. The turn must not be nil.
func (t *Turn) Kept(first func() any) any {
	t.q.mu.Lock()
	defer t.q.mu.Unlock()
	if t.kept == nil {
		t.kept = first()
	}
	return t.kept
}

// Another returns another turn of the client.
func (t *Turn) Another() *Turn {
	if t == nil {
		return nil
	}
	return t.q.Turn(t.name)
}

// Enter waits for the turn. The caller must call Leave. It fails with [ErrBusy] if that takes too long. Of the turns of one client, the newest is granted
// first: under overload, most requests then wait for a short time or in vain, instead of all of them for almost as long as possible.
func (t *Turn) Enter(ctx context.Context) error {
	if t == nil {
		return nil
	}
	t.q.mu.Lock()
	t.client = t.q.client(t.name)
	if t.name != t.q.last {
		if t.q.last != "" {
			t.q.changed = time.Now() //nolint:forbidigo // measures a duration, and the injected clock may be fixed
		}
		t.q.last = t.name
	}
	if t.q.fits(t.client) {
		t.use(1, 1)
		t.q.mu.Unlock()
		return nil
	}
	if !t.q.room(t.client) {
		t.use(0, 0)
		t.client = nil
		t.q.mu.Unlock()
		return ErrBusy
	}
	if len(t.client.waiting) == 0 {
		t.client.idle = time.Now() //nolint:forbidigo // as above
	}
	_, wait := t.q.limits(t.client)
	t.ready = make(chan struct{})
	t.client.waiting = append(t.client.waiting, t)
	t.q.waiting++
	t.q.mu.Unlock()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	err := ErrBusy
	select {
	case <-t.ready:
		return nil
	case <-timer.C:
	case <-ctx.Done():
		err = ctx.Err()
	}
	t.q.mu.Lock()
	defer t.q.mu.Unlock()
	if i := slices.Index(t.client.waiting, t); i >= 0 {
		t.client.waiting = slices.Delete(t.client.waiting, i, i+1)
		t.q.waiting--
		t.use(0, 0)
		t.client = nil
		return err //nolint:wrapcheck // the caller knows its context
	}
	return nil // granted at the same time
}

// Full reports whether a turn of the client would be refused at once.
func (q *Queue) Full(name string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := q.clients[name]
	return c != nil && !q.room(c)
}

// limits returns how many turns of all clients can wait, and how long those of a client. Both are lower if the client has had such turns all the time for
// longer than that: it sends more requests than can be served, so those that are served should be served soon.
func (q *Queue) limits(c *client) (most int, wait time.Duration) {
	if len(c.waiting) > 0 && time.Since(c.idle) > q.maxWait { //nolint:forbidigo // as above
		return q.mostWaiting / overloaded, q.maxWait / overloaded
	}
	return q.mostWaiting, q.maxWait
}

// room reports whether another turn of the client can wait: if it has less than its share of those that do, and at least one. Their number is bounded.
func (q *Queue) room(c *client) bool {
	most, _ := q.limits(c)
	return len(c.waiting) < max(1, most/len(q.clients)) && q.waiting < overloaded*q.mostWaiting
}

// Leave ends the turn if it is in use, and its response if it is being built.
func (t *Turn) Leave() {
	if t == nil {
		return
	}
	t.q.mu.Lock()
	defer t.q.mu.Unlock()
	if t.builds {
		t.built()
	}
	if t.client != nil {
		t.use(-1, min(t.statements, 1)-1)
		t.client = nil
		t.q.grant()
	}
}

// Query reports that a statement of the request starts (1) or has ended (-1).
func (t *Turn) Query(change int) {
	if t == nil {
		return
	}
	t.q.mu.Lock()
	defer t.q.mu.Unlock()
	before := min(t.statements, 1)
	t.statements += change
	if after := min(t.statements, 1); t.client != nil && after != before {
		t.use(0, before-after)
		t.q.grant()
	}
}

// Build waits until the client can build another response: requests that waited for the database at the same time should not all compute at the same time.
// The response counts until Leave is called, also if the turn has ended before.
func (t *Turn) Build(ctx context.Context) {
	if t == nil {
		return
	}
	t.q.mu.Lock()
	if t.builds {
		t.q.mu.Unlock()
		return
	}
	t.builds = true
	c := t.q.client(t.name)
	if c.building < t.q.processors() {
		c.building++
		t.q.mu.Unlock()
		return
	}
	ready := make(chan struct{})
	c.builders = append(c.builders, ready)
	t.q.mu.Unlock()
	t.Query(1) // it does not compute
	defer t.Query(-1)
	select {
	case <-ready:
		return
	case <-ctx.Done():
	}
	t.q.mu.Lock()
	defer t.q.mu.Unlock()
	if i := slices.Index(c.builders, ready); i >= 0 {
		c.builders = slices.Delete(c.builders, i, i+1)
		c.building++
	}
}

// built ends the response of a turn.
func (t *Turn) built() {
	t.builds = false
	c := t.q.clients[t.name]
	if len(c.builders) > 0 {
		close(c.builders[0])
		c.builders = c.builders[1:]
		return
	}
	c.building--
	t.q.forget(t.name, c)
}

func (q *Queue) client(name string) *client {
	c := q.clients[name]
	if c == nil {
		c = &client{}
		q.clients[name] = c
	}
	return c
}

// forget removes a client without turns and responses.
func (q *Queue) forget(name string, c *client) {
	if c.used.all+len(c.waiting)+c.building+len(c.builders) == 0 {
		delete(q.clients, name)
	}
}

// use changes the numbers of turns in use.
func (t *Turn) use(all, computing int) {
	for _, c := range []*count{&t.q.used, &t.client.used} {
		c.all += all
		c.computing += computing
	}
	t.q.forget(t.name, t.client)
}

// fits reports whether a turn of the client can start.
func (q *Queue) fits(c *client) bool {
	return q.used.all < q.most.all && q.used.computing < q.most.computing && c.used.all < q.most.all-q.most.computing/2 && c.used.computing < q.processors()
}

// processors returns how many turns of one client can compute.
func (q *Queue) processors() int {
	if time.Since(q.changed) < shared { //nolint:forbidigo // as above
		return max(1, q.most.computing/4)
	}
	return q.most.computing - 1
}

// grant grants waiting turns: those of the client that uses the fewest, and of these the newest.
func (q *Queue) grant() {
	for q.waiting > 0 {
		var next *client
		for _, c := range q.clients {
			if len(c.waiting) > 0 && q.fits(c) && (next == nil || c.used.all < next.used.all) {
				next = c
			}
		}
		if next == nil {
			return
		}
		last := len(next.waiting) - 1
		t := next.waiting[last]
		next.waiting = slices.Delete(next.waiting, last, last+1)
		q.waiting--
		t.use(1, 1)
		close(t.ready)
	}
}
