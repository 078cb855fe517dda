package rowplan

import (
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/graph/limits"
	"heliograph/graph/scalar"
	"heliograph/internal/base/list"
)

// node is a compiled field or selection set of values of type V.
type node[V any] struct {
	// put appends the JSON of a value.
	put func(dst []byte, r *run, v V) []byte
	// bare does what put does if the JSON depends on the value alone. It may be nil.
	bare func(dst []byte, v V, style scalar.Style) []byte
	// load reads related rows of values, in the order in which they will be put. It is nil if there are none.
	load func(ctx context.Context, r *run, values []V) error
	// relations are the fields that read related rows: their paths from the value, with dots. That of the value's own
	// field is empty.
	relations []string
}

// write appends the JSON of a value to dst, with the function bare if the node has one, because it is faster than
// put, which can also take results of relations and record errors of fields in r. Neither reads the database.
func (n *node[V]) write(dst []byte, r *run, v V) []byte {
	if n.bare != nil {
		return n.bare(dst, v, r.style)
	}
	return n.put(dst, r, v)
}

// Field is a field of a GraphQL object with the Go type T.
type Field[T any] struct {
	compile func(c *compiler, f *ast.Field) node[T]
}

// Object is the table of a GraphQL object's fields.
type Object[T any] struct {
	names  []string // of the object and its interfaces
	fields map[string]Field[T]
	past   *Past               // see Begin
	filled map[string]Field[T] // see Fill
}

// NewObject returns the table of an object type, from which plans are compiled. names are the object's own name, which
// is the first, and those of its interfaces and unions. The table keeps both arguments.
func NewObject[T any](names []string, fields map[string]Field[T]) *Object[T] {
	return &Object[T]{names: names, fields: fields}
}

// Scalar returns a field of a table whose JSON write appends. It has no selection set and reads nothing.
//
//go:noinline
func Scalar[T any](write func(dst []byte, v T, style scalar.Style) []byte) Field[T] {
	return Field[T]{compile: func(*compiler, *ast.Field) node[T] { return scalarNode(write) }}
}

// Get returns a field of a table whose value get takes from the row, and whose JSON shape describes. It reads nothing
// for itself.
//
//go:noinline
func Get[T, V any](get func(T) V, shape Shape[V]) Field[T] {
	return Field[T]{compile: func(c *compiler, f *ast.Field) node[T] { return through(shape.compile(c, f), get) }}
}

// Many returns a field with a list of objects, which get takes from the row. child returns the table of their fields.
// A nil list is empty.
//
//go:noinline
func Many[T, C any](get func(T) []C, child func() *Object[C]) Field[T] {
	return Get(get, ListOf(ObjectOf(child)))
}

// NullableMany returns a field with a list of objects, which get takes from the row. child returns the table of their
// fields. A nil list is null.
func NullableMany[T, C any](get func(T) []C, child func() *Object[C]) Field[T] {
	return Get(get, NullableListOf(ObjectOf(child)))
}

// through returns the node of values from which get reads the values of inner. get can be called several times for a
// value, and must return the same each time.
func through[T, V any](inner node[V], get func(T) V) node[T] {
	n := node[T]{put: func(dst []byte, r *run, v T) []byte {
		return inner.put(dst, r, get(v))
	}, relations: inner.relations}
	if inner.bare != nil {
		n.bare = func(dst []byte, v T, style scalar.Style) []byte { return inner.bare(dst, get(v), style) }
	}
	if inner.load != nil {
		n.load = func(ctx context.Context, r *run, rows []T) error {
			return inner.load(ctx, r, list.Map(rows, get))
		}
	}
	return n
}

// Args reads the arguments of a field.
type Args[A any] func(ctx context.Context, f *ast.Field, variables map[string]any) (A, error)

// Compute returns a field that a function computes from the row and the field's arguments, which are read once for
// all rows. They are read when the plan loads, before anything is written. If they are invalid, the plan fails.
// compute can be called several times for a row.
//
//go:noinline
func Compute[T, A, V any](args Args[A], compute func(T, A) V, shape Shape[V]) Field[T] {
	return Field[T]{compile: func(c *compiler, f *ast.Field) node[T] {
		slot, path := c.slot(), slices.Clone(c.path)
		inner := shape.compile(c, f)
		return node[T]{
			relations: inner.relations,
			put: func(dst []byte, r *run, v T) []byte {
				return inner.write(dst, r, compute(v, *r.slots[slot].(*A)))
			},
			load: func(ctx context.Context, r *run, rows []T) error {
				a, err := args(ctx, f, r.variables)
				if err != nil {
					return &fieldError{path, err}
				}
				r.slots[slot] = &a
				if inner.load == nil {
					return nil
				}
				return inner.load(ctx, r, list.Map(rows, func(row T) V { return compute(row, a) }))
			},
		}
	}}
}

// Selection is what an operation selects below a field. It includes fields of fragments, and fields with @skip and
// @include.
type Selection struct {
	set ast.SelectionSet
	all bool // later parts of the response may select more
}

// SelectionOf returns the selection below the field that ctx resolves. ctx must be the context of a field; otherwise
// it panics.
func SelectionOf(ctx context.Context) Selection {
	return Selection{set: graphql.GetFieldContext(ctx).Field.Selections, all: inParts(ctx)}
}

// Has reports whether a field with one of the names, not aliases, is selected directly below the field of s, or may be
// selected by a later part of the response.
func (s Selection) Has(names ...string) bool {
	return s.some(func(f *ast.Field) bool { return slices.Contains(names, f.Name) })
}

// HasOther reports whether a field whose name, not alias, is not among names is selected directly below the field of
// s, or may be by a later part of the response.
func (s Selection) HasOther(names ...string) bool {
	return s.some(func(f *ast.Field) bool { return !slices.Contains(names, f.Name) })
}

// some reports whether is is true for one of the selected fields, or the selection stands for all of them.
func (s Selection) some(is func(*ast.Field) bool) bool {
	for f := range limits.Fields(s.set) {
		if is(f) {
			return true
		}
	}
	return s.all
}

// Below returns the selection below all directly selected fields with a name, not an alias. It is empty if none is
// selected.
func (s Selection) Below(name string) Selection {
	below := Selection{all: s.all}
	for f := range limits.Fields(s.set) {
		if f.Name == name {
			below.set = append(below.set[:len(below.set):len(below.set)], f.SelectionSet...)
		}
	}
	return below
}
