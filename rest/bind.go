package rest

import (
	"slices"
	"strings"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
)

// Enums returns a binding that sets a variable to the list of all values in upper case, which are alternatives, each
// once. It ignores operators.
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

// LastPublicKey returns a binding that sets a filter to the last of several public keys and ignores its operator.
// An invalid key is a 400.
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

// LastBoolean returns a binding that sets a variable to the last of several booleans and ignores its operator. The
// kind of the parameter has checked the text: all but "true" is false.
func LastBoolean(variable string) Bind {
	return func(r *Request, values []Value) error {
		r.Set(variable, strings.EqualFold(values[len(values)-1].Text, "true"))
		return nil
	}
}

// TextList returns a binding that sets a variable to the list of the texts of all values. It ignores operators.
func TextList(variable string) Bind {
	return func(r *Request, values []Value) error {
		r.Set(variable, list.Map(values, func(v Value) any { return v.Text }))
		return nil
	}
}

// Without returns a binding that rejects op with a 400 with the given text, after b has bound the values and reported
// those that cannot be converted.
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

// MaxLimit returns the maximum page size of the request, which depends on its credentials.
func (r *Request) MaxLimit() int { return r.maxLimit }
