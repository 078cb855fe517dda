package resolvers

import (
	"context"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"heliograph/graph"
	"heliograph/graph/fault"
	"heliograph/graph/feed"
	"heliograph/graph/relay"
	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/storage"
	"heliograph/storage/entities"
	"heliograph/storage/transactions"
)

// subscriptions implements gqlgen's resolver of Subscription.
type subscriptions struct{ *Resolver }

// feeds are the sources of subscriptions: one per kind of row, shared by all subscribers.
type feeds struct {
	blocks       *feed.Feed[*ledger.Block]
	logs         *feed.Feed[*ledger.ContractLog]
	messages     *feed.Feed[*ledger.TopicMessage]
	results      *feed.Feed[*ledger.ContractResult]
	transactions *feed.Feed[*transactionEvent]
	watched      *watchedAccounts
}

// transactionEvent is a transaction with the accounts that it involves.
type transactionEvent struct {
	*ledger.Transaction
	parties []ledger.Party
	asked   []ledger.EntityID // the accounts that were watched when the row was read
}

// newFeeds returns the feeds of all subscriptions on the ledger, one reader for each kind of rows. No reader runs
// until there is a subscriber. The positions of the readers are reported to db, so that later queries are not
// answered by a server that is behind them.
func newFeeds(db *storage.DB, o feed.Options) *feeds {
	o.Begin = func(ctx context.Context) (context.Context, func(feed.Position)) {
		ctx, report := db.Follow(ctx)
		return ctx, func(p feed.Position) { report(p.At) }
	}
	watched := &watchedAccounts{listeners: map[ledger.EntityID]int{}}
	newest := func(s transactions.Stream) func(context.Context) (feed.Position, error) {
		return func(ctx context.Context) (feed.Position, error) {
			at, err := transactions.Newest(ctx, db, s)
			return endOf(at), err
		}
	}
	internal := true // included unless the filter has its own condition
	return &feeds{
		watched: watched,
		blocks: feed.New(visible(db, feed.Source[*ledger.Block]{
			Name: "blocks", Newest: newest(transactions.StreamBlocks), Position: func(b *ledger.Block) feed.Position {
				return feed.Position{At: b.Timestamp.To.V}
			},
			After: func(ctx context.Context, after feed.Position, limit int) ([]*ledger.Block, error) {
				return transactions.Blocks(ctx, db, ledger.BlockFilter{}, false,
					storage.Page{Limit: limit, Greater: []any{int64(after.At), int64(math.MaxInt64)}})
			},
		}), o),
		logs: feed.New(visible(db, feed.Source[*ledger.ContractLog]{
			Name: "contract logs", Newest: newest(transactions.StreamLogs),
			Position: func(l *ledger.ContractLog) feed.Position {
				return feed.Position{At: l.ConsensusTimestamp, Tie: int64(l.Index)}
			},
			After: func(ctx context.Context, after feed.Position, limit int) ([]*ledger.ContractLog, error) {
				return transactions.ContractLogs(ctx, db, ledger.ContractLogFilter{},
					storage.Page{Limit: limit, Greater: []any{int64(after.At), after.Tie}})
			},
		}), o),
		messages: feed.New(visible(db, feed.Source[*ledger.TopicMessage]{
			Name: "topic messages", Newest: newest(transactions.StreamMessages),
			Position: func(m *ledger.TopicMessage) feed.Position { return feed.Position{At: m.ConsensusTimestamp} },
			After: func(ctx context.Context, after feed.Position, limit int) ([]*ledger.TopicMessage, error) {
				return entities.MessagesAfter(ctx, db, after.At, limit)
			},
		}), o),
		results: feed.New(visible(db, feed.Source[*ledger.ContractResult]{
			Name: "contract results", Newest: newest(transactions.StreamResults),
			Position: func(r *ledger.ContractResult) feed.Position { return feed.Position{At: r.ConsensusTimestamp} },
			After: func(ctx context.Context, after feed.Position, limit int) ([]*ledger.ContractResult, error) {
				return transactions.ContractResults(ctx, db, ledger.ContractResultFilter{Internal: &internal},
					transactions.ResultDetails, between(after, nil, limit))
			},
		}), o),
		transactions: feed.New(visible(db, feed.Source[*transactionEvent]{
			Name: "transactions", Newest: newest(transactions.StreamTransactions),
			Position: func(t *transactionEvent) feed.Position { return feed.Position{At: t.ConsensusTimestamp} },
			After: func(ctx context.Context, after feed.Position, limit int) ([]*transactionEvent, error) {
				rows, err := transactions.Transactions(ctx, db, ledger.TransactionFilter{}, between(after, nil, limit))
				if err != nil || len(rows) == 0 {
					return nil, err
				}
				asked := watched.all()
				parties, err := transactions.Parties(ctx, db, rows, asked)
				if err != nil {
					return nil, err
				}
				out := events(rows)
				for i := range out {
					out[i].parties, out[i].asked = parties[i], asked
				}
				return out, nil
			},
		}), o),
	}
}

// visible returns a source without the rows after the watermark of the database, which are not all visible yet.
func visible[T any](db *storage.DB, s feed.Source[T]) feed.Source[T] {
	newest, after := s.Newest, s.After
	s.Newest = func(ctx context.Context) (feed.Position, error) {
		until, err := db.Watermark(ctx)
		if err != nil {
			return feed.Position{}, err
		}
		p, err := newest(ctx)
		if p.At > until {
			p = endOf(until)
		}
		return p, err
	}
	s.After = func(ctx context.Context, from feed.Position, limit int) ([]T, error) {
		until, err := db.Watermark(ctx) // first, so that all rows up to it are there
		if err != nil {
			return nil, err
		}
		rows, err := after(ctx, from, limit)
		if i := slices.IndexFunc(rows, func(row T) bool { return s.Position(row).At > until }); i >= 0 {
			rows = rows[:i]
		}
		return rows, err
	}
	return s
}

// Close ends all subscriptions.
func (f *feeds) Close() {
	f.blocks.Close()
	f.logs.Close()
	f.messages.Close()
	f.results.Close()
	f.transactions.Close()
}

// endOf returns the position after all rows of a timestamp.
func endOf(at ledger.Timestamp) feed.Position { return feed.Position{At: at, Tie: math.MaxInt64} }

// between returns the page of rows after one position, up to and including until, of a list that is ordered by time
// only.
func between(after feed.Position, until *feed.Position, limit int) storage.Page {
	p := storage.Page{Limit: limit, Greater: []any{int64(after.At)}}
	if until != nil && until.At < math.MaxInt64 {
		p.Less = []any{int64(until.At) + 1}
	}
	return p
}

// events returns transactions as events without accounts, which are added for those that a subscriber filters by.
func events(rows []*ledger.Transaction) []*transactionEvent {
	return list.Map(rows, func(t *ledger.Transaction) *transactionEvent { return &transactionEvent{Transaction: t} })
}

// startOf returns the position after which a subscription starts, or nil for the present.
func startOf(from *ledger.Timestamp) *feed.Position {
	if from == nil {
		return nil
	}
	end := endOf(*from)
	return &end
}

// TopicMessages streams the messages of a topic.
func (r subscriptions) TopicMessages(
	ctx context.Context, topic ledger.EntityID, from *ledger.Timestamp,
) (<-chan *ledger.TopicMessage, error) {
	return feed.Listen(ctx, r.feeds.messages, feed.Listener[*ledger.TopicMessage]{
		From: startOf(from), Match: func(m *ledger.TopicMessage) bool {
			return m.TopicID == topic
		}, End: relay.EndingOf(ctx).Set,
		History: func(ctx context.Context, after, until feed.Position, limit int) ([]*ledger.TopicMessage, error) {
			return entities.TopicMessages(ctx, r.db, topic, ledger.TopicMessageFilter{}, between(after, &until, limit))
		},
	}, feed.Row), nil
}

// Transactions streams transactions.
func (r subscriptions) Transactions(
	ctx context.Context, given *ledger.TransactionFilter, from *ledger.Timestamp,
) (<-chan *ledger.Transaction, error) {
	f, err := r.withTransactionAccount(ctx, graph.OrZero(given))
	if err != nil {
		return nil, err
	}
	accounts := namedBy(f)
	r.feeds.watched.add(accounts, 1)
	context.AfterFunc(ctx, func() { r.feeds.watched.add(accounts, -1) })
	return feed.Listen(ctx, r.feeds.transactions, feed.Listener[*transactionEvent]{
		From: startOf(from), Match: func(t *transactionEvent) bool {
			return f.Match(t.Transaction, t.parties)
		}, End: relay.EndingOf(ctx).Set,
		Complete: func(ctx context.Context, rows []*transactionEvent) ([]*transactionEvent, error) {
			return r.completed(ctx, rows, accounts)
		},
		History: func(ctx context.Context, after, until feed.Position, limit int) ([]*transactionEvent, error) {
			rows, err := transactions.Transactions(ctx, r.db, f, between(after, &until, limit))
			return events(rows), err
		},
	}, func(t *transactionEvent, live bool) *ledger.Transaction { return feed.Row(t.Transaction, live) }), nil
}

// ContractLogs streams logs.
func (r subscriptions) ContractLogs(
	ctx context.Context, given *ledger.ContractLogFilter, from *ledger.Timestamp, index *int64,
) (
	<-chan *ledger.ContractLog, error,
) {
	f := graph.OrZero(given)
	start := startOf(from)
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
	return feed.Listen(ctx, r.feeds.logs, feed.Listener[*ledger.ContractLog]{
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

// ContractResults streams contract results.
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
	return feed.Listen(ctx, r.feeds.results, feed.Listener[*ledger.ContractResult]{
		From: startOf(from), Match: func(v *ledger.ContractResult) bool {
			return !none && f.Match(v)
		}, End: relay.EndingOf(ctx).Set,
		History: func(ctx context.Context, after, until feed.Position, limit int) ([]*ledger.ContractResult, error) {
			if none {
				return nil, nil
			}
			return transactions.ContractResults(ctx, r.db, f, transactions.ResultDetails,
				between(after, &until, limit))
		},
	}, feed.Row), nil
}

// Blocks streams blocks.
func (r subscriptions) Blocks(ctx context.Context, from *ledger.Timestamp) (<-chan *ledger.Block, error) {
	return feed.Listen(ctx, r.feeds.blocks, feed.Listener[*ledger.Block]{
		From: startOf(from), End: relay.EndingOf(ctx).Set,
		History: func(ctx context.Context, after, until feed.Position, limit int) ([]*ledger.Block, error) {
			return transactions.Blocks(ctx, r.db, ledger.BlockFilter{}, false, storage.Page{
				Limit: limit, Greater: []any{int64(after.At), int64(math.MaxInt64)},
				Less: []any{int64(until.At) + 1, int64(math.MinInt64)},
			})
		},
	}, feed.Row), nil
}

// StatusChanged streams changes of a status page.
func (r subscriptions) StatusChanged(
	ctx context.Context, page *string, from *int64, since *time.Time,
) (<-chan *status.Revision, error) {
	return r.status.Listen(ctx, page, from, since)
}

// watchedAccounts counts the subscribers per account. New transactions are matched against these accounts only,
// because accounts that a transaction merely mentions cannot be found by its time.
type watchedAccounts struct {
	mu        sync.Mutex
	listeners map[ledger.EntityID]int
}

// add adds n to the number of subscribers of accounts.
func (w *watchedAccounts) add(accounts []ledger.EntityID, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range accounts {
		if w.listeners[id] += n; w.listeners[id] == 0 {
			delete(w.listeners, id)
		}
	}
}

// all returns the accounts that any subscription filters by, sorted.
func (w *watchedAccounts) all() []ledger.EntityID {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.listeners))
}

// namedBy returns the accounts that a filter lists.
func namedBy(f ledger.TransactionFilter) []ledger.EntityID {
	if f.AccountID == nil {
		return nil
	}
	if f.AccountID.Eq != nil {
		return []ledger.EntityID{*f.AccountID.Eq}
	}
	return f.AccountID.In
}

// completed returns new transactions with the involved accounts that a subscriber needs. For rows that were read
// before the subscriber's accounts were watched, it reads them now.
func (r *Resolver) completed(
	ctx context.Context, rows []*transactionEvent, accounts []ledger.EntityID,
) ([]*transactionEvent, error) {
	unasked := func(t *transactionEvent) bool {
		return slices.ContainsFunc(accounts, func(id ledger.EntityID) bool {
			_, known := slices.BinarySearch(t.asked, id)
			return !known
		})
	}
	var missing []*ledger.Transaction
	for _, t := range rows {
		if unasked(t) {
			missing = append(missing, t.Transaction)
		}
	}
	if missing == nil {
		return rows, nil
	}
	parties, err := transactions.Parties(ctx, r.db, missing, accounts)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(rows) // other subscribers share these rows
	next := 0
	for i, t := range rows {
		if unasked(t) {
			out[i] = &transactionEvent{Transaction: t.Transaction, parties: parties[next]}
			next++
		}
	}
	return out, nil
}
