package v2

import (
	"context"
	"fmt"

	"heliograph/internal/domain/status"
)

// Render renders all documents of a page, by name. The context must be that of a snapshot or a write if they are to be consistent.
func (a *API) Render(ctx context.Context, p *status.Page) (map[string][]byte, error) {
	out := make(map[string][]byte, len(a.prepared))
	for i, e := range endpoints() {
		body, err := a.run(ctx, i, p.Slug)
		if err != nil {
			return nil, fmt.Errorf("making %s of page %s: %w", e.path, p.Slug, err)
		}
		out[e.path] = append([]byte(nil), body...)
	}
	return out, nil
}
