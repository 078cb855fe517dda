package storage

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/internal/base/admission"
)

// trip has the statements of a batch, which are sent in one round trip. Batches with the same texts can share one, also
// those of other clients: a round trip costs the gateway and the server more than reading a block by its number, and
// while the gateway is busy, several requests are ready to send theirs. With twelve connections, single blocks take a
// fifth less of the gateway's CPU time and half of PostgreSQL's (BenchmarkProcesses of app/testing/bench). A statement
// that waits, for example for a locked table, delays only others that would wait as well.
type trip struct {
	queries []query
	pace    *pace // nil if they are sent alone
	most    int   // batches that the round trip can have
	shared  bool  // the round trip has had others, for which it can have failed
	err     error // of the round trip of another batch, after it has sent the statements of this one
}

const (
	// mostShared is the number of batches in a round trip.
	mostShared = 16
	// longestTrip is the time that a shared round trip takes, as far as that is known: the statements run one after the
	// other, and the first batch waits for the last.
	longestTrip = 2 * time.Millisecond
	// mostPaces is the number of texts whose pace is known.
	mostPaces = 4096
)

// pace is the average time that a batch takes, in nanoseconds, or 0 before the first one has ended. In a shared round
// trip, all batches take the same part of it.
type pace struct{ atomic.Int64 }

// paces has the pace of batches by the text of their last statement. There are few texts: statements differ in their
// arguments.
var paces struct {
	sync.Map

	n atomic.Int64
}

// paceOf returns the pace of batches whose last statement has a text. It returns nil for a new text if too many are
// known.
func paceOf(text string) *pace {
	known, ok := paces.Load(text)
	if !ok {
		if paces.n.Add(1) > mostPaces {
			return nil
		}
		known, _ = paces.LoadOrStore(text, new(pace))
	}
	return known.(*pace) //nolint:forcetypeassert // it has nothing else
}

// share lets the batch share a round trip with others if its statements are known to be brief.
func (t *trip) share() {
	t.pace = paceOf(t.queries[len(t.queries)-1].sql)
	if t.pace != nil && t.pace.Load() > 0 {
		t.most = int(min(mostShared, int64(longestTrip)/t.pace.Load()))
	}
}

// Most implements [admission.Trip].
func (t *trip) Most() int { return t.most }

// Joins implements [admission.Trip]: it reports whether both batches have the same texts.
func (t *trip) Joins(other admission.Trip) bool {
	with := other.(*trip) //nolint:forcetypeassert // storage has no other trips
	return slices.EqualFunc(t.queries, with.queries, func(a, b query) bool { return a.sql == b.sql })
}

// run sends the statements, with those of the other batches that share the round trip, and reads all rows. The others
// get the same error. If there are others, the end of ctx does not cancel the statements before its deadline.
func (t *trip) run(ctx context.Context, q querier, others []admission.Trip) error {
	begin := time.Now() //nolint:forbidigo // measures a duration
	all := []*trip{t}
	for _, other := range others {
		all = append(all, other.(*trip)) //nolint:forcetypeassert // as above
	}
	note := func(err error) {
		for _, one := range all {
			one.err, one.shared = err, len(others) > 0
		}
	}
	note(errNotSent) // which remains if a function that reads rows panics
	err := send(ctx, q, all)
	note(err)
	if t.pace != nil {
		took := int64(time.Since(begin)) / int64(len(all)) //nolint:forbidigo // as above
		before := cmp.Or(t.pace.Load(), took)
		t.pace.Store(before + (took-before)/8)
	}
	return err
}

// send sends the statements of batches in one round trip, and calls their readers as rows arrive. It returns the first
// error of a statement or reader: the statements after it have then not run.
func send(ctx context.Context, q querier, all []*trip) error {
	// a single query needs fewer protocol messages than a batch
	if first := all[0].queries; len(all) == 1 && len(first) == 1 && first[0].rows != nil {
		rows, err := q.Query(ctx, first[0].sql, first[0].args...)
		if err != nil {
			return err
		}
		return first[0].rows.read(rows)
	}
	if until, ok := ctx.Deadline(); ok && len(all) > 1 { // the clients of the others may still wait
		shared, cancel := context.WithDeadline(context.WithoutCancel(ctx), until)
		defer cancel()
		ctx = shared
	}
	var batch pgx.Batch
	for _, one := range all {
		for _, q := range one.queries {
			if queued := batch.Queue(q.sql, q.args...); q.rows != nil {
				queued.Query(q.rows.read)
			}
		}
	}
	return q.SendBatch(ctx, &batch).Close() //nolint:wrapcheck // the batch wraps it
}
