package resolvers

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/graph-gophers/dataloader/v7"
	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/graph/rowplan"
	"heliograph/storage"
)

// loaders are the dataloaders of one operation, one for each place in the document that asks for a relation. Plans fill their caches level by
// level ahead of gqlgen, so that they normally have nothing to wait for; what no plan has announced is gathered for a moment.
type loaders struct {
	mu      sync.Mutex
	byField map[*ast.Field]any
}

type loadersKey struct{}

// PrepareContext gives an operation its loaders, and what it reads of status pages once only.
func (*Resolver) PrepareContext(ctx context.Context) context.Context {
	if _, shared := ctx.Value(statusReadsKey{}).(*statusReads); !shared {
		ctx = WithStatusReads(ctx)
	}
	return context.WithValue(ctx, loadersKey{}, &loaders{})
}

// gather is how long a loader waits for more parents that nobody has announced.
const gather = time.Millisecond

// related answers a field that a relation reads.
func related[T, R any](ctx context.Context, db *storage.DB, rel *rowplan.Relation[T, R], parent *T) (R, error) {
	f := graphql.GetFieldContext(ctx).Field.Field
	return loaderOf(ctx, db, rel, f).Load(ctx, parent)()
}

// loaderOf returns the operation's loader for a place in the document.
func loaderOf[T, R any](ctx context.Context, db *storage.DB, rel *rowplan.Relation[T, R], f *ast.Field) *dataloader.Loader[*T, R] {
	all, _ := ctx.Value(loadersKey{}).(*loaders)
	all.mu.Lock()
	defer all.mu.Unlock()
	if l, ok := all.byField[f].(*dataloader.Loader[*T, R]); ok {
		return l
	}
	variables := graphql.GetOperationContext(ctx).Variables
	l := dataloader.NewBatchedLoader(func(ctx context.Context, parents []*T) []*dataloader.Result[R] {
		got, err := loadNow(ctx, db, rel, parents, f.ArgumentMap(variables))
		out := make([]*dataloader.Result[R], len(parents))
		for i := range out {
			out[i] = &dataloader.Result[R]{Error: err}
			if err == nil {
				out[i].Data = got[i]
			}
		}
		return out
	}, dataloader.WithWait[*T, R](gather), dataloader.WithCache(&planCache[T, R]{ctx: ctx, field: f, Cache: dataloader.NewCache[*T, R]()}))
	if all.byField == nil {
		all.byField = map[*ast.Field]any{}
	}
	all.byField[f] = l
	return l
}

// loadNow reads a relation for some parents in a round trip of its own.
func loadNow[T, R any](ctx context.Context, db *storage.DB, rel *rowplan.Relation[T, R], parents []*T, args rowplan.Args) ([]R, error) {
	b := db.NewBatch()
	fetch, err := rel.Load(ctx, b, parents, args)
	if err != nil {
		return nil, err
	}
	if err := b.Run(ctx); err != nil {
		return nil, fmt.Errorf("loading related rows: %w", err)
	}
	return fetch()
}

// planCache is a loader's cache that knows also what the row plans have read.
type planCache[T, R any] struct {
	dataloader.Cache[*T, R]
	ctx   context.Context //nolint:containedctx // the cache lives as long as the operation
	field *ast.Field
}

// Get implements dataloader.Cache.
func (c *planCache[T, R]) Get(ctx context.Context, parent *T) (dataloader.Thunk[R], bool) {
	if got, ok := rowplan.Recall[T, R](c.ctx, c.field, parent); ok {
		return func() (R, error) { return got, nil }, true
	}
	return c.Cache.Get(ctx, parent)
}
