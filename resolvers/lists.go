package resolvers

import (
	"context"
	"fmt"

	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/entities"
)

// listOf describes a kind of list.
type listOf[C any] struct {
	kind    string // in cursors
	columns int    // number of columns of a position
	key     func(*C) relay.Key
}

// queueRows queues reading one page of rows for each parent.
type queueRows[C any] func(b *storage.Batch, p storage.Page, done func([][]*C)) error

// page reads the arguments of the root list that ctx resolves.
func (l listOf[C]) page(ctx context.Context, order relay.Order, args relay.Args) (relay.Page, storage.Page, error) {
	return l.pageOf(ctx, order, args, rowplan.SelectionOf(ctx).Has("pageInfo"))
}

// pageOf reads the arguments of a list. more requests one row more than the page has, which shows whether the list continues.
func (l listOf[C]) pageOf(ctx context.Context, order relay.Order, args relay.Args, more bool) (relay.Page, storage.Page, error) {
	p, err := args.Page(l.kind, l.columns, order == relay.Desc, relay.LimitsOf(ctx))
	if err != nil {
		return relay.Page{}, storage.Page{}, fault.Input("%v", err)
	}
	sp := storagePage(p)
	if !more {
		sp.Limit = p.Limit
	}
	return p, sp, nil
}

// storagePage returns the page to read, with one row more than it has.
func storagePage(p relay.Page) storage.Page {
	s := storage.Page{Limit: p.Limit + 1, Desc: p.Descending()}
	if s.Greater, s.Less = p.After, p.Before; p.Desc {
		s.Greater, s.Less = p.Before, p.After
	}
	return s
}

// connection returns the page with rows in reading order.
func (l listOf[C]) connection(p relay.Page, rows []*C) *relay.Connection[C] {
	return relay.NewConnection(l.kind, p, rows, l.key)
}

// below reads a page of the list for each parent.
func (l listOf[C]) below(ctx context.Context, q rowplan.Request, order relay.Order, args relay.Args, queue queueRows[C]) (
	rowplan.Results[*relay.Connection[C]], error,
) {
	p, sp, err := l.pageOf(ctx, order, args, true)
	if err != nil {
		return nil, err
	}
	var got [][]*C
	if err := queue(batchOf(q), sp, func(rows [][]*C) { got = rows }); err != nil {
		return nil, err
	}
	return func() ([]*relay.Connection[C], error) {
		return list.Map(got, func(rows []*C) *relay.Connection[C] { return l.connection(p, rows) }), nil
	}, nil
}

// rootList reads a page of a list of the query type. queue reads it for one parent.
func rootList[C any](ctx context.Context, r *Resolver, l listOf[C], order relay.Order, args relay.Args, queue queueRows[C]) (*relay.Connection[C], error) {
	p, sp, err := l.page(ctx, order, args)
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
	return l.connection(p, rows[0]), nil
}

// listOfAccount is [rootList] for the list of an account. If the account does not exist, the list is empty and the outcome reports it. mustExist checks
// accounts
// that are given by id too.
func listOfAccount[C any](
	ctx context.Context, r *Resolver, l listOf[C], account ledger.AccountRef, mustExist bool, order relay.Order, args relay.Args,
	queue func(b *storage.Batch, id ledger.EntityID, p storage.Page, done func([][]*C)) error,
) (*relay.Connection[C], error) {
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

// ofEither reads the list of the one account that is given. second reports whether it is the second one. It returns nil if the account does not exist.
func ofEither[C any](
	ctx context.Context, r *Resolver, names string, first, second *ledger.AccountRef, read func(id ledger.EntityID, second bool) (*relay.Connection[C], error),
) (*relay.Connection[C], error) {
	if err := oneOf(names, first != nil, second != nil); err != nil {
		return nil, err
	}
	given := first
	if first == nil {
		given = second
	}
	id, err := entities.ResolveAccount(ctx, r.db, *given)
	if err != nil || !id.Valid {
		return nil, err
	}
	return read(id.V, first == nil)
}

// maxAlternatives is the maximum number of alternatives of a filter.
const maxAlternatives = 10

// checkAlternatives fails if a filter has too many alternatives.
func checkAlternatives(n int) error {
	if n > maxAlternatives {
		return fault.Input("anyOf takes at most %d alternatives", maxAlternatives)
	}
	return nil
}

// oneOf fails unless exactly one of some arguments is given.
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
