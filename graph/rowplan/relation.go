package rowplan

import (
	"context"

	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/graph/scalar"
)

// Batch collects statements that go to the database together.
type Batch interface {
	// Len is how many statements wait.
	Len() int
	// Run sends them in one round trip and hands each its answer.
	Run(ctx context.Context) error
}

// Args are the arguments of a field as the operation gives them, defaults included.
type Args map[string]any

// Relation reads what a field shows of other rows, for many parents at once. R is C for a field with one object and []C for a list.
type Relation[T, R any] struct {
	// Load queues the statements that read the field for all parents and returns a function that gives one result a parent, in the same
	// order, once the batch has run. It may queue nothing.
	Load func(ctx context.Context, b Batch, parents []T, args Args) (func() ([]R, error), error)
}

// results hands the results of a relation to the writer. Rows are written in the order in which they were loaded, so a counter finds them.
type results[R any] struct {
	rows []R
	next int
}

func (s *results[R]) take() R {
	s.next++
	return s.rows[s.next-1]
}

// RelatedOne is a field with one object that a relation reads.
func RelatedOne[T, C any](rel *Relation[T, C], child func() *Object[C]) Field[T] {
	return Field[T]{compile: func(c *compiler, f *ast.Field) node[T] {
		slot := c.slot()
		inner := child().compile(c, f.SelectionSet)
		return node[T]{
			put: func(dst []byte, r *run, _ T) []byte {
				if item := r.slots[slot].(*results[C]).take(); !isNil(item) {
					return inner.put(dst, r, item)
				}
				return append(dst, "null"...)
			},
			load: func(ctx context.Context, r *run, rows []T) error {
				return load(ctx, r, slot, f, rel, rows, func(ctx context.Context, got []C) error {
					if inner.load == nil {
						return nil
					}
					return inner.load(ctx, r, present(got))
				})
			},
		}
	}}
}

// RelatedMany is a field with a list of objects that a relation reads.
func RelatedMany[T, C any](rel *Relation[T, []C], child func() *Object[C]) Field[T] {
	return Field[T]{compile: func(c *compiler, f *ast.Field) node[T] {
		slot := c.slot()
		inner := child().compile(c, f.SelectionSet)
		return node[T]{
			put: func(dst []byte, r *run, _ T) []byte {
				return putList(dst, r, r.slots[slot].(*results[[]C]).take(), inner.put)
			},
			load: func(ctx context.Context, r *run, rows []T) error {
				return load(ctx, r, slot, f, rel, rows, func(ctx context.Context, got [][]C) error {
					if inner.load == nil {
						return nil
					}
					var items []C
					for _, list := range got {
						items = append(items, present(list)...)
					}
					return inner.load(ctx, r, items)
				})
			},
		}
	}}
}

// RelatedScalar is a field with a scalar that a relation reads.
func RelatedScalar[T, V any](rel *Relation[T, V], write scalar.Func[V]) Field[T] {
	return Field[T]{compile: func(c *compiler, f *ast.Field) node[T] {
		slot := c.slot()
		return node[T]{
			put: func(dst []byte, r *run, _ T) []byte { return write(dst, r.slots[slot].(*results[V]).take(), r.style) },
			load: func(ctx context.Context, r *run, rows []T) error {
				return load(ctx, r, slot, f, rel, rows, func(context.Context, []V) error { return nil })
			},
		}
	}}
}

func (c *compiler) slot() int {
	c.slots++
	return c.slots - 1
}

// load queues a relation for rows and goes on below its results when they are there.
func load[T, R any](ctx context.Context, r *run, slot int, f *ast.Field, rel *Relation[T, R], rows []T, below func(context.Context, []R) error) error {
	if len(rows) == 0 {
		r.slots[slot] = &results[R]{}
		return below(ctx, nil)
	}
	missing, known := rows, []R(nil)
	if r.recalls {
		missing, known = recall[T, R](r.store, f, rows)
	}
	var fetch func() ([]R, error)
	if len(missing) > 0 {
		var err error
		if fetch, err = rel.Load(ctx, r.batch, missing, f.ArgumentMap(r.variables)); err != nil {
			return err
		}
	}
	r.after = append(r.after, func(ctx context.Context) error {
		got := known
		if fetch != nil {
			fresh, err := fetch()
			if err != nil {
				return err
			}
			if got = fresh; known != nil {
				got = fill(known, rows, missing, fresh)
			}
		}
		if r.remembers {
			remember(r.store, f, rows, got)
		}
		r.slots[slot] = &results[R]{rows: got}
		return below(ctx, got)
	})
	return nil
}
