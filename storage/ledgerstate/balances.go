package ledgerstate

import (
	"slices"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/transactions"
)

// The maximum numbers of rows since the balance snapshot that are added up. A balance that needs more is unknown.
const (
	// MaxTransfers is the maximum number of transfers of all accounts of a statement.
	MaxTransfers = 200_000
	// MaxTokenTransfers is the maximum number of transfers of all tokens, because their index begins with the time.
	MaxTokenTransfers = 1_000_000
	// MaxNFTs is the maximum number of serials of a collection, with their former owners, that are counted.
	MaxNFTs = 200_000
	// MaxHolders is the maximum number of relationships of a token whose holders are counted or sorted.
	MaxHolders = 50_000
)

// Held is a balance in tinybars or the smallest unit of a token, or a number of serials, and whether more rows than the
// maximum would have to be added up for it: it is unknown then.
type Held struct {
	Balance int64
	TooMany bool
}

var heldRows = storage.MapperOf(func(h *Held, into []any) []any { return append(into, &h.Balance, &h.TooMany) }, nil)

// QueueBalances queues a query for the balances of accounts at a moment, in tinybars: those of the snapshot, and the
// transfers since. The balances of the moment must be known, and the batch must run in a context with it, which ends
// the tables there. If the index of transfers leaves out one of the accounts, it reads the transfers of all. The
// result has one balance per account, 0 for one that does not exist.
func QueueBalances(b *storage.Batch, m *ledger.Moment, accounts []ledger.EntityID) storage.Result[[]*Held] {
	// The index of transfers by account leaves out the accounts that take part in most transactions.
	unindexed, condition := []ledger.EntityID{transactions.FeeAccount}, "entity_id = any($1) and entity_id <> 98"
	if b.DB().Distributed() {
		unindexed = append(unindexed, rewardAccount)
		condition = "entity_id = any($1) and entity_id <> all (array[98, 800])"
	}
	if slices.ContainsFunc(accounts, func(id ledger.EntityID) bool { return slices.Contains(unindexed, id) }) {
		condition = "$1::bigint[] is not null"
	}
	args := []any{storage.Int64s(accounts), int64(m.Balances.V.From), int64(m.Since()), MaxTransfers}
	return heldRows.Queue(b, `with a as materialized (select id, ord from unnest((select $1::bigint[])) with ordinality a(id, ord)),
held as materialized (select a.ord, h.balance from a cross join lateral (
  select balance from account_balance where account_id = a.id and consensus_timestamp between $2 and $3
  order by consensus_timestamp desc limit 1) h),
moved as materialized (select entity_id, amount from crypto_transfer
  where `+condition+` and consensus_timestamp > $3 and errata is distinct from 'DELETE' limit $4 + 1)
select coalesce(h.balance, 0) + coalesce(m.amount, 0)::bigint, (select count(*) from moved) > $4
from a left join held h on h.ord = a.ord
left join (select entity_id, sum(amount) as amount from moved group by entity_id) m on m.entity_id = a.id
order by a.ord`, args)
}

// rewardAccount is the account of staking rewards.
const rewardAccount ledger.EntityID = 800

// QueueStakesKnown queues a query for whether the results of staking periods are known at the moment of the context in
// which the batch runs: they are computed up to the row of the account of rewards. Before the end of the first period
// there are none, which counts as known.
func QueueStakesKnown(b *storage.Batch) storage.Result[bool] {
	return storage.QueueCheck(b, `select exists (select 1 from entity_stake where id = $1) or `+
		`not exists (select 1 from network_stake)`,
		int64(b.DB().SystemEntity(int64(rewardAccount))))
}

// Histories without an index by account.
const (
	AirdropHistory = "token_airdrop_history"
	HookHistory    = "hook_history"
)

// QueueFits queues a query for whether a history, [AirdropHistory] or [HookHistory], has at most
// [storage.MaxUnindexed] rows that matter at the moment of the context in which the batch runs.
func QueueFits(b *storage.Batch, history string) storage.Result[bool] {
	return storage.QueueCheck(b, `select count(*) <= $1 from (select 1 from `+history+` limit $1 + 1) h`,
		storage.MaxUnindexed)
}

// Holding identifies the balance of a token in an account.
type Holding struct{ Account, Token ledger.EntityID }

// QueueTokenBalances queues a query for the balances of tokens in accounts at a moment, whose balances must be known.
// The batch must run in a context with that moment, which limits all tables of the statement to it: it has no upper
// limit itself. So it is with all statements of this package that have a moment. For NFTs they are the numbers
// of serials. The result has one balance per holding.
func QueueTokenBalances(b *storage.Batch, m *ledger.Moment, of []Holding) storage.Result[[]*Held] {
	// Each is looked up once, though it stands in many holdings.
	const accounts = "(select array_agg(distinct account) from a)::bigint[]"
	owners := list.Map(of, func(h Holding) int64 { return int64(h.Account) })
	tokens := list.Map(of, func(h Holding) int64 { return int64(h.Token) })
	args := []any{owners, tokens, int64(m.Balances.V.From), int64(m.Since()), MaxTransfers, MaxNFTs}
	return heldRows.Queue(b, `with a as materialized (
  select account, token, ord from unnest((select $1::bigint[]), (select $2::bigint[])) with ordinality a(account, token, ord)),
held as materialized (select a.ord, h.balance from a cross join lateral (
  select balance from token_balance where account_id = a.account and token_id = a.token and consensus_timestamp between $3 and $4
  order by consensus_timestamp desc limit 1) h),
moved as materialized (select account_id, token_id, amount from token_transfer
  where account_id = any(`+accounts+`) and consensus_timestamp > $4 limit $5 + 1),
kinds as materialized (select token_id, type from token where token_id = any($2)),
owned as materialized (select account_id, token_id from nft
  where account_id = any(`+accounts+`) and deleted is not true
    and token_id = any((select array_agg(distinct token) from a)::bigint[]) limit $6 + 1)
select case k.type when 'NON_FUNGIBLE_UNIQUE' then coalesce(n.serials, 0) else coalesce(h.balance, 0) + coalesce(t.amount, 0)::bigint end,
  case k.type when 'NON_FUNGIBLE_UNIQUE' then (select count(*) from owned) > $6 else (select count(*) from moved) > $5 end
from a left join held h on h.ord = a.ord left join kinds k on k.token_id = a.token
left join (select account_id, token_id, sum(amount) as amount from moved group by account_id, token_id) t
  on t.account_id = a.account and t.token_id = a.token
left join (select account_id, token_id, count(*) as serials from owned group by account_id, token_id) n
  on n.account_id = a.account and n.token_id = a.token
order by a.ord`, args)
}
