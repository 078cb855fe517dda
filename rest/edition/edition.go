// Package edition caches what is rendered from status pages: documents, HTML pages and feeds. It renders a page again after a change, from one snapshot
// of the database, and caches the bytes. Requests for unchanged pages need no database query. If the database is unavailable, the last rendered bytes
// are served.
package edition

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"heliograph/internal/domain/status"
)

// Intervals of refreshes and retries.
const (
	lookEvery    = 10 * time.Second // interval of refreshes without a notification
	buildTimeout = 10 * time.Second
	relistenPace = time.Second
	// maxStale is how long the last edition is served while the database is unavailable.
	maxStale = time.Hour
)

// Source reads status pages.
type Source interface {
	// Pages returns all pages, or none if the database has no status tables.
	Pages(ctx context.Context) (status.Pages, error)
	// Snapshot returns a context in which all documents read the same snapshot, and the function that ends it.
	Snapshot(ctx context.Context) (context.Context, func(), error)
	// Listen calls heard when it starts to listen and after each write to a page. It returns when the connection is lost.
	Listen(ctx context.Context, heard func()) error
}

// Options configure a [Keeper].
type Options struct {
	// Source reads the pages. If it is nil, there are no pages.
	Source Source
	Logger *slog.Logger
	// Now returns the current time. It determines when editions are stale.
	Now func() time.Time
	// CacheOff disables the cache. Handlers then render each request with [Keeper.Fresh].
	CacheOff bool
}

// maker renders a part of a page's edition and returns when it expires unless the page changes. The zero time means never.
type maker struct {
	name string
	make func(ctx context.Context, p *status.Page) (any, time.Time, error)
}

// Keeper is a cache of the newest edition of all pages.
type Keeper struct {
	o      Options
	makers []maker

	current  atomic.Pointer[edition]
	building sync.Mutex
	failing  atomic.Bool // the last refresh failed
	missing  atomic.Bool // the last refresh found no pages
	builds   atomic.Int64
	failures atomic.Int64
}

// edition is a rendered snapshot of all pages.
type edition struct {
	pages  status.Pages
	shelf  map[string]*shelf // by the code of the page
	goodAt atomic.Int64      // time of the last successful refresh, in nanoseconds since 1970
}

func (e *edition) at() time.Time { return time.Unix(0, e.goodAt.Load()) }

// shelf has the rendered parts of a page, in the order of the makers.
type shelf struct {
	revision int64
	until    time.Time // the zero time means never
	parts    []any
}

// New returns a new keeper. It renders its first edition when [Keeper.Run] starts, or on the first request.
func New(o Options) *Keeper { return &Keeper{o: o} }

// Part identifies what one maker renders.
type Part[T any] struct {
	k *Keeper
	i int
}

// Add registers a function that renders a part of every page. Call it before [Keeper.Run]. The name is used in errors. The part expires when the page
// changes, or at the returned time unless that is zero.
func Add[T any](k *Keeper, name string, make1 func(ctx context.Context, p *status.Page) (T, time.Time, error)) Part[T] {
	k.makers = append(k.makers, maker{name, func(ctx context.Context, p *status.Page) (any, time.Time, error) { return make1(ctx, p) }})
	return Part[T]{k, len(k.makers) - 1}
}

// Find returns the cached part and the page of a request. The code is 200, 404 if the page does not exist, or 503 if the database has been unavailable
// for too long. Do not call Find if [Keeper.Off] is true.
func (p Part[T]) Find(r *http.Request) (made T, page *status.Page, code int) {
	e, code := p.k.find(r.Context())
	if e == nil {
		return made, nil, code
	}
	if page = pageOf(e.pages, r); page == nil {
		return made, nil, http.StatusNotFound
	}
	made, _ = e.shelf[page.Code].parts[p.i].(T)
	return made, page, http.StatusOK
}

// Off reports whether the cache is disabled, so that handlers must use [Keeper.Fresh].
func (k *Keeper) Off() bool { return k.o.CacheOff && k.o.Source != nil }

// find returns the newest edition that may be served, or the status of the error.
func (k *Keeper) find(ctx context.Context) (*edition, int) {
	if k.o.Source == nil {
		return nil, http.StatusNotFound
	}
	e := k.current.Load()
	if e == nil {
		if err := k.refresh(ctx); err != nil {
			return nil, http.StatusServiceUnavailable
		}
		e = k.current.Load()
	}
	if k.failing.Load() && k.o.Now().Sub(e.at()) > maxStale {
		return nil, http.StatusServiceUnavailable
	}
	return e, http.StatusOK
}

// Default returns the default page of the newest edition, or nil if there are no pages.
func (k *Keeper) Default() *status.Page {
	if e := k.current.Load(); e != nil {
		return e.pages.Default()
	}
	return nil
}

// pageOf returns the page of a request.
func pageOf(pages status.Pages, r *http.Request) *status.Page {
	if len(pages) == 1 { // for any host
		return pages[0]
	}
	return pages.ByHost(r.Host)
}

// Fresh calls make1 with the page of a request, in a snapshot. The codes are those of [Part.Find].
func (k *Keeper) Fresh(r *http.Request, make1 func(ctx context.Context, p *status.Page) error) int {
	if k.o.Source == nil {
		return http.StatusNotFound
	}
	found, err := k.fresh(r, make1)
	switch {
	case err != nil:
		k.failures.Add(1)
		k.o.Logger.WarnContext(r.Context(), "something of a status page could not be made", "path", r.URL.Path, "error", err)
		return http.StatusServiceUnavailable
	case !found:
		return http.StatusNotFound
	default:
		return http.StatusOK
	}
}

func (k *Keeper) fresh(r *http.Request, make1 func(ctx context.Context, p *status.Page) error) (found bool, err error) {
	ctx, end, err := k.o.Source.Snapshot(r.Context())
	if err != nil {
		return false, err
	}
	defer end()
	pages, err := k.o.Source.Pages(ctx)
	if err != nil {
		return false, err
	}
	p := pageOf(pages, r)
	if p == nil {
		return false, nil
	}
	k.builds.Add(1)
	return true, make1(ctx, p)
}

// refresh reads the pages and renders those that changed or expired. If reading fails, the edition does not change.
func (k *Keeper) refresh(ctx context.Context) error {
	k.building.Lock()
	defer k.building.Unlock()
	ctx, cancel := context.WithTimeout(ctx, buildTimeout)
	defer cancel()
	next, built, err := k.read(ctx)
	if err != nil {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) { // the gateway stops, or the waiting client disconnected
			return err
		}
		k.failures.Add(1)
		if !k.failing.Swap(true) {
			k.o.Logger.WarnContext(ctx, "the status pages cannot be read; the last good ones are served", "for", maxStale.String(), "error", err)
		}
		return err
	}
	next.goodAt.Store(k.o.Now().UnixNano())
	k.current.Store(next)
	k.builds.Add(int64(built))
	if k.failing.Swap(false) {
		k.o.Logger.InfoContext(ctx, "the status pages can be read again")
	}
	if none := len(next.pages) == 0; k.missing.Swap(none) != none && none {
		k.o.Logger.InfoContext(ctx, "there is no status page: /api/v2 answers 404; `heliograph migrate --status-only` makes the tables where there are none")
	}
	return nil
}

// read reads all pages in one snapshot and renders those that changed or expired. built is the number of rendered pages.
func (k *Keeper) read(ctx context.Context) (next *edition, built int, err error) {
	ctx, end, err := k.o.Source.Snapshot(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer end()
	next = &edition{shelf: map[string]*shelf{}}
	if next.pages, err = k.o.Source.Pages(ctx); err != nil {
		return nil, 0, err
	}
	old := k.current.Load()
	for _, p := range next.pages {
		if old != nil {
			if s := old.shelf[p.Code]; s != nil && s.revision == p.Revision && (s.until.IsZero() || k.o.Now().Before(s.until)) {
				next.shelf[p.Code] = s
				continue
			}
		}
		s := &shelf{revision: p.Revision}
		for _, m := range k.makers {
			part, until, err := m.make(ctx, p)
			if err != nil {
				return nil, 0, fmt.Errorf("making %s of page %s: %w", m.name, p.Slug, err)
			}
			if s.parts = append(s.parts, part); !until.IsZero() && (s.until.IsZero() || until.Before(s.until)) {
				s.until = until
			}
		}
		next.shelf[p.Code] = s
		built++
	}
	return next, built, nil
}

// Stats are the metrics of a keeper.
type Stats struct {
	// Builds and Failures count the rendered editions and the failed refreshes.
	Builds, Failures int64
	// Stale is the age of the pages while the database is unavailable, otherwise 0.
	Stale time.Duration
	// Pages is the number of pages.
	Pages int
}

// Stats returns the keeper's metrics.
func (k *Keeper) Stats() Stats {
	s := Stats{Builds: k.builds.Load(), Failures: k.failures.Load()}
	if e := k.current.Load(); e != nil {
		s.Pages = len(e.pages)
		if k.failing.Load() {
			s.Stale = max(0, k.o.Now().Sub(e.at()))
		}
	}
	return s
}
