package rowplan

import (
	"context"
	"sync"

	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/internal/base/values"
)

// Store keeps the results of relations that a partial plan has read, for the resolvers that gqlgen will ask for them; and those of all plans where
// the answer comes in parts, for the parts that begin at the same rows. It lives as long as the operation.
type Store struct {
	inParts bool
	mu      sync.RWMutex
	results map[resultKey]any
}

// resultKey is a place in the document, which the copies of a field share, and a parent.
type resultKey struct {
	place  *ast.Position
	parent any // T
}

var storeKey = values.NewKey[*Store]()

// Value is s for the context of one operation.
func (s *Store) Value() values.Value { return storeKey.Is(s) }

// NewPartsStore makes a store for one operation whose answer comes in parts, each of which is executed by itself.
func NewPartsStore() *Store { return &Store{inParts: true} }

// InParts tells whether later parts of the answer may ask for more of what is read now. Who reads only what the selection needs has to read all
// of it then.
func InParts(ctx context.Context) bool {
	s := storeOf(ctx)
	return s != nil && s.inParts
}

func storeOf(ctx context.Context) *Store {
	s, _ := storeKey.Of(ctx)
	return s
}

// Recall returns what a plan has read of a relation for a parent; f is the field as it stands in the document.
func Recall[T, R any](ctx context.Context, f *ast.Field, parent T) (R, bool) {
	var none R
	s := storeOf(ctx)
	if s == nil {
		return none, false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	v, ok := s.results[resultKey{f.Position, parent}]
	if !ok {
		return none, false
	}
	got, ok := v.(R)
	return got, ok
}

// recall splits rows into those whose results are known and those that are missing; known has a place for every row.
func recall[T, R any](s *Store, f *ast.Field, rows []T) (missing []T, known []R) {
	if s == nil {
		return rows, nil
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if len(s.results) == 0 {
		return rows, nil
	}
	known = make([]R, len(rows))
	for i, row := range rows {
		v, ok := s.results[resultKey{f.Position, row}]
		if !ok {
			missing = append(missing, row)
			continue
		}
		known[i], _ = v.(R)
	}
	return missing, known
}

// fill puts what was read afresh into the places of the missing rows.
func fill[T, R any](known []R, rows, missing []T, fresh []R) []R {
	next := 0
	for i, row := range rows {
		if next < len(missing) && any(row) == any(missing[next]) {
			known[i] = fresh[next]
			next++
		}
	}
	return known
}

// remember keeps the results of rows.
func remember[T, R any](s *Store, f *ast.Field, rows []T, got []R) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.results == nil {
		s.results = make(map[resultKey]any, len(rows))
	}
	for i, row := range rows {
		s.results[resultKey{f.Position, row}] = got[i]
	}
}
