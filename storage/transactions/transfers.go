package transactions

import (
	"cmp"
	"slices"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// stakingRewardNum is the account from which staking rewards are paid.
const stakingRewardNum = 800

const (
	timesAndPayers = ` where consensus_timestamp = ` + storage.Any1 + ` and payer_account_id = ` + storage.Any2
	rewardsSQL     = `select distinct r.consensus_timestamp, c.payer_account_id, r.account_id, r.amount from (
  select * from staking_reward_transfer where consensus_timestamp = ` + storage.Any1 + `) r
join crypto_transfer c on c.consensus_timestamp = r.consensus_timestamp and c.payer_account_id = ` + storage.Any2 + ` and c.entity_id = $3
order by r.consensus_timestamp, r.account_id`
)

// Statements for rows of transactions. $1 are the consensus times and $2 the payers, the distribution key of the
// tables.
var (
	hbarTransfers = storage.ByKeys(`select consensus_timestamp, payer_account_id, entity_id, amount, coalesce(is_approval, false)
from crypto_transfer` +
		timesAndPayers + ` order by consensus_timestamp, entity_id, amount`)
	tokenTransfers = storage.ByKeys(`select consensus_timestamp, payer_account_id, token_id, account_id, amount, coalesce(is_approval, false)
from token_transfer` +
		timesAndPayers + ` order by consensus_timestamp, token_id, account_id`)
	assessedFees = storage.ByKeys(`select consensus_timestamp, payer_account_id, amount, collector_account_id, token_id, effective_payer_account_ids
from assessed_custom_fee` +
		timesAndPayers + ` order by consensus_timestamp, collector_account_id, amount`)
	stakingRewards = storage.ByKeys(rewardsSQL)
)

// QueueTransfers queues a query for the hbar transfers of transactions, ordered by account and amount. The result has
// one list per transaction. If all of them were read with their transfers, it queues nothing.
func QueueTransfers(b *storage.Batch, of []*ledger.Transaction) storage.Result[[][]*ledger.CryptoTransfer] {
	return queueParts(b, hbarTransfers, of, hbarRows,
		func(p *ledger.TransactionParts) []*ledger.CryptoTransfer { return p.Transfers })
}

// QueueTokenTransfers queues a query for the fungible token transfers of transactions, ordered by token and account.
// The result has one list per transaction. If all of them were read with their transfers, it queues nothing.
func QueueTokenTransfers(b *storage.Batch, of []*ledger.Transaction) storage.Result[[][]*ledger.TokenTransfer] {
	return queueParts(b, tokenTransfers, of, tokenRows,
		func(p *ledger.TransactionParts) []*ledger.TokenTransfer { return p.TokenTransfers })
}

// QueueAssessedCustomFees queues a query for the custom fees that transactions were charged, ordered by collector and
// amount. The result has one list per transaction. If all of them are known to have none, it queues nothing.
func QueueAssessedCustomFees(b *storage.Batch, of []*ledger.Transaction) storage.Result[[][]*ledger.AssessedCustomFee] {
	return queueParts(b, assessedFees, of, feeRows,
		func(p *ledger.TransactionParts) []*ledger.AssessedCustomFee { return p.CustomFees })
}

// QueueStakingRewardTransfers queues a query for the staking rewards that transactions paid. The result has one list
// per transaction. Only transactions with an hbar transfer of the staking reward account have rewards. The payer of a
// reward can be another one. If all transactions were read with their rewards, it queues nothing.
func QueueStakingRewardTransfers(b *storage.Batch, of []*ledger.Transaction) storage.Result[[][]*ledger.StakingReward] {
	return queueParts(b, stakingRewards, of, rewardRows,
		func(p *ledger.TransactionParts) []*ledger.StakingReward { return p.Rewards },
		int64(b.DB().SystemEntity(stakingRewardNum)))
}

// part is a row that belongs to a transaction, with the transaction's consensus time and payer.
type part[C any] struct {
	at    ledger.Timestamp
	payer ledger.EntityID
	row   C
}

// timed returns a function that sets the consensus time of a row, to which at returns a pointer, to that of its
// transaction.
func timed[C any](at func(*C) *ledger.Timestamp) func(*part[C]) error {
	return func(p *part[C]) error {
		*at(&p.row) = p.at
		return nil
	}
}

// The rows of these statements.
var (
	hbarRows = storage.MapperOf(func(r *part[ledger.CryptoTransfer], into []any) []any {
		return append(into, &r.at, &r.payer, &r.row.AccountID, &r.row.Amount, &r.row.IsApproval)
	}, timed(func(r *ledger.CryptoTransfer) *ledger.Timestamp { return &r.ConsensusTimestamp }))
	tokenRows = storage.MapperOf(func(r *part[ledger.TokenTransfer], into []any) []any {
		return append(into, &r.at, &r.payer, &r.row.TokenID, &r.row.AccountID, &r.row.Amount, &r.row.IsApproval)
	}, nil)
	feeRows = storage.MapperOf(func(r *part[ledger.AssessedCustomFee], into []any) []any {
		return append(into, &r.at, &r.payer, &r.row.Amount, &r.row.CollectorAccountID, &r.row.TokenID,
			&r.row.EffectivePayerAccountIDs)
	}, timed(func(r *ledger.AssessedCustomFee) *ledger.Timestamp { return &r.ConsensusTimestamp }))
	rewardRows = storage.MapperOf(func(r *part[ledger.StakingReward], into []any) []any {
		return append(into, &r.at, &r.payer, &r.row.AccountID, &r.row.Amount)
	}, timed(func(r *ledger.StakingReward) *ledger.Timestamp { return &r.ConsensusTimestamp }))
)

// queueParts queues a query for rows of transactions, unless they were read with all of the transactions: known
// returns those of a transaction, or nil if they were not read. further are arguments after the keys. read must order
// its rows by consensus time.
func queueParts[C any](
	b *storage.Batch, read *storage.Keyed, of []*ledger.Transaction, rows *storage.Mapper[part[C], part[C]],
	known func(*ledger.TransactionParts) []*C, further ...any,
) storage.Result[[][]*C] {
	if !slices.ContainsFunc(of, func(t *ledger.Transaction) bool { return t.Parts == nil || known(t.Parts) == nil }) {
		return storage.Known(list.Map(of, func(t *ledger.Transaction) []*C { return known(t.Parts) }))
	}
	r, args := read.For(b.DB(), times(of), payers(of))
	return storage.Map(rows.QueueRead(b, r, append(args, further...)),
		func(rows []*part[C]) [][]*C { return partsOf(rows, of) })
}

// partsOf groups rows by the transactions to which they belong. Rows must be ordered by consensus time. Duplicates of
// a transaction share one list; rows of other transactions are dropped.
func partsOf[C any](rows []*part[C], of []*ledger.Transaction) [][]*C {
	at := newTimeline(of)
	out := storage.GroupByParent(rows, len(of), func(r *part[C]) int {
		return at.place(r.at, &r.payer)
	}, func(r *part[C]) *C { return &r.row })
	at.repeat(func(first, again int) { out[again] = out[first] })
	return out
}

// timeline finds the transactions of rows that are ordered by consensus time.
type timeline struct {
	of    []*ledger.Transaction
	order []int // positions in of, ordered by consensus time
	next  int   // current index in order; earlier ones are not needed any more
}

// newTimeline returns the transactions in the order of their consensus timestamps. It does not change of.
func newTimeline(of []*ledger.Transaction) *timeline {
	t := &timeline{of: of, order: make([]int, len(of))}
	for i := range of {
		t.order[i] = i
	}
	byTime := func(a, b int) int { return cmp.Compare(of[a].ConsensusTimestamp, of[b].ConsensusTimestamp) }
	if len(of) > 1 && byTime(0, len(of)-1) > 0 { // lists are often newest first
		slices.Reverse(t.order)
	}
	slices.SortStableFunc(t.order, byTime)
	return t
}

// place returns the position in of of the first transaction at a time, with the given payer unless payer is nil.
// It returns -1 if there is none. It advances t, so times must not decrease from call to call.
func (t *timeline) place(at ledger.Timestamp, payer *ledger.EntityID) int {
	for t.next < len(t.order) && t.of[t.order[t.next]].ConsensusTimestamp < at {
		t.next++
	}
	for _, i := range t.order[t.next:] {
		switch {
		case t.of[i].ConsensusTimestamp != at:
			return -1
		case payer == nil || t.of[i].PayerAccountID == *payer:
			return i
		}
	}
	return -1
}

// repeat calls f for each duplicate request of a transaction, with the position that [timeline.place] returns and
// that of the duplicate. It goes through t again from the beginning.
func (t *timeline) repeat(f func(first, again int)) {
	t.next = 0
	for _, i := range t.order {
		if first := t.place(t.of[i].ConsensusTimestamp, &t.of[i].PayerAccountID); first != i {
			f(first, i)
		}
	}
}

// times returns the consensus timestamps of transactions as an array argument of a statement.
func times(of []*ledger.Transaction) []int64 {
	return list.Map(of, func(t *ledger.Transaction) int64 { return int64(t.ConsensusTimestamp) })
}

// payers returns the distinct payers of transactions, sorted, as an array argument of a statement.
func payers(of []*ledger.Transaction) []int64 {
	out := list.Map(of, func(t *ledger.Transaction) int64 { return int64(t.PayerAccountID) })
	slices.Sort(out)
	return slices.Compact(out)
}
