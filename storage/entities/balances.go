package entities

import (
	"context"
	"slices"
	"time"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// TreasuryNum is the number of the treasury account. Every balance snapshot has a row for it.
const TreasuryNum = 2

// SnapshotWindow reads the time of the newest balance snapshot that matches at, and returns the window of its rows, or
// null. The search starts at the beginning of the month before that of now or of the filter's end. eq and in mean "at
// or before", and a nil at permits any time.
func SnapshotWindow(
	ctx context.Context, db *storage.DB, at *ledger.TimestampFilter, now ledger.Timestamp,
) (none ledger.Null[ledger.SnapshotWindow], err error) {
	b := storage.WindowOf(at)
	b.Lower = max(b.Lower, monthStart(min(now, b.Upper), -1))
	if b.Lower > b.Upper {
		return none, nil
	}
	w := storage.With(int64(db.SystemEntity(TreasuryNum)), int64(b.Lower), int64(b.Upper))
	if b.Except != nil {
		w.And("consensus_timestamp <> all(?)", b.Except)
	}
	found, err := storage.Values[ledger.Timestamp]().One(ctx, db, "the time of a balance snapshot",
		`select consensus_timestamp
from account_balance where account_id = $1 and consensus_timestamp between $2 and $3`+
			w.String()+` order by consensus_timestamp desc limit 1`, w.Args...)
	if err != nil || found == nil {
		return none, err
	}
	return ledger.Of(WindowOfSnapshot(*found)), nil
}

// WindowOfSnapshot returns the window of the rows of the balance snapshot at a time: from the start of its month
// (UTC), whose first snapshot has all accounts, since later ones have only those whose balances changed.
func WindowOfSnapshot(at ledger.Timestamp) ledger.SnapshotWindow {
	return ledger.SnapshotWindow{From: monthStart(at, 0), At: at}
}

// monthStart returns the start (UTC) of the month that is the given number of months, which can be negative, after
// that of t, but not before 1970.
func monthStart(t ledger.Timestamp, months int) ledger.Timestamp {
	at := t.Time()
	start := time.Date(at.Year(), at.Month()+time.Month(months), 1, 0, 0, 0, 0, time.UTC)
	if start.Before(time.Unix(0, 0)) {
		return 0
	}
	return ledger.TimestampOf(start)
}

// Balances reads a page of the current balances of accounts and contracts, deleted or not, ordered by id.
func Balances(
	ctx context.Context, db *storage.DB, f ledger.BalanceFilter, p storage.Page,
) ([]*ledger.Balance, error) {
	var w storage.Where
	storage.Filter(&w, "e.id", f.AccountID)
	storage.Filter(&w, "e.balance", f.Balance)
	storage.FilterText(&w, "e.public_key", f.PublicKey)
	cut, _ := accountsPage(db, &w, p)
	return balanceRows.List(ctx, db, "balances", `select `+balanceColumns+cut, w.Args...)
}

// BalancesAt reads a page of the balances of a snapshot, ordered by id. A condition on public keys applies to the
// current keys of the accounts. One on balances applies to all rows of the window: an account has the newest balance
// that matches, even if a newer one does not.
func BalancesAt(
	ctx context.Context, db *storage.DB, f ledger.BalanceFilter, window ledger.SnapshotWindow, p storage.Page,
) ([]*ledger.Balance, error) {
	w := storage.With(int64(window.From), int64(window.At))
	storage.Filter(&w, "account_id", f.AccountID)
	storage.Filter(&w, "balance", f.Balance)
	if f.PublicKey != nil {
		w.Raw(" and account_id in (select id from entity where type in ('ACCOUNT', 'CONTRACT')")
		storage.FilterText(&w, "public_key", f.PublicKey)
		w.Raw(")")
	}
	w.Keyset(p, "account_id")
	sql := `select distinct on (account_id) account_id, balance, $2::bigint from account_balance
where consensus_timestamp between $1 and $2` + w.String() + ` order by account_id` + p.Direction() + `, consensus_timestamp desc limit ` + w.Arg(p.Limit)
	ofSnapshot := storage.MapperOf(balanceTargets, func(b *ledger.Balance) error {
		b.Snapshot = ledger.Of(window)
		return nil
	})
	return ofSnapshot.List(ctx, db, "the balances of a snapshot", sql, w.Args...)
}

// QueueTokenBalances queues a query for the first tokens of each balance, at most limit, ordered by token id,
// descending if desc. Current balances have the tokens that are associated with the account only. The result has one
// list per balance.
func QueueTokenBalances(
	b *storage.Batch, balances []*ledger.Balance, limit int, desc bool,
) storage.Result[[][]*ledger.TokenBalance] {
	direction := storage.Page{Desc: desc}.Direction()
	// Current balances and those of each snapshot need separate statements. A page normally has one kind.
	snapshots := list.Map(balances, func(b *ledger.Balance) ledger.Null[ledger.SnapshotWindow] { return b.Snapshot })
	return storage.QueueGroups(snapshots, func(
		snapshot ledger.Null[ledger.SnapshotWindow], places []int,
	) storage.Result[[][]*ledger.TokenBalance] {
		accounts := list.Map(places, func(i int) int64 { return int64(balances[i].AccountID) })
		ps, _ := b.ParentsOrOne("id", accounts)
		args := slices.Concat(ps.Args, []any{limit})
		page := `select token_id, balance from token_account where account_id = ` + ps.Key("id") +
			` and associated order by token_id` + direction + ` limit $2`
		if snapshot.Valid {
			args = append(args, int64(snapshot.V.From), int64(snapshot.V.At))
			page = `select distinct on (token_id) token_id, balance from token_balance
  where account_id = ` + ps.Key("id") + ` and consensus_timestamp between $3 and $4
  order by token_id` + direction + `, consensus_timestamp desc limit $2`
		}
		return tokenBalanceRows.QueueChildren(b, len(accounts), &storage.Read{
			Parents: ps, Select: `p.ord, ` + tokenBalanceColumns, From: ps.From, Page: page, As: "t",
			Rest: ` order by p.ord, t.token_id` + direction,
		}, args)
	})
}
