// Package statuspages resolves the fields of status pages: queries, relations, mutations and the subscription. The
// root resolver in package resolvers calls it.
package statuspages

import (
	"context"
	"slices"
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

// New returns the resolvers of status pages, whose feeds begin with their first subscriber. Without a database
// there are no pages. It reads nothing.
func New(o Options) *Resolver {
	r := &Resolver{db: o.DB, tokens: o.Tokens, now: o.Now, feeds: newFeeds(o.DB, o.Feeds)}
	r.readsOf = func(ctx context.Context) *Reads {
		if shared, ok := sharedReads.Of(ctx); ok {
			return shared
		}
		return o.Reads(ctx)
	}
	if o.DB != nil {
		r.editor = statuspages.NewEditor(o.DB, o.Now)
	}
	return r
}

// Close ends all subscriptions to status pages, and prevents new ones.
func (r *Resolver) Close() { r.feeds.close() }

// pageOfList checks the paging arguments of a list and returns the page. kind names the list in its cursors, columns is
// the number of their values, and desc is the order of the list. Errors are BAD_USER_INPUT.
func pageOfList(ctx context.Context, args relay.Args, kind string, columns int, desc bool) (relay.Page, error) {
	p, err := args.Page(kind, columns, desc, relay.LimitsOf(ctx))
	if err != nil {
		return relay.Page{}, fault.Input("%v", err)
	}
	return p, nil
}

// The types of status page objects in global ids.
const (
	pageType        = "StatusPage"
	componentType   = "StatusComponent"
	incidentType    = "StatusIncident"
	maintenanceType = "StatusMaintenance"
	updateType      = "StatusUpdate"
)

// HasType reports whether a type name in a global id is a type of status page objects.
func HasType(name string) bool {
	return slices.Contains([]string{pageType, componentType, incidentType, maintenanceType, updateType}, name)
}

// Node reads the object of a status page with the given type and code, or returns nil if it does not exist, and
// without status pages. Unpublished notices do not exist here. The caller has checked typ with [HasType].
func (r *Resolver) Node(ctx context.Context, typ, code string) (relay.Node, error) {
	pages, err := r.pages(ctx)
	if err != nil || pages == nil {
		return nil, err
	}
	switch typ {
	case pageType:
		return node(pages.ByCode(code), nil)
	case componentType:
		return node(r.componentByCode(ctx, code))
	case incidentType:
		return node(r.Incident(ctx, code))
	case maintenanceType:
		return node(r.Maintenance(ctx, code))
	default:
		return node(r.db.UpdateByCode(ctx, pages, code))
	}
}

// node returns a row as a node, and a nil interface for a nil pointer, so that it becomes null.
func node[T any, P interface {
	*T
	relay.Node
}](row P, err error) (relay.Node, error) {
	if err != nil || row == nil {
		return nil, err
	}
	return row, nil
}
