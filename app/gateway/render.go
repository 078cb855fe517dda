package gateway

import (
	"context"

	"heliograph/internal/domain/status"
	"heliograph/resolvers/statuspages"
)

// Render makes all documents of a status page anew, by their names; in the context of a write, as they will be after it.
func (g *Gateway) Render(ctx context.Context, p *status.Page) (map[string][]byte, error) {
	return g.v2.Render(statuspages.WithSharedReads(ctx), p)
}
