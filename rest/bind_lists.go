package rest

import (
	"strings"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
)

// AnyTimestamps binds timestamps. Several eq values are alternatives.
func AnyTimestamps(variable string) Bind {
	return func(r *Request, values []Value) error {
		c, err := timestampConditions(values)
		if err != nil {
			return err
		}
		c.any = true
		r.Set(variable, c.filter())
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

// Without returns a binding that rejects op with the given text.
func (b Bind) Without(op Op, text string) Bind {
	return func(r *Request, values []Value) error {
		for _, v := range values {
			if v.Op == op {
				return Bad(text)
			}
		}
		return b(r, values)
	}
}

// MaxLimit returns the maximum page size of the request.
func (r *Request) MaxLimit() int { return r.maxLimit }
