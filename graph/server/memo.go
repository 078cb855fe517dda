package server

import (
	"context"
	"errors"
	"sync"

	"github.com/99designs/gqlgen/graphql"
)

// memo caches the results of resolvers by response path while an operation is delivered in parts. The fields on the path to a deferred fragment are the
// same in every part, and are resolved once.
type memo struct {
	mu      sync.Mutex
	results map[string]result
}

// result is the result of a resolver.
type result struct {
	value any
	err   error
}

// errReported replaces an error that an earlier part has reported.
var errReported = errors.New("the error was reported in an earlier part")

// middleware returns a field middleware that consults the memo before it calls a resolver.
func (m *memo) middleware(inner graphql.FieldMiddleware) graphql.FieldMiddleware {
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
	earlier, found := m.results[path]
	m.mu.Unlock()
	if found {
		if earlier.err != nil {
			return nil, errReported
		}
		return earlier.value, nil
	}
	v, err := next(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.results[path] = result{v, err}
	return v, err
}
