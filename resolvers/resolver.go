// Package resolvers resolves the fields of the graph, one file per resource. gqlgen and the row plan resolve fields
// that a row contains. This package resolves fields that require a database read, for one parent or for many at once.
package resolvers

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"heliograph/graph"
	"heliograph/graph/fault"
	"heliograph/graph/feed"
	"heliograph/graph/rowplan"
	"heliograph/internal/base/admission"
	"heliograph/internal/base/values"
	"heliograph/internal/domain/fees"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/resolvers/contractcalls"
	"heliograph/resolvers/decoding"
	"heliograph/resolvers/feeschedules"
	"heliograph/resolvers/live"
	"heliograph/resolvers/loading"
	"heliograph/resolvers/many"
	"heliograph/resolvers/media"
	"heliograph/resolvers/past"
	"heliograph/resolvers/self"
	"heliograph/resolvers/statuspages"
	"heliograph/storage"
	"heliograph/storage/entities"
	statusdb "heliograph/storage/statuspages"
	"heliograph/storage/transactions"
)

// Options configure the resolvers.
type Options struct {
	DB *storage.DB
	// Status stores the status pages. If nil, there are no status pages.
	Status *statusdb.DB
	// Tokens are the configured tokens of status page editors, in addition to those in the database.
	Tokens []*status.Token
	// Self describes the gateway.
	Self *ledger.Gateway
	// Now is the clock.
	Now func() time.Time
	// Cache enables caching of rarely changing data (the fee schedule) between requests.
	Cache  bool
	Logger *slog.Logger
	// SyntheticOff hides the contract results that are derived from logs of token transfers outside the EVM.
	SyntheticOff bool
	// EVM configures contract calls.
	EVM contractcalls.Options
	// Feeds configures how subscriptions poll for new rows.
	Feeds feed.Options
	// Media finds what NFTs show.
	Media media.Fields
}

// Resolver is the root of all resolvers.
type Resolver struct {
	db     *storage.DB
	now    func() time.Time
	gas    *entities.GasPrices
	rates  *entities.ExchangeRates
	tables *rowplan.Tables
	feeds  *live.Feeds
	status *statuspages.Resolver
	past   past.Fields
	self   self.Queries

	blockStatistics *transactions.BlockStatistics

	syntheticOff bool
	feeSchedules *feeschedules.Schedules
	calls        *contractcalls.Service
}

var (
	_ graph.ResolverRoot = root{}
	_ graph.QueryFields  = queries{}
	_ graph.Fields       = fields{}
	_ graph.PastFields   = fields{}
)

// New returns the resolvers, and builds the row plan's tables. It reads nothing from the database and starts no
// goroutine: caches fill and feeds begin when operations use them.
func New(o Options) *Resolver {
	r := &Resolver{
		db: o.DB, gas: entities.NewGasPrices(o.DB), rates: entities.NewExchangeRates(o.DB),
		blockStatistics: transactions.NewBlockStatistics(o.DB), syntheticOff: o.SyntheticOff,
		now: o.Now, feeds: live.New(o.DB, o.Feeds), self: self.Queries{Database: o.DB, Self: o.Self},
		feeSchedules: &feeschedules.Schedules{
			DB: o.DB, Log: o.Logger, Cache: o.Cache, BuiltIn: sync.OnceValues(fees.Default),
		},
		calls: contractcalls.New(contractcalls.Config{
			Options: o.EVM, DB: o.DB, Logger: o.Logger,
			Cache: o.Cache,
		}),
		status: statuspages.New(statuspages.Options{
			DB: o.Status, Tokens: o.Tokens, Now: o.Now, Feeds: o.Feeds,
			Reads: func(ctx context.Context) *statuspages.Reads {
				o, _ := loading.OperationKey.Of(ctx)
				return &o.Reads
			},
		}),
	}
	r.past = past.Fields{DB: o.DB, Now: o.Now, Fees: network{r}.Fees, ExchangeRate: network{r}.ExchangeRate}
	r.tables = graph.NewTables(fields{
		r, statuspages.Fields{Resolver: r.status}, r.past, o.Media, new(decoding.Fields),
	},
		func() rowplan.Batch {
			return o.DB.NewBatch()
		})
	return r
}

// Calls returns the service that runs contract calls. It always returns the same one.
func (r *Resolver) Calls() *contractcalls.Service { return r.calls }

// Root returns the resolvers that gqlgen calls: those of mutations, subscriptions and the network.
func (r *Resolver) Root() graph.ResolverRoot {
	return root{r}
}

// Queries returns the resolvers of the fields of the query type, which graph calls for each root field.
func (r *Resolver) Queries() graph.QueryFields {
	return queries{r, byKeys{DB: r.db, SyntheticOff: r.syntheticOff}, r.self}
}

// root implements [graph.ResolverRoot].
type root struct{ r *Resolver }

// Mutation implements [graph.ResolverRoot]. It returns the resolver of mutations, which are all those of status pages,
// and writes nothing itself.
func (o root) Mutation() graph.MutationResolver {
	return graph.NewMutationResolver(o.r.status.Mutations())
}

// Subscription implements [graph.ResolverRoot]. It returns the resolver of subscriptions, and subscribes to nothing.
func (o root) Subscription() graph.SubscriptionResolver { return subscriptions{o.r} }

// Network implements [graph.ResolverRoot]. It returns the resolver of the network's fields, and reads nothing.
func (o root) Network() graph.NetworkResolver { return graph.NewNetworkResolver(network{o.r}) }

// queries implements [graph.QueryFields].
type queries struct {
	*Resolver
	byKeys
	self.Queries
}

type byKeys = many.Queries

// Operation returns a new state of the resolvers, the dataloaders and counters of one operation, for its context.
// [loading.OperationKey] finds it there.
func (r *Resolver) Operation() values.Value {
	return loading.OperationKey.Is(&loading.Operation{Plans: &r.tables.Plans})
}

// MaxAddresses is the maximum number of EVM addresses in place of entity ids in an operation. Each takes a statement.
const MaxAddresses = 100

// FindAddress returns the id of the account or contract with an EVM address, for an argument that takes an id. It
// reads the database once, and counts the address in the operation of ctx, if it has one. More than [MaxAddresses] in
// the operation, and an address that no live entity has, are BAD_USER_INPUT.
func (r *Resolver) FindAddress(ctx context.Context, a ledger.EVMAddress) (ledger.EntityID, error) {
	if o, _ := loading.OperationKey.Of(ctx); o != nil && o.Addresses.Add(1) > MaxAddresses {
		return 0, fault.Input("an operation can have at most %d EVM addresses in place of entity IDs", MaxAddresses)
	}
	id, err := entities.ResolveCallee(ctx, r.db, ledger.AccountRef{Address: ledger.Of(a)})
	if err == nil && !id.Valid {
		err = fault.Input("no account or contract has the EVM address %s", a)
	}
	return id.V, err
}

// Work returns the value for the context of an operation of the client of ctx, with which the queue admits its
// statements. scans reports whether [Scans] is true for one of its lists, or it reads many rows of a past state, and
// event whether it is a subscription, whose reads need a server that has the event. It reads and changes nothing.
func Work(ctx context.Context, scans, event bool) values.Value {
	share := admission.Reads
	if scans {
		share = admission.Scans
	}
	return storage.Work(ctx, share, event)
}

// Scans reports whether a list usually reads many rows because of its filters: no index has one of them. list is the
// name of the root field, and given reports whether a filter is set. It reads only the table of unindexed filters of
// package storage.
func Scans(list string, given func(filter string) bool) bool {
	u := storage.FindUnindexed(list, given)
	return u != nil && u.Scan
}

// Close ends all subscriptions with an error that states the reason, and prevents new ones. Queries and mutations still
// work.
func (r *Resolver) Close() {
	r.feeds.Close()
	r.status.Close()
}

// StatusChanged makes subscriptions to status pages check for changes immediately. The gateway calls it when the
// database announces a write.
func (r *Resolver) StatusChanged() { r.status.Changed() }

// Tables returns the tables of the row plan, which [New] built. The caller must not change them.
func (r *Resolver) Tables() *rowplan.Tables { return r.tables }

// failures are the errors that clients see for failures of storage.
var failures = map[storage.Failure]*fault.Error{
	storage.FailureOther:       fault.New(fault.Internal, "internal error"),
	storage.FailureTimeout:     fault.New(fault.Timeout, "the database took too long"),
	storage.FailureDatabase:    fault.New(fault.Unavailable, "the database cannot answer now"),
	storage.FailureCancelled:   fault.New(fault.Timeout, "the request was cancelled"),
	storage.FailureOutOfBounds: fault.New(fault.BadUserInput, "a value is out of range"),
	storage.FailureAmbiguous:   fault.New(fault.Internal, "more than one live entity has this alias or address"),
}

// Classify converts an error of storage, or of status pages, to one that clients may see. Its text says nothing about
// statements, and names tables and columns only if the database lacks or denies them, or does not store their past. An
// error that it does not know is INTERNAL. The result can be shared: callers must not change it.
func Classify(err error) *fault.Error {
	if refused := statuspages.Classify(err); refused != nil {
		return refused
	}
	if unknown, ok := errors.AsType[*storage.UnknownPastError](err); ok {
		return fault.New(fault.BadUserInput, unknown.Error())
	}
	switch failure := storage.FailureOf(err); failure {
	case storage.FailureMismatch:
		mismatch, _ := errors.AsType[*storage.MismatchError](err)
		return fault.New(fault.SchemaMismatch, mismatch.Error())
	case storage.FailureBusy:
		return fault.Busy(admission.RefusalOf(err))
	default:
		return failures[failure]
	}
}

// moment returns the moment of the state that ctx reads: a past one, or the current time of the clock.
func (r *Resolver) moment(ctx context.Context) ledger.Timestamp {
	if m := ledger.MomentOf(ctx); m != nil {
		return m.At
	}
	return r.timestamp()
}

// timestamp returns the current time of the resolver's clock.
func (r *Resolver) timestamp() ledger.Timestamp { return ledger.TimestampOf(r.now()) }
