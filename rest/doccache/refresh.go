package doccache

import (
	"context"
	"errors"
	"fmt"
	"time"

	"heliograph/internal/domain/status"
)

// Intervals of refreshes and retries.
const (
	refreshInterval = 10 * time.Second // of refreshes without a notification
	refreshTimeout  = 10 * time.Second
	reconnectDelay  = time.Second
	// maxStale is how long cached documents are served while the database is unavailable.
	maxStale = time.Hour
)

// Run refreshes the cache until the context ends: after each notification of a write, when listening starts, and every ten seconds. It returns at once
// if the cache is disabled.
func (c *Cache) Run(ctx context.Context) {
	if c.o.Source == nil || c.o.Disabled {
		return
	}
	notified := make(chan struct{}, 1)
	notify := func() {
		select {
		case notified <- struct{}{}:
		default: // the pending refresh includes this write
		}
	}
	go c.listen(ctx, notify)
	tick := time.NewTicker(refreshInterval)
	defer tick.Stop()
	for {
		_ = c.refresh(ctx) // refresh counts and logs errors
		select {
		case <-ctx.Done():
			return
		case <-notified:
		case <-tick.C:
		}
	}
}

// listen listens until the context ends and reconnects when the connection is lost.
func (c *Cache) listen(ctx context.Context, notify func()) {
	for ctx.Err() == nil {
		listened := false
		err := c.o.Source.Listen(ctx, func() {
			listened = true
			notify()
		})
		if ctx.Err() != nil {
			return
		}
		if listened { // the database may be down
			notify()
		}
		c.o.Logger.DebugContext(ctx, "listening for writes to status pages failed; refreshing at intervals", "interval", refreshInterval.String(), "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(reconnectDelay):
		}
	}
}

// refresh reads the pages and renders those that changed or expired. If it fails, the content of the cache does not change.
func (c *Cache) refresh(ctx context.Context) error {
	c.refreshing.Lock()
	defer c.refreshing.Unlock()
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	next, rendered, err := c.read(ctx)
	if err != nil {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) { // the gateway stops, or the waiting client disconnected
			return err
		}
		c.failures.Add(1)
		if !c.failing.Swap(true) {
			c.o.Logger.WarnContext(ctx, "refreshing the status pages failed; the cached pages are served", "max_age", maxStale.String(), "error", err)
		}
		return err
	}
	next.refreshedAt.Store(c.o.Now().UnixNano())
	c.current.Store(next)
	c.renders.Add(int64(rendered))
	if c.failing.Swap(false) {
		c.o.Logger.InfoContext(ctx, "the status pages are refreshed again")
	}
	if none := len(next.pages) == 0; c.noPages.Swap(none) != none && none {
		c.o.Logger.InfoContext(ctx, "there is no status page, so /api/v2 responds with 404; `heliograph migrate --status-only` creates missing tables")
	}
	return nil
}

// read reads all pages in one snapshot and renders those that changed or expired. rendered is the number of rendered pages.
func (c *Cache) read(ctx context.Context) (next *snapshot, rendered int, err error) {
	ctx, end, err := c.o.Source.Snapshot(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer end()
	next = &snapshot{entries: map[string]*entry{}}
	if next.pages, err = c.o.Source.Pages(ctx); err != nil {
		return nil, 0, err
	}
	old := c.current.Load()
	for _, p := range next.pages {
		if old != nil {
			if e := old.entries[p.Code]; e != nil && e.revision == p.Revision && (e.expiresAt.IsZero() || c.o.Now().Before(e.expiresAt)) {
				next.entries[p.Code] = e
				continue
			}
		}
		if next.entries[p.Code], err = c.renderAll(ctx, p); err != nil {
			return nil, 0, err
		}
		rendered++
	}
	return next, rendered, nil
}

func (c *Cache) renderAll(ctx context.Context, p *status.Page) (*entry, error) {
	e := &entry{revision: p.Revision}
	for _, r := range c.renderers {
		part, expiresAt, err := r.render(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("rendering %s of page %s: %w", r.name, p.Slug, err)
		}
		if e.parts = append(e.parts, part); !expiresAt.IsZero() && (e.expiresAt.IsZero() || expiresAt.Before(e.expiresAt)) {
			e.expiresAt = expiresAt
		}
	}
	return e, nil
}
