package v1

import (
	"fmt"
	"log/slog"

	"heliograph/graph"
	"heliograph/graph/rowplan"
	"heliograph/graph/server"
	"heliograph/rest"
)

// Unserved is the API over a graph that has a schema and nothing behind it: it can be described, and not be asked. Generators and tests use it.
func Unserved(cfg *rest.Config) (*rest.API, error) {
	srv, err := server.New(server.Options{
		Schema: graph.NewExecutableSchema(graph.Config{}), Tables: rowplan.NewTables(nil), Documents: 1, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, fmt.Errorf("making a graph without resolvers: %w", err)
	}
	return New(cfg, srv)
}
