package rest

import (
	"slices"
	"strings"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
)

// Enums binds upper-case enum values. Several values are alternatives.
func Enums(variable string) Bind {
	return func(r *Request, values []Value) error {
		var list []any
		for _, v := range values {
			if name := strings.ToUpper(v.Text); !slices.Contains(list, any(name)) {
				list = append(list, name)
			}
		}
		r.Set(variable, list)
		return nil
	}
}

// LastPublicKey binds the last of several public keys and ignores its operator.
func LastPublicKey(variable string) Bind {
	return func(r *Request, values []Value) error {
		text := values[len(values)-1].Text
		key, err := ledger.ParsePublicKey(text)
		if err != nil {
			return Bad("Invalid value " + text)
		}
		r.Set(variable, map[string]any{"eq": key})
		return nil
	}
}

// LastBoolean binds the last of several booleans and ignores its operator.
func LastBoolean(variable string) Bind {
	return func(r *Request, values []Value) error {
		r.Set(variable, strings.EqualFold(values[len(values)-1].Text, "true"))
		return nil
	}
}

// TextList binds the texts of all values as a list.
func TextList(variable string) Bind {
	return func(r *Request, values []Value) error {
		r.Set(variable, list.Map(values, func(v Value) any { return v.Text }))
		return nil
	}
}

// Without returns a binding that rejects op with the given text, after it has reported values that cannot be
// converted.
func (b Bind) Without(op Op, text string) Bind {
	return func(r *Request, values []Value) error {
		if err := b(r, values); err != nil {
			return err
		}
		if slices.ContainsFunc(values, func(v Value) bool { return v.Op == op }) {
			return Bad(text)
		}
		return nil
	}
}

// MaxLimit returns the maximum page size of the request.
func (r *Request) MaxLimit() int { return r.maxLimit }
