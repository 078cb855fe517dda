package graph

import (
	"context"
	"sync"

	"github.com/99designs/gqlgen/graphql"

	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/graph/sdl"
)

// EntityReader reads what other graphs of a federation refer to.
type EntityReader interface {
	// ReadEntities reads things by __typename and the fields of one of their keys. There is one thing for each reference, nil when it does not exist, and
	// one error, nil where there is none.
	ReadEntities(ctx context.Context, references []map[string]any) ([]relay.Node, []error)
}

// maxReferences is how many things can be referred to at once.
const maxReferences = 100

// subgraph is the schema as a part of a federation, printed when it is first asked for.
var subgraph = sync.OnceValue(func() string { return sdl.Subgraph(parsedSchema) })

// __resolve__service answers the root field _service; the generated code calls it by this name.
func (*executionContext) __resolve__service(context.Context) (relay.Service, error) { //nolint:unparam // the generated code asks for an error
	return relay.Service{SDL: subgraph()}, nil
}

// __resolve_entities answers the root field _entities, as above. What cannot be read is null, with an error of its own.
func (ec *executionContext) __resolve_entities(ctx context.Context, references []map[string]any) []relay.Node {
	if len(references) > maxReferences {
		graphql.AddError(ctx, fault.Input("give at most %d references", maxReferences))
		return nil
	}
	reader, ok := ec.Resolvers.(EntityReader)
	if !ok {
		return make([]relay.Node, len(references))
	}
	out, errs := reader.ReadEntities(ctx, references)
	for i, err := range errs {
		if err != nil {
			graphql.AddError(graphql.WithPathContext(ctx, graphql.NewPathWithIndex(i)), err)
		}
	}
	return out
}
