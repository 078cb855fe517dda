// Package resolvers answers the fields of the graph: one file a resource. What a row holds itself gqlgen and the row plan read from it;
// here is what has to be read from the database, for one parent or for many at once.
package resolvers

import (
	"context"
	"log/slog"
	"time"

	"heliograph/graph"
	"heliograph/graph/fault"
	"heliograph/graph/feed"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/resolvers/contractcalls"
	"heliograph/resolvers/statuspages"
	"heliograph/storage"
	statusdb "heliograph/storage/statuspages"
)

// Options say how fields are answered.
type Options struct {
	DB *storage.DB
	// Status has the status pages. Nil means that there are none.
	Status *statusdb.DB
	// Tokens are those of the configuration, of people who may write to status pages. Others are in the database.
	Tokens []*status.Token
	// Now is the clock.
	Now func() time.Time
	// Cache keeps between requests what seldom changes: the fee schedule.
	Cache  bool
	Logger *slog.Logger
	// EVM says how contracts are run.
	EVM contractcalls.Options
	// Feeds say how subscriptions look for what is new.
	Feeds feed.Options
}

// Resolver is the root of all resolvers.
type Resolver struct {
	db     *storage.DB
	now    func() time.Time
	rel    relations
	tables *rowplan.Tables
	feeds  *feeds
	status *statuspages.Resolver

	feeSchedules *feeSchedules
	calls        *contractcalls.Service
}

var (
	_ graph.ResolverRoot = (*Resolver)(nil)
	_ graph.EntityReader = (*Resolver)(nil)
)

// New makes the resolvers, and the tables of the row plan with the fields that they answer.
func New(o Options) *Resolver {
	r := &Resolver{
		db: o.DB, now: o.Now, feeds: newFeeds(o.DB, o.Feeds), feeSchedules: newFeeSchedules(o),
		calls: contractcalls.New(contractcalls.Config{Options: o.EVM, DB: o.DB, Now: o.Now, Logger: o.Logger, Cache: o.Cache}),
		status: statuspages.New(statuspages.Options{
			DB: o.Status, Tokens: o.Tokens, Now: o.Now, Feeds: o.Feeds, Reads: func(ctx context.Context) *statuspages.Reads { return &operationOf(ctx).reads },
		}),
	}
	r.rel = newRelations(o.DB, r.timestamp)
	r.tables = rowplan.NewTables(func() rowplan.Batch { return o.DB.NewBatch() })
	r.rel.add(r.tables)
	addIDs(r.tables)
	addNetworkIDs(r.tables)
	r.status.AddTo(r.tables)
	r.addScheduleState(r.tables)
	return r
}

// Close ends all subscriptions, and tells their clients why.
func (r *Resolver) Close() {
	r.feeds.Close()
	r.status.Close()
}

// StatusChanged makes subscriptions to status pages look for changes immediately.
func (r *Resolver) StatusChanged() { r.status.Changed() }

// Tables are the tables of the row plan.
func (r *Resolver) Tables() *rowplan.Tables { return r.tables }

// Classify tells what clients may know of an error that storage returned.
func Classify(err error) *fault.Error {
	if refused := statuspages.Classify(err); refused != nil {
		return refused
	}
	switch storage.FailureOf(err) {
	case storage.FailureTimeout:
		return &fault.Error{Code: fault.Timeout, Message: "the database took too long"}
	case storage.FailureDatabase:
		return &fault.Error{Code: fault.Unavailable, Message: "the database cannot answer now"}
	case storage.FailureCancelled:
		return &fault.Error{Code: fault.Timeout, Message: "the request was cancelled"}
	case storage.FailureOutOfBounds:
		return &fault.Error{Code: fault.BadUserInput, Message: "a value is out of range"}
	case storage.FailureAmbiguous:
		return &fault.Error{Code: fault.Internal, Message: "more than one live entity has this alias or address"}
	default:
		return &fault.Error{Code: fault.Internal, Message: "internal error"}
	}
}

// timestamp is the present instant of the clock.
func (r *Resolver) timestamp() ledger.Timestamp { return ledger.TimestampOf(r.now()) }

// page reads the arguments of the context's connection: kind names the list in its cursors, columns is how many values a place in it has. One row more
// than the page has is read only where it tells somebody something.
func (r *Resolver) page(ctx context.Context, kind string, columns int, order relay.Order, args relay.Args) (relay.Page, storage.Page, error) {
	p, err := args.Page(kind, columns, order == relay.Desc, relay.LimitsOf(ctx))
	if err != nil {
		return relay.Page{}, storage.Page{}, fault.Input("%v", err)
	}
	sp := storagePage(p)
	if !asksForPageInfo(ctx) {
		sp.Limit = p.Limit
	}
	return p, sp, nil
}

// storagePage asks for one row more than the page has, to see whether the list goes on.
func storagePage(p relay.Page) storage.Page {
	s := storage.Page{Limit: p.Limit + 1, Desc: p.Descending()}
	if s.Greater, s.Less = p.After, p.Before; p.Desc {
		s.Greater, s.Less = p.Before, p.After
	}
	return s
}

// oneOf makes sure that exactly one of some arguments is given.
func oneOf(names string, given ...bool) error {
	n := 0
	for _, g := range given {
		if g {
			n++
		}
	}
	if n != 1 {
		return fault.Input("give exactly one of %s", names)
	}
	return nil
}
