// Package values stores several values in one context. Nested contexts with one value each make lookups slower, and an
// operation of the graph needs many values.
package values

import "context"

// identity identifies a key by its address. It has a size, because variables of size zero can share an address.
type identity struct{ _ byte }

// Key is the key of values of type T. No two keys are equal.
type Key[T any] struct{ id identity }

// NewKey returns a new key of context values of type T, different from all others.
func NewKey[T any]() *Key[T] { return new(Key[T]) }

// Value is a value with its key.
type Value struct {
	key   *identity
	value any
}

// Is returns the pair of the key and v for [Context]. It changes no context.
func (k *Key[T]) Is(v T) Value { return Value{&k.id, v} }

// Of returns the value of ctx for the key. It reports false if ctx has no such value, or a nil interface. A nil
// pointer is a value.
func (k *Key[T]) Of(ctx context.Context) (v T, ok bool) {
	v, ok = ctx.Value(&k.id).(T)
	return v, ok
}

// Context returns a copy of ctx with all values, in fewer allocations than [context.WithValue] for each. They replace
// those of ctx with the same keys, and their own keys must differ. An empty [Value] has no effect.
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

// Value implements [context.Context]: it returns the value of a key of this package, or that of the parent
// context.
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
