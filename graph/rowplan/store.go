package rowplan

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/internal/base/values"
)

// Store is the state of one operation: what has been read for earlier parts of a response that is sent in parts, and
// what was read ahead.
type Store struct {
	// More reports, for an event of a subscription, whether the next one is waiting.
	More bool
	// Recorded reports whether the fields of statements are recorded.
	Recorded bool

	inParts bool
	read    sync.Map     // place → outcome[R]
	written atomic.Int64 // bytes of JSON
	mu      sync.Mutex
	ahead   map[*graphql.FieldContext]*run // see Ahead
}

// place identifies what a relation reads for a row at one place of the document. The copies of a field have the same
// position.
type place struct {
	position      *ast.Position
	relation, row any // *Relation[T, R] and T
}

// outcome is the result of a relation for one row.
type outcome[R any] struct {
	value R
	err   error
}

var storeKey = values.NewKey[*Store]()

// Value returns a value that makes s the store of an operation's context.
func (s *Store) Value() values.Value { return storeKey.Is(s) }

// NewPartsStore returns a store for an operation whose response is sent in parts, each of which is executed
// separately. It keeps what earlier parts have read.
func NewPartsStore() *Store { return &Store{inParts: true} }

// storeOf returns the store of the operation. Without one, for example in tests, the store is new and nothing is
// shared.
func storeOf(ctx context.Context) *Store {
	s, _ := storeKey.Of(ctx)
	if s == nil {
		s = new(Store)
	}
	return s
}

// inParts reports whether the operation is sent in parts, as with @defer.
func inParts(ctx context.Context) bool {
	s, _ := storeKey.Of(ctx)
	return s != nil && s.inParts
}

// takeAhead returns what [Ahead] has loaded for a field, or nil. The run remains in s, whose lock it takes.
func (s *Store) takeAhead(fc *graphql.FieldContext) *run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ahead[fc]
}
