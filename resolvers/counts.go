package resolvers

import (
	"context"
	"reflect"

	"heliograph/graph/relay"
	"heliograph/storage"
)

// estimated adds an estimated row count to an unfiltered list, which may be nil. Filtered lists are returned unchanged, because they can only be counted by
// reading them.
func estimated[T any](r *Resolver, c *relay.Connection[T], whole bool, what storage.Countable) *relay.Connection[T] {
	if c == nil || !whole {
		return c
	}
	return c.WithCount(func(ctx context.Context) (*relay.Count, error) {
		n, err := r.db.Estimate(ctx, what)
		if err != nil {
			return nil, err
		}
		return &relay.Count{Value: n}, nil
	})
}

// counted adds an exact row count to an unfiltered list, which may be nil.
func counted[T any](c *relay.Connection[T], whole bool, count func(context.Context) (int64, error)) *relay.Connection[T] {
	if c == nil || !whole {
		return c
	}
	return c.WithCount(func(ctx context.Context) (*relay.Count, error) {
		n, err := count(ctx)
		if err != nil {
			return nil, err
		}
		return &relay.Count{Value: n, Exact: true}, nil
	})
}

// unfiltered reports whether a filter has no conditions.
func unfiltered[F any](f *F) bool { return f == nil || reflect.ValueOf(*f).IsZero() }
