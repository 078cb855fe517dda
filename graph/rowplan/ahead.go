package rowplan

import (
	"context"
	"reflect"
	"slices"

	"github.com/99designs/gqlgen/graphql"
)

// Ahead loads the relations of the value that the root field of ctx will return, together with the value itself: queue queues the statement that reads it into
// the batch of the first level. key is a value with the columns by which the relations in byKey are read. If only such relations are selected, Ahead returns a
// function that the resolver calls if the value that was read has the relations of key. Otherwise it returns nil, and has read nothing.
func Ahead[V any](ctx context.Context, t *Tables, key V, byKey []string, queue func(Batch)) (use func(), err error) {
	store, fc := storeOf(ctx), graphql.GetFieldContext(ctx)
	p := t.entries[reflect.TypeFor[V]()].lookup.(func(context.Context, graphql.CollectedField) *plan[V])(ctx, fc.Field)
	other := func(name string) bool { return !slices.Contains(byKey, name) }
	if p.relations == nil || slices.ContainsFunc(p.relations, other) || p.oneByOne || p.unsupported || t.Off || store.inParts {
		return nil, nil //nolint:nilnil // see above
	}
	r := newRun(ctx, t, p, false)
	queue(r.level())
	if p.load(ctx, r, []V{key}) != nil {
		return nil, nil //nolint:nilerr,nilnil // reported for values that exist, when their relations are loaded
	}
	if err := r.finish(ctx); err != nil {
		return nil, err
	}
	r.loaded = true
	return func() {
		store.mu.Lock()
		defer store.mu.Unlock()
		if store.ahead == nil {
			store.ahead = map[*graphql.FieldContext]*run{}
		}
		store.ahead[fc] = r
	}, nil
}
