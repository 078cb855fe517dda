package rowplan

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/graph-gophers/dataloader/v7"
	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/internal/base/values"
)

// Store is the state of one operation: what has been read for earlier parts of a response that is sent in parts, and
// what was read ahead.
type Store struct {
	// More reports, for an event of a subscription, whether the next one is waiting.
	More    bool
	inParts bool
	written atomic.Int64 // bytes of JSON
	mu      sync.Mutex
	caches  map[place]cache
	ahead   map[*graphql.FieldContext]*run // see Ahead
}

// place identifies a relation at one place of the document. The copies of a field have the same position.
type place struct {
	position *ast.Position
	relation any // *Relation[T, R]
}

// cache has the results of a relation at one place of the document, by parent.
type cache = *dataloader.InMemoryCache[any, any]

var storeKey = values.NewKey[*Store]()

// Value returns s as a value for the context of one operation.
func (s *Store) Value() values.Value { return storeKey.Is(s) }

// NewPartsStore returns a store for an operation whose response is sent in parts, each of which is executed
// separately.
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

// takeAhead returns what [Ahead] has loaded for a field, or nil.
func (s *Store) takeAhead(fc *graphql.FieldContext) *run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ahead[fc]
}

// cacheOf returns the cache of a relation at a place.
func (s *Store) cacheOf(at place) cache {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.caches == nil {
		s.caches = map[place]cache{}
	}
	if s.caches[at] == nil {
		s.caches[at] = dataloader.NewCache[any, any]()
	}
	return s.caches[at]
}

// cached returns the results of rows in a cache, and the rows without one. results has an element for every row.
func cached[T, R any](ctx context.Context, c cache, rows []T) (missing []T, results []R) {
	results = make([]R, len(rows))
	for i, row := range rows {
		thunk, ok := c.Get(ctx, row)
		if !ok {
			missing = append(missing, row)
			continue
		}
		v, _ := thunk() // see save
		results[i], _ = v.(R)
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

// save puts results into a cache.
func save[T, R any](ctx context.Context, c cache, rows []T, got []R) {
	for i, row := range rows {
		c.Set(ctx, row, func() (any, error) { return got[i], nil })
	}
}
