package resolvers

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/graph/scalar"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/entities"
)

// relations are the arrows of the graph: fields that are read from other tables, for all parents of a level in one statement.
type relations struct {
	accounts     accountRelations
	blocks       blockRelations
	contracts    contractRelations
	logs         logRelations
	results      resultRelations
	topics       topicRelations
	transactions transactionRelations
	grants       grantRelations
	hooks        hookRelations
	network      networkRelations
	schedules    scheduleRelations
	tokens       tokenRelations
	nfts         nftRelations
	allowances   allowanceRelations
}

// newRelations makes the relations. now is the clock.
func newRelations(db *storage.DB, now func() ledger.Timestamp) relations {
	return relations{
		accounts: newAccountRelations(), blocks: newBlockRelations(), contracts: newContractRelations(), logs: newLogRelations(),
		results: newResultRelations(db), topics: newTopicRelations(), transactions: newTransactionRelations(), grants: newGrantRelations(),
		hooks: newHookRelations(), network: newNetworkRelations(), schedules: newScheduleRelations(),
		tokens: newTokenRelations(now), nfts: newNFTRelations(), allowances: newAllowanceRelations(),
	}
}

// add makes the relations known to the row plan.
func (r *relations) add(t *rowplan.Tables) {
	r.accounts.add(t)
	r.blocks.add(t)
	r.contracts.add(t)
	r.logs.add(t)
	r.results.add(t)
	r.topics.add(t)
	r.transactions.add(t)
	r.grants.add(t)
	r.hooks.add(t)
	r.network.add(t)
	r.schedules.add(t)
	r.tokens.add(t)
	r.nfts.add(t)
	r.allowances.add(t)
}

// queued is a relation that a function of storage reads: queue is called with the parents, and gives one result for each.
func queued[T, R any](queue func(ctx context.Context, b *storage.Batch, parents []T, args rowplan.Args, done func([]R)) error) *rowplan.Relation[T, R] {
	return &rowplan.Relation[T, R]{Load: func(ctx context.Context, b rowplan.Batch, parents []T, args rowplan.Args) (func() ([]R, error), error) {
		var got []R
		if err := queue(ctx, b.(*storage.Batch), parents, args, func(r []R) { got = r }); err != nil {
			return nil, err
		}
		return func() ([]R, error) { return got, nil }, nil
	}}
}

// accountOf is the relation from a row to an account that it names; a parent may name none.
func accountOf[T any](id func(T) ledger.EntityID) *rowplan.Relation[T, *ledger.Account] {
	return queued(func(_ context.Context, b *storage.Batch, parents []T, _ rowplan.Args, done func([]*ledger.Account)) error {
		entities.QueueAccounts(b, keys(parents, id), done)
		return nil
	})
}

// keys are the keys of rows by which their relations are read.
func keys[T, K any](rows []T, key func(T) K) []K {
	out := make([]K, len(rows))
	for i, r := range rows {
		out[i] = key(r)
	}
	return out
}

// pageArgs reads the arguments of a connection below a list.
func pageArgs(ctx context.Context, args rowplan.Args, kind string, columns int) (relay.Page, error) {
	var a relay.Args
	var err error
	for name, into := range map[string]**int32{"first": &a.First, "last": &a.Last} {
		if args[name] == nil {
			continue
		}
		n, e := scalar.UnmarshalInt(ctx, args[name])
		if e != nil {
			err = e
		}
		*into = &n
	}
	if err != nil {
		return relay.Page{}, err
	}
	for name, into := range map[string]**string{"after": &a.After, "before": &a.Before} {
		if text, ok := args[name].(string); ok {
			*into = &text
		}
	}
	p, err := a.Page(kind, columns, args["order"] == string(relay.Desc), relay.LimitsOf(ctx))
	if err != nil {
		return relay.Page{}, fault.Input("%v", err)
	}
	return p, nil
}

// filterArg reads an argument that is an input object. Nil where it is not given.
func filterArg[F any](ctx context.Context, args rowplan.Args, name string) (*F, error) {
	if args[name] == nil {
		return nil, nil //nolint:nilnil // no filter
	}
	var f F
	if err := graphql.UnmarshalInputFromContext(ctx, args[name], &f); err != nil {
		return nil, err //nolint:wrapcheck // it is the client's already
	}
	return &f, nil
}

// connections makes a page of each parent's rows.
func connections[T any](kind string, p relay.Page, rows [][]*T, key func(*T) relay.Key) []*relay.Connection[T] {
	out := make([]*relay.Connection[T], len(rows))
	for i, r := range rows {
		out[i] = relay.NewConnection(kind, p, r, key)
	}
	return out
}
