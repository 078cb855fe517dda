package rowplan

import (
	"context"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/graph/scalar"
)

// Shape is how values of type V are written and which related rows are loaded below them.
type Shape[V any] struct {
	compile func(c *compiler, f *ast.Field) node[V]
}

// ScalarOf returns the shape of scalars whose JSON write appends, in the style of the operation.
//
//go:noinline
func ScalarOf[V any](write scalar.Func[V]) Shape[V] {
	return Shape[V]{compile: func(*compiler, *ast.Field) node[V] { return scalarNode(write) }}
}

// scalarNode returns the node of a scalar field without arguments, whose JSON write appends. It has no relations.
func scalarNode[V any](write func(dst []byte, v V, style scalar.Style) []byte) node[V] {
	return node[V]{put: func(dst []byte, r *run, v V) []byte { return write(dst, v, r.style) }, bare: write}
}

// PointerOf returns the shape of pointers to scalars whose JSON write appends. Nil is null.
func PointerOf[V any](write scalar.Func[V]) Shape[*V] {
	return ScalarOf(func(dst []byte, v *V, style scalar.Style) []byte {
		return scalar.AppendPointer(dst, v, style, write)
	})
}

// ObjectOf returns the shape of objects with the fields of a table, which is looked up when a plan is compiled: tables
// refer to each other. A nil pointer is null.
//
//go:noinline
func ObjectOf[C any](table func() *Object[C]) Shape[C] {
	return Shape[C]{compile: func(c *compiler, f *ast.Field) node[C] { return table().compile(c, f.SelectionSet) }}
}

// ListOf returns the shape of lists whose elements have a shape. A nil slice is an empty list. If an object in it is
// null that must not be, the list is null. It ends early if the response is too large, which then fails.
//
//go:noinline
func ListOf[V any](element Shape[V]) Shape[[]V] {
	return Shape[[]V]{compile: func(c *compiler, f *ast.Field) node[[]V] {
		c.path = append(c.path, ast.PathIndex(0))
		inner := element.compile(c, f)
		c.path = c.path[:len(c.path)-1]
		must := inner.bare == nil && f.Definition != nil && f.Definition.Type.Elem != nil &&
			f.Definition.Type.Elem.NonNull
		n := node[[]V]{relations: inner.relations, put: func(dst []byte, r *run, list []V) []byte {
			at, missing := len(dst), false
			dst = append(dst, '[')
			for i, v := range list {
				if i > 0 {
					dst = append(dst, ',')
				}
				start := len(dst)
				if r.tracing {
					r.path = append(r.path, ast.PathIndex(i))
				}
				dst = inner.put(dst, r, v)
				if must && isNull(dst[start:]) {
					r.missing()
					missing = true
				}
				r.leave()
				if len(dst) > r.most {
					break // see plan.write
				}
			}
			if missing {
				return append(dst[:at], "null"...)
			}
			return append(dst, ']')
		}}
		if inner.load != nil {
			n.load = func(ctx context.Context, r *run, lists [][]V) error {
				if len(lists) == 1 {
					return inner.load(ctx, r, lists[0])
				}
				return inner.load(ctx, r, slices.Concat(lists...))
			}
		}
		return n
	}}
}

// NullableListOf returns the shape of lists whose elements have a shape. A nil slice is null; all else is as in
// [ListOf].
//
//go:noinline
func NullableListOf[V any](element Shape[V]) Shape[[]V] {
	list := ListOf(element)
	return Shape[[]V]{compile: func(c *compiler, f *ast.Field) node[[]V] {
		n := list.compile(c, f)
		put := n.put
		n.put = func(dst []byte, r *run, v []V) []byte {
			if v == nil {
				return append(dst, "null"...)
			}
			return put(dst, r, v)
		}
		return n
	}}
}

// Case is an object type of an interface or union whose Go type is I.
type Case[I any] struct {
	is      func(I) bool
	compile func(c *compiler, f *ast.Field) node[I]
}

// CaseOf returns the case of [AnyOf] for values of the interface I that hold a C, with the table of their object.
//
//go:noinline
func CaseOf[I, C any](table func() *Object[C]) Case[I] {
	return Case[I]{
		is: func(v I) bool {
			_, ok := any(v).(C)
			return ok
		},
		compile: func(c *compiler, f *ast.Field) node[I] {
			return through(table().compile(c, f.SelectionSet), func(v I) C {
				object, _ := any(v).(C)
				return object
			})
		},
	}
}

// AnyOf returns the shape of interfaces and unions, whose values are written by the first case that fits. A nil
// interface, or one without a case, is null.
//
//go:noinline
func AnyOf[I any](cases ...Case[I]) Shape[I] {
	return Shape[I]{compile: func(c *compiler, f *ast.Field) node[I] {
		nodes := make([]node[I], len(cases))
		var relations []string
		loads := false
		for i := range cases {
			nodes[i] = cases[i].compile(c, f)
			relations = append(relations, nodes[i].relations...)
			loads = loads || nodes[i].load != nil
		}
		n := node[I]{relations: relations, put: func(dst []byte, r *run, v I) []byte {
			for i := range cases {
				if cases[i].is(v) {
					return nodes[i].put(dst, r, v)
				}
			}
			return append(dst, "null"...)
		}}
		if loads {
			n.load = func(ctx context.Context, r *run, values []I) error {
				for i := range nodes {
					if nodes[i].load == nil {
						continue
					}
					var own []I
					for _, v := range values {
						if cases[i].is(v) {
							own = append(own, v)
						}
					}
					if err := nodes[i].load(ctx, r, own); err != nil {
						return err
					}
				}
				return nil
			}
		}
		return n
	}}
}

// isNull reports whether the JSON that a node has just written is null. Lists and objects then check whether it must
// not be.
func isNull(json []byte) bool { return string(json) == "null" }

// isNil reports whether a row is the zero value of its type, such as a nil pointer, which is written as null. It
// panics if values of the type of row cannot be compared.
func isNil[T any](row T) bool {
	var none T
	return any(row) == any(none)
}

// present returns items without those that are nil. It does not change items, and copies only if there are some.
func present[C any](items []C) []C {
	if !slices.ContainsFunc(items, isNil[C]) {
		return items
	}
	return slices.DeleteFunc(slices.Clone(items), isNil[C])
}
