package resolvers

import (
	"context"

	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/transactions"
)

// transactionRelations are the arrows from transactions.
type transactionRelations struct {
	assessedCustomFees *rowplan.Relation[*ledger.Transaction, []*ledger.AssessedCustomFee]
	block              *rowplan.Relation[*ledger.Transaction, *ledger.Block]
	parent             *rowplan.Relation[*ledger.Transaction, *ledger.Transaction]
	payer              *rowplan.Relation[*ledger.Transaction, *ledger.Account]
	stakingRewards     *rowplan.Relation[*ledger.Transaction, []*ledger.StakingReward]
	tokenTransfers     *rowplan.Relation[*ledger.Transaction, []*ledger.TokenTransfer]
	transfers          *rowplan.Relation[*ledger.Transaction, []*ledger.CryptoTransfer]
}

// partsOf is a relation from transactions to rows of theirs.
func partsOf[C any](queue func(b *storage.Batch, of []*ledger.Transaction, done func([][]*C))) *rowplan.Relation[*ledger.Transaction, []*C] {
	return queued(func(_ context.Context, b *storage.Batch, parents []*ledger.Transaction, _ rowplan.Args, done func([][]*C)) error {
		queue(b, parents, done)
		return nil
	})
}

func newTransactionRelations() transactionRelations {
	return transactionRelations{
		assessedCustomFees: partsOf(transactions.QueueAssessedCustomFees),
		block: queued(func(_ context.Context, b *storage.Batch, parents []*ledger.Transaction, _ rowplan.Args, done func([]*ledger.Block)) error {
			transactions.QueueBlocksAt(b, keys(parents, func(t *ledger.Transaction) ledger.Timestamp { return t.ConsensusTimestamp }), done)
			return nil
		}),
		parent: queued(func(_ context.Context, b *storage.Batch, parents []*ledger.Transaction, _ rowplan.Args, done func([]*ledger.Transaction)) error {
			transactions.QueueTransactionsAt(b, keys(parents, func(t *ledger.Transaction) ledger.Timestamp { return t.ParentConsensusTimestamp.Or(-1) }), done)
			return nil
		}),
		payer:          accountOf(func(t *ledger.Transaction) ledger.EntityID { return t.PayerAccountID }),
		stakingRewards: partsOf(transactions.QueueStakingRewardTransfers),
		tokenTransfers: partsOf(transactions.QueueTokenTransfers),
		transfers:      partsOf(transactions.QueueTransfers),
	}
}

func (r *transactionRelations) add(t *rowplan.Tables) {
	t.Transaction.Add("assessedCustomFees", rowplan.RelatedMany(r.assessedCustomFees, func() *rowplan.Object[*ledger.AssessedCustomFee] { return t.AssessedCustomFee }))
	t.Transaction.Add("block", rowplan.RelatedOne(r.block, func() *rowplan.Object[*ledger.Block] { return t.Block }))
	t.Transaction.Add("parent", rowplan.RelatedOne(r.parent, func() *rowplan.Object[*ledger.Transaction] { return t.Transaction }))
	t.Transaction.Add("payer", rowplan.RelatedOne(r.payer, func() *rowplan.Object[*ledger.Account] { return t.Account }))
	t.Transaction.Add("stakingRewardTransfers", rowplan.RelatedMany(r.stakingRewards, func() *rowplan.Object[*ledger.StakingReward] { return t.StakingReward }))
	t.Transaction.Add("tokenTransfers", rowplan.RelatedMany(r.tokenTransfers, func() *rowplan.Object[*ledger.TokenTransfer] { return t.TokenTransfer }))
	t.Transaction.Add("transfers", rowplan.RelatedMany(r.transfers, func() *rowplan.Object[*ledger.CryptoTransfer] { return t.CryptoTransfer }))
}

func transactionKey(t *ledger.Transaction) relay.Key { return relay.Key{int64(t.ConsensusTimestamp)} }

// transaction reads the transactions of an id, of a hash, or at a time.
func (r *Resolver) transaction(ctx context.Context, id *ledger.TransactionID, hash *string, at *ledger.Timestamp, f transactions.TransactionFilterOfID) ([]*ledger.Transaction, error) {
	if err := oneOf("id, hash and at", id != nil, hash != nil, at != nil); err != nil {
		return nil, err
	}
	switch {
	case id != nil:
		found, err := transactions.TransactionsByID(ctx, r.db, *id, f)
		if err != nil {
			return nil, err
		}
		relay.OutcomeOf(ctx).Volatile = f.Scheduled == nil && r.mayStillRun(found)
		return found, nil
	case hash != nil:
		h, err := ledger.ParseHash(*hash)
		if err != nil {
			return nil, fault.Input("%v", err)
		}
		return transactions.TransactionsByHash(ctx, r.db, h, f)
	default:
		t, err := r.transactionAt(ctx, *at)
		if err != nil || t == nil || f.Nonce != nil && *f.Nonce != t.Nonce || f.Scheduled != nil && *f.Scheduled != t.Scheduled {
			return nil, err
		}
		return []*ledger.Transaction{t}, nil
	}
}

// mayStillRun tells whether a schedule that the transactions created could still run: its execution would join them.
func (r *Resolver) mayStillRun(found []*ledger.Transaction) bool {
	if !transactions.AwaitsExecution(found) {
		return false
	}
	for _, t := range found {
		if transactions.CreatesSchedule(t) && r.timestamp()-t.ConsensusTimestamp < transactions.ScheduledWindow {
			return true
		}
	}
	return false
}

// transactionAt reads the transaction that reached consensus at an instant, nil when there is none.
func (r *Resolver) transactionAt(ctx context.Context, at ledger.Timestamp) (*ledger.Transaction, error) {
	var found *ledger.Transaction
	b := r.db.NewBatch()
	transactions.QueueTransactionsAt(b, []ledger.Timestamp{at}, func(got []*ledger.Transaction) { found = got[0] })
	return found, b.Run(ctx)
}

// withTransactionAccount turns the condition on an account's name into one on its id.
func (r *Resolver) withTransactionAccount(ctx context.Context, f *ledger.TransactionFilter) (*ledger.TransactionFilter, error) {
	if f == nil || f.Account == nil {
		return f, nil
	}
	ids, err := r.withID(ctx, f.AccountID, *f.Account)
	if err != nil {
		return nil, err
	}
	copied := *f
	copied.AccountID = ids
	return &copied, nil
}
