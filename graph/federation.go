package graph

import (
	"context"
	"sync"

	"github.com/99designs/gqlgen/graphql"

	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/graph/sdl"
)

// EntityReader reads entities that other subgraphs of a federation reference.
type EntityReader interface {
	// ReadEntities reads entities by __typename and the fields of one of their keys. It returns one node and one error per reference. The node is nil if the
	// entity does not exist, and the error is nil on success.
	ReadEntities(ctx context.Context, references []map[string]any) ([]relay.Node, []error)
}

// maxReferences is the maximum number of references per request.
const maxReferences = 100

// subgraph returns the federation subgraph SDL. It is printed on the first call.
var subgraph = sync.OnceValue(func() string { return sdl.Subgraph(parsedSchema) })

// __resolve__service resolves the root field _service. The generated code calls it by this name.
func (*executionContext) __resolve__service(context.Context) (relay.Service, error) { //nolint:unparam // the generated code expects an error
	return relay.Service{SDL: subgraph()}, nil
}

// __resolve_entities resolves the root field _entities. An entity that cannot be read is null, with an error of its own.
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
