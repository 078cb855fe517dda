// Package v2 is the status API: the eight documents under /api/v2. Each is a row of the table below and one GraphQL document, which is run in process when the page
// has changed; what it gives is kept as bytes. So a page that nobody writes to is served without asking anybody.
package v2

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"heliograph/graph/server"
	"heliograph/internal/domain/status"
	"heliograph/rest"
	"heliograph/rest/edition"
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

// Options say how the documents are made.
type Options struct {
	Server *server.Server
	// Keeper keeps the documents; what it does not keep is made when it is asked for.
	Keeper *edition.Keeper
	// Keep keeps the documents of a revision of a page, by name, when they have been made. Nil keeps nothing but the newest ones.
	Keep   func(ctx context.Context, p *status.Page, documents map[string][]byte) error
	Logger *slog.Logger
}

// API serves the documents.
type API struct {
	o        Options
	index    map[string]int // of endpoints, by their whole paths
	prepared []*server.Document
	fixed    *fixed
	volumes  edition.Part[[]*edition.Volume] // in the order of the endpoints
}

// errNoServer says that an API only explains.
var errNoServer = errors.New("there is nothing that runs documents")

// New makes the API. Its documents become what the pages are once the keeper runs, or at the first request.
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
	a.volumes = edition.Add(o.Keeper, "the documents", a.makeAll)
	return a, nil
}
