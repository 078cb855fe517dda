// Package statuspages resolves the fields of status pages: queries, relations, mutations and the subscription. The root resolver in package resolvers
// calls it.
package statuspages

import (
	"context"
	"time"

	"heliograph/graph/fault"
	"heliograph/graph/feed"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/graph/scalar"
	"heliograph/internal/domain/status"
	"heliograph/storage"
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
	db        *statuspages.DB
	editor    *statuspages.Editor // nil if there are no status pages
	tokens    []*status.Token
	now       func() time.Time
	readsOf   func(ctx context.Context) *Reads
	feeds     *feeds
	Relations Relations
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
	r.Relations = newRelations(r)
	return r
}

// AddTo adds the relations and global ids to the tables of the row plan.
func (r *Resolver) AddTo(t *rowplan.Tables) {
	r.Relations.add(t)
	addIDs(t)
}

// Close ends all subscriptions.
func (r *Resolver) Close() { r.feeds.close() }

// pageArgs reads the paging arguments of a connection.
func pageArgs(ctx context.Context, args rowplan.Args, kind string, columns int) (relay.Page, error) {
	var a relay.Args
	for name, into := range map[string]**int32{"first": &a.First, "last": &a.Last} {
		if args[name] == nil {
			continue
		}
		n, err := scalar.UnmarshalInt(ctx, args[name])
		if err != nil {
			return relay.Page{}, err
		}
		*into = &n
	}
	for name, into := range map[string]**string{"after": &a.After, "before": &a.Before} {
		if text, ok := args[name].(string); ok {
			*into = &text
		}
	}
	p, err := a.Page(kind, columns, args["order"] == string(relay.Desc), relay.LimitsOf(ctx))
	if err != nil {
		return relay.Page{}, fault.Input("%v", err)
	}
	return p, nil
}

// storagePage requests one row more than the page holds, which shows whether the list continues.
func storagePage(p relay.Page) storage.Page {
	s := storage.Page{Limit: p.Limit + 1, Desc: p.Descending()}
	if s.Greater, s.Less = p.After, p.Before; p.Desc {
		s.Greater, s.Less = p.Before, p.After
	}
	return s
}
