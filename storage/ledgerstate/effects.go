package ledgerstate

import (
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/entities"
)

// MaxMoved is the maximum number of rows that are added up or counted for the balance after one transaction.
const MaxMoved = 5_000

// MovedBalance is a balance right after a transaction.
type MovedBalance struct {
	// After is null if the balance is unknown: before the first balance snapshot, or because of TooMany.
	After ledger.Null[int64]
	// Amount is the sum of the transfers of the transaction.
	Amount int64
	// TooMany reports that more rows than the maximum would have to be read.
	TooMany bool
}

var movedRows = storage.MapperOf(func(m *MovedBalance, into []any) []any {
	return append(into, &m.After, &m.Amount, &m.TooMany)
}, nil)

// snapshotAt returns the joins with the balance snapshot s at or before a time, and with the balance h of it in a
// table, whose rows of an object match a condition. at, the condition, and treasury, the account that each snapshot
// has, are SQL expressions. s and h are null if there is no snapshot within snapshotSpan before the time, and h also
// if the object is not in the snapshot.
func snapshotAt(db *storage.DB, at, treasury, table, condition string) []storage.Join {
	found := db.Of("s", "at")
	return []storage.Join{
		db.Then("s", `select consensus_timestamp as at from account_balance where account_id = `+treasury+`
    and consensus_timestamp between `+at+` - `+snapshotSpan+` and `+at+` order by consensus_timestamp desc limit 1`),
		db.Then("h", `select balance from `+table+` where `+condition+` and consensus_timestamp <= `+found+` and consensus_timestamp >=
    (extract(epoch from date_trunc('month', to_timestamp(`+found+` / 1000000000) at time zone 'UTC')) * 1000000000)::bigint
  order by consensus_timestamp desc limit 1`),
	}
}

// movedUntil returns a query for the newest transfers of an object since the balance snapshot s up to a time, those of
// that time included, at most one more than most. Without a snapshot, it reads only those of that time. at and most
// are SQL expressions, amount is a column or an expression, and condition selects the rows of the object.
func movedUntil(db *storage.DB, at, most, table, amount, condition string) string {
	return `(select consensus_timestamp, ` + amount + ` as amount from ` + table + ` where ` + condition + `
    and consensus_timestamp >= least(` + db.Of("s", "at") + ` + 1, ` + at + `) and consensus_timestamp <= ` + at + ` order by consensus_timestamp desc limit ` + most + ` + 1)`
}

// movedSums returns the join m with the sums of the rows of [movedUntil]: those after the snapshot s, and those at the
// time at, an SQL expression. Without a snapshot, the former is 0. The third column is the number of these rows.
func movedSums(db *storage.DB, at, rows string) storage.Join {
	return db.Then("m", `select coalesce(sum(amount) filter (where consensus_timestamp > `+db.Of("s", "at")+`), 0)::bigint as total,
    coalesce(sum(amount) filter (where consensus_timestamp = `+at+`), 0)::bigint as amount, count(*) as rows from (
    `+rows+`) t`)
}

// unindexed returns the numbers of the accounts that the index of hbar transfers by account leaves out, as an SQL
// list.
func unindexed(db *storage.DB) string {
	if db.Distributed() {
		return "98, 800"
	}
	return "98"
}

// keysOf returns the accounts, tokens and times of balances as three array arguments. Elements at one position belong
// to one balance.
func keysOf(of []*ledger.BalanceEffect) (accounts, tokens, at []int64) {
	for _, e := range of {
		accounts, tokens = append(accounts, int64(e.AccountID)), append(tokens, int64(e.TokenID))
		at = append(at, int64(e.ConsensusTimestamp))
	}
	return accounts, tokens, at
}

// QueueHbarsAfter queues a query for hbar balances right after transactions, in tinybars. The result has one balance
// for each, which is null without a snapshot before, or with too many transfers since; see [MovedBalance].
func QueueHbarsAfter(b *storage.Batch, of []*ledger.BalanceEffect) storage.Result[[]*MovedBalance] {
	accounts, _, at := keysOf(of)
	ps, w := b.Parents("id, at", accounts, at)
	db, id, t, without := b.DB(), ps.Key("id"), ps.Key("at"), unindexed(b.DB())
	treasury, most := w.Arg(int64(db.SystemEntity(entities.TreasuryNum))), w.Arg(MaxMoved)
	const valid = " and errata is distinct from 'DELETE'"
	moved := movedUntil(db, t, most, "crypto_transfer", "amount", "entity_id = "+id+" and entity_id not in ("+without+")"+valid) + `
    union all
    ` + movedUntil(db, t, most, "crypto_transfer", "case entity_id when "+id+" then amount else 0 end", id+" in ("+without+")"+valid)
	return movedRows.QueueChild(b, len(of), &storage.Read{
		Parents: ps,
		Select: `p.ord, case when s.at is not null and m.rows <= ` + most + ` then coalesce(h.balance, 0) + m.total end, m.amount,
  m.rows > ` + most,
		From:  ps.From,
		Joins: append(snapshotAt(db, t, treasury, "account_balance", "account_id = "+id), movedSums(db, t, moved)),
		Rest:  " order by p.ord",
	}, w.Args)
}

// QueueTokensAfter queues a query for the balances of tokens in accounts after transactions, as [QueueHbarsAfter] does
// for hbars. For NFTs it counts the serials, and the amount is 0. The result has one balance per effect.
func QueueTokensAfter(b *storage.Batch, of []*ledger.BalanceEffect) storage.Result[[]*MovedBalance] {
	accounts, tokens, at := keysOf(of)
	ps, w := b.Parents("id, token, at", accounts, tokens, at)
	db, id, token, t := b.DB(), ps.Key("id"), ps.Key("token"), ps.Key("at")
	treasury, most := w.Arg(int64(db.SystemEntity(entities.TreasuryNum))), w.Arg(MaxMoved)
	// The transfers of all tokens are read, because the index does not have the token.
	moved := movedUntil(db, t, most, "token_transfer", "case token_id when "+token+" then amount else 0 end",
		"account_id = "+id)
	const nonFungible = " = 'NON_FUNGIBLE_UNIQUE'"
	owned := ` where ` + db.Of("k", "type") + nonFungible + ` and account_id = ` + id + ` and token_id = ` + token +
		` and deleted is not true and `
	joins := append([]storage.Join{db.Then("k", `select type from token where token_id = `+token)},
		snapshotAt(db, t, treasury, "token_balance", "account_id = "+id+" and token_id = "+token)...)
	return movedRows.QueueChild(b, len(of), &storage.Read{
		Parents: ps,
		Select: `p.ord, case when k.type` + nonFungible + ` and n.rows <= ` + most + ` then n.rows
  when k.type <> 'NON_FUNGIBLE_UNIQUE' and s.at is not null and m.rows <= ` + most + ` then coalesce(h.balance, 0) + m.total end, m.amount,
  case when k.type` + nonFungible + ` then n.rows > ` + most + ` else m.rows > ` + most + ` end`,
		From: ps.From,
		Joins: append(joins, movedSums(db, t, moved), db.Then("n", `select count(*) as rows from (
    select 1 from nft`+owned+`lower(timestamp_range) <= `+t+`
    union all select 1 from nft_history`+owned+`timestamp_range @> `+t+` limit `+most+` + 1) n`)),
		Rest: " order by p.ord",
	}, w.Args)
}
