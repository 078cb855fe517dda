// Package v2 is the status API: the eight documents under /api/v2. Each is a row of the table below and one GraphQL document, which is run in process when the page
// has changed; what it gives is kept as bytes. So a page that nobody writes to is served without asking anybody.
package v2

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"heliograph/graph/server"
	"heliograph/internal/status"
	"heliograph/rest"
)

//go:embed documents/*.graphql
var documents embed.FS

// Prefix is where the documents are served.
const Prefix = "/api/v2"

// endpoint is one document: where it is, and the GraphQL document that makes it.
type endpoint struct {
	path     string // below the prefix
	document string
}

// endpoints are the whole API.
func endpoints() []endpoint {
	return []endpoint{
		{status.SummaryDocument, "summary.graphql"},
		{status.StatusDocument, "status.graphql"},
		{status.ComponentsDocument, "components.graphql"},
		{status.IncidentsDocument, "incidents.graphql"},
		{status.UnresolvedDocument, "unresolved.graphql"},
		{status.ScheduledDocument, "scheduled_maintenances.graphql"},
		{status.UpcomingDocument, "upcoming.graphql"},
		{status.ActiveDocument, "active.graphql"},
	}
}

// Times that keep documents fresh and gateways up.
const (
	lookEvery    = 10 * time.Second // how often pages are looked at when nobody tells of a write
	buildTimeout = 10 * time.Second
	relistenPace = time.Second
	// maxStale is how long the last good documents are served when the database cannot be read.
	maxStale = time.Hour
)

// Options say how the documents are made.
type Options struct {
	// Source has the pages. Nil means that there are none.
	Source Source
	Server *server.Server
	Logger *slog.Logger
	// Now is the clock by which documents become stale.
	Now func() time.Time
	// CacheOff makes each document when it is asked for.
	CacheOff bool
}

// API serves the documents.
type API struct {
	o        Options
	index    map[string]int // of endpoints, by their whole paths
	prepared []*server.Document
	fixed    *fixed

	current  atomic.Pointer[edition]
	building sync.Mutex
	failing  atomic.Bool // the last look at the pages failed
	missing  atomic.Bool // the database had no pages at the last look
	builds   atomic.Int64
	failures atomic.Int64
}

// errNoServer says that an API only explains.
var errNoServer = errors.New("there is nothing that runs documents")

// New makes the API. Its documents become what the pages are once [API.Run] runs, or at the first request.
func New(o Options) (*API, error) {
	if o.Server == nil {
		return nil, errNoServer
	}
	a := &API{o: o, index: map[string]int{}, fixed: newFixed()}
	fragments, err := rest.Fragments(documents)
	if err != nil {
		return nil, err
	}
	for i, e := range endpoints() {
		text, err := fs.ReadFile(documents, "documents/"+e.document)
		if err != nil {
			return nil, fmt.Errorf("reading the document of %s: %w", e.path, err)
		}
		doc, err := o.Server.Prepare(rest.WithFragments(string(text), fragments))
		if err != nil {
			return nil, fmt.Errorf("document %s of %s: %w", e.document, e.path, err)
		}
		a.index[Prefix+"/"+e.path] = i
		a.prepared = append(a.prepared, doc)
	}
	return a, nil
}

// Stats is how the API is, for metrics.
type Stats struct {
	// Builds and Failures count how often documents were made anew, and how often the pages could not be read.
	Builds, Failures int64
	// Stale is how old the pages are that are served because the database cannot be read; 0 while it can.
	Stale time.Duration
	// Pages are how many there are.
	Pages int
}

// Stats tells how the API is.
func (a *API) Stats() Stats {
	s := Stats{Builds: a.builds.Load(), Failures: a.failures.Load()}
	if e := a.current.Load(); e != nil {
		s.Pages = len(e.pages)
		if a.failing.Load() {
			s.Stale = max(0, a.o.Now().Sub(e.at()))
		}
	}
	return s
}
