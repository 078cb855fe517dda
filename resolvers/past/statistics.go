package past

import (
	"context"
	"errors"

	"heliograph/graph"
	"heliograph/graph/fault"
	"heliograph/graph/rowplan"
	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/resolvers/loading"
	"heliograph/storage"
	"heliograph/storage/transactions"
)

// statistics queues in the batch b reading statistics of objects from some sources, for the periods of a range up to
// now, and returns one list for each object, with one result for each period. id returns the entity of an object.
// period returns the result of a period, in which p has one element of each source. An invalid range, and one with too
// many rows, are BAD_USER_INPUT.
func statistics[T, S any](
	f Fields, b *storage.Batch, of []T, id func(T) ledger.EntityID, over ledger.StatisticsRange,
	by ledger.StatisticsInterval,
	sources []transactions.Statistics, period func(object T, from, to ledger.Timestamp, p []transactions.Period) *S,
) (rowplan.Results[[]*S], error) {
	bounds, err := over.Periods(by, ledger.TimestampOf(f.Now()))
	if err != nil {
		return nil, fault.Of(fault.BadUserInput, err)
	}
	read := storage.All(list.Map(of, func(object T) storage.Result[[][]transactions.Period] {
		return storage.All(list.Map(sources, func(s transactions.Statistics) storage.Result[[]transactions.Period] {
			return s.Queue(b, id(object), bounds)
		}))
	}))
	return func() ([][]*S, error) {
		got, err := read()
		if many := (*transactions.TooManyRowsError)(nil); errors.As(err, &many) {
			return nil, fault.Of(fault.BadUserInput, many)
		}
		if err != nil {
			return nil, err
		}
		out := make([][]*S, len(of))
		for i, all := range got {
			out[i] = make([]*S, len(bounds)-1)
			for n := range out[i] {
				p := make([]transactions.Period, len(sources))
				for j := range p {
					p[j] = all[j][n]
				}
				out[i][n] = period(of[i], bounds[n], bounds[n+1], p)
			}
		}
		return out, nil
	}, nil
}

// AccountStats resolves Account.stats. It queues reads in the batch of q, one per source that the selection needs: for
// each account and period the number of transactions that it paid, and the hbars that it received, sent, and earned as
// rewards, in tinybars. The transfers of the fee account are unknown. An invalid range and more rows than are counted
// are BAD_USER_INPUT.
func (f Fields) AccountStats(_ context.Context, q rowplan.Request, of []*ledger.Account, args graph.AccountStatsArgs) (
	rowplan.Results[[]*ledger.AccountStatistics], error,
) {
	var sources []transactions.Statistics
	var sets []func(s *ledger.AccountStatistics, p transactions.Period)
	read := func(source transactions.Statistics, set func(s *ledger.AccountStatistics, p transactions.Period),
		columns ...string,
	) {
		if q.Selection.Has(columns...) {
			sources, sets = append(sources, source), append(sets, set)
		}
	}
	read(transactions.PaidStatistics, func(s *ledger.AccountStatistics, p transactions.Period) {
		s.Transactions = p.Rows
	}, "transactions")
	read(transactions.TransferStatistics, func(s *ledger.AccountStatistics, p transactions.Period) {
		s.Received, s.Sent = p.First, p.Second
	},
		"received", "receivedValue", "sent", "sentValue")
	read(transactions.RewardStatistics, func(s *ledger.AccountStatistics, p transactions.Period) {
		s.Rewards = p.First.V
	}, "rewards", "rewardsValue")
	return statistics(f, loading.BatchOf(q), of, func(a *ledger.Account) ledger.EntityID {
		return a.EntityID
	}, args.Range, args.By, sources,
		func(a *ledger.Account, from, to ledger.Timestamp, p []transactions.Period) *ledger.AccountStatistics {
			s := &ledger.AccountStatistics{From: from, To: to}
			for i, set := range sets {
				set(s, p[i])
			}
			if a.EntityID == transactions.FeeAccount {
				s.Received, s.Sent = ledger.Null[int64]{}, ledger.Null[int64]{}
			}
			return s
		})
}

// TopicStats resolves Topic.stats. It queues a read in the batch of q: the number of messages of each topic in each
// period. An invalid range is BAD_USER_INPUT, as are more rows than are counted.
func (f Fields) TopicStats(_ context.Context, q rowplan.Request, of []*ledger.Topic, args graph.TopicStatsArgs) (
	rowplan.Results[[]*ledger.TopicStatistics], error,
) {
	return statistics(f, loading.BatchOf(q), of, func(t *ledger.Topic) ledger.EntityID {
		return t.EntityID
	}, args.Range, args.By,
		[]transactions.Statistics{transactions.MessageStatistics},
		func(_ *ledger.Topic, from, to ledger.Timestamp, p []transactions.Period) *ledger.TopicStatistics {
			return &ledger.TopicStatistics{From: from, To: to, Messages: p[0].Rows}
		})
}

// ContractStats resolves Contract.stats. It queues a read in the batch of q: the number of calls of each contract in
// each period, and their gas. An invalid range and more rows than are counted are BAD_USER_INPUT.
func (f Fields) ContractStats(
	_ context.Context, q rowplan.Request, of []*ledger.Contract, args graph.ContractStatsArgs,
) (
	rowplan.Results[[]*ledger.ContractStatistics], error,
) {
	return statistics(f, loading.BatchOf(q), of, func(c *ledger.Contract) ledger.EntityID {
		return c.EntityID
	}, args.Range, args.By,
		[]transactions.Statistics{transactions.ResultStatistics},
		func(_ *ledger.Contract, from, to ledger.Timestamp, p []transactions.Period) *ledger.ContractStatistics {
			return &ledger.ContractStatistics{From: from, To: to, Calls: p[0].Rows, GasUsed: p[0].First.V}
		})
}

// TokenStats resolves Token.stats. It queues a read in the batch of q: the number of transfers of each token in each
// period, and their volume in the token's smallest unit. Collections of NFTs have none. An invalid range and more rows
// than are counted are BAD_USER_INPUT.
func (f Fields) TokenStats(_ context.Context, q rowplan.Request, of []*ledger.Token, args graph.TokenStatsArgs) (
	rowplan.Results[[]*ledger.TokenStatistics], error,
) {
	read, err := statistics(f, loading.BatchOf(q), of, func(t *ledger.Token) ledger.EntityID {
		return t.EntityID
	}, args.Range, args.By,
		[]transactions.Statistics{transactions.TokenStatistics},
		func(t *ledger.Token, from, to ledger.Timestamp, p []transactions.Period) *ledger.TokenStatistics {
			return &ledger.TokenStatistics{
				TokenID: t.EntityID, From: from, To: to, Transfers: p[0].First.V,
				Volume: p[0].Second,
			}
		})
	if err != nil {
		return nil, err
	}
	return func() ([][]*ledger.TokenStatistics, error) {
		out, err := read()
		for i := range out {
			if of[i].Type == ledger.TokenNonFungibleUnique {
				out[i] = nil
			}
		}
		return out, err
	}, nil
}
