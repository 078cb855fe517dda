package resolvers

import (
	"context"
	"slices"
	"time"

	"heliograph/graph"
	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/resolvers/loading"
	"heliograph/storage"
	"heliograph/storage/entities"
	"heliograph/storage/transactions"
)

var transactionList = ofNumber("transactions", func(t *ledger.Transaction) int64 { return int64(t.ConsensusTimestamp) })

// TopicTransactions resolves Topic.transactions. It queues a read in the batch of q: a page of the successful
// transactions that changed each topic or sent a message to it, ordered by time. totalCount, when it is selected,
// takes one more statement. Invalid page arguments are BAD_USER_INPUT.
func (fields) TopicTransactions(
	ctx context.Context, q rowplan.Request, of []*ledger.Topic, args graph.TopicTransactionsArgs,
) (
	rowplan.Results[*relay.TransactionConnection], error,
) {
	return transactionList.below(ctx, q, args.Order, args.Args,
		true /* countable */, func(b *storage.Batch, p storage.Page) (storage.Result[[][]*ledger.Transaction], error) {
			return transactions.QueueTopicTransactions(b, list.Map(of, func(t *ledger.Topic) ledger.EntityID {
				return t.EntityID
			}), p), nil
		})
}

// Transaction resolves Query.transaction. It reads the transactions with an id or hash, or at a consensus time; none
// if none exists. It fails with BAD_USER_INPUT unless exactly one of the three is given and a hash is valid. Nonce and
// scheduled, if given, select among the transactions found. With an id and without scheduled, the error beside the
// transactions is a [relay.Note] while a schedule that one of them created may still execute.
func (r queries) Transaction(ctx context.Context, args graph.QueryTransactionArgs) ([]*ledger.Transaction, error) {
	if err := fault.OneOf("id, hash and at", args.ID != nil, args.Hash != nil, args.At != nil); err != nil {
		return nil, err
	}
	f := transactions.TransactionFilterOfID{Nonce: args.Nonce, Scheduled: args.Scheduled}
	switch {
	case args.ID != nil:
		found, err := transactions.ByID(ctx, r.db, *args.ID, f, rowplan.SelectionOf(ctx).Has(
			"assessedCustomFees", "effects", "stakingRewardTransfers", "tokenTransfers", "transfers"))
		if err == nil && f.Scheduled == nil && r.mayStillRun(found) {
			err = &relay.Note{Volatile: true}
		}
		return found, err
	case args.Hash != nil:
		h, err := ledger.ParseHash(*args.Hash)
		if err != nil {
			return nil, fault.Input("%v", err)
		}
		return transactions.ByHash(ctx, r.db, h, f)
	default:
		t, err := storage.ReadOne(ctx, r.db, "transaction", *args.At, transactions.QueueTransactionsAt)
		if err != nil || t == nil || f.Nonce != nil && *f.Nonce != t.Nonce || f.Scheduled != nil &&
			*f.Scheduled != t.Scheduled {
			return nil, err
		}
		return []*ledger.Transaction{t}, nil
	}
}

// Transactions resolves Query.transactions. It reads a page of transactions, ordered by time, after it has looked up
// the account of the filter, which matches nothing if it does not exist. If neither rows nor pageInfo are requested,
// it reads nothing. Invalid page arguments, and a filter by entity or token without an account, are BAD_USER_INPUT.
// Beside an error the list is nil. Unfiltered lists have an estimated totalCount, which is read when it is selected.
func (r queries) Transactions(
	ctx context.Context, args graph.QueryTransactionsArgs,
) (*relay.TransactionConnection, error) {
	if f := args.Filter; (f.EntityID != nil || f.TokenID != nil) && f.Account == nil &&
		!selects(f.AccountID) {
		return nil, fault.Input("entityId and tokenId require account, or accountId with eq or in")
	}
	c, err := transactionList.root(ctx, args.Order, args.Args, func(p storage.Page) ([]*ledger.Transaction, error) {
		if p.Limit == 0 {
			return nil, nil
		}
		f := args.Filter
		if err := r.addAccount(ctx, &f.AccountID, f.Account); err != nil {
			return nil, err
		}
		return transactions.Transactions(ctx, r.db, f, p)
	})
	return estimated(r.Resolver, c, unfiltered(args.Filter), transactions.CountTransactions), err
}

// mayStillRun reports whether a schedule that one of the transactions created could still execute by the resolver's
// clock. Its execution would have the same transaction id. It reads nothing.
func (r *Resolver) mayStillRun(found []*ledger.Transaction) bool {
	return transactions.AwaitsExecution(found) && slices.ContainsFunc(found, func(t *ledger.Transaction) bool {
		return transactions.CreatesSchedule(t) && r.timestamp()-t.ConsensusTimestamp < transactions.ScheduledWindow
	})
}

// The lists of transfers of accounts and of tokens.
var (
	accountTransferList = listOf[ledger.Transfer]{"transfers", 2, func(t *ledger.Transfer) relay.Key {
		return relay.Key{int64(t.ConsensusTimestamp), int64(t.TokenID)}
	}}
	tokenTransferList = listOf[ledger.Transfer]{"token transfers", 2, func(t *ledger.Transfer) relay.Key {
		return relay.Key{int64(t.ConsensusTimestamp), int64(t.AccountID)}
	}}
)

// MaxTokenRange is the longest time range in which the transfers of a token are listed, because the index of the table
// begins with the time.
const MaxTokenRange = 24 * time.Hour

// AccountTransfers resolves Account.transfers. It queues reads in the batch of q: a page of the changes of the
// balances of each account, ordered by transaction and currency. Invalid page arguments are BAD_USER_INPUT. If only a
// part of a page could be sought for a direction or token, the error is BAD_USER_INPUT too, and says how to continue.
func (fields) AccountTransfers(
	ctx context.Context, q rowplan.Request, of []*ledger.Account, args graph.AccountTransfersArgs,
) (
	rowplan.Results[*relay.TransferConnection], error,
) {
	f := ledger.TransferFilter{Token: args.Token, Direction: args.Direction, Timestamp: args.Timestamp}
	queue := func(b *storage.Batch, p storage.Page) (storage.Result[[][]*ledger.Transfer], error) {
		pages, bounds := transactions.QueueAccountTransfers(b, accountIDs(of), f, p, true)
		if bounds == nil {
			return pages, nil
		}
		return fullPages(of, pages, bounds, p), nil
	}
	return accountTransferList.below(ctx, q, args.Order, args.Args, unfiltered(f), queue)
}

// fullPages returns pages as a result that fails with BAD_USER_INPUT if a page has fewer than p.Limit rows because
// only the transfers up to its bound were read. bounds has one bound for each of the accounts of; null stands for a
// page that was read as a whole.
func fullPages(
	of []*ledger.Account, pages storage.Result[[][]*ledger.Transfer],
	bounds storage.Result[[]*ledger.Null[ledger.Timestamp]], p storage.Page,
) storage.Result[[][]*ledger.Transfer] {
	return func() ([][]*ledger.Transfer, error) {
		rows, err := pages()
		if err != nil {
			return nil, err
		}
		bounds, err := bounds()
		for i, until := range bounds {
			if until.Valid && len(rows[i]) < p.Limit {
				within, beyond := "gt", "lte"
				if !p.Desc {
					within, beyond = "lt", "gte"
				}
				return nil,
					fault.Input("the page is not full after %d transfers of account %s: set timestamp to {%s: %q}, "+
						"then continue with {%s: %[4]q}",
						transactions.MaxSoughtTransfers, of[i].EntityID, within, until.V.String(), beyond)
			}
		}
		return rows, err
	}
}

// TokenTransfers resolves Token.transfers. It queues a read in the batch of q: a page of the changes of balances of
// each token, ordered by time and account. Invalid page arguments, and a range of times of more than [MaxTokenRange]
// or without one of its ends, are BAD_USER_INPUT.
func (fields) TokenTransfers(
	ctx context.Context, q rowplan.Request, of []*ledger.Token, args graph.TokenTransfersArgs,
) (
	rowplan.Results[*relay.TransferConnection], error,
) {
	if !isBrief(&args.Timestamp, MaxTokenRange) {
		return nil, fault.Input("timestamp must be an instant, or a range of at most %d hours with both ends",
			MaxTokenRange/time.Hour)
	}
	f := ledger.TransferFilter{Direction: args.Direction, Timestamp: &args.Timestamp}
	return tokenTransferList.below(ctx, q, args.Order, args.Args,
		true /* countable */, rowsOf(list.Map(of, tokenEntityID), f, transactions.QueueTransfersOfTokens))
}

// TransactionAssessedCustomFees resolves Transaction.assessedCustomFees. It queues a read in the batch of q: the custom
// fees that each transaction was charged, unless they were read with it.
func (fields) TransactionAssessedCustomFees(_ context.Context, q rowplan.Request, of []*ledger.Transaction) (
	rowplan.Results[[]*ledger.AssessedCustomFee], error,
) {
	return transactions.QueueAssessedCustomFees(loading.BatchOf(q), of), nil
}

// TransactionInnerTransactions resolves Transaction.innerTransactions. It queues a read in the batch of q: the inner
// transactions of each atomic batch, oldest first.
func (fields) TransactionInnerTransactions(_ context.Context, q rowplan.Request, of []*ledger.Transaction) (
	rowplan.Results[[]*ledger.Transaction], error,
) {
	return transactions.QueueInnerTransactions(loading.BatchOf(q), of), nil
}

// TransactionStakingRewardTransfers resolves Transaction.stakingRewardTransfers. It queues a read in the batch of q:
// the staking rewards that each transaction paid, in tinybars, unless they were read with it.
func (fields) TransactionStakingRewardTransfers(_ context.Context, q rowplan.Request, of []*ledger.Transaction) (
	rowplan.Results[[]*ledger.StakingReward], error,
) {
	return transactions.QueueStakingRewardTransfers(loading.BatchOf(q), of), nil
}

// TransactionTransfers resolves Transaction.transfers. It queues a read in the batch of q: the hbar transfers of each
// transaction, in tinybars, unless they were read with it.
func (fields) TransactionTransfers(_ context.Context, q rowplan.Request, of []*ledger.Transaction) (
	rowplan.Results[[]*ledger.CryptoTransfer], error,
) {
	return transactions.QueueTransfers(loading.BatchOf(q), of), nil
}

// TransactionNode resolves Transaction.node. It queues a read in the batch of q: the consensus node to which each
// transaction was submitted, found by the node's account; nil if the address book has no node with that account.
func (fields) TransactionNode(_ context.Context, q rowplan.Request, of []*ledger.Transaction) (
	rowplan.Results[*ledger.NetworkNode], error,
) {
	ids := list.Map(of, func(t *ledger.Transaction) ledger.EntityID { return t.NodeAccountID })
	return entities.QueueNetworkNodesOf(loading.BatchOf(q), ids), nil
}

// TransferCounterparties resolves Transfer.counterparties. It queues a read in the batch of q: the changes of other
// accounts by the same transaction in the same currency, ordered by account, without the network's fees.
func (fields) TransferCounterparties(_ context.Context, q rowplan.Request, of []*ledger.Transfer) (
	rowplan.Results[[]*ledger.Transfer], error,
) {
	return transactions.QueueCounterparties(loading.BatchOf(q), of), nil
}

// TransferFees resolves Transfer.fees. It queues a read in the batch of q: the hbars, in tinybars, that the node and
// the network's fee accounts received from the transaction of each transfer, ordered by account.
func (fields) TransferFees(_ context.Context, q rowplan.Request, of []*ledger.Transfer) (
	rowplan.Results[[]*ledger.Transfer], error,
) {
	return transactions.QueueFees(loading.BatchOf(q), of), nil
}
