package ledgerstate

import (
	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// holdings are the common table expressions with the balances of the token $1 in all accounts: those of the snapshot
// between $2 and $3, and the transfers since, or the numbers of serials. counted has how many rows were read.
const holdings = `with kind as materialized (select type, decimals from token where token_id = $1),
related as materialized (select account_id from token_account where token_id = $1 and associated limit $4 + 1),
held as materialized (select distinct on (account_id) account_id, balance from token_balance
  where token_id = $1 and consensus_timestamp between $2 and $3 order by account_id, consensus_timestamp desc),
passed as materialized (select 1 from token_transfer where consensus_timestamp > $3 limit $5 + 1),
moved as materialized (select account_id, sum(amount) as amount from token_transfer
  where token_id = $1 and consensus_timestamp > $3 and (select count(*) from passed) <= $5 group by account_id),
serials as materialized (select account_id from nft where token_id = $1 and deleted is not true limit $6 + 1),
owned as materialized (select account_id, count(*) as amount from serials group by account_id),
counted as materialized (select (select count(*) from related) > $4 as related,
  case (select type from kind) when 'NON_FUNGIBLE_UNIQUE' then (select count(*) from serials) > $6 else (select count(*) from passed) > $5 end as rows)
`

// holdingArgs returns the arguments of the statements about all holders of a token: the token, the times of the
// balance snapshot and of the moment, and the limits of rows. The balances of the moment must be known.
func holdingArgs(m *ledger.Moment, token ledger.EntityID) []any {
	return []any{int64(token), int64(m.Balances.V.From), int64(m.Since()), MaxHolders, MaxTokenTransfers, MaxNFTs}
}

// balances are the balances of the accounts of related. The sums do not depend on how many rows the planner expects,
// as joins would.
const balances = `select account_id, sum(amount)::bigint as balance from (
  select account_id, 0 as amount, true as related from related
  union all select account_id, balance, false from held where (select type from kind) is distinct from 'NON_FUNGIBLE_UNIQUE'
  union all select account_id, amount::bigint, false from moved
  union all select account_id, amount, false from owned) parts group by account_id having bool_or(related)`

// Holders is a page of the holders of a token.
type Holders struct {
	Page []*ledger.TokenHolder
	// Count is the number of holders of all pages, without a filter.
	Count int64
	// TooManyHolders and TooManyRows report that more rows than the maximum would have to be read.
	TooManyHolders, TooManyRows bool
}

// holderRow is a holder, or, in the last row, only what is counted.
type holderRow struct {
	ledger.TokenHolder
	account     ledger.Null[ledger.EntityID]
	balance     ledger.Null[int64]
	count       int64
	holders     bool
	rows        bool
	decimalsNow ledger.Null[int32]
}

var holderRows = storage.MapperOf(func(h *holderRow, into []any) []any {
	return append(into, &h.account, &h.balance, &h.decimalsNow, &h.count, &h.holders, &h.rows)
}, nil)

// QueueHolders queues a query for a page of the holders of a token at a moment, sorted by balance and account if
// byBalance, otherwise by account. Those with a balance of 0 are only included if zero is true. The balances of the
// moment must be known, and the batch must run in a context with it, which ends the tables there. The result is never
// nil. If TooManyHolders or TooManyRows is set, the page and the count are not valid.
func QueueHolders(b *storage.Batch, m *ledger.Moment, token ledger.EntityID, f ledger.TokenHolderFilter,
	byBalance, zero bool, p storage.Page,
) storage.Result[*Holders] {
	w := storage.Where{Args: holdingArgs(m, token)}
	storage.Filter(&w, "x.account_id", f.AccountID)
	storage.Filter(&w, "x.balance", f.Balance)
	columns := []string{"x.account_id"}
	if byBalance {
		columns = []string{"x.balance", "x.account_id"}
	}
	w.Keyset(p, columns...)
	keyed, with := "", ""
	if f.PublicKey != nil {
		named := storage.Where{Args: w.Args}
		storage.FilterText(&named, "public_key", f.PublicKey)
		with = `, named as materialized (select id from entity where type = 'ACCOUNT'` + named.String() + `)`
		keyed, w.Args = ` and x.account_id in (select id from named)`, named.Args
	}
	above := ""
	if !zero {
		above = " and sum(amount) > 0"
	}
	sql := holdings + with + `, balances as materialized (` + balances + above + `),
page as materialized (select x.account_id, x.balance from balances x where true` + w.String() + keyed + w.OrderBy(p, columns...) + `)
select x.account_id, x.balance, (select decimals from kind), (select count(*) from balances), c.related, c.rows
from counted c left join page x on true order by ` + p.Order(columns...)
	return storage.Map(holderRows.Queue(b, sql, w.Args), func(rows []*holderRow) *Holders {
		out := &Holders{}
		for _, r := range rows {
			out.Count, out.TooManyHolders, out.TooManyRows = r.count, r.holders, r.rows
			if r.account.Valid {
				r.TokenID, r.AccountID, r.Balance, r.Decimals = token, r.account.V, r.balance.V, r.decimalsNow
				r.Timestamp = ledger.Of(m.At)
				out.Page = append(out.Page, &r.TokenHolder)
			}
		}
		return out
	})
}

// QueueSupplies queues queries, one per token, for the supplies of tokens at a moment: the sums of all balances, or
// the numbers of serials. The balances of the moment must be known, and the batch must run in a context with it, which
// ends the tables there. The result has one supply per token.
func QueueSupplies(b *storage.Batch, m *ledger.Moment, tokens []ledger.EntityID) storage.Result[[]*Held] {
	return storage.All(list.Map(tokens, func(token ledger.EntityID) storage.Result[*Held] {
		return storage.First(heldRows.Queue(b, holdings+`select case (select type from kind) when 'NON_FUNGIBLE_UNIQUE' then (select count(*) from serials)
  else coalesce((select sum(balance) from held), 0)::bigint + coalesce((select sum(amount) from moved), 0)::bigint end, c.related or c.rows
from counted c`, holdingArgs(m, token)))
	}))
}

// SupplyOf returns the accounts that hold the unreleased hbars, and a function that computes the released supply, in
// tinybars, from their balances, all of which must be known. It reads nothing.
func SupplyOf(db *storage.DB) (accounts []ledger.EntityID, released func(balances []*Held) int64) {
	return ledger.UnreleasedAccounts(db.SystemEntity(0)), func(balances []*Held) int64 {
		rest := int64(0)
		for _, h := range balances {
			rest += h.Balance
		}
		return ledger.TotalSupply - rest
	}
}
