package storage

import (
	"context"
	"errors"
	"sync"

	"heliograph/internal/base/values"
)

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

// Together returns a function that is called for each of n parts of an operation that run concurrently. value is for the context of the part, and leave must
// be called at its end. The first batches of the parts are sent together. If that fails, each part sends its own, so that one cannot fail for another.
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

// pass adds a batch, unless it is nil or the part has passed before. first reports whether no other part has added one.
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
	if p.err == nil || errors.Is(p.err, ErrBusy) || ctx.Err() != nil {
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
	b.batch.QueuedQueries = append(b.batch.QueuedQueries, other.batch.QueuedQueries...)
	for i, queries := range other.with {
		b.with[i] = append(b.with[i], queries...)
	}
	b.done, b.last = append(b.done, other.done...), other.last
}
