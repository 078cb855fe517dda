// Package values puts several values into one context. Each context around another makes every lookup beyond it longer, and an operation of the
// graph needs many values.
package values

import "context"

// identity tells keys apart by its address, which it has because it has a size.
type identity struct{ _ byte }

// Key finds values of one kind. Two keys are never the same.
type Key[T any] struct{ id identity }

// NewKey makes a key.
func NewKey[T any]() *Key[T] { return new(Key[T]) }

// Value is a value with its key.
type Value struct {
	key   *identity
	value any
}

// Is is v under the key.
func (k *Key[T]) Is(v T) Value { return Value{&k.id, v} }

// Of is the context's value under the key; ok is false when it has none.
func (k *Key[T]) Of(ctx context.Context) (v T, ok bool) {
	v, ok = ctx.Value(&k.id).(T)
	return v, ok
}

// Context is ctx with values.
func Context(ctx context.Context, values ...Value) context.Context {
	s := &several{Context: ctx}
	s.count = copy(s.values[:], values)
	if rest := values[s.count:]; len(rest) > 0 {
		return Context(s, rest...)
	}
	return s
}

// several is a context with some values, in one piece of memory.
type several struct {
	context.Context //nolint:containedctx // it is one
	values          [6]Value
	count           int
}

// Value implements context.Context.
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
