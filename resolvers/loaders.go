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
	"heliograph/internal/base/values"
	"heliograph/resolvers/statuspages"
	"heliograph/storage"
)

// operation is what resolvers keep for one operation: its dataloaders, and what it reads of status pages once only.
type operation struct {
	loaders
	reads statuspages.Reads
}

// loaders are dataloaders, one for each place in the document that asks for a relation. What a plan has read ahead, level by level, needs none of
// them; what no plan has announced is gathered for a moment.
type loaders struct {
	mu      sync.Mutex
	byPlace map[*ast.Position]*loader
}

var operationKey = values.NewKey[*operation]()

// Operation is what resolvers need in the context of one operation.
func Operation() values.Value { return operationKey.Is(&operation{}) }

// operationOf is what resolvers keep for the context's operation.
func operationOf(ctx context.Context) *operation {
	o, _ := operationKey.Of(ctx)
	return o
}

// gather is how long a loader waits for more parents that nobody has announced.
const gather = time.Millisecond

// loader is a dataloader of any relation, by parent: one type for all of them, since the compiler makes the code of each type of loader anew.
type loader = dataloader.Loader[any, any]

// related answers a field that a relation reads. T is a pointer to a row.
func related[T, R any](ctx context.Context, db *storage.DB, rel *rowplan.Relation[T, R], parent T) (R, error) {
	f := graphql.GetFieldContext(ctx).Field.Field
	if got, ok := rowplan.Recall[T, R](ctx, f, parent); ok {
		return got, nil
	}
	args := f.ArgumentMap(graphql.GetOperationContext(ctx).Variables)
	v, err := loaderOf(ctx, f, func(ctx context.Context, parents []any) ([]any, error) {
		rows := keys(parents, func(p any) T {
			row, _ := p.(T)
			return row
		})
		got, err := loadNow(ctx, db, rel, rows, args)
		return keys(got, func(r R) any { return r }), err
	}).Load(ctx, parent)()
	got, _ := v.(R)
	return got, err
}

// loaderOf returns the operation's loader for a place in the document; read gives one result for each parent.
func loaderOf(ctx context.Context, f *ast.Field, read func(ctx context.Context, parents []any) ([]any, error)) *loader {
	all := operationOf(ctx)
	all.mu.Lock()
	defer all.mu.Unlock()
	if l, ok := all.byPlace[f.Position]; ok {
		return l
	}
	l := dataloader.NewBatchedLoader(func(ctx context.Context, parents []any) []*dataloader.Result[any] {
		got, err := read(ctx, parents)
		out := make([]*dataloader.Result[any], len(parents))
		for i := range out {
			out[i] = &dataloader.Result[any]{Error: err}
			if err == nil {
				out[i].Data = got[i]
			}
		}
		return out
	}, dataloader.WithWait[any, any](gather))
	if all.byPlace == nil {
		all.byPlace = map[*ast.Position]*loader{}
	}
	all.byPlace[f.Position] = l
	return l
}

// loadNow reads a relation for some parents in a round trip of its own.
func loadNow[T, R any](ctx context.Context, db *storage.DB, rel *rowplan.Relation[T, R], parents []T, args rowplan.Args) ([]R, error) {
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
