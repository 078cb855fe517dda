package storage

import (
	"strings"

	"heliograph/internal/domain/ledger"
)

// received is the statement that reads a page of what was granted to each of some spenders: no index begins with the spender, so the table is read
// once for all of them, and numbers cut the pages.
func (w *where) received(table, columns string, p Page, keys ...string) string {
	direction := p.direction()
	order := strings.Join(keys, direction+", ") + direction
	return `select p.ord, ` + columns + ` from ` + parents + ` join (
  select a.*, row_number() over (partition by a.spender order by ` + order + `) as place from ` + table + ` a
  where a.spender = any($1) and a.amount > 0` + w.String() + `) a on a.spender = p.id
where a.place <= ` + w.arg(p.Limit) + ` order by p.ord, ` + order
}

// granted is the statement that reads a page of what each of the owners in the table from granted. page reads one owner's.
func granted(from, page, columns string, p Page, keys ...string) string {
	direction := p.direction()
	return `select p.ord, ` + columns + ` from ` + from + ` cross join lateral (` + page + `) a
order by p.ord, ` + strings.Join(keys, direction+", ") + direction
}

const cryptoAllowanceColumns = `a.owner, a.spender, a.amount, a.amount_granted, lower(a.timestamp_range), upper(a.timestamp_range)`

func cryptoAllowanceTargets(a *ledger.CryptoAllowance, into []any) []any {
	return append(into, &a.OwnerID, &a.SpenderID, &a.Amount, &a.AmountGranted, &a.Timestamp.From, &a.Timestamp.To)
}

// QueueCryptoAllowances queues reading a page of the hbar allowances that each of some accounts granted, by spender, or received, by owner; done
// gets one list for each account. Allowances that are used up are left out.
func (b *Batch) QueueCryptoAllowances(accounts []ledger.EntityID, received bool, f *ledger.CryptoAllowanceFilter, p Page, done func([][]*ledger.CryptoAllowance)) {
	w := where{args: []any{int64s(accounts)}}
	if f != nil {
		filter(&w, "a.owner", f.OwnerID)
		filter(&w, "a.spender", f.SpenderID)
	}
	var sql string
	if received {
		w.keyset(p, "a.owner")
		sql = w.received("crypto_allowance", cryptoAllowanceColumns, p, "a.owner")
	} else {
		w.keyset(p, "a.spender")
		page := `select * from crypto_allowance a where a.owner = p.id and a.amount > 0` + w.String() + w.orderBy(p, "a.spender")
		from, arg := ofParents(accounts)
		w.args[0] = arg
		sql = granted(from, page, cryptoAllowanceColumns, p, "a.spender")
	}
	queueChildren(b, len(accounts), sql, w.args, cryptoAllowanceTargets, nil, itself, done)
}

const tokenAllowanceColumns = `a.owner, a.spender, a.token_id, a.amount, a.amount_granted, lower(a.timestamp_range), upper(a.timestamp_range)`

func tokenAllowanceTargets(a *ledger.TokenAllowance, into []any) []any {
	return append(into, &a.OwnerID, &a.SpenderID, &a.TokenID, &a.Amount, &a.AmountGranted, &a.Timestamp.From, &a.Timestamp.To)
}

// QueueTokenAllowances queues reading a page of the allowances of fungible tokens that each of some accounts granted, by spender and token, or
// received, by owner and token; done gets one list for each account. Allowances that are used up are left out.
func (b *Batch) QueueTokenAllowances(accounts []ledger.EntityID, received bool, f *ledger.TokenAllowanceFilter, p Page, done func([][]*ledger.TokenAllowance)) {
	w := where{args: []any{int64s(accounts)}}
	if f == nil {
		f = &ledger.TokenAllowanceFilter{}
	}
	filter(&w, "a.owner", f.OwnerID)
	filter(&w, "a.spender", f.SpenderID)
	filter(&w, "a.token_id", f.TokenID)
	var sql string
	if received {
		w.anyAllowance(f.AnyOf)
		w.keyset(p, "a.owner", "a.token_id")
		sql = w.received("token_allowance", tokenAllowanceColumns, p, "a.owner", "a.token_id")
	} else {
		w.keyset(p, "a.spender", "a.token_id")
		from, arg := ofParents(accounts)
		w.args[0] = arg
		sql = granted(from, w.tokenAllowancePage(f, p), tokenAllowanceColumns, p, "a.spender", "a.token_id")
	}
	queueChildren(b, len(accounts), sql, w.args, tokenAllowanceTargets, nil, itself, done)
}

// allowanceKey adds the conditions of an alternative.
func (w *where) allowanceKey(f *ledger.TokenAllowanceKeyFilter) {
	filter(w, "a.spender", f.SpenderID)
	filter(w, "a.token_id", f.TokenID)
}

// tokenAllowancePage is the statement that reads a page of an owner's allowances.
func (w *where) tokenAllowancePage(f *ledger.TokenAllowanceFilter, p Page) string {
	order := w.orderBy(p, "a.spender", "a.token_id")
	statement := func(conditions string) string {
		return `select * from token_allowance a where a.owner = p.id and a.amount > 0` + w.String() + conditions + order
	}
	if f.AnyOf == nil {
		return statement("")
	}
	return `select * from (` + w.eachPart(len(f.AnyOf), statement, func(part *where, i int) { part.allowanceKey(f.AnyOf[i]) }) + `) a` + order
}

// anyAllowance adds the condition that one of some alternatives holds.
func (w *where) anyAllowance(anyOf []*ledger.TokenAllowanceKeyFilter) {
	if anyOf == nil {
		return
	}
	w.sql.WriteString(" and (false")
	for _, f := range anyOf {
		w.sql.WriteString(" or (true")
		w.allowanceKey(f)
		w.sql.WriteString(")")
	}
	w.sql.WriteString(")")
}

// QueueStakingRewards queues reading a page of the staking rewards that each of some accounts was paid, by consensus time; done gets one list for
// each.
func (b *Batch) QueueStakingRewards(accounts []ledger.EntityID, f *ledger.StakingRewardFilter, p Page, done func([][]*ledger.StakingReward)) {
	from, arg := ofParents(accounts)
	w := where{args: []any{arg}}
	if f != nil {
		filter(&w, "r.consensus_timestamp", f.Timestamp)
	}
	w.keyset(p, "r.consensus_timestamp")
	queueChildren(b, len(accounts), `select p.ord, r.account_id, r.amount, r.consensus_timestamp from `+from+` cross join lateral (
  select * from staking_reward_transfer r where r.account_id = p.id`+w.String()+w.orderBy(p, "r.consensus_timestamp")+`) r
order by p.ord, r.consensus_timestamp`+p.direction(), w.args, func(r *ledger.StakingReward, into []any) []any {
		return append(into, &r.AccountID, &r.Amount, &r.ConsensusTimestamp)
	}, nil, itself, done)
}
