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
	// interval is the time after which the queue checks again, while something waits, for statements that take long.
	interval = 25 * time.Millisecond
	// active is how long after a request of another client the processors are shared.
	active = time.Second
	// overhead is the memory that a request uses in addition to its body while it waits, in bytes: its goroutine, its
	// buffers and its header.
	overhead = 16 << 10
	// maxParked is the number of requests of a client that wait for a connection above which its next requests wait.
	maxParked = 64
	// manyWaiting is the number of waiting requests of a client that are not refused before its rate is known well.
	manyWaiting = 2048
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
	// RetryAfter is the estimate of the time after which the requests of the client that wait now have started. It is
	// at most a minute.
	RetryAfter time.Duration
}

// Seconds returns the time after which to retry in seconds, rounded up, at least 1.
func (r *Refusal) Seconds() int { return max(1, int(math.Ceil(r.RetryAfter.Seconds()))) }

// Error returns the message for clients: that the server is busy, and after how many seconds to retry.
func (r *Refusal) Error() string {
	return fmt.Sprintf("the server is busy: retry after %d s", r.Seconds())
}

// RefusalOf returns the refusal that caused an error, or nil.
func RefusalOf(err error) (r *Refusal) {
	errors.As(err, &r)
	return r
}

// Queue has the requests that run and those that wait.
type Queue struct {
	o Options

	mu      sync.Mutex
	most    count
	used    count
	pools   []*Pool
	clients map[string]*client
	queued  []*client // those with waiting turns
	classes map[string]*class
	virtual float64 // largest virtual time at which a request has started, in seconds
	bytes   int64   // of waiting requests and unread responses
	streams int
	ticking bool // a check is scheduled

	last    string    // client of the newest turn
	changed time.Time // when another client had it
}

// count is a number of turns in use, and of those that do not wait for the database.
type count struct{ all, computing int }

// client is an address or an API key.
type client struct {
	name    string
	virtual float64 // at which its next request starts, in seconds
	used    count
	waiting []*Turn // in order of arrival
	parked  int     // requests that wait for a connection without a turn
	turns   int     // that have not ended
	streams int

	bytes    int64               // of waiting requests and unread responses
	room     *semaphore.Weighted // for large bodies, in bytes; nil before the first one
	builders *semaphore.Weighted // for responses, in processors; nil before the first one

	started    int       // requests that have waited and started in the current window
	since      time.Time // when the window began
	rate, best float64   // of the last window, and the highest one since requests wait, in requests per second
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

// New returns a queue for the requests of a gateway, without connections to a database; see [Queue.Pool]. It fills
// in defaults: the number of processors, DefaultTimeout, and no limit of memory.
func New(o Options) *Queue {
	o.Processors = cmp.Or(o.Processors, min(runtime.GOMAXPROCS(0), runtime.NumCPU()))
	o.Timeout = cmp.Or(o.Timeout, DefaultTimeout)
	o.Memory = cmp.Or(o.Memory, math.MaxInt64)
	most := count{2 * o.Processors, 2 * o.Processors}
	return &Queue{o: o, most: most, clients: map[string]*client{}, classes: map[string]*class{}}
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

// Full returns the refusal of a request of the named client that would arrive now, or nil. It counts nothing: the
// caller must call Refused if it refuses the request.
func (q *Queue) Full(name string) *Refusal {
	q.mu.Lock()
	defer q.mu.Unlock()
	if c := q.clients[name]; c != nil && q.full(c) {
		return c.refusal(ByQueue)
	}
	return nil
}

// refusal returns a refusal of a request of the client. The time after which to retry is that in which those that wait
// start, at the rate of the last window, or at one per second if that rate is lower. It is at most a minute. The
// caller holds the lock.
func (c *client) refusal(by Limit) *Refusal {
	seconds := min(60, float64(len(c.waiting))/max(1, c.rate))
	return &Refusal{by, time.Duration(seconds * float64(time.Second))}
}

// Refused counts a request that was refused without a turn.
func (q *Queue) Refused(class string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.class(class).Refused++
}

// now returns the time of the system clock, for durations.
func now() time.Time {
	return time.Now() //nolint:forbidigo // measures durations, and the clock of the ledger may be fixed
}

// class returns the class with a name, which must be one of few, and adds it if it is new. The caller holds the
// lock.
func (q *Queue) class(name string) *class {
	c := q.classes[name]
	if c == nil {
		c = &class{cost: firstCost}
		q.classes[name] = c
	}
	return c
}

// join counts a turn of the client with a name and returns the client, which it adds if it is new. [Turn.End] removes
// a client without turns. The caller holds the lock.
func (q *Queue) join(name string) *client {
	c := q.clients[name]
	if c == nil {
		c = &client{name: name, virtual: q.virtual}
		q.clients[name] = c
	}
	c.turns++
	return c
}

// fits reports whether a turn of the client can start now. The caller holds the lock.
func (q *Queue) fits(c *client) bool {
	return q.used.all < q.most.all && q.used.computing < q.most.computing && c.parked < maxParked &&
		c.used.all < q.most.all-q.most.computing/2 && c.used.computing < q.processors()
}

// processors returns how many turns of one client can compute at the same time: a quarter of all, but at least 1,
// while several clients are active, else all but one. The caller holds the lock.
func (q *Queue) processors() int {
	if now().Sub(q.changed) < active {
		return max(1, q.most.computing/4)
	}
	return q.most.computing - 1
}

// grant starts waiting turns as long as one fits, in the order of the clients' costs. The caller holds the lock.
func (q *Queue) grant() {
	for {
		var next *client
		for _, c := range q.queued {
			if q.fits(c) && (next == nil || c.virtual < next.virtual) {
				next = c
			}
		}
		if next == nil {
			return
		}
		t := next.waiting[0]
		t.dequeue()
		next.count(q.o.Timeout / 10)
		t.start()
		close(t.ready)
	}
}

// count counts a request that has waited and starts. The rate is that of windows of a duration. The caller holds the
// lock.
func (c *client) count(window time.Duration) {
	c.started++
	if measured := now().Sub(c.since); measured >= window {
		c.rate = float64(c.started) / measured.Seconds()
		c.best = max(c.best, c.rate)
		c.started, c.since = 0, now()
	}
}

// full reports whether to refuse another turn of the client: if its queue is longer than the timeout, of which a tenth
// is for rates that fall meanwhile. The rate has to be measured before: the first request has to have waited for half
// of the timeout, or for a tenth of it where more than manyWaiting wait. It is the highest one until a request has
// waited in vain: refusals take processor time, as new connections do, so that the current rate would fall with each
// refusal, and lead to more of them. The caller holds the lock.
func (q *Queue) full(c *client) bool {
	n, margin := len(c.waiting), q.o.Timeout/10
	if n == 0 {
		return false
	}
	measured := now().Sub(c.waiting[0].arrived)
	return measured >= margin && (measured >= 5*margin || n > manyWaiting) &&
		float64(n) > c.best*(q.o.Timeout-margin).Seconds()
}

// watch starts a timer, unless it runs, that looks for statements that take long as long as something waits. The
// caller holds the lock.
func (q *Queue) watch() {
	if !q.ticking {
		q.ticking = true
		time.AfterFunc(interval, q.tick)
	}
}

// tick is called by the timer of watch: it grants what fits after slow statements were counted as scans, and
// starts the timer again if something waits.
func (q *Queue) tick() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ticking = false
	waiting := len(q.queued)
	for _, p := range q.pools {
		p.grant()
		waiting += len(p.waiting)
	}
	q.grant()
	if waiting > 0 {
		q.watch()
	}
}

// remove removes the only occurrence of v from s in place and returns the shorter slice, or s if it does not contain
// v.
func remove[T comparable](s []T, v T) []T {
	if i := slices.Index(s, v); i >= 0 {
		return slices.Delete(s, i, i+1)
	}
	return s
}
