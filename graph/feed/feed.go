// Package feed tells many listeners of rows as they come to a database, with one reader for all of them: what the database is asked for does not
// depend on how many listen. A listener may begin in the past; it gets what there is already, then what comes, each row once and in order.
//
// The reader keeps the newest rows in memory, in a log that all listeners read at their own places: there is no queue for each of them. Who falls
// behind the log is told so, and listens no more.
package feed

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"heliograph/internal/domain/ledger"
)

// Place is where a row stands in the order of its kind: its consensus time, and what tells rows of one time apart.
type Place struct {
	At  ledger.Timestamp
	Tie int64
}

// Beyond tells whether p comes after other.
func (p Place) Beyond(other Place) bool {
	return p.At > other.At || p.At == other.At && p.Tie > other.Tie
}

// Source is where rows come from. Rows have to become visible in the order of their places, as they do where one importer writes a ledger's record
// files one after the other.
type Source[T any] struct {
	// Name tells feeds apart in logs.
	Name string
	// Newest is the place of the newest row, or the zero place when there is none.
	Newest func(ctx context.Context) (Place, error)
	// After reads rows beyond a place in order, limit of them at most.
	After func(ctx context.Context, after Place, limit int) ([]T, error)
	// Place is where a row stands.
	Place func(T) Place
	// Wake gives a channel that is closed when it is worth looking for new rows at once. Nil means that nobody tells.
	Wake func() <-chan struct{}
}

// Options say how a source is read.
type Options struct {
	// Interval is how often new rows are looked for.
	Interval time.Duration
	// Keep is how many rows are kept for listeners that have not read them yet.
	Keep   int
	Logger *slog.Logger
}

// Reasons why a listener hears no more.
var (
	ErrSlow     = errors.New("the subscription was ended because its events were read too slowly; subscribe again from the last event")
	ErrShutdown = errors.New("the gateway is shutting down; subscribe again from the last event")
)

// batch is how many rows are read in one statement.
const batch = 1000

// slowest is the longest wait between attempts to reach a database that does not answer.
const slowest = 5 * time.Second

// Feed reads a source while somebody listens.
type Feed[T any] struct {
	source Source[T]
	o      Options
	ctx    context.Context //nolint:containedctx // of the feed's life: its reader outlives the request that starts it
	close  context.CancelFunc

	mu        sync.Mutex
	listeners int
	reader    *reader[T] // nil while nobody listens
}

// New makes a feed. Nothing is read before somebody listens.
func New[T any](source Source[T], o Options) *Feed[T] {
	f := &Feed[T]{source: source, o: o}
	f.ctx, f.close = context.WithCancel(context.Background())
	return f
}

// Close ends all subscriptions with [ErrShutdown].
func (f *Feed[T]) Close() { f.close() }

// Listeners is how many listen.
func (f *Feed[T]) Listeners() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.listeners
}

// join finds the reader, or starts it for the first listener.
func (f *Feed[T]) join() *reader[T] {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listeners++
	if f.reader == nil {
		ctx, cancel := context.WithCancel(f.ctx)
		f.reader = &reader[T]{source: &f.source, o: &f.o, cancel: cancel, wake: make(chan struct{}), ready: make(chan struct{})}
		go f.reader.run(ctx)
	}
	return f.reader
}

// leave stops the reader behind the last listener.
func (f *Feed[T]) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listeners--
	if f.listeners == 0 {
		f.reader.cancel()
		f.reader = nil
	}
}

// reader is the one that reads, from its start to its end.
type reader[T any] struct {
	source *Source[T]
	o      *Options
	cancel context.CancelFunc
	ready  chan struct{} // closed when the log has its first place

	mu    sync.Mutex
	log   []T
	first uint64        // number of the log's first row
	since Place         // the log has all rows beyond it, up to at
	at    Place         // of the newest row
	wake  chan struct{} // closed when there are new rows
}

func (r *reader[T]) run(ctx context.Context) {
	wait := r.o.Interval
	down := false
	for {
		var wake <-chan struct{} // for ever, where nobody tells
		if r.source.Wake != nil {
			wake = r.source.Wake() // before it is looked for: what comes while it is read is looked for again
		}
		more, err := r.read(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			if !down {
				r.o.Logger.WarnContext(ctx, "new rows cannot be read; trying again", "feed", r.source.Name, "error", err)
			}
			down, wait = true, min(2*wait, slowest)
		case down:
			r.o.Logger.InfoContext(ctx, "new rows can be read again", "feed", r.source.Name)
			down, wait = false, r.o.Interval
		default:
			wait = r.o.Interval
		}
		if more {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-wake:
		case <-time.After(wait):
		}
	}
}

// read looks for new rows once; more tells that there may be others.
func (r *reader[T]) read(ctx context.Context) (more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, slowest)
	defer cancel()
	select {
	case <-r.ready:
	default:
		if r.at, err = r.source.Newest(ctx); err != nil {
			return false, err
		}
		r.since = r.at
		close(r.ready)
	}
	rows, err := r.source.After(ctx, r.at, batch)
	if err != nil || len(rows) == 0 {
		return false, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if old := len(r.log) + len(rows) - r.o.Keep; old > 0 {
		old = min(old, len(r.log))
		r.since = r.source.Place(r.log[max(old-1, 0)])
		r.first += uint64(old)
		r.log = append(make([]T, 0, r.o.Keep+batch), r.log[old:]...)
	}
	r.log = append(r.log, rows...)
	r.at = r.source.Place(rows[len(rows)-1])
	close(r.wake)
	r.wake = make(chan struct{})
	return len(rows) == batch, nil
}

// after finds the first row of the log beyond a place. ok is false when the log does not go back so far.
func (r *reader[T]) after(p Place) (number uint64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.since.Beyond(p) {
		return 0, false
	}
	for i, row := range r.log {
		if r.source.Place(row).Beyond(p) {
			return r.first + uint64(i), true
		}
	}
	return r.first + uint64(len(r.log)), true
}

// from gives the rows of the log from a number on, or a channel that is closed when there are some. ok is false when the log has lost them.
func (r *reader[T]) from(number uint64) (rows []T, wake <-chan struct{}, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if number < r.first {
		return nil, nil, false
	}
	return r.log[number-r.first : len(r.log) : len(r.log)], r.wake, true
}

// newest is the place of the newest row that the reader has seen.
func (r *reader[T]) newest() Place {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.at
}
