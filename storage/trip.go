package storage

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/internal/base/admission"
)

// trip has the statements of a batch, which are sent in one round trip. Batches with the same texts can share it, also
// those of other clients: for small objects, the round trip takes more of the processors of both sides than the
// statements, and a busy gateway has several to send at any time.
type trip struct {
	queries  []query
	pace     *pace // nil if they are sent alone
	most     int   // batches in the round trip
	together bool  // others were in it, for which it can have failed
	err      error // of the round trip, if another batch has sent it
}

const (
	// mostTogether is the number of batches that share a round trip.
	mostTogether = 16
	// longestTrip is the time that the statements of a round trip take, as far as that is known: they run one after the
	// other, and the first batch waits for the last.
	longestTrip = 2 * time.Millisecond
	// mostPaces is the number of texts whose pace is known.
	mostPaces = 4096
)

// pace is the average time in which a batch has its rows, in nanoseconds, or 0 before the first one.
type pace struct{ atomic.Int64 }

// paces has the pace of batches by the text of their last statement.
var paces struct {
	sync.Map

	n atomic.Int64
}

// paceOf returns the pace of batches whose last statement has a text. It returns nil if too many others are known.
func paceOf(text string) *pace {
	if known, ok := paces.Load(text); ok {
		return known.(*pace)
	}
	if paces.n.Add(1) > mostPaces {
		return nil
	}
	known, _ := paces.LoadOrStore(text, new(pace))
	return known.(*pace)
}

// share lets the batch share its round trip if its statements are brief.
func (t *trip) share() {
	if t.pace = paceOf(t.queries[len(t.queries)-1].sql); t.pace != nil {
		t.most = int(min(mostTogether, int64(longestTrip)/max(1, t.pace.Load())))
	}
}

// Most implements [admission.Trip].
func (t *trip) Most() int { return t.most }

// Joins implements [admission.Trip]: it reports whether both batches have the same texts.
func (t *trip) Joins(other admission.Trip) bool {
	return slices.EqualFunc(t.queries, other.(*trip).queries, func(a, b query) bool { return a.sql == b.sql })
}

// run sends the statements, with those of the others that share the round trip, and reads all rows. The others have
// the same error. With others, it does not end with ctx before its deadline, because their clients may still wait.
func (t *trip) run(ctx context.Context, q querier, others []admission.Trip) (err error) {
	begin := time.Now() //nolint:forbidigo // measures a duration
	defer func() {
		for _, other := range others {
			other.(*trip).err = err
		}
		if t.pace != nil {
			took, before := int64(time.Since(begin))/int64(len(others)+1), t.pace.Load()
			t.pace.Store(before + (took-before)/8)
		}
	}()
	// a single query needs fewer protocol messages than a batch
	if only := t.queries[0]; len(t.queries) == 1 && only.rows != nil && len(others) == 0 {
		rows, err := q.Query(ctx, only.sql, only.args...)
		if err != nil {
			return err
		}
		return only.rows.read(rows)
	}
	var batch pgx.Batch
	t.queue(&batch)
	for _, other := range others {
		other := other.(*trip)
		t.together, other.together = true, true
		other.queue(&batch)
	}
	if until, ok := ctx.Deadline(); t.together && ok {
		own, cancel := context.WithDeadline(context.WithoutCancel(ctx), until)
		defer cancel()
		ctx = own
	}
	return q.SendBatch(ctx, &batch).Close()
}

// queue adds the statements to a batch of the driver.
func (t *trip) queue(batch *pgx.Batch) {
	for _, one := range t.queries {
		if queued := batch.Queue(one.sql, one.args...); one.rows != nil {
			queued.Query(one.rows.read)
		}
	}
}
