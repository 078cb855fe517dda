package gateway

import (
	"context"

	"heliograph/internal/domain/status"
	"heliograph/resolvers"
)

// Render makes all documents of a status page anew, by their names; in the context of a write, as they will be after it.
func (g *Gateway) Render(ctx context.Context, p *status.Page) (map[string][]byte, error) {
	return g.v2.Render(resolvers.WithStatusReads(ctx), p)
}
