package ledger

import (
	"encoding/json"
	"unicode/utf8"
)

// Null is a nullable value. The zero value is null; GraphQL and REST print it as null.
type Null[T any] struct {
	V     T
	Valid bool
}

// Of returns a Null with the value v, which is not null.
func Of[T any](v T) Null[T] { return Null[T]{V: v, Valid: true} }

// NonZero returns v, or null for the zero value.
func NonZero[T comparable](v T) Null[T] {
	var zero T
	return Null[T]{V: v, Valid: v != zero}
}

// FromPointer returns the value at p, or null if p is nil.
func FromPointer[T any](p *T) Null[T] {
	if p == nil {
		return Null[T]{}
	}
	return Of(*p)
}

// Pointer returns a pointer to the value, or nil if it is null.
func (n Null[T]) Pointer() *T {
	if !n.Valid {
		return nil
	}
	return &n.V
}

// Or returns the value, or other if it is null.
func (n Null[T]) Or(other T) T {
	if n.Valid {
		return n.V
	}
	return other
}

// ScanTarget returns the pointer through which a database driver stores the value, so that reading a nullable column
// needs no allocation. It does not make n valid: see [Null.SetValid].
func (n *Null[T]) ScanTarget() any { return &n.V }

// SetValid records whether the column was not null. A null value is zeroed.
func (n *Null[T]) SetValid(valid bool) {
	if !valid {
		var zero T
		n.V = zero
	}
	n.Valid = valid
}

// UnmarshalJSON implements [json.Unmarshaler]. JSON null makes the value null. For JSON that is no T it returns the
// error of [json.Unmarshal]; then n must not be used.
func (n *Null[T]) UnmarshalJSON(text []byte) error {
	n.Valid = string(text) != "null"
	return json.Unmarshal(text, &n.V) //nolint:wrapcheck // the decoder adds the context
}

// textOf returns bytes as text, or null if they are nil or not valid UTF-8. Empty bytes are the empty text.
func textOf(b []byte) Null[string] {
	return Null[string]{V: string(b), Valid: b != nil && utf8.Valid(b)}
}
