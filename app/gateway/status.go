package gateway

import (
	"context"
	"net/http"
	"sync"

	"heliograph/internal/domain/status"
	"heliograph/resolvers/statuspages"
	statusdb "heliograph/storage/statuspages"
)

// statusSource lets the documents of the status pages be made of the database.
type statusSource struct {
	db *statusdb.DB
	// heard is told of writes too.
	heard func()
}

// Pages are all pages.
func (s statusSource) Pages(ctx context.Context) (status.Pages, error) { return s.db.Pages(ctx) }

// Snapshot returns a context in which all documents see one moment, and read what they share once.
func (s statusSource) Snapshot(ctx context.Context) (context.Context, func(), error) {
	if there, err := s.db.Exists(ctx); err != nil || !there {
		return ctx, func() {}, err // without tables there is nothing that could change
	}
	ctx, end, err := s.db.Snapshot(ctx)
	if err != nil {
		return nil, nil, err
	}
	return statuspages.WithSharedReads(ctx), end, nil
}

// Listen calls heard, and who listens to changes, whenever a page may have been written to.
func (s statusSource) Listen(ctx context.Context, heard func()) error {
	return s.db.Listen(ctx, func() {
		heard()
		s.heard()
	})
}

// Run does what is done without being asked, until the context ends: it keeps what is made of the status pages fresh, keeps pages copies of those elsewhere, and asks probes.
func (g *Gateway) Run(ctx context.Context) {
	var group sync.WaitGroup
	for _, f := range g.o.Followers {
		group.Go(func() { f.Run(ctx) })
	}
	if g.o.Watcher != nil {
		group.Go(func() { g.o.Watcher.Run(ctx) })
	}
	g.keeper.Run(ctx)
	group.Wait()
}

// Status2 serves the documents below /api/v2, without the log, the metrics and the deadlines that are around it on the public port.
func (g *Gateway) Status2() http.Handler { return g.v2 }
