package rowplan

import (
	"context"
	"fmt"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/graph/fault"
)

// Scoped is a value that changes the context in which everything below it is read.
type Scoped interface {
	Scope(ctx context.Context) context.Context
}

// scopeOf returns the context in which the fields of a value are read: that of [Scoped] values, such as a past
// state, otherwise ctx.
func scopeOf[V any](ctx context.Context, v V) context.Context {
	if of, ok := any(v).(Scoped); ok && !isNil(v) {
		return of.Scope(ctx)
	}
	return ctx
}

// Past describes which fields can be read below an object that stands for a past state.
type Past struct {
	// Known are the fields that can be read: "Account.memo".
	Known map[string]bool
	// Unknown are the reasons for which others cannot.
	Unknown map[string]string
}

// Begin makes an object stand for a past state: fields below it that p does not list as known are errors, whatever the
// row holds. Call it before plans are compiled: no lock protects the table.
func (o *Object[T]) Begin(p *Past) { o.past = p }

// Fill makes the named fields, below an object that stands for a past state, be read from what fill writes into the
// rows first. fill gets the parents of a level. Its results have the errors of single parents. The table must have the
// fields. Call Fill before plans are compiled: no lock protects the table.
func (o *Object[T]) Fill(
	fill func(ctx context.Context, q Request, rows []T) (Results[struct{}], error), names ...string,
) {
	rel := &Relation[T, struct{}]{
		Load: func(ctx context.Context, q Request, rows []T, _ any) (Results[struct{}], error) {
			return fill(ctx, q, rows)
		},
	}
	if o.filled == nil {
		o.filled = map[string]Field[T]{}
	}
	for _, name := range names {
		o.filled[name] = filled(rel, o.fields[name])
	}
}

// filled returns a field that is read from the row after a relation has written into it. of is the field as it is
// read from the row. If the relation fails for a row, the field is null with the error, and nothing below it is read.
func filled[T any](rel *Relation[T, struct{}], of Field[T]) Field[T] {
	return Field[T]{compile: func(c *compiler, f *ast.Field) node[T] {
		slot, path := c.slot(), slices.Clone(c.path)
		inner := of.compile(c, f)
		return node[T]{
			relations: []string{""},
			put: func(dst []byte, r *run, v T) []byte {
				if _, err := r.slots[slot].(*results[struct{}]).take(); err != nil {
					r.fail(err)
					return append(dst, "null"...)
				}
				return inner.write(dst, r, v)
			},
			load: func(ctx context.Context, r *run, rows []T) error {
				return load(ctx, r, slot, path, f, rel, rows, func(ctx context.Context, r *run, _ []struct{}) error {
					if inner.load == nil {
						return nil
					}
					failed, left := r.slots[slot].(*results[struct{}]).errs, rows
					if failed != nil { // these are not written
						left = nil
						for i, row := range rows {
							if failed[i] == nil {
								left = append(left, row)
							}
						}
					}
					return inner.load(ctx, r, left)
				})
			},
		}
	}}
}

// fieldAt returns the field of a name in the state that the plan reads: of the present, or of a past state. There it
// can be one for which [Object.Fill] reads first, or one that is null with an error.
func (o *Object[T]) fieldAt(c *compiler, name string) Field[T] {
	if c.past == nil {
		return o.fields[name]
	}
	full := o.names[0] + "." + name
	if !c.past.Known[full] {
		return unknown[T](full, c.past.Unknown[full])
	}
	if of, ok := o.filled[name]; ok {
		return of
	}
	return o.fields[name]
}

// unknown returns a field that is null with the error that it is not known at a past moment for a reason, or, if that
// is empty, because the gateway does not read it. When the plan loads, it makes the run trace the paths of errors.
func unknown[T any](name, reason string) Field[T] {
	if reason == "" {
		reason = "the gateway does not read it"
	}
	err := &fault.Error{
		Code: fault.BadUserInput, Message: fmt.Sprintf("%s is not known at a past moment: %s", name, reason),
	}
	return Field[T]{compile: func(*compiler, *ast.Field) node[T] {
		return node[T]{
			put: func(dst []byte, r *run, _ T) []byte {
				r.fail(err)
				return append(dst, "null"...)
			},
			load: func(_ context.Context, r *run, _ []T) error {
				r.tracing = true // the error needs its path
				return nil
			},
		}
	}}
}
