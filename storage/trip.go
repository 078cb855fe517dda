package storage

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/internal/base/admission"
)

// trip has the statements of a batch, which are sent in one round trip. Batches with the same texts can share one, also
// those of different clients: while the gateway is busy, several requests are ready to send theirs. With twelve
// connections, single blocks then take a fifth less of the gateway's CPU time, and two fifths less of PostgreSQL's
// (docs/performance.md).
type trip struct {
	queries []query
	pace    *pace // nil if they are always sent alone
	shared  bool  // the round trip had others, for which it can have failed
	err     error // of the round trip
}

const (
	// mostShared is the number of batches in a round trip.
	mostShared = 16
	// longestTrip is the time that a shared round trip takes, as far as that is known: the statements run one after the
	// other, and the first batch waits for the last.
	longestTrip = 4 * time.Millisecond
	// lostTrip is the time after which a shared round trip is canceled: a statement of one of its batches waits for a
	// lock, or reads far more rows than usual. Then, or after another error, its batches are sent alone, and for a
	// pause also all others with the same texts, which shall not wait for the next one.
	lostTrip, pause = 100 * time.Millisecond, 5 * time.Second
	// mostPaces is the number of different batches whose pace is known.
	mostPaces = 4096
)

// pace is how long batches with the same texts take.
type pace struct {
	average atomic.Int64 // in nanoseconds, 0 before the first one has ended; see [pace.add]
	alone   atomic.Int64 // the Unix time in nanoseconds until which they are sent alone
}

// paces has the paces of batches by the texts of their first and last statement. There are few texts: statements differ
// in their arguments.
var paces struct {
	sync.Map

	n atomic.Int64
}

// paceOf returns the pace of a batch, which has at least one statement. It forgets all others if there are too many.
func paceOf(queries []query) *pace {
	of := [2]string{queries[len(queries)-1].sql} // a long text, hashed once if there is no other
	if len(queries) > 1 {
		of[1] = queries[0].sql
	}
	known, ok := paces.Load(of)
	if !ok {
		if paces.n.Add(1) > mostPaces {
			paces.Clear()
			paces.n.Store(1)
		}
		known, _ = paces.LoadOrStore(of, new(pace))
	}
	return known.(*pace) //nolint:forcetypeassert // it has nothing else
}

// now returns the time of the system clock, for durations.
func now() time.Time {
	return time.Now() //nolint:forbidigo // the clock of the ledger may be fixed
}

// Most implements [admission.Trip]. It is 1 unless the statements are known to be brief.
func (t *trip) Most() int {
	if t.pace == nil || t.pace.average.Load() == 0 || now().UnixNano() < t.pace.alone.Load() {
		return 1
	}
	return int(min(mostShared, max(1, int64(longestTrip)/t.pace.average.Load())))
}

// Joins implements [admission.Trip]: it reports whether both batches have the same texts.
func (t *trip) Joins(other admission.Trip) bool {
	with := other.(*trip) //nolint:forcetypeassert // storage has no other trips
	return slices.EqualFunc(t.queries, with.queries, func(a, b query) bool { return a.sql == b.sql })
}

// run sends the statements, with those of the other batches that share the round trip, and reads all rows. An error of
// a shared round trip is that of all its batches. It has no cause, so that nobody takes it for one of their own
// statements, clients or servers.
func (t *trip) run(ctx context.Context, q querier, others []admission.Trip) error {
	begin := now()
	all := []*trip{t}
	for _, other := range others {
		all = append(all, other.(*trip)) //nolint:forcetypeassert // as above
	}
	note := func(err error) {
		for _, one := range all {
			one.err, one.shared = err, len(others) > 0
		}
	}
	note(errNotSent) // which remains after a panic
	err := send(ctx, q, all)
	if err != nil && len(others) > 0 {
		err = errors.New("a shared round trip: " + err.Error())
	}
	note(err)
	if failed := err != nil; t.pace != nil && (t.shared || !failed) {
		t.pace.add(now().Sub(begin), len(all), failed)
	}
	return err
}

// nearest is the shortest time that a round trip has taken, in nanoseconds: about what the network takes. It is 0
// before the first one.
var nearest atomic.Int64

// add notes how long a round trip of n batches took, and whether it has failed, which only shared ones may have. What
// the network takes does not count, up to seven eighths, because more batches do not take more of it. The average falls
// faster than it rises: batches that take longer because the processors are busy shall share round trips all the more.
func (p *pace) add(trip time.Duration, n int, failed bool) {
	network := nearest.Load()
	if !failed && (network == 0 || int64(trip) < network) {
		nearest.Store(int64(trip))
	}
	took := max(int64(trip)-network, int64(trip)/8) / int64(n)
	before, part := cmp.Or(p.average.Load(), took), int64(16)
	if took < before {
		part = 4
	}
	p.average.Store(before + (took-before)/part)
	if failed {
		p.alone.Store(now().Add(pause).UnixNano())
	}
}

// send sends the statements of batches with the same texts in one round trip, and calls their readers as rows arrive.
// The first statements of all batches run before their second ones, so that a setting applies to the statements after
// it only. It returns the first error of a statement or reader, after which it calls no further reader. If there are
// several batches, the end of ctx does not cancel them, because the clients of the others may still wait.
func send(ctx context.Context, q querier, all []*trip) error {
	first := all[0].queries
	// a single query needs fewer protocol messages than a batch
	if len(all) == 1 && len(first) == 1 && first[0].rows != nil {
		rows, err := q.Query(ctx, first[0].sql, first[0].args...)
		if err != nil {
			return err
		}
		return first[0].rows.read(rows)
	}
	if len(all) > 1 {
		shared, cancel := context.WithTimeout(context.WithoutCancel(ctx), lostTrip)
		defer cancel()
		ctx = shared
	}
	var batch pgx.Batch
	for i := range first {
		for k, one := range all {
			q := one.queries[i]
			switch {
			case q.rows != nil:
				batch.Queue(q.sql, q.args...).Query(q.rows.read)
			case k == 0 || len(q.args) > 0: // a setting is the same for all
				batch.Queue(q.sql, q.args...)
			}
		}
	}
	return q.SendBatch(ctx, &batch).Close() //nolint:wrapcheck // the batch wraps it
}
