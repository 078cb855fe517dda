package resolvers

import (
	"context"
	"time"

	"heliograph/graph"
	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/storage/transactions"
)

// The lists of transfers of accounts and of tokens.
var (
	accountTransferList = listOf[ledger.Transfer]{"transfers", 2, func(t *ledger.Transfer) relay.Key {
		return relay.Key{int64(t.ConsensusTimestamp), int64(t.TokenID)}
	}}
	tokenTransferList = listOf[ledger.Transfer]{"token transfers", 2, func(t *ledger.Transfer) relay.Key {
		return relay.Key{int64(t.ConsensusTimestamp), int64(t.AccountID)}
	}}
)

// maxTokenRange is the longest time range in which the transfers of a token are listed, because the index of the table begins with the time.
const maxTokenRange = 24 * time.Hour

// AccountTransfers reads the transfers of accounts.
func (fields) AccountTransfers(ctx context.Context, q rowplan.Request, of []*ledger.Account, args graph.AccountTransfersArgs) (
	rowplan.Results[*relay.TransferConnection], error,
) {
	f := &ledger.TransferFilter{Token: args.Token, Direction: args.Direction, Timestamp: args.Timestamp}
	return accountTransferList.below(ctx, q, args.Order, args.Args, unfiltered(f), rowsOf(accountIDs(of), f, transactions.QueueAccountTransfers))
}

// TokenTransfers reads the transfers of tokens.
func (fields) TokenTransfers(ctx context.Context, q rowplan.Request, of []*ledger.Token, args graph.TokenTransfersArgs) (
	rowplan.Results[*relay.TransferConnection], error,
) {
	if !isBrief(&args.Timestamp, maxTokenRange) {
		return nil, fault.Input("timestamp must be an instant, or a range of at most %d hours with both ends", maxTokenRange/time.Hour)
	}
	f := &ledger.TransferFilter{Direction: args.Direction, Timestamp: &args.Timestamp}
	return tokenTransferList.below(ctx, q, args.Order, args.Args, true, rowsOf(list.Map(of, tokenEntityID), f, transactions.QueueTransfersOfTokens))
}
