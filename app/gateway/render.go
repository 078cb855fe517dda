package gateway

import (
	"context"

	"heliograph/internal/domain/status"
	"heliograph/resolvers/statuspages"
)

// Render renders all documents of a status page, by name. In the context of a write, it renders them as they are after the write.
func (g *Gateway) Render(ctx context.Context, p *status.Page) (map[string][]byte, error) {
	return g.v2.Render(statuspages.WithSharedReads(ctx), p)
}
