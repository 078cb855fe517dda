package statuspages

import (
	"context"
	"sync"
	"time"

	"heliograph/graph/fault"
	"heliograph/graph/feed"
	"heliograph/graph/relay"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/storage/statuspages"
)

// pace is the interval at which a page with subscribers is polled if no write is announced.
const pace = time.Second

// feeds are the sources of subscriptions to status pages: one feed per page, created on the first subscription. Positions are revisions instead of
// consensus times.
type feeds struct {
	db *statuspages.DB
	o  feed.Options

	mu     sync.Mutex
	closed bool
	feeds  map[string]*feed.Feed[*status.Revision] // by page code
	wake   chan struct{}                           // closed when a write is announced
}

func newFeeds(db *statuspages.DB, o feed.Options) *feeds {
	o.Interval = pace
	return &feeds{db: db, o: o, feeds: map[string]*feed.Feed[*status.Revision]{}, wake: make(chan struct{})}
}

// of returns the feed of a page.
func (f *feeds) of(page string) *feed.Feed[*status.Revision] {
	f.mu.Lock()
	defer f.mu.Unlock()
	known, ok := f.feeds[page]
	if ok {
		return known
	}
	made := feed.New(feed.Source[*status.Revision]{
		Name: "status page " + page, Position: revisionPosition, Wake: f.waker,
		Newest: func(ctx context.Context) (feed.Position, error) {
			n, err := f.db.NewestRevision(ctx, page)
			return feed.Position{At: ledger.Timestamp(n)}, err
		},
		After: func(ctx context.Context, after feed.Position, limit int) ([]*status.Revision, error) {
			return f.db.Revisions(ctx, page, int64(after.At), newestOfAll, limit)
		},
	}, f.o)
	if f.closed {
		made.Close()
	}
	f.feeds[page] = made
	return made
}

// newestOfAll is greater than all revisions.
const newestOfAll = int64(1) << 62

func revisionPosition(r *status.Revision) feed.Position {
	return feed.Position{At: ledger.Timestamp(r.Number)}
}

// waker returns the channel that is closed at the next announced write.
func (f *feeds) waker() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.wake
}

// heard makes all feeds check for changes immediately.
func (f *feeds) heard() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.wake)
	f.wake = make(chan struct{})
}

func (f *feeds) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for _, one := range f.feeds {
		one.Close()
	}
}

// Changed makes subscriptions check for changes of status pages immediately.
func (r *Resolver) Changed() { r.feeds.heard() }

// Listen streams the changes of a page: those after a revision, those dated after a time, or only new ones.
func (r *Resolver) Listen(ctx context.Context, slug *string, from *int64, since *time.Time) (<-chan *status.Revision, error) {
	if from != nil && since != nil {
		return nil, fault.Input("from and since cannot be combined")
	}
	if from != nil && *from < 0 {
		return nil, fault.Input("from must not be negative")
	}
	if r.db == nil {
		return nil, fault.Missing("there is no status page")
	}
	pages, err := r.db.Pages(ctx)
	if err != nil {
		return nil, err
	}
	page := pages.Default()
	if slug != nil {
		page = pages.BySlug(*slug)
	}
	if page == nil {
		return nil, fault.Missing("the status page does not exist")
	}
	if since != nil {
		behind, err := r.db.RevisionBefore(ctx, page.Code, *since)
		if err != nil {
			return nil, err
		}
		from = &behind
	}
	var start *feed.Position
	if from != nil {
		start = &feed.Position{At: ledger.Timestamp(*from)}
	}
	return feed.Listen(ctx, r.feeds.of(page.Code), feed.Listener[*status.Revision]{
		From: start, End: relay.EndingOf(ctx).Set,
		History: func(ctx context.Context, after, until feed.Position, limit int) ([]*status.Revision, error) {
			return r.db.Revisions(ctx, page.Code, int64(after.At), int64(until.At), limit)
		},
	}, feed.Row), nil
}
