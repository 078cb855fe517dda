package resolvers

import (
	"context"
	"fmt"

	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/entities"
	"heliograph/storage/transactions"
)

// listOf says how a list is told apart and ordered.
type listOf[C any] struct {
	kind    string
	columns int // how many values a place in the list has
	key     func(*C) relay.Key
}

// queueList queues reading a page of the rows of each parent that a filter selects.
type queueList[T, C, F any] func(ctx context.Context, b *storage.Batch, parents []T, f *F, args rowplan.Args, p storage.Page, done func([][]*C)) error

// listed is the relation to a connection with the arguments filter, order and page.
func listed[T, C, F any](l listOf[C], queue queueList[T, C, F]) *rowplan.Relation[T, *relay.Connection[C]] {
	return queued(func(ctx context.Context, b *storage.Batch, parents []T, args rowplan.Args, done func([]*relay.Connection[C])) error {
		p, err := pageArgs(ctx, args, l.kind, l.columns)
		if err != nil {
			return err
		}
		f, err := filterArg[F](ctx, args, "filter")
		if err != nil {
			return err
		}
		return queue(ctx, b, parents, f, args, storagePage(p), func(rows [][]*C) { done(connections(l.kind, p, rows, l.key)) })
	})
}

// connect makes a connection field writable by the row plan.
func connect[T, C any](of *rowplan.Object[T], name string, rel *rowplan.Relation[T, *relay.Connection[C]], page func() *rowplan.Object[*relay.Connection[C]]) {
	of.Add(name, rowplan.RelatedOne(rel, page))
}

// rootList answers a connection of the query type. queue reads a page for a single parent.
func rootList[C any](ctx context.Context, r *Resolver, l listOf[C], order relay.Order, args relay.Args, queue func(b *storage.Batch, p storage.Page, done func([][]*C)) error) (*relay.Connection[C], error) {
	p, sp, err := r.page(ctx, l.kind, l.columns, order, args)
	if err != nil {
		return nil, err
	}
	var rows [][]*C
	b := r.db.NewBatch()
	if err := queue(b, sp, func(got [][]*C) { rows = got }); err != nil {
		return nil, err
	}
	if err := b.Run(ctx); err != nil {
		return nil, fmt.Errorf("reading %s: %w", l.kind, err)
	}
	return relay.NewConnection(l.kind, p, rows[0], l.key), nil
}

// listOfAccount is [rootList] of an account in any of its names. If it does not exist, the list is empty and the outcome reports
// it as missing. mustExist also looks up entity ids, which otherwise are used without a check.
func listOfAccount[C any](ctx context.Context, r *Resolver, l listOf[C], account ledger.AccountRef, mustExist bool, order relay.Order, args relay.Args, queue func(b *storage.Batch, id ledger.EntityID, p storage.Page, done func([][]*C)) error) (*relay.Connection[C], error) {
	id, err := entities.ResolveAccount(ctx, r.db, account)
	if err != nil {
		return nil, err
	}
	exists := id.Valid
	named := account.Alias != nil || account.Address.Valid
	c, err := rootList(ctx, r, l, order, args, func(b *storage.Batch, p storage.Page, done func([][]*C)) error {
		if !exists {
			done(make([][]*C, 1))
			return nil
		}
		if mustExist && !named {
			entities.QueueEntityExists(b, id.V, func(found bool) { exists = found })
		}
		return queue(b, id.V, p, done)
	})
	if err == nil && !exists {
		relay.OutcomeOf(ctx).Missing = &relay.Missing{Kind: relay.MissingAccount}
	}
	return c, err
}

// maxAlternatives bounds the alternatives of a filter.
const maxAlternatives = 10

// checkAlternatives refuses a filter with too many alternatives.
func checkAlternatives(n int) error {
	if n > maxAlternatives {
		return fault.Input("anyOf takes at most %d alternatives", maxAlternatives)
	}
	return nil
}

// tokenOf is the relation from a row to a token that it names; a parent may name none.
func tokenOf[T any](id func(T) ledger.EntityID) *rowplan.Relation[T, *ledger.Token] {
	return queued(func(_ context.Context, b *storage.Batch, parents []T, _ rowplan.Args, done func([]*ledger.Token)) error {
		entities.QueueTokens(b, keys(parents, id), done)
		return nil
	})
}

// transactionAtTime is the relation from a row to the transaction of its consensus time.
func transactionAtTime[T any](at func(T) ledger.Timestamp) *rowplan.Relation[T, *ledger.Transaction] {
	return queued(func(_ context.Context, b *storage.Batch, parents []T, _ rowplan.Args, done func([]*ledger.Transaction)) error {
		transactions.QueueTransactionsAt(b, keys(parents, at), done)
		return nil
	})
}
