// Package edition keeps what is made of status pages: documents, pages for people, feeds. All of it is made anew when a page has changed, in one snapshot of the database, and
// kept as bytes. So a page that nobody writes to is served without asking anybody, and while the database cannot be read the last good bytes are served.
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

// Times that keep editions fresh and gateways up.
const (
	lookEvery    = 10 * time.Second // how often pages are looked at when nobody tells of a write
	buildTimeout = 10 * time.Second
	relistenPace = time.Second
	// maxStale is how long the last good edition is served when the database cannot be read.
	maxStale = time.Hour
)

// Source is where pages come from.
type Source interface {
	// Pages are all pages; none where the database has no status tables.
	Pages(ctx context.Context) (status.Pages, error)
	// Snapshot returns a context in which documents see one moment, and the function that ends it.
	Snapshot(ctx context.Context) (context.Context, func(), error)
	// Listen calls heard when it has begun to listen, and whenever a page was written to. It returns when it cannot hear any more.
	Listen(ctx context.Context, heard func()) error
}

// Options say how editions are made.
type Options struct {
	// Source has the pages. Nil means that there are none.
	Source Source
	Logger *slog.Logger
	// Now is the clock by which editions become stale.
	Now func() time.Time
	// CacheOff keeps nothing: who serves makes what is asked for, in [Keeper.Fresh].
	CacheOff bool
}

// maker makes a part of a page's edition, and says until when it is good while nobody writes; the zero time is for ever.
type maker struct {
	name string
	make func(ctx context.Context, p *status.Page) (any, time.Time, error)
}

// Keeper keeps the newest edition of all pages.
type Keeper struct {
	o      Options
	makers []maker

	current  atomic.Pointer[edition]
	building sync.Mutex
	failing  atomic.Bool // the last look at the pages failed
	missing  atomic.Bool // the database had no pages at the last look
	builds   atomic.Int64
	failures atomic.Int64
}

// edition is what is served: all that was made of all pages at one moment.
type edition struct {
	pages  status.Pages
	shelf  map[string]*shelf // by the code of the page
	goodAt atomic.Int64      // when the pages were last seen to be so, in nanoseconds since 1970
}

func (e *edition) at() time.Time { return time.Unix(0, e.goodAt.Load()) }

// shelf has the parts of a page's edition, in the order of the makers.
type shelf struct {
	revision int64
	until    time.Time // the zero time is for ever
	parts    []any
}

// New makes a keeper. It has an edition once [Keeper.Run] runs, or at the first request.
func New(o Options) *Keeper { return &Keeper{o: o} }

// Part is what one maker makes of pages.
type Part[T any] struct {
	k *Keeper
	i int
}

// Add lets the keeper make something of every page, before it runs. The name is for errors. What is made is good until the page changes, or until the instant that is
// returned with it, unless that is the zero time.
func Add[T any](k *Keeper, name string, make1 func(ctx context.Context, p *status.Page) (T, time.Time, error)) Part[T] {
	k.makers = append(k.makers, maker{name, func(ctx context.Context, p *status.Page) (any, time.Time, error) { return make1(ctx, p) }})
	return Part[T]{k, len(k.makers) - 1}
}

// Find finds what was made of the page that a request is for, and the page as it was then. The code is 200, 404 when there is no page, or 503 when none could be read for too long.
// It is not for keepers that keep nothing.
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

// Off tells whether nothing is kept, so that [Keeper.Fresh] is to be asked.
func (k *Keeper) Off() bool { return k.o.CacheOff && k.o.Source != nil }

// find finds the newest edition that may be served, or the status that says why there is none.
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

// Default is the default page of the newest edition, nil when there is none.
func (k *Keeper) Default() *status.Page {
	if e := k.current.Load(); e != nil {
		return e.pages.Default()
	}
	return nil
}

// pageOf is the page that a request is for.
func pageOf(pages status.Pages, r *http.Request) *status.Page {
	if len(pages) == 1 { // whatever the host is
		return pages[0]
	}
	return pages.ByHost(r.Host)
}

// Fresh lets something be made now of the page that a request is for, in a snapshot. The code is as that of [Part.Find].
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

// refresh looks at the pages, and makes the edition of those anew that were written to. What cannot be read stays as it is.
func (k *Keeper) refresh(ctx context.Context) error {
	k.building.Lock()
	defer k.building.Unlock()
	ctx, cancel := context.WithTimeout(ctx, buildTimeout)
	defer cancel()
	next, built, err := k.read(ctx)
	if err != nil {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) { // the gateway stops, or the client that waited has gone
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

// read reads all pages in one snapshot. What was made of pages that have not changed is kept; built is how many pages were made anew.
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

// Stats is how the keeper is, for metrics.
type Stats struct {
	// Builds and Failures count how often editions were made, and how often the pages could not be read.
	Builds, Failures int64
	// Stale is how old the pages are that are served because the database cannot be read; 0 while it can.
	Stale time.Duration
	// Pages are how many there are.
	Pages int
}

// Stats tells how the keeper is.
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
