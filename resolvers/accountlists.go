package resolvers

import (
	"context"
	"fmt"

	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/entities"
)

// accountList is a list that every account has. It is read alike below accounts and for a single one at the root of the graph.
type accountList[T, F any] struct {
	kind    string
	columns int
	key     func(*T) relay.Key
	queue   func(b *storage.Batch, accounts []ledger.EntityID, f *F, p storage.Page, done func([][]*T))
}

// relation is the list as a field of accounts.
func (l *accountList[T, F]) relation() *rowplan.Relation[*ledger.Account, *relay.Connection[T]] {
	return queued(func(ctx context.Context, b *storage.Batch, parents []*ledger.Account, args rowplan.Args, done func([]*relay.Connection[T])) error {
		p, err := pageArgs(ctx, args, l.kind, l.columns)
		if err != nil {
			return err
		}
		f, err := filterArg[F](ctx, args, "filter")
		if err != nil {
			return err
		}
		l.queue(b, keys(parents, func(a *ledger.Account) ledger.EntityID { return a.EntityID }), f, storagePage(p), func(rows [][]*T) {
			done(connections(l.kind, p, rows, l.key))
		})
		return nil
	})
}

// read is the list of one account, nil when no live one has the name.
func (l *accountList[T, F]) read(ctx context.Context, r *Resolver, ref ledger.AccountRef, f *F, order relay.Order, args relay.Args) (*relay.Connection[T], error) {
	p, sp, err := r.page(ctx, l.kind, l.columns, order, args)
	if err != nil {
		return nil, err
	}
	id, err := entities.ResolveAccount(ctx, r.db, ref)
	if err != nil || !id.Valid {
		return nil, err
	}
	rows, err := firstOf(ctx, r.db, func(b *storage.Batch, done func([][]*T)) { l.queue(b, []ledger.EntityID{id.V}, f, sp, done) })
	if err != nil {
		return nil, fmt.Errorf("reading the %s of %s: %w", l.kind, id.V, err)
	}
	return relay.NewConnection(l.kind, p, rows, l.key), nil
}

// either reads the list that belongs to the one account that is given.
func either[T, F any](ctx context.Context, r *Resolver, names string, lists [2]*accountList[T, F], refs [2]*ledger.AccountRef, f *F, order relay.Order, args relay.Args) (*relay.Connection[T], error) {
	if err := oneOf(names, refs[0] != nil, refs[1] != nil); err != nil {
		return nil, err
	}
	i := 0
	if refs[0] == nil {
		i = 1
	}
	return lists[i].read(ctx, r, *refs[i], f, order, args)
}

// firstOf runs one queued read of a single parent.
func firstOf[R any](ctx context.Context, db *storage.DB, queue func(b *storage.Batch, done func([]R))) (R, error) {
	var out R
	b := db.NewBatch()
	queue(b, func(got []R) { out = got[0] })
	return out, b.Run(ctx)
}
