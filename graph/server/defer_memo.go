package server

import (
	"context"
	"errors"
	"sync"

	"github.com/99designs/gqlgen/graphql"
)

// memo keeps what the resolvers of an operation have returned, by their paths in the answer: what leads to the objects of a later part is the same
// for all parts, and is read once.
type memo struct {
	mu     sync.Mutex
	values map[string]outcome
}

// outcome is what a resolver has returned.
type outcome struct {
	value any
	err   error
}

// errTold is the error of a resolver whose own error has been told with an earlier part.
var errTold = errors.New("this has been told")

// around is a middleware for fields.
func (m *memo) around(inner graphql.FieldMiddleware) graphql.FieldMiddleware {
	return func(ctx context.Context, next graphql.Resolver) (any, error) {
		fc := graphql.GetFieldContext(ctx)
		if !fc.IsResolver {
			return inner(ctx, next)
		}
		return inner(ctx, func(ctx context.Context) (any, error) { return m.resolve(ctx, fc.Path().String(), next) })
	}
}

func (m *memo) resolve(ctx context.Context, path string, next graphql.Resolver) (any, error) {
	m.mu.Lock()
	had, known := m.values[path]
	m.mu.Unlock()
	if known {
		if had.err != nil {
			return nil, errTold
		}
		return had.value, nil
	}
	v, err := next(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values[path] = outcome{v, err}
	return v, err
}
