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

// Limits are limits of requests that run.
type Limits struct {
	// Turns is the number of turns, Computing the number of those that do not wait for the database when another starts.
	Turns, Computing int
	// MaxWait is how long a request waits for its turn.
	MaxWait time.Duration
}

// Queue has the turns. Any number of them can wait, so callers limit their number.
type Queue struct {
	limits Limits

	mu      sync.Mutex
	all     count
	clients map[string]*client
	waiting []*client // that have waiting turns
}

// count counts turns in use, and those of them that do not wait for the database.
type count struct{ held, computing int }

func (c *count) add(held, computing int) {
	c.held += held
	c.computing += computing
}

// client has the waiting turns of a client in order of arrival.
type client struct {
	count

	waiting []*Turn
}

// New returns a new queue.
func New(l Limits) *Queue { return &Queue{limits: l, clients: map[string]*client{}} }

// Turn is the permission of a request to run. It is used once. The methods of a nil turn do nothing.
type Turn struct {
	q          *Queue
	name       string
	client     *client       // nil unless the turn is in use or waits
	ready      chan struct{} // closed when a waiting turn is granted
	statements int           // running in the database
	ended      bool
}

var key = values.NewKey[*Turn]()

// Turn returns a turn of the named client that is not in use yet.
func (q *Queue) Turn(client string) *Turn { return &Turn{q: q, name: client} }

// Value returns the context value of the turn.
func (t *Turn) Value() values.Value { return key.Is(t) }

// Of returns the turn of ctx, or nil if it has none.
func Of(ctx context.Context) *Turn {
	t, _ := key.Of(ctx)
	return t
}

// Client returns the name of the client, or an empty string for a nil turn.
func (t *Turn) Client() string {
	if t == nil {
		return ""
	}
	return t.name
}

// Another returns a turn of the same client.
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
	t.join()
	if t.q.fits(t.client) {
		t.add(1, 1)
		t.q.mu.Unlock()
		return nil
	}
	t.ready = make(chan struct{})
	if len(t.client.waiting) == 0 {
		t.q.waiting = append(t.q.waiting, t.client)
	}
	t.client.waiting = append(t.client.waiting, t)
	t.q.mu.Unlock()
	timer := time.NewTimer(t.q.limits.MaxWait)
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
	i := slices.Index(t.client.waiting, t)
	if i < 0 { // granted at the same time
		return nil
	}
	t.client.waiting = slices.Delete(t.client.waiting, i, i+1)
	if len(t.client.waiting) == 0 {
		t.q.waiting = slices.DeleteFunc(t.q.waiting, func(c *client) bool { return c == t.client })
	}
	t.forget()
	return err //nolint:wrapcheck // the caller knows its context
}

// Leave ends the turn, if it is in use.
func (t *Turn) Leave() {
	if t == nil {
		return
	}
	t.q.mu.Lock()
	defer t.q.mu.Unlock()
	t.ended = true
	t.release()
}

// Query reports that a statement of the request starts (1) or has ended (-1). The request does not compute meanwhile, so that another can start.
func (t *Turn) Query(change int) {
	if t == nil {
		return
	}
	t.q.mu.Lock()
	defer t.q.mu.Unlock()
	before := t.statements
	if t.statements += change; t.client == nil {
		return
	}
	switch {
	case before == 0:
		t.add(0, -1)
		t.q.grant()
	case t.statements == 0:
		t.add(0, 1)
	}
}

// Pause frees the turn, if it is in use, while its request waits for long. The caller must call resume, which does not wait.
func (t *Turn) Pause() (resume func()) {
	if t == nil {
		return func() {}
	}
	t.q.mu.Lock()
	defer t.q.mu.Unlock()
	held := t.release()
	return func() {
		t.q.mu.Lock()
		defer t.q.mu.Unlock()
		if held && !t.ended {
			t.join()
			t.add(1, t.computing())
		}
	}
}

// computing returns 0 if the request waits for the database, and otherwise 1.
func (t *Turn) computing() int { return 1 - min(t.statements, 1) }

// add changes the counts of the queue and of the client.
func (t *Turn) add(held, computing int) {
	t.q.all.add(held, computing)
	t.client.add(held, computing)
}

// release frees the turn. It reports whether the turn was in use.
func (t *Turn) release() bool {
	if t.client == nil {
		return false
	}
	t.add(-1, -t.computing())
	t.forget()
	t.q.grant()
	return true
}

// join sets the client.
func (t *Turn) join() {
	if t.client = t.q.clients[t.name]; t.client == nil {
		t.client = &client{}
		t.q.clients[t.name] = t.client
	}
}

// forget removes the client from a turn that is not in use, and from the queue if it has no turns.
func (t *Turn) forget() {
	if t.client.held+len(t.client.waiting) == 0 {
		delete(t.q.clients, t.name)
	}
	t.client = nil
}

// fits reports whether a turn of the client can start. One client leaves some turns to others.
func (q *Queue) fits(c *client) bool {
	l := &q.limits
	return q.all.held < l.Turns && q.all.computing < l.Computing && c.held < l.Turns-l.Computing/2 && c.computing < l.Computing-1
}

// grant grants waiting turns: of the client that uses the fewest, the newest one.
func (q *Queue) grant() {
	for {
		at := -1
		for i, c := range q.waiting {
			if q.fits(c) && (at < 0 || c.held < q.waiting[at].held) {
				at = i
			}
		}
		if at < 0 {
			return
		}
		c := q.waiting[at]
		last := len(c.waiting) - 1
		t := c.waiting[last]
		c.waiting[last] = nil
		c.waiting = c.waiting[:last]
		if q.waiting = slices.Delete(q.waiting, at, at+1); last > 0 {
			q.waiting = append(q.waiting, c) // clients with as many turns precede it now
		}
		t.add(1, 1)
		close(t.ready)
	}
}
