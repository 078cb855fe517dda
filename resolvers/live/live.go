// Package live has the feeds of the subscriptions on the ledger: how new rows are read, once for all subscribers.
// Package feed delivers them.
package live

import (
	"context"
	"maps"
	"math"
	"slices"
	"sync"

	"heliograph/graph/feed"
	"heliograph/graph/relay"
	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/entities"
	"heliograph/storage/transactions"
)

// Feeds are the sources of subscriptions: one per kind of row, shared by all subscribers. Transactions have the method
// [Feeds.Transactions], because their subscribers also need the accounts that a transaction involves.
type Feeds struct {
	Blocks       *feed.Feed[*ledger.Block]
	Logs         *feed.Feed[*ledger.ContractLog]
	Messages     *feed.Feed[*ledger.TopicMessage]
	Results      *feed.Feed[*ledger.ContractResult]
	transactions *feed.Feed[*transactionEvent]
	watched      *watchedAccounts
}

// transactionEvent is a transaction with the accounts that it involves, as far as a subscription filters by them.
type transactionEvent struct {
	*ledger.Transaction
	parties []ledger.Party
	asked   []ledger.EntityID // the accounts that were watched when the row was read
}

// New returns the feeds of all subscriptions on the ledger, one reader for each kind of rows. It reads nothing: a
// reader is a goroutine that runs while the feed has subscribers. The positions of the readers are reported to db, so
// that later queries are not answered by a server that is behind them.
func New(db *storage.DB, o feed.Options) *Feeds {
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
	return &Feeds{
		watched: watched,
		Blocks: feed.New(visible(db, feed.Source[*ledger.Block]{
			Name: "blocks", Newest: newest(transactions.StreamBlocks), Position: func(b *ledger.Block) feed.Position {
				return feed.Position{At: b.Timestamp.To.V}
			},
			After: func(ctx context.Context, after feed.Position, limit int) ([]*ledger.Block, error) {
				return transactions.Blocks(ctx, db, ledger.BlockFilter{}, false,
					storage.Page{Limit: limit, Greater: []any{int64(after.At), int64(math.MaxInt64)}})
			},
		}), o),
		Logs: feed.New(visible(db, feed.Source[*ledger.ContractLog]{
			Name: "contract logs", Newest: newest(transactions.StreamLogs),
			Position: func(l *ledger.ContractLog) feed.Position {
				return feed.Position{At: l.ConsensusTimestamp, Tie: int64(l.Index)}
			},
			After: func(ctx context.Context, after feed.Position, limit int) ([]*ledger.ContractLog, error) {
				return transactions.ContractLogs(ctx, db, ledger.ContractLogFilter{},
					storage.Page{Limit: limit, Greater: []any{int64(after.At), after.Tie}})
			},
		}), o),
		Messages: feed.New(visible(db, feed.Source[*ledger.TopicMessage]{
			Name: "topic messages", Newest: newest(transactions.StreamMessages),
			Position: func(m *ledger.TopicMessage) feed.Position { return feed.Position{At: m.ConsensusTimestamp} },
			After: func(ctx context.Context, after feed.Position, limit int) ([]*ledger.TopicMessage, error) {
				return entities.MessagesAfter(ctx, db, after.At, limit)
			},
		}), o),
		Results: feed.New(visible(db, feed.Source[*ledger.ContractResult]{
			Name: "contract results", Newest: newest(transactions.StreamResults),
			Position: func(r *ledger.ContractResult) feed.Position { return feed.Position{At: r.ConsensusTimestamp} },
			After: func(ctx context.Context, after feed.Position, limit int) ([]*ledger.ContractResult, error) {
				f := ledger.ContractResultFilter{Internal: new(true)} // unless a subscriber's filter excludes them
				return transactions.ContractResults(ctx, db, f, transactions.ResultDetails, Between(after, nil, limit))
			},
		}), o),
		transactions: feed.New(visible(db, feed.Source[*transactionEvent]{
			Name: "transactions", Newest: newest(transactions.StreamTransactions),
			Position: func(t *transactionEvent) feed.Position { return feed.Position{At: t.ConsensusTimestamp} },
			After: func(ctx context.Context, after feed.Position, limit int) ([]*transactionEvent, error) {
				rows, err := transactions.Transactions(ctx, db, ledger.TransactionFilter{}, Between(after, nil, limit))
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

// visible returns a copy of the source s without the rows after the watermark of the database, which are not all
// visible yet. Each read of the source asks db for the watermark first, and fails if that fails.
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

// Close ends all subscriptions on the ledger with an error that states the reason, also those that begin later. It
// runs when the gateway stops.
func (f *Feeds) Close() {
	f.Blocks.Close()
	f.Logs.Close()
	f.Messages.Close()
	f.Results.Close()
	f.transactions.Close()
}

// endOf returns the position after all rows of a timestamp.
func endOf(at ledger.Timestamp) feed.Position { return feed.Position{At: at, Tie: math.MaxInt64} }

// Between returns the page with the first limit rows after one position, up to and including until, which can be nil,
// of a list that is ordered by time only. It ignores the ties of the positions. An until at the last possible time
// sets no bound.
func Between(after feed.Position, until *feed.Position, limit int) storage.Page {
	p := storage.Page{Limit: limit, Greater: []any{int64(after.At)}}
	if until != nil && until.At < math.MaxInt64 {
		p.Less = []any{int64(until.At) + 1}
	}
	return p
}

// events returns transactions as events without accounts, which the feed or [completed] adds.
func events(rows []*ledger.Transaction) []*transactionEvent {
	return list.Map(rows, func(t *ledger.Transaction) *transactionEvent { return &transactionEvent{Transaction: t} })
}

// StartOf returns the position after which a subscription starts that has from as its argument, or nil for the present.
// Rows at from itself have been delivered before.
func StartOf(from *ledger.Timestamp) *feed.Position {
	if from == nil {
		return nil
	}
	return new(endOf(*from))
}

// watchedAccounts counts the subscribers per account. New transactions are matched against these accounts only,
// because accounts that a transaction merely mentions cannot be found by its time. Its methods can be called at the
// same time.
type watchedAccounts struct {
	mu        sync.Mutex
	listeners map[ledger.EntityID]int
}

// add adds n, which is negative when a subscription ends, to the number of subscribers of each account.
func (w *watchedAccounts) add(accounts []ledger.EntityID, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range accounts {
		if w.listeners[id] += n; w.listeners[id] == 0 {
			delete(w.listeners, id)
		}
	}
}

// all returns the accounts that any subscription filters by, in ascending order.
func (w *watchedAccounts) all() []ledger.EntityID {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.listeners))
}

// Transactions streams the transactions after from, or those from now on if from is nil, that match a filter without
// an account reference. While ctx lives, it watches the accounts of the filter; when it ends, the channel is closed. A
// goroutine listens to the feed, and reads earlier transactions from the database; it repeats reads that fail. If the
// client is too slow or the feed closes, it closes the channel and records the error in the [relay.Ending] of ctx.
func (f *Feeds) Transactions(
	ctx context.Context, db *storage.DB, filter ledger.TransactionFilter, from *ledger.Timestamp,
) <-chan *ledger.Transaction {
	accounts := namedBy(filter)
	f.watched.add(accounts, 1)
	context.AfterFunc(ctx, func() { f.watched.add(accounts, -1) })
	return feed.Listen(ctx, f.transactions, feed.Listener[*transactionEvent]{
		From: StartOf(from), Match: func(t *transactionEvent) bool {
			return filter.Match(t.Transaction, t.parties)
		}, End: relay.EndingOf(ctx).Set,
		Complete: func(ctx context.Context, rows []*transactionEvent) ([]*transactionEvent, error) {
			return completed(ctx, db, rows, accounts)
		},
		History: func(ctx context.Context, after, until feed.Position, limit int) ([]*transactionEvent, error) {
			rows, err := transactions.Transactions(ctx, db, filter, Between(after, &until, limit))
			return events(rows), err
		},
	}, func(t *transactionEvent, live bool) *ledger.Transaction { return feed.Row(t.Transaction, live) })
}

// namedBy returns the accounts that a filter lists by eq or in, which its other conditions can exclude again. It is
// nil if there are none, for example for a range: then accounts that a transaction only mentions are not looked up. It
// does not copy them.
func namedBy(f ledger.TransactionFilter) []ledger.EntityID {
	if f.AccountID == nil {
		return nil
	}
	if f.AccountID.Eq != nil {
		return []ledger.EntityID{*f.AccountID.Eq}
	}
	return f.AccountID.In
}

// completed returns new transactions with the involved accounts that a subscriber needs, which filters by accounts.
// For rows that were read before these accounts were watched, it reads them now, in one statement for all rows. It
// does not change rows, which other subscribers share. It fails if that statement fails.
func completed(
	ctx context.Context, db *storage.DB, rows []*transactionEvent, accounts []ledger.EntityID,
) ([]*transactionEvent, error) {
	var missing []*ledger.Transaction
	var places []int
	for i, t := range rows {
		if slices.ContainsFunc(accounts, func(id ledger.EntityID) bool {
			_, known := slices.BinarySearch(t.asked, id)
			return !known
		}) {
			missing, places = append(missing, t.Transaction), append(places, i)
		}
	}
	if missing == nil {
		return rows, nil
	}
	parties, err := transactions.Parties(ctx, db, missing, accounts)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(rows)
	for n, i := range places {
		out[i] = &transactionEvent{Transaction: missing[n], parties: parties[n]}
	}
	return out, nil
}
