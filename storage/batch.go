package storage

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"

	"heliograph/internal/base/profile"
	"heliograph/internal/base/values"
)

// Batch collects statements that are sent in one round trip. It must not be used concurrently.
type Batch struct {
	db      *DB
	queries [len(settings)][]query // by setting
	done    []func()
	profile *profile.Profile // of the operation that runs it; nil if nothing is recorded
	place   *profile.Place   // of the statements that are queued; nil if it is that of the context

	counting bool            // [Batch.Count] queues its statement
	counts   Result[[]int64] // of that statement
}

// query is a statement with the reader of its rows, which is nil if it has none. sql is the text, or what stands
// before that of a description.
type query struct {
	sql  string
	of   *Read
	args []any
	rows reader
}

// reader reads the rows of a statement.
type reader interface{ read(rows pgx.Rows) error }

// Then registers a function that Run calls after all statements have succeeded, in the order of registration. If a
// statement fails, it is not called. In a part of [Together], the goroutine of another part can call it.
func (b *Batch) Then(f func()) { b.done = append(b.done, f) }

// NewBatch returns a new, empty batch, which sends nothing before [Batch.Run]. db may be nil.
func (db *DB) NewBatch() *Batch { return &Batch{db: db} }

// DB returns the DB that the batch runs on, or nil if it was made without one.
func (b *Batch) DB() *DB { return b.db }

// Exec queues a statement that returns no rows, with its arguments. It runs with [Batch.Run], on the present state
// even if the context has a moment.
func (b *Batch) Exec(sql string, args ...any) {
	b.queries[noSetting] = append(b.queries[noSetting], query{sql: sql, args: args})
}

// Len returns the number of queued statements, without those that set the planner's settings.
func (b *Batch) Len() int {
	n := 0
	for _, queries := range b.queries {
		n += len(queries)
	}
	return n
}

// Run sends the batch, and reads the rows of its statements. Among statements with the same settings, the order is
// that in which they were queued. Statements read the state at the moment of ctx if it has one. If one of them cannot,
// Run sends nothing and fails, for example with an [*UnknownPastError]. If a statement or the decoding of its rows
// fails, Run returns that error, which [FailureOf] classifies. In a part of [Together], the first batch waits for
// those of the other parts. Without statements, Run only calls the functions of [Batch.Then] and needs no database:
// the DB can be nil.
func (b *Batch) Run(ctx context.Context) error {
	if err := b.prepare(ctx); err != nil {
		return fmt.Errorf("preparing a batch: %w", err)
	}
	b.observe(ctx)
	if p, ok := partKey.Of(ctx); ok && b.Len() > 0 && b.db.Concurrent() {
		return p.run(ctx, b)
	}
	return b.run(ctx)
}

// run sends the queries in one round trip, and if all have succeeded calls the functions of [Batch.Then]. Errors have
// the cause of the end of ctx.
func (b *Batch) run(ctx context.Context) error {
	if err := b.db.withCause(ctx, b.send(ctx)); err != nil {
		return fmt.Errorf("running a batch: %w", err)
	}
	for _, f := range b.done {
		f()
	}
	return nil
}

// send sends the queries in one round trip: those without a setting first, then each setting of the planner with its
// queries. A query's reader is called as its rows arrive, by this goroutine or that of another batch with which the
// round trip is shared. It can send them again: to another server if the first one fails, or alone if a shared round
// trip fails. It returns the first error of a statement or reader, and nil without queries. Batches whose statements
// are recorded or traced, each for its own request, share no round trip, and nor do those that Citus distributes.
func (b *Batch) send(ctx context.Context) error {
	all, set := b.queries[noSetting], noSetting
	for with, queries := range b.queries[1:] {
		for ; len(queries) > 0 && set <= Setting(with); set++ {
			all = append(all, query{sql: settings[set+1].sql})
		}
		all = append(all, queries...)
	}
	if len(all) == 0 {
		return nil
	}
	t := &trip{queries: all}
	if b.profile == nil && b.db.o.Tracer == nil && b.db.Concurrent() && !b.db.Distributed() {
		t.pace = paceOf(all)
	}
	b.begin(all)
	err := b.db.run(ctx, t)
	if err == nil || !t.shared || ctx.Err() != nil {
		return err
	}
	return b.db.run(ctx, &trip{queries: all}) // the statements of another batch may have failed
}

// together sends the first batches of the concurrent parts of an operation in one round trip.
type together struct {
	mu    sync.Mutex
	parts sync.WaitGroup // that may still add a batch
	batch *Batch         // of all parts; nil before the first
	sent  chan struct{}  // closed after the round trip, with its error in err
	err   error
}

// part is one of these parts.
type part struct {
	*together

	once sync.Once
}

var partKey = values.NewKey[*part]()

// Together returns a function that is called for each of n parts of an operation that run concurrently. value is for
// the context of the part, and leave must be called at its end. The function must be called n times, since the parts
// wait for each other. The first batches of the parts are sent together, when each part has one, has left or runs
// alone. If that fails, each part sends its own, so that one cannot fail for another, unless the queue refused them or
// its context has ended.
func Together(n int) func() (value values.Value, leave func()) {
	t := &together{sent: make(chan struct{})}
	t.parts.Add(n)
	return func() (values.Value, func()) {
		p := &part{together: t}
		return partKey.Is(p), func() { p.pass(nil) }
	}
}

// RunAlone makes the other parts of the operation not wait for the part of ctx: the batches of that part are sent
// alone. Without [Together] it does nothing.
func RunAlone(ctx context.Context) {
	if p, ok := partKey.Of(ctx); ok {
		p.pass(nil)
	}
}

// pass adds a batch, unless it is nil or the part has passed before, and makes the other parts no longer wait for
// this one. added reports whether the batch was added. first reports whether no other part has added one.
func (p *part) pass(b *Batch) (added, first bool) {
	p.once.Do(func() {
		defer p.parts.Done()
		if b == nil {
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		added, first = true, p.batch == nil
		if first {
			p.batch = b.db.NewBatch()
		}
		p.batch.add(b)
	})
	return added, first
}

var errNotSent = errors.New("the statements of an operation were not sent")

// run runs a batch. The part that added the first one waits for the others and sends those of all parts. A part that
// has passed before runs its batch alone. If the common round trip fails, each part runs its own batch, unless the
// queue refused it or ctx has ended. It waits for the other parts even if ctx ends.
func (p *part) run(ctx context.Context, b *Batch) error {
	added, first := p.pass(b)
	if !added {
		return b.run(ctx)
	}
	if first {
		p.parts.Wait()
		p.send(ctx)
	}
	<-p.sent
	if p.err == nil || FailureOf(p.err) == FailureBusy || ctx.Err() != nil {
		return p.err
	}
	return b.run(ctx)
}

// send sends the common batch, stores its error, and wakes all parts that wait for it. If a function of [Batch.Then]
// panics, the error is errNotSent, and the panic continues.
func (t *together) send(ctx context.Context) {
	defer close(t.sent) // also after such a panic
	t.err = errNotSent
	t.err = t.batch.run(ctx)
}

// add appends the statements, functions and profile of another batch to b. other must not be run then, unless b has
// failed.
func (b *Batch) add(other *Batch) {
	for i, queries := range other.queries {
		b.queries[i] = append(b.queries[i], queries...)
	}
	b.done = append(b.done, other.done...)
	b.profile = other.profile
}
