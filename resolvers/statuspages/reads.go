package statuspages

import (
	"context"
	"sync"
	"time"

	"heliograph/graph/fault"
	"heliograph/graph/feed"
	"heliograph/graph/relay"
	"heliograph/internal/base/list"
	"heliograph/internal/base/values"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/storage"
	"heliograph/storage/statuspages"
)

// Reads caches the status pages of an operation and the states of the pages that it selects. Both are small, and most
// other fields need them.
type Reads struct {
	mu     sync.Mutex
	read   bool
	pages  status.Pages
	states map[string]*status.PageState
}

var sharedReads = values.NewKey[*Reads]()

// WithSharedReads returns a context whose operations share one new cache of pages and component states, for the
// documents of status pages that the gateway renders together. It reads nothing.
func WithSharedReads(ctx context.Context) context.Context {
	return values.Context(ctx, sharedReads.Is(&Reads{}))
}

// pages returns all status pages, which it reads once per operation, or nil if there are none. Other fields of the
// operation wait meanwhile. After an error, the next call reads again. The cache is that of [WithSharedReads], or else
// of the operation, which ctx must have then.
func (r *Resolver) pages(ctx context.Context) (status.Pages, error) {
	if r.db == nil {
		return nil, nil
	}
	reads := r.readsOf(ctx)
	reads.mu.Lock()
	defer reads.mu.Unlock()
	if reads.read {
		return reads.pages, nil
	}
	pages, err := r.db.Pages(ctx)
	reads.pages, reads.read = pages, err == nil
	return pages, err
}

// Page returns the page with a short name, or the default page if slug is nil. It returns nil if the page does not
// exist. Pages are read from the database of status pages once per operation.
func (r *Resolver) Page(ctx context.Context, slug *string) (*status.Page, error) {
	pages, err := r.pages(ctx)
	if err != nil {
		return nil, err
	}
	if slug != nil {
		return pages.BySlug(*slug), nil
	}
	return pages.Default(), nil
}

// state returns the current components of a page, with their statuses, and the worst impact of its open incidents. It
// reads them from the database of status pages once per operation. A page that does not exist has no components. Other
// fields of the operation wait while one reads. An error is not kept.
func (r *Resolver) state(ctx context.Context, page string) (*status.PageState, error) {
	pages, err := r.pages(ctx)
	if err != nil {
		return nil, err
	}
	p := pages.ByCode(page)
	if p == nil {
		return status.NewPageState(nil, nil, ""), nil
	}
	reads := r.readsOf(ctx)
	reads.mu.Lock()
	defer reads.mu.Unlock()
	if s := reads.states[page]; s != nil {
		return s, nil
	}
	s, err := r.db.PageState(ctx, p)
	if err == nil {
		if reads.states == nil {
			reads.states = map[string]*status.PageState{}
		}
		reads.states[page] = s
	}
	return s, err
}

// componentByCode reads a component of any page, or returns nil if it does not exist. There must be a database of
// status pages.
func (r *Resolver) componentByCode(ctx context.Context, code string) (*status.Component, error) {
	page, err := r.db.PageOfComponent(ctx, code)
	if err != nil || page == "" {
		return nil, err
	}
	s, err := r.state(ctx, page)
	if err != nil {
		return nil, err
	}
	return s.Component(code), nil
}

// notices reads published notices by code from the database of status pages, at once. Drafts and unknown codes are
// missing in the result. Without status pages it returns nil.
func (r *Resolver) notices(ctx context.Context, codes []string) (map[string]*status.Notice, error) {
	pages, err := r.pages(ctx)
	if err != nil || pages == nil {
		return nil, err
	}
	found, err := r.db.NoticesByCode(ctx, pages, codes)
	for code, n := range found {
		if n.Draft {
			delete(found, code)
		}
	}
	return found, err
}

// Incident reads the published incident with a code from the database of status pages, for Query.statusIncident and
// for nodes. It returns nil for an unknown code, a draft or a maintenance, and without status pages.
func (r *Resolver) Incident(ctx context.Context, code string) (*status.Incident, error) {
	found, err := r.notices(ctx, []string{code})
	if n := found[code]; err == nil && n != nil && n.Kind == status.Realtime {
		return asIncident(n), nil
	}
	return nil, err
}

// Maintenance reads the published maintenance with a code from the database of status pages, for
// Query.statusMaintenance and for nodes. It returns nil for an unknown code, a draft or an incident, and without
// status pages.
func (r *Resolver) Maintenance(ctx context.Context, code string) (*status.Maintenance, error) {
	found, err := r.notices(ctx, []string{code})
	if n := found[code]; err == nil && n != nil && n.Kind == status.Scheduled {
		return asMaintenance(n), nil
	}
	return nil, err
}

// Component returns a component from the state of a page, which is read once per operation, or nil if it does not
// exist.
func (r *Resolver) Component(ctx context.Context, p *status.Page, code string) (*status.Component, error) {
	s, err := r.state(ctx, p.Code)
	if err != nil {
		return nil, err
	}
	return s.Component(code), nil
}

// Webhooks resolves Query.statusWebhooks. It reads the webhooks of a page, or of the default one. The sender needs the
// role admin for the page: else it fails with UNAUTHENTICATED or FORBIDDEN, and without the page with NOT_FOUND. The
// use of a stored token is recorded in the database.
func (r *Resolver) Webhooks(ctx context.Context, slug *string) ([]*status.Webhook, error) {
	p, err := r.pageToRead(ctx, status.Admin, slug)
	if err != nil {
		return nil, err
	}
	return r.db.Webhooks(ctx, p.Code)
}

// pageToRead authenticates the sender, and reads the page with a short name or the default page. It fails with
// UNAUTHENTICATED without a valid token, with FORBIDDEN if the token does not have the needed role or does not permit
// the page, and with NOT_FOUND without the page. It records the use of a stored token in the database.
func (r *Resolver) pageToRead(ctx context.Context, needed status.Role, slug *string) (*status.Page, error) {
	t, err := r.operator(ctx, needed)
	if err != nil {
		return nil, err
	}
	p, err := r.pageToEdit(ctx, slug)
	if err != nil {
		return nil, err
	}
	if !t.For(p.Code) {
		return nil, &fault.Error{Code: fault.Forbidden, Message: "the token does not permit this page"}
	}
	return p, nil
}

// maxDrafts is the maximum number of drafts in the list.
const maxDrafts = 100

// Drafts resolves Query.statusDrafts. It reads the newest unpublished incidents of a page, or of the default one, at
// most maxDrafts. The sender needs the role viewer for the page: else it fails with UNAUTHENTICATED or FORBIDDEN, and
// without the page with NOT_FOUND. The use of a stored token is recorded in the database.
func (r *Resolver) Drafts(ctx context.Context, slug *string) ([]*status.Incident, error) {
	p, err := r.pageToRead(ctx, status.Viewer, slug)
	if err != nil {
		return nil, err
	}
	rows, err := r.db.Notices(ctx, p, statuspages.NoticeFilter{Kind: status.Realtime, Drafts: true},
		statuspages.ByCreation,
		storage.Page{Limit: maxDrafts, Desc: true})
	return list.Map(rows, asIncident), err
}

// pace is the interval at which a page with subscribers is polled if no write is announced.
const pace = time.Second

// feeds are the sources of subscriptions to status pages: one feed per page, created on the first subscription.
// Positions are revisions instead of consensus times.
type feeds struct {
	db *statuspages.DB
	o  feed.Options

	mu     sync.Mutex
	closed bool
	feeds  map[string]*feed.Feed[*status.Revision] // by page code
	wake   chan struct{}                           // closed when a write is announced
}

// newFeeds returns the feeds of pages, which begin with their first subscriber. Their interval is pace, not that of o.
func newFeeds(db *statuspages.DB, o feed.Options) *feeds {
	o.Interval = pace
	return &feeds{db: db, o: o, feeds: map[string]*feed.Feed[*status.Revision]{}, wake: make(chan struct{})}
}

// of returns the feed of the revisions of a page. The first call creates it, after close as a closed feed.
func (f *feeds) of(page string) *feed.Feed[*status.Revision] {
	f.mu.Lock()
	defer f.mu.Unlock()
	known, ok := f.feeds[page]
	if ok {
		return known
	}
	made := feed.New(feed.Source[*status.Revision]{
		Name: "status page " + page, Wake: f.waker,
		Position: func(r *status.Revision) feed.Position { return feed.Position{At: ledger.Timestamp(r.Number)} },
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

// waker returns the channel that is closed at the next announced write, for which the readers of all feeds wait.
func (f *feeds) waker() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.wake
}

// heard wakes all feeds, which then check for changes immediately.
func (f *feeds) heard() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.wake)
	f.wake = make(chan struct{})
}

// close ends all subscriptions to status pages with an error, also those that begin later. It does not wait for them.
func (f *feeds) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for _, one := range f.feeds {
		one.Close()
	}
}

// Changed makes subscriptions check for changes of status pages immediately. It is called when the database
// announces a write.
func (r *Resolver) Changed() { r.feeds.heard() }

// Listen streams the changes of a page: those after a revision, those dated after a time, or only new ones, until ctx
// ends. It first reads the pages, and fails with NOT_FOUND if there is no such page. Both a revision and a time, and a
// negative revision, are BAD_USER_INPUT. A goroutine listens to the feed of the page, and reads earlier changes from
// the database; it repeats reads that fail. If the client is too slow or the feed closes, it closes the channel and
// records the error in the [relay.Ending] of ctx.
func (r *Resolver) Listen(
	ctx context.Context, slug *string, from *int64, since *time.Time,
) (<-chan *status.Revision, error) {
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
