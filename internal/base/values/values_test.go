package values_test

import (
	"context"
	"testing"

	"heliograph/internal/base/values"
)

type other struct{}

// TestContext tests lookups by key: the innermost value, values of other contexts outside and inside, and absent
// values.
func TestContext(t *testing.T) {
	t.Parallel()
	name, size, unset := values.NewKey[string](), values.NewKey[int](), values.NewKey[int]()
	outer := values.Context(context.WithValue(t.Context(), other{}, "outside"), name.Is("far"), size.Is(1))
	ctx, cancel := context.WithCancelCause(values.Context(context.WithValue(outer, other{}, "between"),
		name.Is("near")))
	if got, ok := name.Of(ctx); !ok || got != "near" {
		t.Errorf("the name is %q, %t", got, ok)
	}
	if got, ok := name.Of(outer); !ok || got != "far" {
		t.Errorf("the outer name is %q, %t", got, ok)
	}
	if got, ok := size.Of(ctx); !ok || got != 1 {
		t.Errorf("the size is %d, %t", got, ok)
	}
	if got, ok := unset.Of(ctx); ok || got != 0 {
		t.Errorf("the absent value is %d, %t", got, ok)
	}
	if got := ctx.Value(other{}); got != "between" {
		t.Errorf("the value of a plain context is %v", got)
	}
	var many []values.Value
	var keys []*values.Key[int]
	for i := range 20 {
		keys = append(keys, values.NewKey[int]())
		many = append(many, keys[i].Is(i))
	}
	crowd := values.Context(ctx, many...)
	for i, k := range keys {
		if got, ok := k.Of(crowd); !ok || got != i {
			t.Errorf("value %d of many is %d, %t", i, got, ok)
		}
	}
	cancel(context.DeadlineExceeded)
	if ctx.Err() == nil || outer.Err() != nil ||
		context.Cause(ctx) != context.DeadlineExceeded { //nolint:errorlint // the very error
		t.Errorf("the context ended with %v, the outer one with %v", ctx.Err(), outer.Err())
	}
}

// BenchmarkOf compares a lookup among six values with a lookup in six nested contexts.
func BenchmarkOf(b *testing.B) {
	type key int
	last := values.NewKey[int]()
	one := values.Context(b.Context(), values.NewKey[int]().Is(0), values.NewKey[int]().Is(1),
		values.NewKey[int]().Is(2), values.NewKey[int]().Is(3),
		values.NewKey[int]().Is(4), last.Is(5))
	b.Run("values", func(b *testing.B) {
		for b.Loop() {
			last.Of(one)
		}
	})
	many := context.WithValue(b.Context(), key(5), 5)
	for i := range 5 {
		many = context.WithValue(many, key(i), i) //nolint:fatcontext // the benchmark measures the nesting
	}
	b.Run("contexts", func(b *testing.B) {
		for b.Loop() {
			_, _ = many.Value(key(5)).(int)
		}
	})
}
