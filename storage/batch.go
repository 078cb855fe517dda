package storage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"

	"heliograph/internal/base/values"
)

// A statement that starts with one of these comments is planned with other settings than the session's. A cached
// generic plan keeps the settings it was made under, and the comment gives the statement a text of its own.
const (
	// NoBitmaps disables bitmap scans, for pages in the order of an index. A bitmap scan finds all matching rows
	// before it sorts them; an index scan stops at the end of the page. The planner assumes that each account, token
	// and contract has the average number of rows, and prefers bitmaps for the busy ones.
	NoBitmaps = "/* enable_bitmapscan = off */ "
	// NoBitmapsCustom is NoBitmaps for statements that are planned at each execution, for the values of their
	// parameters.
	NoBitmapsCustom = "/* enable_bitmapscan = off, plan_cache_mode = force_custom_plan */ "
)

type setting struct{ comment, sql string }

// settings are the statements for these comments. They change the transaction of the batch, so a batch sends
// statements without comments first. Each setting also applies to the statements of the next ones.
var settings = [...]setting{
	{NoBitmaps, `select set_config('enable_bitmapscan', 'off', true)`},
	{NoBitmapsCustom, `select set_config('plan_cache_mode', 'force_custom_plan', true)`},
}

// settingOf returns the index of the statement's comment in settings, or -1 if it has none.
func settingOf(sql string) int {
	if !strings.HasPrefix(sql, "/*") {
		return -1
	}
	return slices.IndexFunc(settings[:], func(s setting) bool { return strings.HasPrefix(sql, s.comment) })
}

// Batch collects statements that are sent in one round trip. It must not be used concurrently.
type Batch struct {
	db    *DB
	plain []query                // statements without settings
	with  [len(settings)][]query // statements with settings, which are sent last
	done  []func()
	count func([]int64) // of [Batch.Count], while it queues its statement
}

// query is a statement with the function that reads its rows. The function is nil if it has none.
type query struct {
	sql  string
	args []any
	read func(pgx.Rows) error
}

// Then registers a function that Run calls after all statements have succeeded.
func (b *Batch) Then(f func()) { b.done = append(b.done, f) }

// NewBatch returns a new, empty batch.
func (db *DB) NewBatch() *Batch { return &Batch{db: db} }

// DB returns the DB that the batch runs on.
func (b *Batch) DB() *DB { return b.db }

// Exec queues a statement that returns no rows.
func (b *Batch) Exec(sql string, args ...any) { b.plain = append(b.plain, query{sql: sql, args: args}) }

// Len returns the number of queued statements.
func (b *Batch) Len() int {
	n := len(b.plain)
	for _, queries := range b.with {
		n += len(queries)
	}
	return n
}

// Run sends the batch, and reads the rows of its statements. Among statements with the same settings, the order is
// that in which they were queued. Without statements, Run needs no database: the DB can be nil.
func (b *Batch) Run(ctx context.Context) error {
	if p, ok := partKey.Of(ctx); ok && b.Len() > 0 && b.db.Concurrent() {
		return p.run(ctx, b)
	}
	return b.run(ctx)
}

func (b *Batch) run(ctx context.Context) error {
	if err := b.db.withCause(ctx, b.send(ctx)); err != nil {
		return fmt.Errorf("running a batch: %w", err)
	}
	for _, f := range b.done {
		f()
	}
	return nil
}

func (b *Batch) send(ctx context.Context) error {
	var set int
	for i, queries := range b.with {
		if len(queries) == 0 {
			continue
		}
		for ; set <= i; set++ {
			b.Exec(settings[set].sql)
		}
		b.plain = append(b.plain, queries...)
	}
	n := len(b.plain)
	if n == 0 {
		return nil
	}
	text := b.plain[0].sql
	if set > 0 { // the first statement can be that of a setting
		text = b.plain[n-1].sql
	}
	return b.db.run(ctx, text, func(q querier) error {
		// a single query needs fewer protocol messages than a batch
		if only := b.plain[0]; n == 1 && only.read != nil {
			rows, err := q.Query(ctx, only.sql, only.args...)
			if err != nil {
				return err
			}
			return only.read(rows)
		}
		var all pgx.Batch
		for _, one := range b.plain {
			if queued := all.Queue(one.sql, one.args...); one.read != nil {
				queued.Query(one.read)
			}
		}
		return q.SendBatch(ctx, &all).Close()
	})
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
// the context of the part, and leave must be called at its end. The first batches of the parts are sent together. If
// that fails, each part sends its own, so that one cannot fail for another.
func Together(n int) func() (value values.Value, leave func()) {
	t := &together{sent: make(chan struct{})}
	t.parts.Add(n)
	return func() (values.Value, func()) {
		p := &part{together: t}
		return partKey.Is(p), func() { p.pass(nil) }
	}
}

// RunAlone makes the other parts of the operation not wait for the part of ctx.
func RunAlone(ctx context.Context) {
	if p, ok := partKey.Of(ctx); ok {
		p.pass(nil)
	}
}

// pass adds a batch, unless it is nil or the part has passed before. first reports whether no other part has added
// one.
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

// run runs a batch. The part that added the first one sends those of all parts.
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

func (t *together) send(ctx context.Context) {
	defer close(t.sent) // also after a panic of a function that reads rows
	t.err = errNotSent
	t.err = t.batch.run(ctx)
}

// add adds the statements of another batch.
func (b *Batch) add(other *Batch) {
	b.plain = append(b.plain, other.plain...)
	for i, queries := range other.with {
		b.with[i] = append(b.with[i], queries...)
	}
	b.done = append(b.done, other.done...)
}
