package entities

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

var holderRows = storage.MapperOf(func(h *ledger.TokenHolder, into []any) []any {
	return append(into, &h.TokenID, &h.AccountID, &h.Balance, &h.Timestamp, &h.Holders, &h.Decimals)
}, nil)

// QueueTokenHolders queues a query for the holders of each of the given tokens, ordered by account id. The result has
// one page per token. at has one element for each token. If it is not nil, its holders are those of the newest balance
// snapshot that matches. That snapshot is looked up immediately, and now limits the search; if the look-up fails, the
// result has the error. Without a matching snapshot the list is empty.
func QueueTokenHolders(ctx context.Context, b *storage.Batch, tokens []ledger.EntityID, at []*ledger.TimestampFilter,
	f ledger.TokenHolderFilter,
	now ledger.Timestamp, p storage.Page,
) storage.Result[[][]*ledger.TokenHolder] {
	return storage.QueueGroups(at, func(
		at *ledger.TimestampFilter, places []int,
	) storage.Result[[][]*ledger.TokenHolder] {
		ids := list.Map(places, func(i int) int64 { return int64(tokens[i]) })
		if at == nil {
			return queueHolders(b, ids, f, p)
		}
		window, err := SnapshotWindow(ctx, b.DB(), at, now)
		switch {
		case err != nil:
			return storage.Failed[[][]*ledger.TokenHolder](fmt.Errorf("reading holders of tokens: %w", err))
		case !window.Valid:
			return storage.Known(make([][]*ledger.TokenHolder, len(ids)))
		default:
			return queueHoldersAt(b, ids, f, window.V, p)
		}
	})
}

// holderAccounts adds to w the conditions of the filter on the accounts of holders h. One on public keys applies to
// the current keys, also for holders at an earlier snapshot, and excludes contracts.
func holderAccounts(w *storage.Where, f ledger.TokenHolderFilter) {
	storage.Filter(w, "h.account_id", f.AccountID)
	if f.PublicKey != nil {
		w.Raw(" and h.account_id in (select id from entity where type = 'ACCOUNT'")
		storage.FilterText(w, "public_key", f.PublicKey)
		w.Raw(")")
	}
}

// QueueCurrentHolders queues a query for the current holders of each of the given tokens, ordered by account id, as
// [QueueTokenHolders] does without a time. It looks up no snapshot. The result has one page per token.
func QueueCurrentHolders(
	b *storage.Batch, tokens []ledger.EntityID, f ledger.TokenHolderFilter, p storage.Page,
) storage.Result[[][]*ledger.TokenHolder] {
	return queueHolders(b, storage.Int64s(tokens), f, p)
}

// queueHolders queues a query for a page of the current accounts of each token, also those with the balance 0, ordered
// by account id. It counts no holders: [ledger.TokenHolder.Holders] is 0. The result has one page for each id.
func queueHolders(
	b *storage.Batch, ids []int64, f ledger.TokenHolderFilter, p storage.Page,
) storage.Result[[][]*ledger.TokenHolder] {
	ps, w := b.ParentsOrOne("id", ids)
	token := ps.Key("id")
	holderAccounts(&w, f)
	storage.Filter(&w, "h.balance", f.Balance)
	w.Keyset(p, "h.account_id")
	return holderRows.QueueChildren(b, len(ids), &storage.Read{
		Parents: ps, Select: `p.ord, h.*, ` + decimalsOf(token), From: ps.From,
		Page: `
  select h.token_id, h.account_id, h.balance, h.balance_timestamp, 0::bigint from token_account h
  where h.token_id = ` + token + ` and h.associated` + w.String() + w.OrderBy(p, "h.account_id"), As: "h",
		Rest: ` order by p.ord, h.account_id` + p.Direction(),
	}, w.Args)
}

// decimalsOf returns an SQL subquery for the number of decimals of a token, which lists of holders have. token is an
// SQL expression. For a token that does not exist, the number is null.
func decimalsOf(token string) string {
	return `(select decimals from token where token_id = ` + token + `)`
}

// HoldersIndex is the name of the optional index of holders by balance, and storage/migrations proposes it.
const HoldersIndex = "token_account__token_id_balance"

// MaxSortedHolders is the maximum number of relationships of a token whose holders are sorted by balance, and
// MaxCountedHolders of one whose holders are counted. No index has the balance, so all of them are read.
const (
	MaxSortedHolders  = 15_000
	MaxCountedHolders = 200_000
)

// QueueHoldersByBalance queues a query for the holders of each of the given tokens with a balance above 0, ordered by
// balance and account id. The same pass over the relationships counts all that match f: TokenHolder.Holders of each
// row. The result has one page per token. It is empty for tokens with more than [MaxSortedHolders] relationships
// unless the database has [HoldersIndex]. With that, no holders are counted: the number is 0.
func QueueHoldersByBalance(
	b *storage.Batch, tokens []ledger.EntityID, f ledger.TokenHolderFilter, p storage.Page,
) storage.Result[[][]*ledger.TokenHolder] {
	ps, _ := b.ParentsOrOne("id", storage.Int64s(tokens))
	token := ps.Key("id")
	w := storage.With(append(ps.Args, MaxSortedHolders)...)
	holderAccounts(&w, f)
	storage.Filter(&w, "h.balance", f.Balance)
	matching := w.String()
	page := storage.With(w.Args...)
	page.Keyset(p, "h.balance", "h.account_id")
	order := page.OrderBy(p, "h.balance", "h.account_id")
	counted, small := "count(*) over ()",
		"not exists (select 1 from token_account n where n.token_id = "+token+
			" order by n.account_id offset $2 limit 1)"
	if b.DB().HasIndex(HoldersIndex) { // the page is read in its order
		counted, small = "0::bigint", "$2::int is not null"
	}
	return holderRows.QueueChildren(b, len(tokens), &storage.Read{
		Parents: ps, Select: `p.ord, h.*, ` + decimalsOf(token), From: ps.From,
		Page: `
  select h.* from (select h.token_id, h.account_id, h.balance, h.balance_timestamp, ` + counted + ` from token_account h
    where h.token_id = ` + token + ` and h.associated and h.balance > 0
      and ` + small + matching + `) h
  where true` + page.String() + order, As: "h",
		Rest: ` order by p.ord, ` + p.Order("h.balance", "h.account_id"),
	}, page.Args)
}

// HolderCount has the number of relationships of a token, and how many of them have a balance above 0.
type HolderCount struct{ Relationships, Holders int64 }

var holderCounts = storage.MapperOf(func(c *HolderCount, into []any) []any {
	return append(into, &c.Relationships, &c.Holders)
}, nil)

// QueueHolderCounts queues a query that counts the relationships of each of the given tokens up to most + 1, and the
// holders among these. The result has one count per token.
func QueueHolderCounts(b *storage.Batch, tokens []ledger.EntityID, most int) storage.Result[[]*HolderCount] {
	return countRelationships(b, holderCounts, `count(*), count(*) filter (where associated
and balance > 0)`, `*`, tokens, most)
}

// QueueRelationshipCounts queues a query that counts the relationships of each of the given tokens up to most + 1. It
// reads only an index. The result has one count per token.
func QueueRelationshipCounts(b *storage.Batch, tokens []ledger.EntityID, most int) storage.Result[[]*int64] {
	return countRelationships(b, storage.Values[int64](), `count(*)`, `1`, tokens, most)
}

// countRelationships queues a query for counts of the first most + 1 relationships of each token. counts are the
// SQL aggregates, and columns the columns that they use.
func countRelationships[C any](b *storage.Batch, rows *storage.Mapper[C, C], counts, columns string,
	tokens []ledger.EntityID, most int,
) storage.Result[[]*C] {
	ps, _ := b.ParentsOrOne("id", storage.Int64s(tokens))
	return rows.QueueChild(b, len(tokens), &storage.Read{
		Parents: ps, Select: `p.ord, n.*`, From: ps.From,
		Page: `
  select ` + counts + ` from (select ` + columns + ` from token_account where token_id = ` + ps.Key("id") + ` limit $2 + 1) h`,
		As: "n",
	}, append(ps.Args, most))
}

// queueHoldersAt queues a query for a page of the accounts of each token at the balance snapshot in window, ordered by
// account id, with the balances of that time, also 0. A condition on balances applies to the newest balance of an
// account in window. It counts no holders: [ledger.TokenHolder.Holders] is 0. The result has one page for each id.
func queueHoldersAt(b *storage.Batch, ids []int64, f ledger.TokenHolderFilter, window ledger.SnapshotWindow,
	p storage.Page,
) storage.Result[[][]*ledger.TokenHolder] {
	ps, _ := b.ParentsOrOne("id", ids)
	token := ps.Key("id")
	w := storage.With(append(ps.Args, int64(window.From), int64(window.At))...)
	holderAccounts(&w, f)
	w.Keyset(p, "h.account_id")
	held := storage.With(w.Args...)
	// the condition applies to the latest balance, after it is selected
	storage.Filter(&held, "h.balance", f.Balance)
	order := held.OrderBy(p, "h.account_id")
	direction := p.Direction()
	rows := ` from token_balance h where h.token_id = ` + token + ` and h.consensus_timestamp between $2 and $3`
	page := `select * from (select distinct on (h.account_id) h.token_id, h.account_id, h.balance` + rows + w.String() + `
    order by h.account_id` + direction + `, h.consensus_timestamp desc) h where true` + held.String() + order
	// the accounts in the order of an index, in both directions, and the newest balance of each
	if !b.DB().Distributed() {
		page = `select h.* from (select distinct h.account_id` + rows + w.String() + ` order by h.account_id` + direction + `) a cross join lateral (
    select h.token_id, h.account_id, h.balance` + rows + ` and h.account_id = a.account_id
    order by h.consensus_timestamp desc limit 1) h where true` + held.String() + strings.Replace(order, "h.account_id", "a.account_id", 1)
	}
	// With a generic plan, the planner would not know that the time selects one ordered partition.
	return holderRows.QueueChildren(b, len(ids), &storage.Read{
		Setting: storage.NoBitmapsCustom, Parents: ps,
		Select: `p.ord, h.*, $3::bigint, 0::bigint, ` + decimalsOf(token), From: ps.From, Page: page, As: "h",
		Rest: ` order by p.ord, h.account_id` + direction,
	}, held.Args)
}

// finishRelationship sets the statuses of a decoded relationship from their numbers in the database. The error is
// always nil.
func finishRelationship(r *relationshipRow) error {
	r.FreezeStatus, r.KYCStatus = freezeOf(r.freeze), kycOf(r.kyc)
	return nil
}

// freezeOf returns the freeze status for a number in the column freeze_status: 1 is frozen, 2 is unfrozen, and others,
// such as 0, are not applicable. Null stays null.
func freezeOf(number ledger.Null[int16]) ledger.Null[ledger.TokenFreezeStatus] {
	return statusOf(number, ledger.FreezeNotApplicable, ledger.FreezeFrozen, ledger.FreezeUnfrozen)
}

// kycOf returns the KYC status for a number in the column kyc_status: 1 is granted, 2 is revoked, and others, such as
// 0, are not applicable. Null stays null.
func kycOf(number ledger.Null[int16]) ledger.Null[ledger.TokenKYCStatus] {
	return statusOf(number, ledger.KYCNotApplicable, ledger.KYCGranted, ledger.KYCRevoked)
}

// statusOf returns the status for the number of a column: one for 1, two for 2, and other for all other numbers.
// Null stays null.
func statusOf[T ~string](number ledger.Null[int16], other, one, two T) ledger.Null[T] {
	return ledger.Null[T]{V: cmp.Or(map[int16]T{1: one, 2: two}[number.V], other), Valid: number.Valid}
}

// QueueTokenRelationships queues a query for the token relationships of each of the given accounts, ordered by token
// id. Tokens that are no longer associated with the account are excluded. The result has one page per account.
func QueueTokenRelationships(b *storage.Batch, accounts []ledger.EntityID, f ledger.TokenRelationshipFilter,
	p storage.Page,
) storage.Result[[][]*ledger.TokenRelationship] {
	ps, w := b.ParentsOrOne("id", storage.Int64s(accounts))
	storage.Filter(&w, "r.token_id", f.TokenID)
	w.Keyset(p, "r.token_id")
	return relationshipRows.QueueChildren(b, len(accounts), &storage.Read{
		Parents: ps,
		Select:  `r.ord, ` + relationshipColumns,
		Page: `select p.ord, r.* from ` + ps.From + ` cross join lateral (
  select * from token_account r where r.account_id = ` + ps.Key("id") + ` and r.associated` + w.String() +
			w.OrderBy(p, "r.token_id") + `) r`, As: "r",
		Joins: []storage.Join{storage.By("left join", "token", "t", "r", "token_id", "token_id")},
		Rest:  ` order by r.ord, r.token_id` + p.Direction(),
	}, w.Args)
}

// QueueEntityExists queues a query that checks whether an entity of any type, deleted or not, has the id.
func QueueEntityExists(b *storage.Batch, id ledger.EntityID) storage.Result[bool] {
	return storage.QueueCheck(b, `select exists (select 1 from entity where id = $1)`, int64(id))
}
