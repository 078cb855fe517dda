// Package gateway puts the parts together: storage, resolvers, the executor and the REST APIs behind the routes of the public and the
// admin port.
package gateway

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/cors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"heliograph/app/pagesync"
	"heliograph/app/probe"
	"heliograph/app/tracing"
	"heliograph/app/web/apidocs"
	"heliograph/app/web/graphiql"
	"heliograph/app/web/statuspage"
	"heliograph/graph"
	"heliograph/graph/feed"
	"heliograph/graph/limits"
	"heliograph/graph/relay"
	"heliograph/graph/server"
	"heliograph/internal/domain/status"
	"heliograph/resolvers"
	"heliograph/resolvers/contractcalls"
	"heliograph/rest"
	"heliograph/rest/edition"
	"heliograph/rest/openapi"
	v1 "heliograph/rest/v1"
	v2 "heliograph/rest/v2"
	"heliograph/storage"
	"heliograph/storage/statuspages"
)

// GraphOptions say what clients of the graph may do.
type GraphOptions struct {
	// Bounds are what documents may ask for.
	Bounds limits.Limits
	// MaxBody bounds request bodies in bytes, MaxValues in JSON values.
	MaxBody   int64
	MaxValues int
	// Trusted are documents by ids that clients may ask for, beside those of the REST API; OnlyTrusted refuses all others.
	Trusted     map[string]string
	OnlyTrusted bool
	// CacheBytes bounds the answers that are kept between requests, 0 for none.
	CacheBytes int64
	// Streams bound subscriptions; PollInterval is how often new rows are looked for on behalf of all subscribers, Backlog how many of them are kept for
	// those who have not read them yet.
	Streams      server.StreamOptions
	PollInterval time.Duration
	Backlog      int
	// IntrospectionOff hides the schema, SuggestionsOff names that are like a wrong one.
	IntrospectionOff, SuggestionsOff bool
}

// DefaultGraph is what the settings say by default.
func DefaultGraph() GraphOptions {
	return GraphOptions{
		Bounds: limits.Default(), MaxBody: 512 << 10, MaxValues: 10_000,
		Streams: server.DefaultStreams(), PollInterval: 250 * time.Millisecond, Backlog: 10_000,
	}
}

// documents is how many parsed documents of clients are kept.
const documents = 1000

// Options say what the gateway is made of.
type Options struct {
	// DB may be nil when nothing is to be answered, only explained.
	DB *storage.DB
	// Status has the status pages. Nil means that there are none.
	Status *statuspages.DB
	// Followers keep status pages copies of pages elsewhere.
	Followers []*pagesync.Follower
	// Watcher asks the probes of status pages. Nil asks none.
	Watcher *probe.Watcher
	// Tokens are those of the configuration, of people who may write to status pages.
	Tokens  []*status.Token
	REST    *rest.Config
	Graph   GraphOptions
	Logger  *slog.Logger
	Origins []string
	Proxies []netip.Prefix
	// Traces has a span for each request. Nil makes none.
	Traces *tracing.Traces
	// Rates bound how often clients may ask.
	Rates RateOptions
	// RequestTimeout bounds each request.
	RequestTimeout time.Duration
	Version        string
	// EVM says how contracts are run.
	EVM contractcalls.Options
	// PlansOff leaves all answers to gqlgen's own way; the differential tests compare both.
	PlansOff bool
	// CheckVariables makes sure that REST gives its documents the variables that they declare; all tests do so.
	CheckVariables bool
}

// Gateway answers requests.
type Gateway struct {
	o       Options
	graph   *server.Server
	v1      *rest.API
	v2      *v2.API
	keeper  *edition.Keeper // of what is made of status pages
	people  *statuspage.Site
	docs    func() (http.Handler, error) // made when somebody looks at it first
	metrics *metrics
	cors    func(http.Handler) http.Handler
	rates   *rates
	root    *resolvers.Resolver
}

// New makes a gateway.
func New(o Options) (*Gateway, error) {
	o.REST.TracesOff = o.EVM.TracesOff
	o.Graph.Streams.QueryTimeout = o.RequestTimeout
	root := resolvers.New(resolvers.Options{
		DB: o.DB, Status: o.Status, Tokens: o.Tokens, Now: o.REST.Now, Cache: o.REST.Cache, Logger: o.Logger, EVM: o.EVM,
		Feeds: feed.Options{Interval: o.Graph.PollInterval, Keep: o.Graph.Backlog, Logger: o.Logger},
	})
	root.Tables().Off = o.PlansOff
	var observer server.Observer
	if o.Traces != nil { // an interface that holds nil is not nil
		observer = o.Traces
	}
	srv, err := server.New(server.Options{
		Schema: graph.NewSchema(root), Tables: root.Tables(), Operation: resolvers.Operation,
		Classify: resolvers.Classify, Base: o.REST.Base, Limits: relay.Limits{Default: o.REST.LimitDefault, Max: o.REST.LimitMax}, Documents: documents, Bounds: o.Graph.Bounds,
		MaxBody: o.Graph.MaxBody, MaxValues: o.Graph.MaxValues, IntrospectionOff: o.Graph.IntrospectionOff, SuggestionsOff: o.Graph.SuggestionsOff,
		Trusted: withLive(o.Graph.Trusted), OnlyTrusted: o.Graph.OnlyTrusted, CacheBytes: o.Graph.CacheBytes, Head: o.DB.Newest,
		Streams: o.Graph.Streams, Origins: o.Origins, NewID: newID, Logger: o.Logger, CheckVariables: o.CheckVariables, Observer: observer,
	})
	if err != nil {
		return nil, fmt.Errorf("making the graph's server: %w", err)
	}
	api, err := v1.New(o.REST, srv)
	if err != nil {
		return nil, fmt.Errorf("making the REST API: %w", err)
	}
	docs := sync.OnceValues(func() (http.Handler, error) { return describe(api, o.Version) })
	rates, err := newRates(o.Rates, o.Logger)
	if err != nil {
		return nil, err
	}
	kept := edition.Options{Logger: o.Logger, Now: o.REST.Now, CacheOff: !o.REST.Cache}
	if o.Status != nil {
		kept.Source = statusSource{o.Status, root.StatusChanged}
	}
	keeper := edition.New(kept)
	pages := v2.Options{Server: srv, Keeper: keeper, Logger: o.Logger}
	if o.Status != nil {
		pages.Keep = func(ctx context.Context, p *status.Page, documents map[string][]byte) error {
			return o.Status.KeepEdition(ctx, p.Code, p.Revision, documents, p.UpdatedAt)
		}
	}
	documents, err := v2.New(pages)
	if err != nil {
		return nil, fmt.Errorf("making the status API: %w", err)
	}
	people, err := statuspage.New(statuspage.Options{Server: srv, Keeper: keeper, Now: o.REST.Now})
	if err != nil {
		return nil, fmt.Errorf("making the status page: %w", err)
	}
	return &Gateway{
		o: o, graph: srv, people: people, v1: api, v2: documents, keeper: keeper, docs: docs, metrics: newMetrics(o.DB, keeper, o.Followers, o.Traces), rates: rates, root: root,
		cors: cors.Handler(cors.Options{
			AllowedOrigins: o.Origins, AllowedMethods: []string{http.MethodGet, http.MethodHead, http.MethodPost},
			AllowedHeaders: []string{"Accept", "Authorization", "Content-Type", "If-None-Match", keyHeader},
			ExposedHeaders: []string{"ETag", "Link", "Retry-After", "X-Query-Cost", "X-Query-Cost-Limit", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"}, MaxAge: 600,
		}),
	}, nil
}

// withLive adds the document of the status page for people, which browsers ask for, to those that are trusted.
func withLive(trusted map[string]string) map[string]string {
	all := maps.Clone(trusted)
	if all == nil {
		all = map[string]string{}
	}
	all[server.DocumentID(statuspage.LiveDocument)] = statuspage.LiveDocument
	return all
}

// newID makes an id that no other error has: 64 random bits as hex.
func newID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// graphPath is where the graph is.
const graphPath = "/graphql"

// docsPath is where the REST API is described.
const docsPath = v1.Prefix + "/docs"

// describe makes the pages that describe the REST API.
func describe(api *rest.API, version string) (http.Handler, error) {
	description, err := openapi.New(api, version)
	if err != nil {
		return nil, fmt.Errorf("describing the REST API: %w", err)
	}
	o := apidocs.Options{Prefix: docsPath}
	if o.JSON, err = description.JSON(); err != nil {
		return nil, err
	}
	if o.YAML, err = description.YAML(); err != nil {
		return nil, err
	}
	return apidocs.Handler(o)
}

// feesEvery is how often the fee schedule is read again.
const feesEvery = 10 * time.Minute

// Maintain keeps what is kept between requests up to date, until the context ends.
func (g *Gateway) Maintain(ctx context.Context) {
	if !g.o.REST.Cache {
		return
	}
	tick := time.NewTicker(feesEvery)
	defer tick.Stop()
	for {
		g.Refresh(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Refresh reads what is kept between requests again. What cannot be read stays as it is.
func (g *Gateway) Refresh(ctx context.Context) {
	bounded, cancel := context.WithTimeout(ctx, g.o.RequestTimeout)
	defer cancel()
	if err := g.root.RefreshFees(bounded); err != nil && ctx.Err() == nil {
		g.o.Logger.WarnContext(ctx, "the fee schedule could not be read again", "error", err)
	}
}

// describe shows the description of the REST API.
func (g *Gateway) describe(w http.ResponseWriter, r *http.Request) {
	docs, err := g.docs()
	if err != nil {
		g.o.Logger.ErrorContext(r.Context(), "the REST API cannot be described", "error", err)
		http.Error(w, "The description is not available.", http.StatusInternalServerError)
		return
	}
	docs.ServeHTTP(w, r)
}

// Close ends all subscriptions: a server that shuts down waits for its requests.
func (g *Gateway) Close() {
	g.root.Close()
	g.graph.Close()
}

// Graph is the executor behind everything.
func (g *Gateway) Graph() *server.Server { return g.graph }

// Explain tells what a REST path would run.
func (g *Gateway) Explain(ctx context.Context, target string) (*rest.Explanation, error) {
	if strings.HasPrefix(target, v2.Prefix+"/") {
		return g.v2.Explain(target)
	}
	return g.v1.Explain(ctx, target)
}

// ExplainBody tells what a REST path that is asked with a body would run; see [rest.API.ExplainBody].
func (g *Gateway) ExplainBody(ctx context.Context, target string, body []byte) (*rest.Explanation, error) {
	return g.v1.ExplainBody(ctx, target, body)
}

// Public is the handler of the public port.
func (g *Gateway) Public() http.Handler {
	r := chi.NewRouter()
	r.Use(g.client, g.record, g.recover, g.rate, g.deadline)
	g.health(r)
	r.HandleFunc(docsPath, g.describe) // before the API, which looks at credentials first
	r.HandleFunc(docsPath+"/*", g.describe)
	r.Handle(v1.Prefix, g.v1)
	r.Handle(v1.Prefix+"/*", g.v1)
	r.Handle(v2.Prefix, g.v2)
	r.Handle(v2.Prefix+"/*", g.v2)
	r.Group(func(r chi.Router) {
		r.Use(g.cors)
		r.Handle(graphPath, g.graph)
		if !g.o.Graph.IntrospectionOff {
			r.Get("/graphql/schema.graphql", g.schema)
		}
		r.Get("/graphql/explain", g.explain)
		r.Post("/graphql/explain", g.explain)
	})
	page := graphiql.Handler(graphiql.Options{})
	r.Handle("/graphiql", page)
	r.Handle("/graphiql/*", page)
	for _, path := range statuspage.Paths() {
		r.Handle(path, g.people)
	}
	r.NotFound(func(w http.ResponseWriter, r *http.Request) {
		if ofAPI(r) { // the classic family does not care for case
			g.v1.ServeHTTP(w, r)
			return
		}
		rest.NotFoundHandler(w, r)
	})
	r.MethodNotAllowed(func(w http.ResponseWriter, req *http.Request) {
		if ofAPI(req) { // methods that the router has never heard of, too, are answered as the family does
			g.v1.ServeHTTP(w, req)
			return
		}
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
			if r.Match(chi.NewRouteContext(), method, req.URL.Path) {
				w.Header().Add("Allow", method)
			}
		}
		w.WriteHeader(http.StatusMethodNotAllowed)
	})
	return r
}

// ofAPI tells whether a request is for the REST API, in whatever case its prefix is written.
func ofAPI(r *http.Request) bool {
	p := r.URL.Path
	return strings.EqualFold(p[:min(len(p), len(v1.Prefix))], v1.Prefix) && (len(p) == len(v1.Prefix) || p[len(v1.Prefix)] == '/')
}

// Admin is the handler of the admin port.
func (g *Gateway) Admin() http.Handler {
	r := chi.NewRouter()
	g.health(r)
	r.Handle("/metrics", promhttp.HandlerFor(g.metrics.registry, promhttp.HandlerOpts{}))
	r.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	r.HandleFunc("/debug/pprof/profile", pprof.Profile)
	r.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	r.HandleFunc("/debug/pprof/trace", pprof.Trace)
	r.HandleFunc("/debug/pprof/*", pprof.Index)
	return r
}

// health adds the questions that load balancers ask.
func (g *Gateway) health(r chi.Router) {
	r.Get("/health/liveness", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"status": "UP"})
	})
	r.Get("/health/readiness", func(w http.ResponseWriter, r *http.Request) {
		if ready, err := g.o.DB.Ready(r.Context()); err != nil || !ready {
			writeJSON(w, http.StatusServiceUnavailable, map[string]string{"status": "DOWN"})
			return
		}
		writeJSON(w, http.StatusOK, map[string]string{"status": "UP"})
	})
}

func (g *Gateway) schema(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/graphql; charset=utf-8")
	_, _ = w.Write([]byte(graph.SDL)) // a client that has gone is no concern of ours
}

// maxExplained is how many bytes of a body are explained: more than any endpoint takes.
const maxExplained = 1 << 20

// explain tells what the REST path of the parameter "path" would run, with the body of the request where there is one.
func (g *Gateway) explain(w http.ResponseWriter, r *http.Request) {
	var body []byte
	if r.Method == http.MethodPost {
		var err error
		if body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxExplained)); err != nil {
			writeJSON(w, http.StatusBadRequest, map[string]string{"error": "the body cannot be read, or is too long"})
			return
		}
	}
	x, err := g.ExplainBody(r.Context(), r.URL.Query().Get("path"), body)
	var problem *rest.Problem
	switch {
	case errors.As(err, &problem):
		var texts []string
		for _, i := range problem.Items {
			texts = append(texts, i.Message)
		}
		writeJSON(w, problem.Status, map[string]string{"error": strings.Join(texts, "; ")})
	case err != nil:
		g.o.Logger.ErrorContext(r.Context(), "a path could not be explained", "error", err)
		writeJSON(w, http.StatusInternalServerError, map[string]string{"error": "internal error"})
	default:
		writeJSON(w, http.StatusOK, x)
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		status, b = http.StatusInternalServerError, []byte(`{}`)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b) // as above
}
