// Package rowplan answers selections of rows without visiting their fields one by one. It compiles a selection set over plain Go rows into one
// function that appends JSON, and into loads that read what belongs to the rows, level by level and one round trip a level. gqlgen's own way
// of answering stays the measure: a selection that has no plan is left to it, and both must give the same bytes.
//
// Type parameters T and C are the types of pointers to rows, not of the rows: the compiler makes one code for all pointers, but another one for
// each struct. For the same reason they are any and not comparable.
package rowplan

import (
	"context"

	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/graph/scalar"
)

// isNil tells whether a row is not there.
func isNil[T any](row T) bool {
	var none T
	return any(row) == any(none)
}

// put appends the JSON of a part of v.
type put[T any] func(dst []byte, r *run, v T) []byte

// write appends the JSON of a scalar of v.
type write[T any] func(dst []byte, v T, style scalar.Style) []byte

// node is a compiled field or selection set: how to write it, and how to load what it shows of other rows.
type node[T any] struct {
	put  put[T]
	bare write[T]                                          // does what put does, where that depends on the row alone
	load func(ctx context.Context, r *run, rows []T) error // nil when there is nothing to load
}

// Field says how one field of a GraphQL object is read from a T.
type Field[T any] struct {
	compile func(c *compiler, f *ast.Field) node[T]
}

// Object says how the fields of a GraphQL object are read from a T.
type Object[T any] struct {
	names  []string // the object's name and those of its interfaces
	fields map[string]Field[T]
}

// NewObject makes the table of an object. names are its own name and those of its interfaces.
func NewObject[T any](names []string, fields map[string]Field[T]) *Object[T] {
	return &Object[T]{names: names, fields: fields}
}

// Add adds a field, or replaces it.
func (o *Object[T]) Add(name string, f Field[T]) { o.fields[name] = f }

// Scalar is a field that a function writes.
func Scalar[T any](write func(dst []byte, v T, style scalar.Style) []byte) Field[T] {
	return Field[T]{compile: func(*compiler, *ast.Field) node[T] {
		return node[T]{put: func(dst []byte, r *run, v T) []byte { return write(dst, v, r.style) }, bare: write}
	}}
}

// Scalars is a field with a list of scalars.
func Scalars[T, V any](get func(T) []V, write scalar.Func[V]) Field[T] {
	return Scalar(func(dst []byte, v T, style scalar.Style) []byte {
		dst = append(dst, '[')
		for i, item := range get(v) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = write(dst, item, style)
		}
		return append(dst, ']')
	})
}

// NullableScalars is [Scalars] for a list that may be null: a nil slice is.
func NullableScalars[T, V any](get func(T) []V, write scalar.Func[V]) Field[T] {
	list := Scalars(get, write)
	return Field[T]{compile: func(c *compiler, f *ast.Field) node[T] {
		whole := list.compile(c, f).put
		return node[T]{put: func(dst []byte, r *run, v T) []byte {
			if get(v) == nil {
				return append(dst, "null"...)
			}
			return whole(dst, r, v)
		}}
	}}
}

// One is a field with an object that the row holds; nil is written as null.
func One[T, C any](get func(T) C, child func() *Object[C]) Field[T] {
	return Field[T]{compile: func(c *compiler, f *ast.Field) node[T] {
		inner := child().compile(c, f.SelectionSet)
		n := node[T]{put: func(dst []byte, r *run, v T) []byte {
			if item := get(v); !isNil(item) {
				return inner.put(dst, r, item)
			}
			return append(dst, "null"...)
		}}
		if inner.load != nil {
			n.load = func(ctx context.Context, r *run, rows []T) error {
				items := make([]C, 0, len(rows))
				for _, row := range rows {
					if item := get(row); !isNil(item) {
						items = append(items, item)
					}
				}
				return inner.load(ctx, r, items)
			}
		}
		return n
	}}
}

// Many is a field with a list of objects that the row holds.
func Many[T, C any](get func(T) []C, child func() *Object[C]) Field[T] {
	return Field[T]{compile: func(c *compiler, f *ast.Field) node[T] {
		inner := child().compile(c, f.SelectionSet)
		n := node[T]{put: func(dst []byte, r *run, v T) []byte { return putList(dst, r, get(v), inner.put) }}
		if inner.load != nil {
			n.load = func(ctx context.Context, r *run, rows []T) error {
				if len(rows) == 1 {
					return inner.load(ctx, r, present(get(rows[0])))
				}
				var items []C
				for _, row := range rows {
					items = append(items, present(get(row))...)
				}
				return inner.load(ctx, r, items)
			}
		}
		return n
	}}
}

// NullableMany is [Many] for a list that may be null: a nil slice is.
func NullableMany[T, C any](get func(T) []C, child func() *Object[C]) Field[T] {
	many := Many(get, child)
	return Field[T]{compile: func(c *compiler, f *ast.Field) node[T] {
		n := many.compile(c, f)
		list := n.put
		n.put = func(dst []byte, r *run, v T) []byte {
			if get(v) == nil {
				return append(dst, "null"...)
			}
			return list(dst, r, v)
		}
		return n
	}}
}

// putList writes a list; an element that is nil is null.
func putList[C any](dst []byte, r *run, items []C, write put[C]) []byte {
	dst = append(dst, '[')
	for i, item := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		if isNil(item) {
			dst = append(dst, "null"...)
			continue
		}
		dst = write(dst, r, item)
	}
	return append(dst, ']')
}

// present drops what is nil; it copies only when there is something to drop.
func present[C any](items []C) []C {
	for i, item := range items {
		if !isNil(item) {
			continue
		}
		kept := append(make([]C, 0, len(items)), items[:i]...)
		for _, item := range items[i+1:] {
			if !isNil(item) {
				kept = append(kept, item)
			}
		}
		return kept
	}
	return items
}
