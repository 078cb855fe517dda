package entities

import (
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// receivedPage returns the statement for a page of the allowances that each of the given spenders received. No index
// starts with the spender, so the table is scanned once for all spenders and row numbers limit the pages.
func receivedPage(w *storage.Where, table, columns string, p storage.Page, keys ...string) string {
	order := p.Order(keys...)
	return `select p.ord, ` + columns + ` from ` + storage.Parents + ` join (
  select a.*, row_number() over (partition by a.spender order by ` + order + `) as place from ` + table + ` a
  where a.spender = any($1) and a.amount > 0` + w.String() + `) a on a.spender = p.id
where a.place <= ` + w.Arg(p.Limit) + ` order by p.ord, ` + order
}

// grantedPage returns the statement for a page of the allowances of each owner in the table from. page is the
// statement for one owner.
func grantedPage(from, page, columns string, p storage.Page, keys ...string) string {
	return `select p.ord, ` + columns + ` from ` + from + ` cross join lateral (` + page + `) a
order by p.ord, ` + p.Order(keys...)
}

const cryptoAllowanceColumns = `a.owner, a.spender, a.amount, a.amount_granted, lower(a.timestamp_range), ` +
	`upper(a.timestamp_range)`

var cryptoAllowanceRows = storage.MapperOf(func(a *ledger.CryptoAllowance, into []any) []any {
	return append(into, &a.OwnerID, &a.SpenderID, &a.Amount, &a.AmountGranted, &a.Timestamp.From, &a.Timestamp.To)
}, nil)

// QueueCryptoAllowances queues a query for the hbar allowances that each of the given accounts granted, ordered by
// spender, or received, ordered by owner. done receives one page per account. Allowances with no remaining amount are
// excluded.
func QueueCryptoAllowances(b *storage.Batch, accounts []ledger.EntityID, received bool,
	f *ledger.CryptoAllowanceFilter, p storage.Page,
	done func([][]*ledger.CryptoAllowance),
) {
	w := storage.Where{Args: []any{storage.Int64s(accounts)}}
	if f != nil {
		storage.Filter(&w, "a.owner", f.OwnerID)
		storage.Filter(&w, "a.spender", f.SpenderID)
	}
	var sql string
	if received {
		w.Keyset(p, "a.owner")
		sql = receivedPage(&w, "crypto_allowance", cryptoAllowanceColumns, p, "a.owner")
	} else {
		w.Keyset(p, "a.spender")
		page := `select * from crypto_allowance a where a.owner = p.id and a.amount > 0` + w.String() +
			w.OrderBy(p, "a.spender")
		from, arg := storage.OfParents(accounts)
		w.Args[0] = arg
		sql = grantedPage(from, page, cryptoAllowanceColumns, p, "a.spender")
	}
	cryptoAllowanceRows.QueueChildren(b, len(accounts), sql, w.Args, done)
}

const tokenAllowanceColumns = `a.owner, a.spender, a.token_id, a.amount, a.amount_granted, ` +
	`lower(a.timestamp_range), upper(a.timestamp_range)`

var tokenAllowanceRows = storage.MapperOf(func(a *ledger.TokenAllowance, into []any) []any {
	return append(into, &a.OwnerID, &a.SpenderID, &a.TokenID, &a.Amount, &a.AmountGranted, &a.Timestamp.From,
		&a.Timestamp.To)
}, nil)

// QueueTokenAllowances queues a query for the fungible token allowances that each of the given accounts granted,
// ordered by spender and token, or received, ordered by owner and token. done receives one page per account.
// Allowances with no remaining amount are excluded.
func QueueTokenAllowances(b *storage.Batch, accounts []ledger.EntityID, received bool, f *ledger.TokenAllowanceFilter,
	p storage.Page,
	done func([][]*ledger.TokenAllowance),
) {
	w := storage.Where{Args: []any{storage.Int64s(accounts)}}
	if f == nil {
		f = &ledger.TokenAllowanceFilter{}
	}
	storage.Filter(&w, "a.owner", f.OwnerID)
	storage.Filter(&w, "a.spender", f.SpenderID)
	storage.Filter(&w, "a.token_id", f.TokenID)
	var sql string
	if received {
		anyAllowance(&w, f.AnyOf)
		w.Keyset(p, "a.owner", "a.token_id")
		sql = receivedPage(&w, "token_allowance", tokenAllowanceColumns, p, "a.owner", "a.token_id")
	} else {
		w.Keyset(p, "a.spender", "a.token_id")
		from, arg := storage.OfParents(accounts)
		w.Args[0] = arg
		sql = grantedPage(from, tokenAllowancePage(&w, f, p), tokenAllowanceColumns, p, "a.spender", "a.token_id")
	}
	tokenAllowanceRows.QueueChildren(b, len(accounts), sql, w.Args, done)
}

// allowanceKey adds the conditions of one alternative of a filter.
func allowanceKey(w *storage.Where, f *ledger.TokenAllowanceKeyFilter) {
	storage.Filter(w, "a.spender", f.SpenderID)
	storage.Filter(w, "a.token_id", f.TokenID)
}

func tokenAllowancePage(w *storage.Where, f *ledger.TokenAllowanceFilter, p storage.Page) string {
	order := w.OrderBy(p, "a.spender", "a.token_id")
	statement := func(conditions string) string {
		return `select * from token_allowance a where a.owner = p.id and a.amount > 0` + w.String() + conditions +
			order
	}
	if f.AnyOf == nil {
		return statement("")
	}
	return `select * from (` + w.Union(len(f.AnyOf), statement, func(part *storage.Where, i int) {
		allowanceKey(part, f.AnyOf[i])
	}) + `) a` + order
}

// anyAllowance adds the condition that at least one alternative matches.
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

var rewardRows = storage.MapperOf(func(r *ledger.StakingReward, into []any) []any {
	return append(into, &r.AccountID, &r.Amount, &r.ConsensusTimestamp)
}, nil)

// QueueStakingRewards queues a query for the staking rewards paid to each of the given accounts, ordered by consensus
// time. done receives one page per account.
func QueueStakingRewards(
	b *storage.Batch, accounts []ledger.EntityID, f *ledger.StakingRewardFilter, p storage.Page,
	done func([][]*ledger.StakingReward),
) {
	from, arg := storage.OfParents(accounts)
	w := storage.Where{Args: []any{arg}}
	if f != nil {
		storage.Filter(&w, "r.consensus_timestamp", f.Timestamp)
	}
	w.Keyset(p, "r.consensus_timestamp")
	rewardRows.QueueChildren(b, len(accounts), storage.NoBitmaps+`select p.ord, r.account_id, r.amount, r.consensus_timestamp from `+from+` cross join lateral (
  select * from staking_reward_transfer r where r.account_id = p.id`+w.String()+w.OrderBy(p, "r.consensus_timestamp")+`) r
order by p.ord, r.consensus_timestamp`+p.Direction(), w.Args, done)
}

var nftAllowanceRows = storage.MapperOf(func(a *ledger.NFTAllowance, into []any) []any {
	return append(into, &a.ApprovedForAll, &a.OwnerID, &a.SpenderID, &a.TokenID, &a.Timestamp.From, &a.Timestamp.To)
}, nil)

// QueueNftAllowances queues a query for the NFT allowances that each of the given accounts granted, or with received
// was granted. They are ordered by the other account and the token. done receives one page per account.
func QueueNftAllowances(b *storage.Batch, accounts []ledger.EntityID, received bool, f *ledger.NFTAllowanceFilter,
	p storage.Page,
	done func([][]*ledger.NFTAllowance),
) {
	own, other := "owner", "spender"
	if received {
		own, other = other, own
	}
	from, arg := storage.OfParents(accounts)
	w := storage.Where{Args: []any{arg}}
	if f != nil {
		if f.Bounds == ledger.BoundsInOrder {
			storage.Filter(&w, other, storage.WithoutBounds(f.AccountID))
			storage.Filter(&w, "token_id", storage.WithoutBounds(f.TokenID))
			w.InOrder(storage.BoundsOn(other, f.AccountID), storage.BoundsOn("token_id", f.TokenID))
		} else {
			storage.Filter(&w, other, f.AccountID)
			storage.Filter(&w, "token_id", f.TokenID)
		}
	}
	w.Keyset(p, other, "token_id")
	nftAllowanceRows.QueueChildren(b, len(accounts), `select p.ord, a.approved_for_all, a.owner, a.spender, a.token_id,
  lower(a.timestamp_range), upper(a.timestamp_range)
from `+from+` cross join lateral (
  select * from nft_allowance where `+own+` = p.id and approved_for_all`+w.String()+w.OrderBy(p, other, "token_id")+`) a
order by p.ord, `+p.Order("a."+other, "a.token_id"), w.Args, done)
}

var airdropRows = storage.MapperOf(func(a *ledger.Airdrop, into []any) []any {
	return append(into, &a.Amount, &a.ReceiverID, &a.SenderID, &a.SerialNumber, &a.TokenID, &a.Timestamp.From,
		&a.Timestamp.To)
}, nil)

// QueueAirdrops queues a query for pending airdrops that each of the given accounts sent, or with received may claim.
// They are ordered by the other account, the token and the serial number. done receives one page per account.
func QueueAirdrops(
	b *storage.Batch, accounts []ledger.EntityID, received bool, f *ledger.AirdropFilter, p storage.Page,
	done func([][]*ledger.Airdrop),
) {
	own, other := "sender_account_id", "receiver_account_id"
	if received {
		own, other = other, own
	}
	from, arg := storage.OfParents(accounts)
	w := storage.Where{Args: []any{arg}}
	if f != nil && f.Bounds == ledger.BoundsInOrder {
		storage.Filter(&w, other, storage.WithoutBounds(f.AccountID))
		storage.Filter(&w, "token_id", storage.WithoutBounds(f.TokenID))
		storage.Filter(&w, "serial_number", storage.WithoutBounds(f.SerialNumber))
		w.InOrder(airdropBounds(storage.BoundsOn(other, f.AccountID), storage.BoundsOn("token_id", f.TokenID),
			storage.BoundsOn("serial_number", f.SerialNumber))...)
	} else if f != nil {
		storage.Filter(&w, other, f.AccountID)
		storage.Filter(&w, "token_id", f.TokenID)
		storage.Filter(&w, "serial_number", f.SerialNumber)
	}
	w.Keyset(p, other, "token_id", "serial_number")
	airdropRows.QueueChildren(b, len(accounts), `select p.ord, a.amount, a.receiver_account_id, a.sender_account_id, nullif(a.serial_number, 0), a.token_id,
  lower(a.timestamp_range), upper(a.timestamp_range)
from `+from+` cross join lateral (
  select * from token_airdrop where `+own+` = p.id and state = 'PENDING'`+w.String()+w.OrderBy(p, other, "token_id", "serial_number")+`) a
order by p.ord, `+p.Order("a."+other, "a.token_id", "a.serial_number"), w.Args, done)
}

// airdropBounds returns the bounds of the sort key. If one is not set, the next one replaces it.
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
