package resolvers

import (
	"context"
	"math"
	"time"

	"heliograph/graph"
	"heliograph/graph/fault"
	"heliograph/graph/feed"
	"heliograph/graph/relay"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/resolvers/live"
	"heliograph/storage"
	"heliograph/storage/entities"
	"heliograph/storage/transactions"
)

// subscriptions implements gqlgen's resolver of Subscription.
type subscriptions struct{ *Resolver }

// TopicMessages resolves Subscription.topicMessages. It streams the messages of a topic after from, or new ones if
// from is nil, until ctx ends: a message at from itself has been delivered before. A goroutine listens to the feed of
// all messages, and reads those before the feed from the database; it repeats reads that fail. If the client is too
// slow or the feed closes, it closes the channel and records the error in the [relay.Ending] of ctx.
func (r subscriptions) TopicMessages(
	ctx context.Context, topic ledger.EntityID, from *ledger.Timestamp,
) (<-chan *ledger.TopicMessage, error) {
	return feed.Listen(ctx, r.feeds.Messages, feed.Listener[*ledger.TopicMessage]{
		From: live.StartOf(from), Match: func(m *ledger.TopicMessage) bool {
			return m.TopicID == topic
		}, End: relay.EndingOf(ctx).Set,
		History: func(ctx context.Context, after, until feed.Position, limit int) ([]*ledger.TopicMessage, error) {
			return entities.TopicMessages(ctx, r.db, topic, ledger.TopicMessageFilter{},
				live.Between(after, &until, limit))
		},
	}, feed.Row), nil
}

// Transactions resolves Subscription.transactions. It streams the transactions after from, or new ones, that match a
// filter, until ctx ends. It first looks up the account of the filter. A goroutine delivers them; see
// [live.Feeds.Transactions]. If the client is too slow or the feed closes, it closes the channel and records the error
// in the [relay.Ending] of ctx. Conditions on the entity and the token are BAD_USER_INPUT.
func (r subscriptions) Transactions(
	ctx context.Context, given *ledger.TransactionFilter, from *ledger.Timestamp,
) (<-chan *ledger.Transaction, error) {
	f := graph.OrZero(given)
	if err := r.addAccount(ctx, &f.AccountID, f.Account); err != nil {
		return nil, err
	}
	if f.EntityID != nil || f.TokenID != nil {
		return nil, fault.Input("a subscription does not filter by entity or token")
	}
	return r.feeds.Transactions(ctx, r.db, f, from), nil
}

// ContractLogs resolves Subscription.contractLogs. It streams the logs after from and index, or new ones, that match a
// filter, until ctx ends. It first looks up the contract of the filter. A goroutine listens to the feed of all logs,
// and reads those before the feed from the database; it repeats reads that fail. If the client is too slow or the feed
// closes, it closes the channel and records the error in the [relay.Ending] of ctx. Conditions that only lists have,
// an index without from, and topics in all contracts from longer ago than [MaxTopicSearch], are BAD_USER_INPUT.
func (r subscriptions) ContractLogs(
	ctx context.Context, given *ledger.ContractLogFilter, from *ledger.Timestamp, index *int64,
) (
	<-chan *ledger.ContractLog, error,
) {
	f := graph.OrZero(given)
	start := live.StartOf(from)
	switch {
	case f.Index != nil || f.TransactionHash != nil:
		return nil, fault.Input("a subscription does not filter by index or transaction hash")
	case index != nil && from == nil:
		return nil, fault.Input("fromIndex needs from")
	case index != nil:
		start.Tie = *index
	}
	if from != nil && len(f.Topics) > 0 && f.Contract == nil && f.ContractID == nil {
		now := ledger.TimestampOf(r.now())
		if !isBrief(&ledger.TimestampFilter{Gt: from, Lte: &now}, MaxTopicSearch) {
			return nil, fault.Input("a search by topics in all contracts must not start earlier than %d days ago",
				MaxTopicSearch/(24*time.Hour))
		}
	}
	f, err := r.withLogContract(ctx, f)
	if err != nil {
		return nil, err
	}
	return feed.Listen(ctx, r.feeds.Logs, feed.Listener[*ledger.ContractLog]{
		From: start, Match: f.Match, End: relay.EndingOf(ctx).Set,
		History: func(ctx context.Context, after, until feed.Position, limit int) ([]*ledger.ContractLog, error) {
			less := []any{int64(until.At), until.Tie + 1}
			if until.Tie == math.MaxInt64 {
				less = []any{int64(until.At) + 1, int64(0)}
			}
			return transactions.ContractLogs(ctx, r.db,
				f, storage.Page{Limit: limit, Greater: []any{int64(after.At), after.Tie}, Less: less})
		},
	}, feed.Row), nil
}

// ContractResults resolves Subscription.contractResults. It streams the contract results after from, or new ones, that
// match a filter, until ctx ends. It first looks up the contract of the filter. A goroutine listens to the feed of all
// results, and reads those before the feed from the database; it repeats reads that fail. If the client is too slow or
// the feed closes, it closes the channel and records the error in the [relay.Ending] of ctx. Conditions on blocks and
// the transaction index are BAD_USER_INPUT. With a contract in the filter there are no synthetic results.
func (r subscriptions) ContractResults(
	ctx context.Context, given *ledger.ContractResultFilter, from *ledger.Timestamp,
) (<-chan *ledger.ContractResult, error) {
	f := graph.OrZero(given)
	if f.BlockHash != nil || f.BlockNumber != nil || f.TransactionIndex != nil {
		return nil, fault.Input("a subscription does not filter by block or transaction index")
	}
	f, none, err := r.withContractAndBlock(ctx, f)
	if err != nil {
		return nil, err
	}
	// a new row is derived from one log of its transaction, which may have logs of several contracts
	if r.syntheticOff || f.ContractID != nil {
		f.Synthetic = new(bool)
	}
	return feed.Listen(ctx, r.feeds.Results, feed.Listener[*ledger.ContractResult]{
		From: live.StartOf(from), Match: func(v *ledger.ContractResult) bool {
			return !none && f.Match(v)
		}, End: relay.EndingOf(ctx).Set,
		History: func(ctx context.Context, after, until feed.Position, limit int) ([]*ledger.ContractResult, error) {
			if none {
				return nil, nil
			}
			return transactions.ContractResults(ctx, r.db, f, transactions.ResultDetails,
				live.Between(after, &until, limit))
		},
	}, feed.Row), nil
}

// Blocks resolves Subscription.blocks. It streams the blocks after from, or new ones, until ctx ends. A goroutine
// listens to the feed of blocks, and reads those before the feed from the database; it repeats reads that fail. If the
// client is too slow or the feed closes, it closes the channel and records the error in the [relay.Ending] of ctx.
func (r subscriptions) Blocks(ctx context.Context, from *ledger.Timestamp) (<-chan *ledger.Block, error) {
	return feed.Listen(ctx, r.feeds.Blocks, feed.Listener[*ledger.Block]{
		From: live.StartOf(from), End: relay.EndingOf(ctx).Set,
		History: func(ctx context.Context, after, until feed.Position, limit int) ([]*ledger.Block, error) {
			return transactions.Blocks(ctx, r.db, ledger.BlockFilter{}, false, storage.Page{
				Limit: limit, Greater: []any{int64(after.At), int64(math.MaxInt64)},
				Less: []any{int64(until.At) + 1, int64(math.MinInt64)},
			})
		},
	}, feed.Row), nil
}

// StatusChanged resolves Subscription.statusChanged. It streams the changes of a status page after a revision or a
// time, or new ones, until ctx ends. Without page, it is the default one. It first reads the pages from the database
// of status pages. If the stream ends later, it closes the channel and records the error in the [relay.Ending] of ctx.
// Both a revision and a time, and a negative revision, are BAD_USER_INPUT, and a page that does not exist NOT_FOUND.
func (r subscriptions) StatusChanged(
	ctx context.Context, page *string, from *int64, since *time.Time,
) (<-chan *status.Revision, error) {
	return r.status.Listen(ctx, page, from, since)
}
