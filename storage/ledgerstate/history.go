package ledgerstate

import (
	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/entities"
)

// MaxHistoryTransfers is the maximum number of transfers that are added up for one balance of a history.
const MaxHistoryTransfers = 20_000

// EndBalance is the balance of an account at the end of a period. It is null before the first balance snapshot.
type EndBalance struct {
	Balance ledger.Null[int64]
	TooMany bool
}

var endRows = storage.MapperOf(func(e *EndBalance, into []any) []any {
	return append(into, &e.Balance, &e.TooMany)
}, nil)

// QueueBalanceHistory queues a query for the balances of an account before each of some times: that of the snapshot
// before each, and the transfers since. It needs the index of transfers by account, which lacks
// [transactions.FeeAccount]. The result has one balance per time.
func QueueBalanceHistory(
	b *storage.Batch, account ledger.EntityID, ends []ledger.Timestamp,
) storage.Result[[]*EndBalance] {
	last := list.Map(ends, func(end ledger.Timestamp) int64 { return int64(end) - 1 })
	p := b.Parents("t", last)
	t := p.Key("t")
	return endRows.QueueChild(b, len(ends), &storage.Read{
		Parents: p,
		Select: `p.ord, case when s.at is not null then coalesce(h.balance, 0) + coalesce(m.amount, 0)::bigint end,
  coalesce(m.rows, 0) > $4`,
		From: p.From + snapshotAt(t, "$2", "account_balance", "account_id = $3") + ` left join lateral (
  select sum(amount) as amount, count(*) as rows from (
    select amount from crypto_transfer where entity_id = $3 and entity_id <> 98 and consensus_timestamp > s.at
      and consensus_timestamp <= ` + t + ` and errata is distinct from 'DELETE' limit $4 + 1) t) m on true`,
		Rest: " order by p.ord",
	}, append(p.Args, int64(b.DB().SystemEntity(entities.TreasuryNum)), int64(account), MaxHistoryTransfers))
}
