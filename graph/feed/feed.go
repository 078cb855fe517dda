package feed

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"heliograph/internal/domain/ledger"
)

// Position is the position of a row in the order of its source: its consensus time and a tiebreaker.
type Position struct {
	At  ledger.Timestamp
	Tie int64
}

// After reports whether p comes after other.
func (p Position) After(other Position) bool {
	return p.At > other.At || p.At == other.At && p.Tie > other.Tie
}

// Source provides rows. Rows must become visible in the order of their positions, as with a single importer that
// writes record files one after the other.
type Source[T any] struct {
	// Name identifies the feed in logs.
	Name string
	// Newest returns the position of the newest row, or the zero position if there are no rows.
	Newest func(ctx context.Context) (Position, error)
	// After returns at most limit rows after a position, in order.
	After func(ctx context.Context, after Position, limit int) ([]T, error)
	// Position returns the position of a row.
	Position func(T) Position
	// Wake returns a channel that is closed when new rows may be available. It is optional; without it the source is
	// only polled.
	Wake func() <-chan struct{}
}

// Options configure how a source is read.
type Options struct {
	// Interval is the polling interval.
	Interval time.Duration
	// Keep is the number of rows in the log. All rows of one read are kept, also if they are more.
	Keep   int
	Logger *slog.Logger
	// Begin returns the context of a read, and a function that the reader calls with the position of its newest row
	// before listeners receive it. It is optional.
	Begin func(context.Context) (context.Context, func(Position))
}

// begin returns the context of one read, for the reader or for a listener, and a function that the reader calls with
// the position that it has reached; listeners do not call it. Without Begin, these are ctx and a function that does
// nothing.
func (o *Options) begin(ctx context.Context) (context.Context, func(Position)) {
	if o.Begin == nil {
		return ctx, func(Position) {}
	}
	return o.Begin(ctx)
}

// Reasons for the end of a subscription.
var (
	ErrSlow = errors.New("the subscription was ended because its events were read too slowly; subscribe again " +
		"from the last event")
	ErrShutdown = errors.New("the gateway is shutting down; subscribe again from the last event")
)

// batch is the maximum number of rows per statement.
const batch = 1000

// maxDelay is the maximum delay between retries while the database is unavailable, and the timeout of a read.
const maxDelay = 5 * time.Second

// Feed reads a source while there are listeners.
type Feed[T any] struct {
	source Source[T]
	o      Options
	ctx    context.Context //nolint:containedctx // lifetime of the feed: its reader outlives the request that starts it
	close  context.CancelFunc

	mu        sync.Mutex
	listeners int
	reader    *reader[T] // nil while there are no listeners
}

// New returns a new feed of source. It reads nothing and has no goroutine until the first listener subscribes, and
// again after the last one has left.
func New[T any](source Source[T], o Options) *Feed[T] {
	f := &Feed[T]{source: source, o: o}
	f.ctx, f.close = context.WithCancel(context.Background())
	return f
}

// Close ends all subscriptions with [ErrShutdown], also those that begin later. It does not wait for them.
func (f *Feed[T]) Close() { f.close() }

// join counts a listener and returns the reader of the feed, which it starts for the first listener. Each call
// needs a call of leave.
func (f *Feed[T]) join() *reader[T] {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listeners++
	if f.reader == nil {
		ctx, cancel := context.WithCancel(f.ctx)
		f.reader = &reader[T]{
			source: &f.source, o: &f.o, cancel: cancel, wake: make(chan struct{}),
			ready: make(chan struct{}),
		}
		go f.reader.run(ctx)
	}
	return f.reader
}

// leave removes a listener that [Feed.join] has counted. After the last one it stops the reader, for which it does not
// wait, and drops the log.
func (f *Feed[T]) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listeners--
	if f.listeners == 0 {
		f.reader.cancel()
		f.reader = nil
	}
}

// reader reads the source and keeps the log.
type reader[T any] struct {
	source *Source[T]
	o      *Options
	cancel context.CancelFunc
	ready  chan struct{} // closed when the start of the log is known

	mu    sync.Mutex
	log   []T
	first uint64        // number of the log's first row
	since Position      // the log contains all rows after since, up to at
	at    Position      // position of the newest row
	wake  chan struct{} // closed when there are new rows
}

// run reads new rows at intervals, or when the source wakes it, until ctx ends. After an error it waits longer each
// time, at most maxDelay, and logs the first error and the recovery.
func (r *reader[T]) run(ctx context.Context) {
	wait := r.o.Interval
	down := false
	for {
		var wake <-chan struct{} // nil without Source.Wake: never ready
		if r.source.Wake != nil {
			wake = r.source.Wake() // taken before the read, so that rows written during the read cause another one
		}
		more, err := r.read(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			if !down {
				r.o.Logger.WarnContext(ctx, "reading new rows failed; retrying", "feed", r.source.Name, "error", err)
			}
			down, wait = true, min(2*wait, maxDelay)
		case down:
			r.o.Logger.InfoContext(ctx, "reading new rows works again", "feed", r.source.Name)
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

// read reads new rows from the source once and appends them to the log, from which it drops the oldest above Keep, but
// none of the new ones. It wakes the listeners. The first call reads only the newest position and later rows. more
// reports whether further rows may be available. Only the goroutine of run calls it: it sets the first position without
// the lock.
func (r *reader[T]) read(ctx context.Context) (more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, maxDelay)
	defer cancel()
	ctx, report := r.o.begin(ctx)
	select {
	case <-r.ready:
	default:
		if r.at, err = r.source.Newest(ctx); err != nil {
			return false, err
		}
		report(r.at)
		r.since = r.at
		close(r.ready)
	}
	rows, err := r.source.After(ctx, r.at, batch)
	if err != nil || len(rows) == 0 {
		return false, err
	}
	at := r.source.Position(rows[len(rows)-1])
	report(at)
	r.mu.Lock()
	defer r.mu.Unlock()
	if old := min(len(r.log)+len(rows)-r.o.Keep, len(r.log)); old > 0 {
		r.since = r.source.Position(r.log[old-1])
		r.first += uint64(old)
		r.log = append(make([]T, 0, r.o.Keep+batch), r.log[old:]...)
	}
	r.log = append(r.log, rows...)
	r.at = at
	close(r.wake)
	r.wake = make(chan struct{})
	return len(rows) == batch, nil
}

// after returns the number of the log's first row after a position, or the number that the next row gets if there is
// none. ok is false if the log no longer contains all rows after it.
func (r *reader[T]) after(p Position) (number uint64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.since.After(p) {
		return 0, false
	}
	for i, row := range r.log {
		if r.source.Position(row).After(p) {
			return r.first + uint64(i), true
		}
	}
	return r.first + uint64(len(r.log)), true
}

// from returns the rows of the log from a number on, which the caller must not change, and a channel that is
// closed when there are new rows. ok is false if the log has dropped some of them.
func (r *reader[T]) from(number uint64) (rows []T, wake <-chan struct{}, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if number < r.first {
		return nil, nil, false
	}
	return r.log[number-r.first : len(r.log) : len(r.log)], r.wake, true
}

// newest returns the position of the newest row that the reader has read. Call it after r.ready is closed: until then
// the reader sets the position without the lock.
func (r *reader[T]) newest() Position {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.at
}
