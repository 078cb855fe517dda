package entities

import (
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// receivedPage describes the statement for a page of the allowances that each of the given spenders received, for
// [QueueCryptoAllowances] and [QueueTokenAllowances]. w has the conditions on the rows a of table, and gets the limit.
// No index starts with the spender, so the table is scanned once for all spenders and row numbers limit the pages.
// columns are the select list, and keys the columns that the page is sorted by. ps must be from
// [storage.Batch.Parents], not a single key.
func receivedPage(
	ps *storage.Parents, w *storage.Where, table, columns string, p storage.Page, keys ...string,
) *storage.Read {
	order := p.Order(keys...)
	return &storage.Read{
		Parents: ps, Select: `p.ord, ` + columns,
		From: ps.From + ` join (
  select a.*, row_number() over (partition by a.spender order by ` + order + `) as place from ` + table + ` a
  where a.spender = ` + ps.Any() + ` and a.amount > 0` + w.String() + `) a on a.spender = ` + ps.Key("id"),
		Rest: ` where a.place <= ` + w.Arg(p.Limit) + ` order by p.ord, ` + order,
	}
}

// grantedPage describes the statement for a page of the allowances of each owner. page is the statement for one owner,
// with its limit. columns are the select list, and keys the columns that the page is sorted by.
func grantedPage(ps *storage.Parents, page, columns string, p storage.Page, keys ...string) *storage.Read {
	return &storage.Read{
		Parents: ps, Select: `p.ord, ` + columns, From: ps.From, Page: page, As: "a",
		Rest: ` order by p.ord, ` + p.Order(keys...),
	}
}

// allowanceParents returns accounts as parents of the allowances that they gave, or received, and conditions that
// start with their arguments. Those that received allowances are always an array, which [receivedPage] needs.
func allowanceParents(b *storage.Batch, accounts []ledger.EntityID, received bool) (*storage.Parents, storage.Where) {
	if received {
		return b.Parents("id", storage.Int64s(accounts))
	}
	return b.ParentsOrOne("id", storage.Int64s(accounts))
}

// QueueCryptoAllowances queues a query for the hbar allowances that each of the given accounts granted, ordered by
// spender, or received, ordered by owner. The result has one page per account. Allowances with no remaining amount are
// excluded.
func QueueCryptoAllowances(b *storage.Batch, accounts []ledger.EntityID, received bool,
	f ledger.CryptoAllowanceFilter, p storage.Page,
) storage.Result[[][]*ledger.CryptoAllowance] {
	ps, w := allowanceParents(b, accounts, received)
	storage.Filter(&w, "a.owner", f.OwnerID)
	storage.Filter(&w, "a.spender", f.SpenderID)
	var r *storage.Read
	if received {
		w.Keyset(p, "a.owner")
		r = receivedPage(ps, &w, "crypto_allowance", cryptoAllowanceColumns, p, "a.owner")
	} else {
		w.Keyset(p, "a.spender")
		page := `select * from crypto_allowance a where a.owner = ` + ps.Key("id") + ` and a.amount > 0` + w.String() +
			w.OrderBy(p, "a.spender")
		r = grantedPage(ps, page, cryptoAllowanceColumns, p, "a.spender")
	}
	return cryptoAllowanceRows.QueueChildren(b, len(accounts), r, w.Args)
}

// QueueTokenAllowances queues a query for the fungible token allowances that each of the given accounts granted,
// ordered by spender and token, or received, ordered by owner and token. The result has one page per account.
// Allowances with no remaining amount are excluded. At least one alternative in f.AnyOf must match unless it is nil.
func QueueTokenAllowances(b *storage.Batch, accounts []ledger.EntityID, received bool, f ledger.TokenAllowanceFilter,
	p storage.Page,
) storage.Result[[][]*ledger.TokenAllowance] {
	ps, w := allowanceParents(b, accounts, received)
	storage.Filter(&w, "a.owner", f.OwnerID)
	storage.Filter(&w, "a.spender", f.SpenderID)
	storage.Filter(&w, "a.token_id", f.TokenID)
	var r *storage.Read
	if received {
		anyAllowance(&w, f.AnyOf)
		w.Keyset(p, "a.owner", "a.token_id")
		r = receivedPage(ps, &w, "token_allowance", tokenAllowanceColumns, p, "a.owner", "a.token_id")
	} else {
		w.Keyset(p, "a.spender", "a.token_id")
		r = grantedPage(ps, tokenAllowancePage(&w, ps.Key("id"), f, p), tokenAllowanceColumns, p,
			"a.spender", "a.token_id")
	}
	return tokenAllowanceRows.QueueChildren(b, len(accounts), r, w.Args)
}

// allowanceKey adds the conditions of one alternative in the filter of token allowances, on spender and token of rows
// a, to w.
func allowanceKey(w *storage.Where, f *ledger.TokenAllowanceKeyFilter) {
	storage.Filter(w, "a.spender", f.SpenderID)
	storage.Filter(w, "a.token_id", f.TokenID)
}

// tokenAllowancePage returns the statement for a page of the token allowances of an owner, an SQL expression, that
// match the conditions in w, and adds its arguments to w. With alternatives of a filter it is a union of them, so that
// each uses the index. An empty list of alternatives that is not nil matches nothing.
func tokenAllowancePage(w *storage.Where, owner string, f ledger.TokenAllowanceFilter, p storage.Page) string {
	order := w.OrderBy(p, "a.spender", "a.token_id")
	statement := func(conditions string) string {
		return `select * from token_allowance a where a.owner = ` + owner + ` and a.amount > 0` + w.String() +
			conditions + order
	}
	if f.AnyOf == nil {
		return statement("")
	}
	return `select * from (` + w.Union(len(f.AnyOf), statement, func(part *storage.Where, i int) {
		allowanceKey(part, f.AnyOf[i])
	}) + `) a` + order
}

// anyAllowance adds to w the condition that at least one alternative matches. If anyOf is nil it adds nothing; if it
// is empty but not nil, nothing matches.
func anyAllowance(w *storage.Where, anyOf []*ledger.TokenAllowanceKeyFilter) {
	if anyOf == nil {
		return
	}
	w.Raw(" and (false")
	for _, f := range anyOf {
		w.Raw(" or (true")
		allowanceKey(w, f)
		w.Raw(")")
	}
	w.Raw(")")
}

// QueueStakingRewards queues a query for the staking rewards paid to each of the given accounts, ordered by consensus
// time. The result has one page per account.
func QueueStakingRewards(
	b *storage.Batch, accounts []ledger.EntityID, f ledger.StakingRewardFilter, p storage.Page,
) storage.Result[[][]*ledger.StakingReward] {
	ps, w := b.ParentsOrOne("id", storage.Int64s(accounts))
	storage.Filter(&w, "r.consensus_timestamp", f.Timestamp)
	w.Keyset(p, "r.consensus_timestamp")
	return rewardRows.QueueChildren(b, len(accounts), &storage.Read{
		Setting: storage.NoBitmaps, Parents: ps, Select: `p.ord, ` + rewardColumns,
		From: ps.From,
		Page: `
  select * from staking_reward_transfer r where r.account_id = ` + ps.Key("id") + w.String() +
			w.OrderBy(p, "r.consensus_timestamp"), As: "r",
		Rest: ` order by p.ord, r.consensus_timestamp` + p.Direction(),
	}, w.Args)
}

// QueueNftAllowances queues a query for the NFT allowances that each of the given accounts granted, or with received
// was granted: those for all NFTs of a token that have not been revoked. They are ordered by the other account and
// the token. f.Bounds can make the bounds on the two keys in this order; see [storage.Where.InOrder]. The result has
// one page per account.
func QueueNftAllowances(b *storage.Batch, accounts []ledger.EntityID, received bool, f ledger.NFTAllowanceFilter,
	p storage.Page,
) storage.Result[[][]*ledger.NFTAllowance] {
	own, other := "owner", "spender"
	if received {
		own, other = other, own
	}
	ps, w := b.ParentsOrOne("id", storage.Int64s(accounts))
	inOrder := f.Bounds == ledger.BoundsInOrder
	w.InOrder(storage.FilterKey(&w, other, f.AccountID, inOrder),
		storage.FilterKey(&w, "token_id", f.TokenID, inOrder))
	w.Keyset(p, other, "token_id")
	return nftAllowanceRows.QueueChildren(b, len(accounts), &storage.Read{
		Parents: ps, Select: `p.ord, ` + nftAllowanceColumns,
		From: ps.From,
		Page: `
  select * from nft_allowance where ` + own + ` = ` + ps.Key("id") + ` and approved_for_all` + w.String() +
			w.OrderBy(p, other, "token_id"), As: "a",
		Rest: ` order by p.ord, ` + p.Order("a."+other, "a.token_id"),
	}, w.Args)
}

// QueueAirdrops queues a query for pending airdrops that each of the given accounts sent, or with received may claim.
// They are ordered by the other account, the token and the serial number. f.Bounds can make the bounds on the three
// keys in this order; see [storage.Where.InOrder]. The result has one page per account.
func QueueAirdrops(
	b *storage.Batch, accounts []ledger.EntityID, received bool, f ledger.AirdropFilter, p storage.Page,
) storage.Result[[][]*ledger.Airdrop] {
	own, other := "sender_account_id", "receiver_account_id"
	if received {
		own, other = other, own
	}
	ps, w := b.ParentsOrOne("id", storage.Int64s(accounts))
	inOrder := f.Bounds == ledger.BoundsInOrder
	w.InOrder(airdropBounds(storage.FilterKey(&w, other, f.AccountID, inOrder),
		storage.FilterKey(&w, "token_id", f.TokenID, inOrder),
		storage.FilterKey(&w, "serial_number", f.SerialNumber, inOrder))...)
	w.Keyset(p, other, "token_id", "serial_number")
	return airdropRows.QueueChildren(b, len(accounts), &storage.Read{
		Parents: ps, Select: `p.ord, ` + airdropColumns,
		From: ps.From,
		Page: `
  select * from token_airdrop where ` + own + ` = ` + ps.Key("id") + ` and state = 'PENDING'` + w.String() +
			w.OrderBy(p, other, "token_id", "serial_number"), As: "a",
		Rest: ` order by p.ord, ` + p.Order("a."+other, "a.token_id", "a.serial_number"),
	}, w.Args)
}

// airdropBounds returns the bounds for [storage.Where.InOrder] in the order of the sort key of [QueueAirdrops]. If one
// is not set, the next one replaces it. With only the account, or neither account nor token, there is one bound.
func airdropBounds(account, token, serial storage.ColumnBounds) []storage.ColumnBounds {
	hasAccount, hasToken, hasSerial := account.Given(), token.Given(), serial.Given()
	switch {
	case hasAccount && hasToken:
		return []storage.ColumnBounds{account, token, serial}
	case hasAccount && hasSerial:
		return []storage.ColumnBounds{account, serial, serial}
	case hasAccount:
		return []storage.ColumnBounds{account}
	case hasToken:
		return []storage.ColumnBounds{token, token, serial}
	default:
		return []storage.ColumnBounds{serial}
	}
}
