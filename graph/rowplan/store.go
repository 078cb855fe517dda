package rowplan

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/graph-gophers/dataloader/v7"
	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/internal/base/list"
	"heliograph/internal/base/values"
)

// Store holds the dataloaders of one operation. They load the fields that gqlgen's executor resolves instead of a plan, and cache what has been read for
// earlier parts of a response that is sent in parts.
type Store struct {
	// More reports, for an event of a subscription, whether the next one is waiting. It is set only if a plan has written the event.
	More    bool
	inParts bool
	written atomic.Int64 // bytes of JSON
	mu      sync.Mutex
	loaders map[place]*loader
	ahead   map[*graphql.FieldContext]*run // see Ahead
}

// place identifies a relation at one place of the document. The copies of a field have the same position.
type place struct {
	position *ast.Position
	relation any // *Relation[T, R]
}

// loader is the dataloader of a relation at one place of the document, by parent. All relations have the same type of loader, because the compiler
// generates code for each type.
type loader struct {
	*dataloader.Loader[any, any]

	cache *dataloader.InMemoryCache[any, any]
}

// loaderInput is the capacity of a loader's queue. Its batch function drains the queue, so larger batches fit.
const loaderInput = 64

var storeKey = values.NewKey[*Store]()

// Value returns s as a value for the context of one operation.
func (s *Store) Value() values.Value { return storeKey.Is(s) }

// NewPartsStore returns a store for an operation whose response is sent in parts, each of which is executed separately.
func NewPartsStore() *Store { return &Store{inParts: true} }

func storeOf(ctx context.Context) *Store {
	s, _ := storeKey.Of(ctx)
	if s == nil {
		s = new(Store)
	}
	return s
}

func inParts(ctx context.Context) bool {
	s, _ := storeKey.Of(ctx)
	return s != nil && s.inParts
}

// used reports whether the store has any loaders.
func (s *Store) used() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.loaders) > 0
}

// takeAhead returns what [Ahead] has loaded for a field, or nil.
func (s *Store) takeAhead(fc *graphql.FieldContext) *run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ahead[fc]
}

// Resolve returns a relation's result for one parent, for gqlgen's executor. Results that a plan has loaded are returned without a statement. Any other is
// read at once: no timer waits for more parents, because the code that has all parents of a level loads them before gqlgen visits the first.
func Resolve[T, R any](ctx context.Context, t *Tables, rel *Relation[T, R], parent T) (R, error) {
	f := graphql.GetFieldContext(ctx).Field
	l := loaderOf(storeOf(ctx), t, f.Field, Selection{set: f.Selections, all: inParts(ctx)}, rel)
	v, err := l.loadAll(ctx, []any{parent})[0]()
	got, _ := v.(R)
	return got, err
}

// loadAll loads the results of parents in one batch. LoadMany of the dataloader would start a goroutine per key, and Flush could run before they have
// queued their keys.
func (l *loader) loadAll(ctx context.Context, parents []any) []dataloader.Thunk[any] {
	thunks := list.Map(parents, func(p any) dataloader.Thunk[any] { return l.Load(ctx, p) })
	l.Flush()
	return thunks
}

// loaderOf returns the store's loader of a relation at the place of a field.
func loaderOf[T, R any](s *Store, t *Tables, f *ast.Field, below Selection, rel *Relation[T, R]) *loader {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := place{f.Position, rel}
	if l := s.loaders[key]; l != nil {
		return l
	}
	if s.loaders == nil {
		s.loaders = map[place]*loader{}
	}
	l := &loader{cache: dataloader.NewCache[any, any]()}
	l.Loader = dataloader.NewBatchedLoader(func(ctx context.Context, parents []any) []*dataloader.Result[any] {
		got, err := readNow(ctx, Request{Batch: t.NewBatch(), Selection: below}, f, rel, list.Map(parents, asType[T]))
		single := parentErrors(err)
		out := make([]*dataloader.Result[any], len(parents))
		for i := range out {
			switch out[i] = new(dataloader.Result[any]); {
			case single != nil:
				out[i].Data, out[i].Error = got[i], single[i]
			case err != nil:
				out[i].Error = err
			default:
				out[i].Data = got[i]
			}
		}
		return out
	}, dataloader.WithCache[any, any](l.cache), dataloader.WithInputCapacity[any, any](loaderInput))
	s.loaders[key] = l
	return l
}

// readNow reads a relation in a separate round trip.
func readNow[T, R any](ctx context.Context, q Request, f *ast.Field, rel *Relation[T, R], parents []T) ([]R, error) {
	fetch, err := rel.queue(ctx, q, f, graphql.GetOperationContext(ctx).Variables, parents)
	if err != nil {
		return nil, err
	}
	if q.Batch.Len() > 0 {
		if err := q.Batch.Run(ctx); err != nil {
			return nil, loading(err)
		}
	}
	return fetch()
}

// asType returns v as a T, or the zero value if v is nil.
func asType[T any](v any) T {
	t, _ := v.(T)
	return t
}

func parentErrors(err error) ParentErrors {
	var single ParentErrors
	if errors.As(err, &single) {
		return single
	}
	return nil
}

// cached returns the results of rows in the loader's cache, and the rows without one. results has an element for every row.
func cached[T, R any](ctx context.Context, l *loader, rows []T) (missing []T, results []R) {
	results = make([]R, len(rows))
	for i, row := range rows {
		if thunk, ok := l.cache.Get(ctx, row); ok {
			if v, err := thunk(); err == nil {
				results[i], _ = v.(R)
				continue
			}
		}
		missing = append(missing, row)
	}
	return missing, results
}

// merge sets the results of the missing rows.
func merge[T, R any](results []R, rows, missing []T, fresh []R) []R {
	next := 0
	for i, row := range rows {
		if next < len(missing) && any(row) == any(missing[next]) {
			results[i] = fresh[next]
			next++
		}
	}
	return results
}

// save puts results into the loader's cache. single may be nil.
func save[T, R any](ctx context.Context, l *loader, rows []T, got []R, single ParentErrors) {
	for i, row := range rows {
		var v any = got[i]
		var err error
		if single != nil {
			err = single[i]
		}
		l.cache.Set(ctx, row, func() (any, error) { return v, err })
	}
}
