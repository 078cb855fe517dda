// Package values stores several values in one context. Nested contexts with one value each make lookups slower, and an
// operation of the graph needs many values.
package values

import "context"

// identity identifies a key by its address. It has a size, because variables of size zero can share an address.
type identity struct{ _ byte }

// Key is the key of values of type T. No two keys are equal.
type Key[T any] struct{ id identity }

// NewKey returns a new key.
func NewKey[T any]() *Key[T] { return new(Key[T]) }

// Value is a value with its key.
type Value struct {
	key   *identity
	value any
}

// Is returns v with the key.
func (k *Key[T]) Is(v T) Value { return Value{&k.id, v} }

// Of returns the value of ctx for the key. It reports false if ctx has no such value.
func (k *Key[T]) Of(ctx context.Context) (v T, ok bool) {
	v, ok = ctx.Value(&k.id).(T)
	return v, ok
}

// Context returns a copy of ctx with values.
func Context(ctx context.Context, values ...Value) context.Context {
	s := &several{Context: ctx}
	s.count = copy(s.values[:], values)
	if rest := values[s.count:]; len(rest) > 0 {
		return Context(s, rest...)
	}
	return s
}

// several is a context with up to six values, in one allocation.
type several struct {
	context.Context //nolint:containedctx // it is a context itself
	values          [6]Value
	count           int
}

// Value returns one of the values of this package's keys, and asks the parent for other keys.
func (s *several) Value(key any) any {
	if id, ours := key.(*identity); ours {
		for i := range s.values[:s.count] {
			if s.values[i].key == id {
				return s.values[i].value
			}
		}
	}
	return s.Context.Value(key)
}
