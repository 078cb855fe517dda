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

// client has the turns of a client that are in use, and those that wait in order of arrival.
type client struct {
	used    count
	waiting []*Turn
	idle    time.Time // when none was waiting last
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
	if t.client = t.q.clients[t.name]; t.client == nil {
		t.client = &client{}
		t.q.clients[t.name] = t.client
	}
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

// Leave ends the turn, if it is in use.
func (t *Turn) Leave() {
	if t == nil {
		return
	}
	t.q.mu.Lock()
	defer t.q.mu.Unlock()
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

// use changes the numbers of turns in use.
func (t *Turn) use(all, computing int) {
	for _, c := range []*count{&t.q.used, &t.client.used} {
		c.all += all
		c.computing += computing
	}
	if t.client.used.all+len(t.client.waiting) == 0 {
		delete(t.q.clients, t.name)
	}
}

// fits reports whether a turn of the client can start.
func (q *Queue) fits(c *client) bool {
	most := q.most.computing - 1
	if share := max(1, q.most.computing/4); c.used.computing >= share && time.Since(q.changed) < shared { //nolint:forbidigo // as above
		most = share
	}
	return q.used.all < q.most.all && q.used.computing < q.most.computing && c.used.all < q.most.all-q.most.computing/2 && c.used.computing < most
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
