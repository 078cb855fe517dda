// Package statuspages resolves the fields of status pages: queries, relations, mutations and the subscription. The root resolver in package resolvers
// calls it.
package statuspages

import (
	"context"
	"time"

	"heliograph/graph/fault"
	"heliograph/graph/feed"
	"heliograph/graph/relay"
	"heliograph/internal/domain/status"
	"heliograph/storage/statuspages"
)

// Options configure a [Resolver].
type Options struct {
	// DB stores the status pages. If it is nil, there are no status pages.
	DB *statuspages.DB
	// Tokens are the access tokens of the configuration. More tokens are stored in the database.
	Tokens []*status.Token
	// Now is the clock.
	Now func() time.Time
	// Feeds configure how subscriptions poll for changes.
	Feeds feed.Options
	// Reads returns the cache of the context's operation.
	Reads func(ctx context.Context) *Reads
}

// Resolver resolves the fields of status pages.
type Resolver struct {
	db      *statuspages.DB
	editor  *statuspages.Editor // nil if there are no status pages
	tokens  []*status.Token
	now     func() time.Time
	readsOf func(ctx context.Context) *Reads
	feeds   *feeds
}

// New returns a new Resolver.
func New(o Options) *Resolver {
	r := &Resolver{db: o.DB, tokens: o.Tokens, now: o.Now, feeds: newFeeds(o.DB, o.Feeds)}
	r.readsOf = func(ctx context.Context) *Reads {
		if shared, ok := sharedReads.Of(ctx); ok {
			return shared
		}
		return o.Reads(ctx)
	}
	if o.DB != nil {
		r.editor = statuspages.NewEditor(o.DB, o.Now, nil)
	}
	return r
}

// Close ends all subscriptions.
func (r *Resolver) Close() { r.feeds.close() }

// pageOfList reads the paging arguments of a list.
func pageOfList(ctx context.Context, args relay.Args, kind string, columns int, desc bool) (relay.Page, error) {
	p, err := args.Page(kind, columns, desc, relay.LimitsOf(ctx))
	if err != nil {
		return relay.Page{}, fault.Input("%v", err)
	}
	return p, nil
}
