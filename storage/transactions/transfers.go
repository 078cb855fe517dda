package transactions

import (
	"cmp"
	"slices"

	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// stakingRewardNum is the account that staking rewards are paid from.
const stakingRewardNum = 800

// QueueTransfers queues reading the hbar movements of transactions, by account and amount; done gets one list for each transaction.
func QueueTransfers(b *storage.Batch, of []*ledger.Transaction, done func([][]*ledger.CryptoTransfer)) {
	queueParts(b, `select consensus_timestamp, payer_account_id, entity_id, amount, coalesce(is_approval, false) from crypto_transfer
where consensus_timestamp = any($1) and payer_account_id = any($2) order by consensus_timestamp, entity_id, amount`, of,
		func(r *part[ledger.CryptoTransfer], into []any) []any {
			return append(into, &r.at, &r.payer, &r.row.AccountID, &r.row.Amount, &r.row.IsApproval)
		}, done)
}

// QueueTokenTransfers queues reading the movements of fungible tokens, by token and account; done gets one list for each transaction.
func QueueTokenTransfers(b *storage.Batch, of []*ledger.Transaction, done func([][]*ledger.TokenTransfer)) {
	queueParts(b, `select consensus_timestamp, payer_account_id, token_id, account_id, amount, coalesce(is_approval, false) from token_transfer
where consensus_timestamp = any($1) and payer_account_id = any($2) order by consensus_timestamp, token_id, account_id`, of,
		func(r *part[ledger.TokenTransfer], into []any) []any {
			return append(into, &r.at, &r.payer, &r.row.TokenID, &r.row.AccountID, &r.row.Amount, &r.row.IsApproval)
		}, done)
}

// QueueAssessedCustomFees queues reading the custom fees that transactions were charged, by collector and amount; done gets one list for each.
func QueueAssessedCustomFees(b *storage.Batch, of []*ledger.Transaction, done func([][]*ledger.AssessedCustomFee)) {
	queueParts(b, `select consensus_timestamp, payer_account_id, amount, collector_account_id, token_id, effective_payer_account_ids from assessed_custom_fee
where consensus_timestamp = any($1) and payer_account_id = any($2) order by consensus_timestamp, collector_account_id, amount`, of,
		func(r *part[ledger.AssessedCustomFee], into []any) []any {
			return append(into, &r.at, &r.payer, &r.row.Amount, &r.row.CollectorAccountID, &r.row.TokenID, &r.row.EffectivePayerAccountIDs)
		}, done)
}

// QueueStakingRewardTransfers queues reading the staking rewards that transactions caused to be paid; done gets one list for each. Only
// transactions that moved hbar of the staking reward account have any.
func QueueStakingRewardTransfers(b *storage.Batch, of []*ledger.Transaction, done func([][]*ledger.StakingReward)) {
	storage.Queue(b, `select r.consensus_timestamp, c.payer_account_id, r.account_id, r.amount from staking_reward_transfer r cross join lateral (
  select distinct payer_account_id from crypto_transfer
  where consensus_timestamp = r.consensus_timestamp and payer_account_id = any($2) and entity_id = $3) c
where r.consensus_timestamp = any($1) order by r.consensus_timestamp, r.account_id`,
		[]any{times(of), payers(of), int64(b.DB().SystemEntity(stakingRewardNum))},
		func(r *part[ledger.StakingReward], into []any) []any {
			return append(into, &r.at, &r.payer, &r.row.AccountID, &r.row.Amount)
		}, func(r *part[ledger.StakingReward]) error {
			r.row.ConsensusTimestamp = r.at
			return nil
		}, func(rows []*part[ledger.StakingReward]) { done(partsOf(rows, of)) })
}

// part is a row that belongs to a transaction: it has the transaction's consensus time and its payer.
type part[C any] struct {
	at    ledger.Timestamp
	payer ledger.EntityID
	row   C
}

// queueParts queues reading rows of transactions. $1 are the consensus times and $2 the payers, which is what the tables are distributed by.
func queueParts[C any](b *storage.Batch, sql string, of []*ledger.Transaction, cols storage.Columns[part[C]], done func([][]*C)) {
	storage.Queue(b, sql, []any{times(of), payers(of)}, cols, nil, func(rows []*part[C]) { done(partsOf(rows, of)) })
}

// partsOf divides rows, which come by consensus time, among the transactions that they belong to.
func partsOf[C any](rows []*part[C], of []*ledger.Transaction) [][]*C {
	at := newTimeline(of)
	out := storage.GroupByParent(rows, len(of), func(r *part[C]) int { return at.place(r.at, &r.payer) }, func(r *part[C]) *C { return &r.row })
	at.repeat(func(first, again int) { out[again] = out[first] })
	return out
}

// timeline finds transactions by their consensus times, for rows that come in this order.
type timeline struct {
	of    []*ledger.Transaction
	order []int // places in of, by consensus time
	next  int   // in order: none before it is looked for any more
}

func newTimeline(of []*ledger.Transaction) *timeline {
	t := &timeline{of: of, order: make([]int, len(of))}
	for i := range of {
		t.order[i] = i
	}
	byTime := func(a, b int) int { return cmp.Compare(of[a].ConsensusTimestamp, of[b].ConsensusTimestamp) }
	if len(of) > 1 && byTime(0, len(of)-1) > 0 { // newest first, as lists often are
		slices.Reverse(t.order)
	}
	slices.SortStableFunc(t.order, byTime)
	return t
}

// place is where in of the first transaction of a time stands, and of a payer where one is given; -1 when there is none. Times must not decrease
// from call to call.
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

// repeat is called for each transaction that was asked for again, with the place that [timeline.place] gives and the other one.
func (t *timeline) repeat(f func(first, again int)) {
	t.next = 0
	for _, i := range t.order {
		if first := t.place(t.of[i].ConsensusTimestamp, &t.of[i].PayerAccountID); first != i {
			f(first, i)
		}
	}
}

func times(of []*ledger.Transaction) []int64 {
	out := make([]int64, len(of))
	for i, t := range of {
		out[i] = int64(t.ConsensusTimestamp)
	}
	return out
}

// payers are the distinct payers of transactions.
func payers(of []*ledger.Transaction) []int64 {
	seen := make(map[ledger.EntityID]struct{}, len(of))
	out := make([]int64, 0, len(of))
	for _, t := range of {
		if _, ok := seen[t.PayerAccountID]; !ok {
			seen[t.PayerAccountID] = struct{}{}
			out = append(out, int64(t.PayerAccountID))
		}
	}
	return out
}
