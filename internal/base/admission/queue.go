// Package admission decides which requests and statements run, and in which order the others wait. It has one notion
// of clients, costs and deadlines for both.
//
// Requests of one client run in order of arrival. Between clients, the next one is that with the smallest virtual time
// (start-time fair queuing): a request moves the virtual time of its client forward by its cost. Its cost is the time
// in which it computes, plus the time of its statements. When it starts, its client pays the average cost of its
// class, and when it ends, the difference.
package admission

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// Options configure a [Queue]. A zero value selects the default.
type Options struct {
	// Processors is the number of processors. Default: that of the program.
	Processors int
	// Timeout is how long a request waits at most. Default: 5 seconds.
	Timeout time.Duration
	// Memory is the number of bytes that waiting requests and unread responses use, above which requests of clients
	// that use much of it are refused. Default: no limit.
	Memory int64
}

// DefaultTimeout is the default of [Options.Timeout].
const DefaultTimeout = 5 * time.Second

const (
	// active is how long after a request of another client the processors are shared.
	active = time.Second
	// overhead is the memory that a request uses in addition to its body while it waits, in bytes: its goroutine, its
	// buffers and its header.
	overhead = 16 << 10
	// maxPending is the number of statements of a client that wait for a connection from which its next requests wait,
	// for each processor, and allPending that of all clients. They do not count scans and contract calls, of which a
	// client can have maxSlow, nor those that can share a round trip, of which it can have maxBrief, and all allBrief.
	maxPending, allPending, maxSlow = 2, 16, 64
	maxBrief, allBrief              = 128, 1024
	// manyWaiting is the number of waiting requests of a client from which its first measured rate is used. With fewer,
	// a request waits for half of the timeout before: the rate of a few slow requests says little.
	manyWaiting = 256
	// largeBody is the size of a body, in bytes, from which it waits for room before it is read. The room for those of
	// a client is the memory divided by roomShare. When the memory is used up, all clients share as much again.
	largeBody, roomShare = 64 << 10, 8
	// firstCost is the cost of a class that has not run yet, in seconds.
	firstCost = 0.001
)

// Limit is a reason to refuse a request.
type Limit string

// The limits.
const (
	// ByQueue refuses a request at its arrival, because the queue of its client is too long.
	ByQueue Limit = "queue"
	// ByTimeout refuses a request that has waited for [Options.Timeout].
	ByTimeout Limit = "timeout"
	// ByMemory refuses a request of a client that uses much memory for waiting requests and unread responses, while
	// [Options.Memory] is used up.
	ByMemory Limit = "memory"
)

// Refusal is the error of a request that does not run.
type Refusal struct {
	Limit Limit
	// Seconds is the estimate of the time after which the requests of the client that wait now have started, from 1 to
	// 60.
	Seconds int
}

// Error returns the message for clients: that the server is busy, and after how many seconds to retry.
func (r *Refusal) Error() string {
	return fmt.Sprintf("the server is busy: retry after %d s", r.Seconds)
}

// RefusalOf returns the refusal that caused an error, or nil.
func RefusalOf(err error) *Refusal {
	r, _ := errors.AsType[*Refusal](err)
	return r
}

// Queue has the requests that run and those that wait.
type Queue struct {
	o Options

	mu        sync.Mutex
	clients   map[string]*client
	queued    []*client // those with waiting turns
	classes   map[string]*class
	pools     int
	computing int            // turns that compute
	pending   [brief + 1]int // statements that wait for a connection
	virtual   float64        // largest virtual time at which a request has started, in seconds
	bytes     int64          // of waiting requests and unread responses
	streams   int

	last    string        // client of the newest turn
	changed time.Duration // when another client had it; 0 for never
}

// client is an address or an API key.
type client struct {
	name      string
	virtual   float64        // at which its next request starts, in seconds
	computing int            // turns that compute
	pending   [brief + 1]int // statements that wait for a connection
	held      []int          // connections in use, of each pool
	waiting   []*Turn        // in order of arrival, those that have run before the others
	turns     int            // that have not ended
	streams   int

	bytes int64               // of waiting requests and unread responses
	room  *semaphore.Weighted // for large bodies, in bytes

	refused time.Duration // when a request was last refused, as of [now]; 0 for never
	started int           // requests that have started
	rate    float64       // requests per second that started, during the wait of the newest of them
}

// class is a kind of request, whose cost is about the same.
type class struct {
	Stats

	cost float64 // moving average in seconds
}

// Stats counts the requests of a class.
type Stats struct {
	Waiting, Served, Refused int64
}

// New returns a queue for the requests of a gateway. It fills in defaults: the number of processors, DefaultTimeout,
// and no limit of memory.
func New(o Options) *Queue {
	o.Processors = cmp.Or(o.Processors, min(runtime.GOMAXPROCS(0), runtime.NumCPU()))
	o.Timeout = cmp.Or(o.Timeout, DefaultTimeout)
	o.Memory = cmp.Or(o.Memory, math.MaxInt64)
	return &Queue{o: o, clients: map[string]*client{}, classes: map[string]*class{}}
}

// Stats returns the numbers of waiting, served and refused requests by class, for metrics.
func (q *Queue) Stats() map[string]Stats {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := map[string]Stats{}
	for name, c := range q.classes {
		all[name] = c.Stats
	}
	return all
}

// began is the moment from which [now] counts.
var began = time.Now() //nolint:forbidigo // measures durations, and the clock of the ledger may be fixed

// now returns the time since the start of the program. It reads the monotonic clock only, which takes half as long as
// both clocks, and a request asks for the time about ten times.
func now() time.Duration {
	return time.Since(began) //nolint:forbidigo // as above
}

// Turn returns a turn of the named client that has not started, for a request of the class name. It adds both to q if
// they are new. The caller must call End. Classes are never removed, so their names must be few.
func (q *Queue) Turn(client, name string) *Turn {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := q.classes[name]
	if c == nil {
		c = &class{cost: firstCost}
		q.classes[name] = c
	}
	return q.turn(client, c)
}

// turn returns a turn of the client with a name, which it adds if it is new. [Turn.End] removes a client without
// turns. The caller holds the lock.
func (q *Queue) turn(name string, of *class) *Turn {
	c := q.clients[name]
	if c == nil {
		c = &client{name: name, virtual: q.virtual, room: semaphore.NewWeighted(q.o.Memory / roomShare)}
		q.clients[name] = c
	}
	c.turns++
	return &Turn{q: q, client: c, class: of, arrived: now(), before: c.started}
}

// fits reports whether a turn can start or run on now. The caller holds the lock. Two turns for each processor can
// compute at the same time, of which one client can have [Queue.processors]. A turn that has not started also waits
// while many statements of its client, or of all, wait for a connection.
func (q *Queue) fits(t *Turn) bool {
	c := t.client
	return q.computing < 2*q.o.Processors && c.computing < q.processors() && (t.started ||
		q.pending[Reads] < allPending*q.o.Processors && c.pending[Reads] < maxPending*q.o.Processors &&
			q.pending[brief] < allBrief && c.pending[brief] < maxBrief &&
			c.pending[Scans]+c.pending[EVM] < maxSlow)
}

// processors returns how many turns of one client can compute at the same time, of two for each processor: a quarter
// of them, but at least 1, while several clients are active, else all but one. The caller holds the lock.
func (q *Queue) processors() int {
	if q.changed != 0 && now()-q.changed < active {
		return max(1, q.o.Processors/2)
	}
	return 2*q.o.Processors - 1
}

// grant starts waiting turns as long as one fits, in the order of the clients' costs. The caller holds the lock.
func (q *Queue) grant() {
	for {
		var next *Turn
		for _, c := range q.queued {
			if t := c.waiting[0]; q.fits(t) && (next == nil || c.virtual < next.client.virtual) {
				next = t
			}
		}
		if next == nil {
			return
		}
		next.dequeue()
		next.start()
		close(next.ready)
	}
}

// full reports whether to refuse another turn of the client: if its queue is longer than the timeout, of which a tenth
// is for rates that fall meanwhile. While requests of the client are refused, half is for them, or three quarters if
// more than manyWaiting wait: its queue is full all the time then, and otherwise many requests would wait for the whole
// timeout in vain whenever the machine gets slower.
// The rate has to be measured before: the first new request has to have waited for half of the timeout, unless more
// than manyWaiting wait and a rate is known. The caller holds the lock.
func (q *Queue) full(c *client) bool {
	others := c.waiting[c.begun():]
	n := len(others)
	reserve := q.o.Timeout / 10
	if c.refused != 0 && now()-c.refused < active {
		reserve = q.o.Timeout / 2
		if n > manyWaiting {
			reserve += q.o.Timeout / 4
		}
	}
	return float64(n) > c.rate*(q.o.Timeout-reserve).Seconds() &&
		(now()-others[0].arrived >= q.o.Timeout/2 || n > manyWaiting && c.rate > 0)
}

// begun returns the number of waiting turns that have run before, which come first. The caller holds the lock.
func (c *client) begun() int {
	n := 0
	for n < len(c.waiting) && c.waiting[n].started {
		n++
	}
	return n
}

// remove removes the only occurrence of v from s in place and returns the shorter slice, or s if it does not contain
// v. It moves no others if v is the first: a thousand requests can wait.
func remove[T comparable](s []T, v T) []T {
	if len(s) > 0 && s[0] == v {
		clear(s[:1])
		return s[1:]
	}
	return slices.DeleteFunc(s, func(other T) bool { return other == v })
}
