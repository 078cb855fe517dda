// Package doccache caches documents that are rendered from status pages: JSON documents, HTML pages and feeds. After a
// change of a page, it renders the documents again from one snapshot of the database. Requests for unchanged pages
// need no database query. If the database is unavailable, the cached documents are served for an hour.
package doccache

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"heliograph/internal/base/repeat"
	"heliograph/internal/domain/status"
)

// Source reads status pages.
type Source interface {
	// Pages returns all pages, or none if the database has no status tables.
	Pages(ctx context.Context) (status.Pages, error)
	// Snapshot returns a context in which all documents read the same snapshot, and the function that ends it.
	Snapshot(ctx context.Context) (context.Context, func(), error)
	// Listen calls notify when it starts to listen and after each write to a page. It returns when the connection is
	// lost.
	Listen(ctx context.Context, notify func()) error
}

// Options configure a [Cache].
type Options struct {
	// Source reads the pages. If it is nil, there are no pages.
	Source Source
	Logger *slog.Logger
	// Now returns the current time. It determines when cached documents are stale.
	Now func() time.Time
	// Disabled makes each request look for changes in the database.
	Disabled bool
}

// renderer renders a part of a page. It returns when the part expires unless the page changes. The zero time means
// never.
type renderer struct {
	name   string
	render func(ctx context.Context, p *status.Page) (any, time.Time, error)
}

// Cache has the rendered documents of all pages.
type Cache struct {
	o         Options
	renderers []renderer

	current    atomic.Pointer[content]
	refreshing sync.Mutex
	failing    atomic.Bool // the last refresh failed
	noPages    atomic.Bool // the last refresh found no pages
	renders    atomic.Int64
	failures   atomic.Int64
}

// content is what the cache contains: all pages as of the last refresh.
type content struct {
	pages       status.Pages
	entries     map[string]*entry // by the code of the page
	refreshedAt atomic.Int64      // in nanoseconds since 1970
}

// age returns the time from the last successful refresh to now.
func (c *content) age(now time.Time) time.Duration {
	return now.Sub(time.Unix(0, c.refreshedAt.Load()))
}

// entry has the rendered parts of a page, in the order of the renderers.
type entry struct {
	revision  int64
	expiresAt time.Time // the zero time means never
	parts     []any
}

// New returns a new cache. It is filled when [Cache.Run] starts, or on the first request.
func New(o Options) *Cache { return &Cache{o: o} }

// Part identifies what one registered function renders.
type Part[T any] struct {
	c *Cache
	i int
}

// Register adds a function that renders a part of every page to the cache, and returns the part. Call it before
// [Cache.Run] and requests, not concurrently. The name is used in errors. The part expires when the page changes, or
// at the returned time unless that is zero.
func Register[T any](
	c *Cache, name string, render func(ctx context.Context, p *status.Page) (T, time.Time, error),
) Part[T] {
	c.renderers = append(c.renderers, renderer{
		name,
		func(ctx context.Context, p *status.Page) (any, time.Time, error) { return render(ctx, p) },
	})
	return Part[T]{c, len(c.renderers) - 1}
}

// Get returns the cached part and the page that the host of a request selects. It refreshes an empty or disabled cache
// first, which reads the database. The code is 200, 404 if the page does not exist, or 503 if the database has been
// unavailable for too long. Unless it is 200, part is zero and page nil.
func (p Part[T]) Get(r *http.Request) (part T, page *status.Page, code int) {
	s, code := p.c.newest(r.Context())
	if s == nil {
		return part, nil, code
	}
	if page = pageOf(s.pages, r); page == nil {
		return part, nil, http.StatusNotFound
	}
	part, _ = s.entries[page.Code].parts[p.i].(T)
	return part, page, http.StatusOK
}

// All yields the pages as of the last refresh with their cached parts. It reads no database. A page without the part
// is skipped, and the zero Part has no pages.
func (p Part[T]) All() iter.Seq2[*status.Page, T] {
	return func(yield func(*status.Page, T) bool) {
		if p.c == nil || p.c.current.Load() == nil {
			return
		}
		s := p.c.current.Load()
		for _, page := range s.pages {
			if part, ok := s.entries[page.Code].parts[p.i].(T); ok && !yield(page, part) {
				return
			}
		}
	}
}

// RefreshedAt returns the time of the last successful refresh, or the zero time.
func (c *Cache) RefreshedAt() time.Time {
	if s := c.current.Load(); s != nil {
		return time.Unix(0, s.refreshedAt.Load())
	}
	return time.Time{}
}

// staleHeader is the header of documents that are served while the database is unavailable. Its value is the time as
// of which they are current.
const staleHeader = "X-Stale-Since"

// MarkStale sets the header of out-of-date responses in h if the database is unavailable, and returns the time of
// the last successful refresh. Otherwise it returns the zero time.
func (c *Cache) MarkStale(h http.Header) time.Time {
	if !c.failing.Load() {
		return time.Time{}
	}
	at := c.RefreshedAt()
	h.Set(staleHeader, at.UTC().Format(http.TimeFormat))
	return at
}

// Disabled reports whether the cache is off, so that each request looks for changes in the database.
func (c *Cache) Disabled() bool { return c.o.Disabled }

// newest returns the newest content and 200 unless it is too old, or nil and the HTTP status of the error: 404 without
// a source, or 503. It refreshes an empty or disabled cache first.
func (c *Cache) newest(ctx context.Context) (*content, int) {
	if c.o.Source == nil {
		return nil, http.StatusNotFound
	}
	s := c.current.Load()
	if s == nil || c.o.Disabled {
		if err := c.refresh(ctx); err != nil {
			return nil, http.StatusServiceUnavailable
		}
		s = c.current.Load()
	}
	if c.failing.Load() && s.age(c.o.Now()) > maxStale {
		return nil, http.StatusServiceUnavailable
	}
	return s, http.StatusOK
}

// DefaultPage returns the default page as of the last refresh, or nil if there are no pages.
func (c *Cache) DefaultPage() *status.Page {
	if s := c.current.Load(); s != nil {
		return s.pages.Default()
	}
	return nil
}

// pageOf returns the page of the request's host, or nil. The only page is the page of any host.
func pageOf(pages status.Pages, r *http.Request) *status.Page {
	if len(pages) == 1 { // for any host
		return pages[0]
	}
	return pages.ByHost(r.Host)
}

// Render calls render with the page that the host of a request selects, in a snapshot of the database. It does not use
// the cache, and logs errors. The result is 200, 404 if there is no such page, or 503 for any error, also one of
// render.
func (c *Cache) Render(r *http.Request, render func(ctx context.Context, p *status.Page) error) int {
	if c.o.Source == nil {
		return http.StatusNotFound
	}
	found, err := c.renderUncached(r, render)
	switch {
	case err != nil:
		c.failures.Add(1)
		c.o.Logger.WarnContext(r.Context(), "rendering a status page failed", "path", r.URL.Path, "error", err)
		return http.StatusServiceUnavailable
	case !found:
		return http.StatusNotFound
	default:
		return http.StatusOK
	}
}

// renderUncached calls render with the page of the request, in a snapshot of the database. found is false if there is
// no such page. The snapshot ends when render has returned, whose error is returned.
func (c *Cache) renderUncached(
	r *http.Request, render func(ctx context.Context, p *status.Page) error,
) (found bool, err error) {
	ctx, end, err := c.o.Source.Snapshot(r.Context())
	if err != nil {
		return false, err
	}
	defer end()
	pages, err := c.o.Source.Pages(ctx)
	if err != nil {
		return false, err
	}
	p := pageOf(pages, r)
	if p == nil {
		return false, nil
	}
	c.renders.Add(1)
	return true, render(ctx, p)
}

// Stats are the metrics of a cache.
type Stats struct {
	// Renders and Failures count the rendered pages, and the failed refreshes and renderings.
	Renders, Failures int64
	// Stale is the age of the documents while the database is unavailable, otherwise 0.
	Stale time.Duration
	// Pages is the number of pages.
	Pages int
}

// Stats returns the metrics of the cache: pages, renderings, failures, and the age of out-of-date content. It reads no
// database.
func (c *Cache) Stats() Stats {
	stats := Stats{Renders: c.renders.Load(), Failures: c.failures.Load()}
	if s := c.current.Load(); s != nil {
		stats.Pages = len(s.pages)
		if c.failing.Load() {
			stats.Stale = max(0, s.age(c.o.Now()))
		}
	}
	return stats
}

// Intervals of refreshes and retries.
const (
	refreshInterval = 10 * time.Second // of refreshes without a notification
	refreshTimeout  = 10 * time.Second
	reconnectDelay  = time.Second
	// maxStale is how long cached documents are served while the database is unavailable.
	maxStale = time.Hour
)

// Run refreshes the cache until the context ends: after each notification of a write, when listening starts, and every
// ten seconds. It returns at once if the cache is disabled or has no source. Otherwise it blocks, and does not wait
// for the goroutine that listens, which ends with the context too.
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

// listen calls notify after each announced write until the context ends, and reconnects when the connection is lost.
// It calls notify then too, so that a failure of the database is detected at once.
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
		c.o.Logger.DebugContext(ctx, "listening for writes to status pages failed; refreshing at intervals",
			"interval",
			refreshInterval.String(), "error", err)
		repeat.Sleep(ctx, reconnectDelay)
	}
}

// refresh reads the pages, renders those that changed or expired, and replaces the content of the cache, in at most
// refreshTimeout. If it fails, it logs the first error, and the content of the cache does not change. A canceled ctx
// does not count as a failure. It waits for a refresh that is running.
func (c *Cache) refresh(ctx context.Context) error {
	c.refreshing.Lock()
	defer c.refreshing.Unlock()
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	next, rendered, err := c.read(ctx)
	if err != nil {
		// the gateway stops, or the waiting client disconnected
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return err
		}
		c.failures.Add(1)
		if !c.failing.Swap(true) {
			c.o.Logger.WarnContext(ctx, "the status pages cannot be read, and pages read before are served; "+
				"check the status database, its URL and the permissions of the role", "max_age", maxStale.String(),
				"error", err)
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
		c.o.Logger.InfoContext(ctx, "there is no status page, so /api/v2 responds with 404; "+
			"`heliograph migrate --status-only` creates missing tables, and `heliograph status init` a page")
	}
	return nil
}

// read reads all pages in one snapshot and renders those that changed or expired, without changing the cache. rendered
// is the number of rendered pages. If one page fails, the whole read fails.
func (c *Cache) read(ctx context.Context) (next *content, rendered int, err error) {
	ctx, end, err := c.o.Source.Snapshot(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer end()
	next = &content{entries: map[string]*entry{}}
	if next.pages, err = c.o.Source.Pages(ctx); err != nil {
		return nil, 0, err
	}
	old := c.current.Load()
	for _, p := range next.pages {
		if old != nil {
			if e := old.entries[p.Code]; e != nil && e.revision == p.Revision &&
				(e.expiresAt.IsZero() || c.o.Now().Before(e.expiresAt)) {
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

// renderAll renders the parts of a page, one with each renderer. The entry expires with the first of its parts. It
// fails if one of them fails. The renderers read from the snapshot in ctx, and may store what they render. It changes
// nothing in c.
func (c *Cache) renderAll(ctx context.Context, p *status.Page) (*entry, error) {
	e := &entry{revision: p.Revision}
	for _, r := range c.renderers {
		part, expiresAt, err := r.render(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("rendering %s of page %s: %w", r.name, p.Slug, err)
		}
		if e.parts = append(e.parts, part); !expiresAt.IsZero() &&
			(e.expiresAt.IsZero() || expiresAt.Before(e.expiresAt)) {
			e.expiresAt = expiresAt
		}
	}
	return e, nil
}
