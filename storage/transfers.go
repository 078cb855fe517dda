package storage

import (
	"heliograph/internal/ledger"
)

// stakingRewardNum is the account that staking rewards are paid from.
const stakingRewardNum = 800

// QueueTransfers queues reading the hbar movements of transactions, by account and amount; done gets one list for each transaction.
func (b *Batch) QueueTransfers(of []*ledger.Transaction, done func([][]*ledger.CryptoTransfer)) {
	queueParts(b, `select consensus_timestamp, payer_account_id, entity_id, amount, coalesce(is_approval, false) from crypto_transfer
where consensus_timestamp = any($1) and payer_account_id = any($2) order by consensus_timestamp, entity_id, amount`, of,
		func(r *part[ledger.CryptoTransfer], into []any) []any {
			return append(into, &r.at, &r.payer, &r.row.AccountID, &r.row.Amount, &r.row.IsApproval)
		}, done)
}

// QueueTokenTransfers queues reading the movements of fungible tokens, by token and account; done gets one list for each transaction.
func (b *Batch) QueueTokenTransfers(of []*ledger.Transaction, done func([][]*ledger.TokenTransfer)) {
	queueParts(b, `select consensus_timestamp, payer_account_id, token_id, account_id, amount, coalesce(is_approval, false) from token_transfer
where consensus_timestamp = any($1) and payer_account_id = any($2) order by consensus_timestamp, token_id, account_id`, of,
		func(r *part[ledger.TokenTransfer], into []any) []any {
			return append(into, &r.at, &r.payer, &r.row.TokenID, &r.row.AccountID, &r.row.Amount, &r.row.IsApproval)
		}, done)
}

// QueueAssessedCustomFees queues reading the custom fees that transactions were charged, by collector and amount; done gets one list for each.
func (b *Batch) QueueAssessedCustomFees(of []*ledger.Transaction, done func([][]*ledger.AssessedCustomFee)) {
	queueParts(b, `select consensus_timestamp, payer_account_id, amount, collector_account_id, token_id, effective_payer_account_ids from assessed_custom_fee
where consensus_timestamp = any($1) and payer_account_id = any($2) order by consensus_timestamp, collector_account_id, amount`, of,
		func(r *part[ledger.AssessedCustomFee], into []any) []any {
			return append(into, &r.at, &r.payer, &r.row.Amount, &r.row.CollectorAccountID, &r.row.TokenID, &r.row.EffectivePayerAccountIDs)
		}, done)
}

// QueueStakingRewardTransfers queues reading the staking rewards that transactions caused to be paid; done gets one list for each. Only
// transactions that moved hbar of the staking reward account have any.
func (b *Batch) QueueStakingRewardTransfers(of []*ledger.Transaction, done func([][]*ledger.StakingReward)) {
	out := make([][]*ledger.StakingReward, len(of))
	at := placesOf(of)
	queue(b, `select r.consensus_timestamp, r.account_id, r.amount from staking_reward_transfer r
where r.consensus_timestamp = any($1) and exists (
  select from crypto_transfer c where c.consensus_timestamp = r.consensus_timestamp and c.entity_id = $2)
order by r.consensus_timestamp, r.account_id`, []any{times(of), int64(b.db.base.WithNum(stakingRewardNum))},
		func(r *ledger.StakingReward, into []any) []any {
			return append(into, &r.ConsensusTimestamp, &r.AccountID, &r.Amount)
		}, nil, func(rows []*ledger.StakingReward) {
			for _, r := range rows {
				for _, i := range at[r.ConsensusTimestamp] {
					out[i] = append(out[i], r)
				}
			}
			done(out)
		})
}

// part is a row that belongs to a transaction: it has the transaction's consensus time and its payer.
type part[C any] struct {
	at    ledger.Timestamp
	payer ledger.EntityID
	row   C
}

// queueParts queues reading rows of transactions. $1 are the consensus times and $2 the payers, which is what the tables are distributed by.
func queueParts[C any](b *Batch, sql string, of []*ledger.Transaction, cols columns[part[C]], done func([][]*C)) {
	out := make([][]*C, len(of))
	at := placesOf(of)
	queue(b, sql, []any{times(of), payers(of)}, cols, nil, func(rows []*part[C]) {
		for _, r := range rows {
			for _, i := range at[r.at] {
				if of[i].PayerAccountID == r.payer {
					out[i] = append(out[i], &r.row)
				}
			}
		}
		done(out)
	})
}

// placesOf says where in of the transactions of a consensus time are; one may have been asked for twice.
func placesOf(of []*ledger.Transaction) map[ledger.Timestamp][]int {
	at := make(map[ledger.Timestamp][]int, len(of))
	for i, t := range of {
		at[t.ConsensusTimestamp] = append(at[t.ConsensusTimestamp], i)
	}
	return at
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
