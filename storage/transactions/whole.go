package transactions

import (
	"cmp"
	"slices"

	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// wholeRow is a transaction with its transfers and rewards: an array of the numbers of all rows for each of the three
// tables. One statement costs PostgreSQL less than half of what one for each table does.
type wholeRow struct {
	transactionRow
	hbars, tokens, rewards []int64
	charged                bool // whether it was charged custom fees
}

// wholeColumns are the columns of a wholeRow, for PostgreSQL: Citus does not read other tables for a column. Indexes
// have the order of token transfers and rewards. Hbar transfers are sorted here, because a sort costs PostgreSQL as
// much as finding them.
const wholeColumns = transactionColumns + `,
  array(select array[entity_id, amount, coalesce(is_approval, false)::int] from crypto_transfer
    where consensus_timestamp = t.consensus_timestamp and payer_account_id = t.payer_account_id),
  array(select array[token_id, account_id, amount, coalesce(is_approval, false)::int] from token_transfer
    where consensus_timestamp = t.consensus_timestamp and payer_account_id = t.payer_account_id
    order by token_id, account_id),
  array(select array[account_id, amount] from staking_reward_transfer
    where consensus_timestamp = t.consensus_timestamp order by account_id),
  exists (select true from assessed_custom_fee
    where consensus_timestamp = t.consensus_timestamp and payer_account_id = t.payer_account_id)`

var wholeRows = storage.NewMapper(func(r *wholeRow, into []any) []any {
	return append(transactionTargets(&r.transactionRow, into), &r.hbars, &r.tokens, &r.rewards, &r.charged)
}, finishWhole, func(r *wholeRow) *ledger.Transaction { return &r.Transaction })

// finishWhole completes a row after it was decoded, and changes nothing else: it fills the parts of the transaction
// from the arrays of numbers, then calls [finishTransaction], which fails if the NFT transfers are invalid JSON.
// Custom fees become an empty list if there are none, and otherwise remain nil, which means not read. Only
// transactions with an hbar transfer of the staking reward account have rewards.
func finishWhole(r *wholeRow) error {
	r.Parts = new(ledger.TransactionParts)
	r.Parts.Transfers = rowsOf(r.hbars, 3, func(v []int64) ledger.CryptoTransfer {
		return ledger.CryptoTransfer{
			AccountID: ledger.EntityID(v[0]), Amount: v[1], IsApproval: v[2] != 0,
			ConsensusTimestamp: r.ConsensusTimestamp,
		}
	})
	slices.SortStableFunc(r.Parts.Transfers, func(a, b *ledger.CryptoTransfer) int {
		return cmp.Or(cmp.Compare(a.AccountID, b.AccountID), cmp.Compare(a.Amount, b.Amount))
	})
	r.Parts.TokenTransfers = rowsOf(r.tokens, 4, func(v []int64) ledger.TokenTransfer {
		return ledger.TokenTransfer{
			TokenID: ledger.EntityID(v[0]), AccountID: ledger.EntityID(v[1]), Amount: v[2], IsApproval: v[3] != 0,
		}
	})
	if !slices.ContainsFunc(r.Parts.Transfers, func(c *ledger.CryptoTransfer) bool {
		return c.AccountID.Num() == stakingRewardNum
	}) {
		r.rewards = nil
	}
	r.Parts.Rewards = rowsOf(r.rewards, 2, func(v []int64) ledger.StakingReward {
		return ledger.StakingReward{
			AccountID: ledger.EntityID(v[0]), Amount: v[1], ConsensusTimestamp: r.ConsensusTimestamp,
		}
	})
	if !r.charged {
		r.Parts.CustomFees = make([]*ledger.AssessedCustomFee, 0)
	}
	return finishTransaction(&r.transactionRow)
}

// rowsOf returns the rows in an array of numbers, of which each row has as many as there are columns. The result is
// not nil. row gets the numbers from the first of its row on, also those of later rows.
func rowsOf[R any](numbers []int64, columns int, row func([]int64) R) []*R {
	rows := make([]R, len(numbers)/columns)
	out := make([]*R, len(rows))
	for i := range rows {
		rows[i] = row(numbers[i*columns:])
		out[i] = &rows[i]
	}
	return out
}
