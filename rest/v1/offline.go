package v1

import (
	"fmt"
	"log/slog"

	"heliograph/graph"
	"heliograph/graph/rowplan"
	"heliograph/graph/server"
	"heliograph/rest"
)

// NewOffline returns the API over a graph without a database, for generators and tests. It can be described but cannot serve requests.
func NewOffline(cfg *rest.Config) (*rest.API, error) {
	srv, err := server.New(server.Options{
		Schema: graph.NewExecutableSchema(graph.Config{}), Tables: rowplan.NewTables(nil), DocumentBytes: 1 << 20, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, fmt.Errorf("making a graph without resolvers: %w", err)
	}
	return New(cfg, srv)
}
