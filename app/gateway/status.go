package gateway

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"heliograph/internal/domain/status"
	"heliograph/resolvers/statuspages"
	v2 "heliograph/rest/v2"
	statusdb "heliograph/storage/statuspages"
)

// statusSource reads status pages from the database.
type statusSource struct {
	*statusdb.DB
	// changed is called after each write.
	changed func()
}

// Snapshot returns a context in which all documents are rendered from the same snapshot of the database and share
// their reads. The caller must call the returned function, which ends the snapshot. Without status tables it returns
// ctx, and a function that does nothing. After an error there is nothing to end.
func (s statusSource) Snapshot(ctx context.Context) (context.Context, func(), error) {
	if exists, err := s.Exists(ctx); err != nil || !exists {
		return ctx, func() {}, err // without tables there are no pages
	}
	ctx, end, err := s.DB.Snapshot(ctx)
	if err != nil {
		return nil, nil, err
	}
	return statuspages.WithSharedReads(ctx), end, nil
}

// Listen calls notify and changed whenever a page may have changed. It blocks until ctx ends or the connection
// fails.
func (s statusSource) Listen(ctx context.Context, notify func()) error {
	return s.DB.Listen(ctx, func() {
		notify()
		s.changed()
	})
}

// Run runs the background tasks of the status pages until the context ends: it renders changed pages and saves their
// documents in the database, mirrors pages of other sites, runs probes and sends to webhooks. It returns when the
// messages that are being sent have ended. Tasks that are not configured are left out.
func (g *Gateway) Run(ctx context.Context) {
	var group sync.WaitGroup
	for _, f := range g.o.Followers {
		group.Go(func() { f.Run(ctx) })
	}
	if g.o.Watcher != nil {
		group.Go(func() { g.o.Watcher.Run(ctx) })
	}
	if g.o.Sender != nil {
		group.Go(func() { g.o.Sender.Run(ctx) })
	}
	group.Go(func() { g.site.Warm(ctx) })
	g.cache.Run(ctx)
	group.Wait()
}

// StatusAPI returns the handler of /api/v2 without the middleware of the public port. Benchmarks use it.
func (g *Gateway) StatusAPI() http.Handler { return g.v2 }

// Render renders all documents of /api/v2 for a status page from the database, and returns them by name. In the
// context of a write, they are those after the write. If one cannot be rendered, it fails and returns none. It stores
// nothing.
func (g *Gateway) Render(ctx context.Context, p *status.Page) (map[string][]byte, error) {
	return g.v2.Render(statuspages.WithSharedReads(ctx), p)
}

// Export calls write with each file of a status page for a static web server: the HTML site, then the documents of
// /api/v2 in any order. It renders them all and stops at the first error, also of write. The documents come from one
// snapshot of the database, which is open meanwhile.
func (g *Gateway) Export(ctx context.Context, p *status.Page, write func(file string, body []byte) error) error {
	if err := g.site.Export(ctx, p, write); err != nil {
		return err
	}
	ctx, end, err := g.o.Status.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer end()
	documents, err := g.Render(ctx, p)
	for name, body := range documents {
		if err := write(strings.TrimPrefix(v2.Prefix, "/")+"/"+name, body); err != nil {
			return err
		}
	}
	return err
}
