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

// QueueBalanceHistory queues a query for the balances of an account before each of some times, in ascending order:
// that of the snapshot before each, and the transfers since. It needs the index of transfers by account, which lacks
// [transactions.FeeAccount]: the caller must not pass that account. The result has one balance per time, null if there
// is no snapshot before. With TooMany, more transfers than [MaxHistoryTransfers] follow the snapshot, and the balance
// is not valid.
func QueueBalanceHistory(
	b *storage.Batch, account ledger.EntityID, ends []ledger.Timestamp,
) storage.Result[[]*EndBalance] {
	last := list.Map(ends, func(end ledger.Timestamp) int64 { return int64(end) - 1 })
	treasury := int64(b.DB().SystemEntity(entities.TreasuryNum))
	if b.DB().Distributed() {
		return queueEnds(b, account, last, treasury)
	}
	// The snapshots and the balances in them are read at once, because a look-up in tables with many partitions is
	// expensive. Transfers are read once, however many times follow the same snapshot.
	return endRows.Queue(b, `with ends as materialized (select t, ord from unnest((select $1::bigint[])) with ordinality p(t, ord)),
stored as materialized (select account_id, consensus_timestamp, balance from account_balance where account_id in ($2, $3)
  and consensus_timestamp between (select min(t) from ends) - `+snapshotSpan+` and (select max(t) from ends)),
found as materialized (select * from (
  select ord, t, max(snapshot) over w as at, max(held) over w as held,
    max(t) filter (where ord is not null) over (w rows between unbounded preceding and 1 preceding) as before from (
    select t, ord, null::bigint as snapshot, null::bigint as held from ends
    union all select consensus_timestamp, null, case account_id when $2 then consensus_timestamp end,
      case account_id when $3 then consensus_timestamp end from stored) e
  window w as (order by t, ord nulls first)) e where ord is not null)
select case when p.at is not null then coalesce(h.balance, 0) + coalesce(sum(m.amount) over w, 0)::bigint end,
  coalesce(sum(m.rows) over w, 0) > $4
from (select ord, t, before, held, case when at >= t - `+snapshotSpan+` then at end as at from found) p
left join stored h on h.account_id = $3 and h.consensus_timestamp = p.held and p.held >=
  (extract(epoch from date_trunc('month', to_timestamp(p.at / 1000000000) at time zone 'UTC')) * 1000000000)::bigint
left join lateral (
  select sum(amount) as amount, count(*) as rows from (
    select amount from crypto_transfer where entity_id = $3 and entity_id <> 98 and p.at is not null
      and consensus_timestamp > greatest(p.at, p.before) and consensus_timestamp <= p.t and errata is distinct from 'DELETE'
    limit $4 + 1) t) m on true
window w as (partition by p.at order by p.t)
order by p.ord`, []any{last, treasury, int64(account), MaxHistoryTransfers})
}

// queueEnds queues a query for the balances of an account at each of the times in last, as [QueueBalanceHistory] does,
// but from the snapshot before each of them. The result has one balance per time. It is the form for distributed
// tables. treasury is the account that each snapshot has.
func queueEnds(b *storage.Batch, account ledger.EntityID, last []int64, treasury int64) storage.Result[[]*EndBalance] {
	p, _ := b.Parents("t", last)
	db, t := b.DB(), p.Key("t")
	return endRows.QueueChild(b, len(last), &storage.Read{
		Parents: p,
		Select: `p.ord, case when s.at is not null then coalesce(h.balance, 0) + coalesce(m.amount, 0)::bigint end,
  coalesce(m.rows, 0) > $4`,
		From: p.From,
		Joins: append(snapshotAt(db, t, "$2", "account_balance", "account_id = $3"), db.Then("m",
			`select sum(amount) as amount, count(*) as rows from (
    select amount from crypto_transfer where entity_id = $3 and entity_id <> 98 and consensus_timestamp > `+db.Of("s", "at")+`
      and consensus_timestamp <= `+t+` and errata is distinct from 'DELETE' limit $4 + 1) t`)),
		Rest: " order by p.ord",
	}, append(p.Args, treasury, int64(account), MaxHistoryTransfers))
}
