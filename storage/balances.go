package storage

import (
	"context"
	"fmt"
	"time"

	"heliograph/internal/domain/ledger"
)

// treasuryNum is the account that every balance snapshot has a row of.
const treasuryNum = 2

// bounds are the least and the greatest instant that a filter leaves, both included, and the instants that it leaves out.
type bounds struct {
	lower, upper ledger.Timestamp
	except       []int64
}

// boundsOf collapses a filter in which eq means "at or before".
func boundsOf(f *ledger.TimestampFilter) bounds {
	b := bounds{lower: 0, upper: ledger.MaxTimestamp}
	until := func(v ledger.Timestamp) { b.upper = min(b.upper, v) }
	if f.Eq != nil {
		until(*f.Eq)
	}
	for _, v := range f.In {
		until(v)
	}
	if f.Lte != nil {
		until(*f.Lte)
	}
	if f.Lt != nil {
		until(*f.Lt - 1)
	}
	if f.Gte != nil {
		b.lower = max(b.lower, *f.Gte)
	}
	if f.Gt != nil && *f.Gt < ledger.MaxTimestamp {
		b.lower = max(b.lower, *f.Gt+1)
	}
	if f.Ne != nil {
		b.except = append(b.except, int64(*f.Ne))
	}
	b.except = append(b.except, int64s(f.NotIn)...)
	return b
}

// SnapshotWindow finds the newest balance snapshot that meets at, not before the month before the month of now or of the filter's end.
func (db *DB) SnapshotWindow(ctx context.Context, at *ledger.TimestampFilter, now ledger.Timestamp) (ledger.Null[ledger.SnapshotWindow], error) {
	none := ledger.Null[ledger.SnapshotWindow]{}
	b := boundsOf(at)
	b.lower = max(b.lower, monthStart(min(now, b.upper), -1))
	if b.lower > b.upper {
		return none, nil
	}
	w := where{args: []any{int64(db.base.WithNum(treasuryNum)), int64(b.lower), int64(b.upper)}}
	if b.except != nil {
		w.and("consensus_timestamp <> all(?)", b.except)
	}
	found, err := list(ctx, db, `select consensus_timestamp from account_balance where account_id = $1 and consensus_timestamp between $2 and $3`+
		w.String()+` order by consensus_timestamp desc limit 1`, w.args, func(v *ledger.Timestamp, into []any) []any { return append(into, v) }, nil)
	if err != nil {
		return none, fmt.Errorf("looking for a balance snapshot: %w", err)
	}
	if len(found) == 0 {
		return none, nil
	}
	return ledger.Of(ledger.SnapshotWindow{From: monthStart(*found[0], 0), At: *found[0]}), nil
}

// monthStart is the first instant, UTC, of the month that lies some months after that of t.
func monthStart(t ledger.Timestamp, months int) ledger.Timestamp {
	at := t.Time()
	start := time.Date(at.Year(), at.Month()+time.Month(months), 1, 0, 0, 0, 0, time.UTC)
	if start.Before(time.Unix(0, 0)) {
		return 0
	}
	return ledger.TimestampOf(start)
}

func balanceTargets(b *ledger.Balance, into []any) []any {
	return append(into, &b.AccountID, &b.Balance, &b.Timestamp)
}

// Balances reads a page of what accounts and contracts hold now, by id.
func (db *DB) Balances(ctx context.Context, f *ledger.BalanceFilter, p Page) ([]*ledger.Balance, error) {
	var w where
	if f != nil {
		filter(&w, "e.id", f.AccountID)
		filter(&w, "e.balance", f.Balance)
		textFilter(&w, "e.public_key", f.PublicKey)
	}
	w.keyset(p, "e.id")
	sql := `select e.id, e.balance, e.balance_timestamp from entity e where e.type in ('ACCOUNT', 'CONTRACT')` + w.String() + w.orderBy(p, "e.id")
	rows, err := list(ctx, db, sql, w.args, balanceTargets, nil)
	if err != nil {
		return nil, fmt.Errorf("reading balances: %w", err)
	}
	return rows, nil
}

// BalancesAt reads a page of what accounts held at a snapshot, by id. A condition on public keys holds for the accounts that have the key today.
func (db *DB) BalancesAt(ctx context.Context, f *ledger.BalanceFilter, window ledger.SnapshotWindow, p Page) ([]*ledger.Balance, error) {
	w := where{args: []any{int64(window.From), int64(window.At)}}
	if f != nil {
		filter(&w, "account_id", f.AccountID)
		filter(&w, "balance", f.Balance)
		if f.PublicKey != nil {
			w.sql.WriteString(" and account_id in (select id from entity where type in ('ACCOUNT', 'CONTRACT')")
			textFilter(&w, "public_key", f.PublicKey)
			w.sql.WriteString(")")
		}
	}
	w.keyset(p, "account_id")
	sql := `select distinct on (account_id) account_id, balance, $2::bigint from account_balance
where consensus_timestamp between $1 and $2` + w.String() + ` order by account_id` + p.direction() + `, consensus_timestamp desc limit ` + w.arg(p.Limit)
	rows, err := list(ctx, db, sql, w.args, balanceTargets, func(b *ledger.Balance) error {
		b.Snapshot = ledger.Of(window)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the balances of a snapshot: %w", err)
	}
	return rows, nil
}

func heldTokenTargets(t *ledger.TokenBalance, into []any) []any {
	return append(into, &t.TokenID, &t.Balance)
}

// QueueTokenBalances queues reading the first tokens of each balance, by token id; done gets one list for each.
func (b *Batch) QueueTokenBalances(balances []*ledger.Balance, limit int, desc bool, done func([][]*ledger.TokenBalance)) {
	out := make([][]*ledger.TokenBalance, len(balances))
	direction := Page{Desc: desc}.direction()
	// Accounts of the present and of one snapshot are read apart; a page is normally of one kind.
	groups := map[ledger.Null[ledger.SnapshotWindow]][]int{}
	for i, balance := range balances {
		groups[balance.Snapshot] = append(groups[balance.Snapshot], i)
	}
	for snapshot, places := range groups {
		accounts := make([]int64, len(places))
		for i, place := range places {
			accounts[i] = int64(balances[place].AccountID)
		}
		from, arg := ofParents(accounts)
		args := []any{arg, limit}
		page := `select token_id, balance from token_account where account_id = p.id and associated order by token_id` + direction + ` limit $2`
		if snapshot.Valid {
			args = append(args, int64(snapshot.V.From), int64(snapshot.V.At))
			page = `select distinct on (token_id) token_id, balance from token_balance
  where account_id = p.id and consensus_timestamp between $3 and $4
  order by token_id` + direction + `, consensus_timestamp desc limit $2`
		}
		queueChildren(b, len(accounts), `select p.ord, t.token_id, t.balance from `+from+` cross join lateral (`+page+`) t
order by p.ord, t.token_id`+direction, args, heldTokenTargets, nil, itself, func(rows [][]*ledger.TokenBalance) {
			for i, place := range places {
				out[place] = rows[i]
			}
		})
	}
	b.then(func() { done(out) })
}
