// Package ledgerstate reads what the ledger's tables hold at a past moment only together: balances, supplies and
// holders, which are a snapshot and the transfers since. The versions of entities and everything else are read by the
// statements of the present, whose tables stand for the past; see storage/moment.go.
//
// The statements of this package run with a moment too: their tables end there.
package ledgerstate

import (
	"context"

	"heliograph/internal/base/wrap"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/entities"
)

// Bounds are the moments that the database tells.
type Bounds struct {
	// Newest is the end of the newest block.
	Newest ledger.Timestamp
	// FirstSnapshot is the time of the first balance snapshot.
	FirstSnapshot ledger.Null[ledger.Timestamp]
}

type foundMoment struct {
	Bounds
	at, snapshot ledger.Null[ledger.Timestamp]
}

var foundMoments = storage.MapperOf(func(f *foundMoment, into []any) []any {
	return append(into, &f.at, &f.Newest, &f.FirstSnapshot, &f.snapshot)
}, nil)

// snapshotSpan is the time in which the balance snapshot before a moment is sought, in nanoseconds: snapshots are at
// most seven days apart, and the first of each month is complete.
const snapshotSpan = "5356800000000000"

// Ways to select a moment: what the parameter $2 is.
const (
	ByTime   = "select $2::bigint as at"
	ByNumber = "select consensus_end as at from record_file where index = $2::bigint limit 1"
	// ByHash takes a pattern.
	ByHash = "select consensus_end as at from record_file where hash like $2::text limit 1"
	// ByTransaction takes a consensus time. Children directly follow their transaction.
	ByTransaction = `select max(consensus_timestamp) as at from (
    select consensus_timestamp, parent_consensus_timestamp from transaction where consensus_timestamp >= $2::bigint
    order by consensus_timestamp limit 1000) t
  where consensus_timestamp = $2 or parent_consensus_timestamp = $2 and exists (select 1 from transaction where consensus_timestamp = $2)`
)

// Moment reads the moment that a value selects in one of the ways [ByTime], [ByNumber], [ByHash] and [ByTransaction],
// and the bounds within which moments can be read. The value is an integer, for ByHash a LIKE pattern. It returns nil
// for both if there is no such block or transaction. A time is not checked: the caller has to compare it with the
// bounds. Without a balance snapshot before the moment, its balances are null.
func Moment(ctx context.Context, db *storage.DB, way string, value any) (*ledger.Moment, *Bounds, error) {
	found, err := foundMoments.One(ctx, db, "a moment", `select m.at, coalesce(n.newest, 0), s.first, b.newest
from (select 1) one left join lateral (`+way+`) m on true
cross join (select max(consensus_end) as newest from record_file) n
cross join (select min(consensus_timestamp) as first from account_balance where account_id = $1) s
left join lateral (select consensus_timestamp as newest from account_balance
  where account_id = $1 and consensus_timestamp between m.at - `+snapshotSpan+` and m.at
  order by consensus_timestamp desc limit 1) b on true`, int64(db.SystemEntity(entities.TreasuryNum)), value)
	if err != nil || found == nil || !found.at.Valid {
		return nil, nil, wrap.Error(err, "looking for a moment")
	}
	m := &ledger.Moment{At: found.at.V}
	if found.snapshot.Valid {
		m.Balances = ledger.Of(entities.WindowOfSnapshot(found.snapshot.V))
	}
	return m, &found.Bounds, nil
}

// NearestSnapshots returns the times of the balance snapshots before and after a moment, as far as there are. It reads
// the present state of the database, even if ctx has a moment. Every snapshot has a row of the treasury, which tells
// its time. With an error, the one after it is missing.
func NearestSnapshots(ctx context.Context, db *storage.DB, m *ledger.Moment) ([]ledger.Timestamp, error) {
	var out []ledger.Timestamp
	if m.Balances.Valid {
		out = append(out, m.Balances.V.At)
	}
	next, err := storage.Value[ledger.Null[ledger.Timestamp]](ledger.Present(ctx), db, "the next balance snapshot",
		`select min(consensus_timestamp) from account_balance where account_id = $1 and consensus_timestamp > $2`,
		int64(db.SystemEntity(entities.TreasuryNum)), int64(m.At))
	if err == nil && next.Valid {
		out = append(out, next.V)
	}
	return out, err
}
