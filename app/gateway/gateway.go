// Package gateway combines storage, resolvers, the GraphQL executor and the REST APIs into the HTTP handlers of the
// public and the admin port.
package gateway

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-chi/cors"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"heliograph/app/assistants"
	"heliograph/app/media"
	"heliograph/app/pagesync"
	"heliograph/app/probe"
	"heliograph/app/tracing"
	"heliograph/app/web/statuspage"
	"heliograph/app/webhooks"
	"heliograph/graph"
	"heliograph/graph/feed"
	"heliograph/graph/limits"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/graph/server"
	"heliograph/internal/base/repeat"
	"heliograph/internal/base/respond"
	"heliograph/internal/domain/status"
	"heliograph/resolvers"
	"heliograph/resolvers/contractcalls"
	resolvermedia "heliograph/resolvers/media"
	"heliograph/rest"
	"heliograph/rest/doccache"
	v1 "heliograph/rest/v1"
	v2 "heliograph/rest/v2"
	"heliograph/storage"
	"heliograph/storage/statuspages"
)

// GraphOptions configure the GraphQL API. The tags describe the flags of the command line.
type GraphOptions struct {
	// Settings are those of the server. If its DocumentBytes are 0, they are 8 MiB.
	server.Settings
	// MaxResponse is the maximum size of a response in bytes. 0 means [rowplan.DefaultMaxResponse].
	MaxResponse int `name:"max-response-bytes" env:"HELIOGRAPH_MAX_RESPONSE_BYTES" min:"1" default:"16777216" help:"Maximum size of the response to an operation in bytes, for the REST API too, and at most a 64th of the memory limit. A larger response is replaced by an error."`
	// PollInterval is the interval at which the database is polled for all subscriptions. Backlog is the maximum number
	// of rows to keep for slow subscribers.
	PollInterval time.Duration `name:"poll-interval" env:"HELIOGRAPH_POLL_INTERVAL" min:"10ms" default:"250ms" help:"Interval at which the database is polled for new rows while there are subscriptions."`
	Backlog      int           `kong:"-"`
	// Plans lets all clients request the plans of their operations, and PlansOfKeys those with an API key. Clients of
	// the admin port always can.
	Plans, PlansOfKeys bool `kong:"-"`
	// MCP serves tools for language models.
	MCP bool `kong:"-"`
}

// documentBytes is the default of [GraphOptions.DocumentBytes].
const documentBytes = 8 << 20

// DefaultGraph returns the default options of the GraphQL API: limits of documents, bodies, exports, subscriptions
// and responses. Commands and tests that run a gateway without these settings use them.
func DefaultGraph() GraphOptions {
	return GraphOptions{
		Settings: server.Settings{
			Bounds: limits.Default(), MaxBody: 512 << 10, MaxValues: 10_000, CSVRows: 100_000,
			Streams: server.DefaultStreams(),
		},
		MaxResponse: rowplan.DefaultMaxResponse, PollInterval: 250 * time.Millisecond, Backlog: 10_000,
	}
}

// exposedHeaders are the headers of GraphQL responses that scripts of other origins can read, in addition to those
// that CORS always permits.
var exposedHeaders = []string{
	"Content-Disposition", "ETag", "Retry-After", "Server-Timing", "X-Query-Cost", "X-Query-Cost-Limit",
	"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset",
}

// Options configure a gateway.
type Options struct {
	// DB can be nil for a gateway that only explains REST paths.
	DB *storage.DB
	// Status is the database of the status pages, or nil.
	Status *statuspages.DB
	// Followers mirror status pages of other sites.
	Followers []*pagesync.Follower
	// Watcher runs the probes of status pages. Nil runs none.
	Watcher *probe.Watcher
	// Sender sends to webhooks. Nil sends nothing.
	Sender *webhooks.Sender
	// Tokens are the configured tokens of editors of status pages.
	Tokens []*status.Token
	REST   *rest.Config
	Graph  GraphOptions
	Logger *slog.Logger
	// AccessLog writes a line for each request. Nil writes them with Logger.
	AccessLog *AccessLog
	Origins   []string
	Proxies   []netip.Prefix
	// Traces records spans of requests. Nil records none.
	Traces *tracing.Traces
	// Rates limits the request rate of clients.
	Rates RateOptions
	// MemoryLimit is the memory in bytes above which new requests are refused. 0 means no limit.
	MemoryLimit int64
	// AdminHosts are the host names of the admin port, in addition to IP addresses and localhost.
	AdminHosts []string
	// MaxLag is the age of the newest block from which the ledger is not ready. 0 means no limit.
	MaxLag time.Duration
	// RequestTimeout is the timeout of a request.
	RequestTimeout time.Duration
	Version        string
	// Static makes status pages suitable for [Gateway.Export].
	Static bool
	// SyntheticOff hides the contract results that are derived from logs of token transfers outside the EVM.
	SyntheticOff bool
	// EVM configures contract calls.
	EVM contractcalls.Options
	// Media finds what NFTs show. New sets its shard and realm.
	Media resolvermedia.Fields
}

// Gateway serves the public and the admin port.
type Gateway struct {
	o        Options
	graph    *server.Server
	v1       *rest.API
	v2       *v2.API
	cache    *doccache.Cache // rendered status pages
	site     *statuspage.Site
	files    media.Files                             // in topics
	docs     func() (map[string]http.Handler, error) // by prefix of the API; rendered on first use
	metrics  *metrics
	cors     func(http.Handler) http.Handler
	rates    *rates
	root     *resolvers.Resolver
	checks   map[string]*part // by the names of the parts
	closing  atomic.Bool
	budget   memoryBudget
	refusals refusals
}

// New returns a new gateway with its GraphQL server, REST APIs, status pages and health checks. It does not read the
// database, and starts no background task: see [Gateway.Run] and [Gateway.Maintain]. It sets functions and the
// settings of contract calls in o.REST. It fails if an embedded document is invalid or the file of API keys cannot be
// read.
func New(o Options) (*Gateway, error) {
	o.REST.TracesOff, o.REST.Prestate = o.EVM.TracesOff, o.EVM.Prestate
	o.REST.ReceiptsRoots = func() bool { return o.DB.Has("record_file", "receipts_root") }
	o.Graph.Streams.QueryTimeout = o.RequestTimeout
	o.Media.Places.Base = o.REST.Base
	root := resolvers.New(resolvers.Options{
		DB: o.DB, Status: o.Status, Tokens: o.Tokens, Now: o.REST.Now, Cache: o.REST.Cache, Logger: o.Logger,
		EVM:          o.EVM,
		SyntheticOff: o.SyntheticOff, Self: describeSelf(&o), Media: o.Media,
		Feeds: feed.Options{Interval: o.Graph.PollInterval, Keep: o.Graph.Backlog, Logger: o.Logger},
	})
	if o.Graph.MaxResponse > 0 {
		root.Tables().MaxResponse = o.Graph.MaxResponse
	}
	observer := newOperations(o.Traces)
	o.Graph.DocumentBytes = cmp.Or(o.Graph.DocumentBytes, documentBytes)
	o.Graph.Trusted = withOwnDocuments(o.Graph.Trusted)
	srv, err := server.New(server.Options{
		Settings: o.Graph.Settings, Schema: graph.NewSchema(root.Root(), root.Queries(), storage.Together),
		Tables: root.Tables(), Operation: root.Operation, Work: resolvers.Work, Scans: resolvers.Scans,
		Classify: resolvers.Classify, Base: o.REST.Base, ChainID: o.DB.ChainID(), FindAddress: root.FindAddress,
		Limits: relay.Limits{Default: o.REST.LimitDefault, Max: o.REST.LimitMax}, Head: o.DB.Newest,
		Followed: o.DB.Followed, Origins: o.Origins, NewID: respond.NewID, Logger: o.Logger, Observer: observer,
	})
	if err != nil {
		return nil, fmt.Errorf("creating the GraphQL server: %w", err)
	}
	o.REST.AdmitTrace, o.REST.AdmitPrestate = root.Calls().AdmitTrace, root.Calls().AdmitPrestate
	api, err := v1.New(o.REST, srv)
	if err != nil {
		return nil, fmt.Errorf("creating the REST API: %w", err)
	}
	docs := sync.OnceValues(func() (map[string]http.Handler, error) { return newDocs(o.REST, o.Version) })
	rates, err := newRates(o.Rates, o.Logger)
	if err != nil {
		return nil, err
	}
	cacheOptions := doccache.Options{Logger: o.Logger, Now: o.REST.Now, Disabled: !o.REST.Cache}
	if o.Status != nil {
		cacheOptions.Source = statusSource{o.Status, root.StatusChanged}
	}
	cache := doccache.New(cacheOptions)
	pages := v2.Options{Server: srv, Cache: cache, Logger: o.Logger}
	collected := &statusMetrics{cache: cache, sender: o.Sender, now: o.REST.Now}
	if o.Status != nil {
		collected.pages = doccache.Register(cache, "the metrics", readPageMetrics(o.Status))
		pages.Save = func(ctx context.Context, p *status.Page, documents map[string][]byte) error {
			return o.Status.SaveDocuments(ctx, p.Code, p.Revision, documents, p.UpdatedAt)
		}
	}
	documents, err := v2.New(pages)
	if err != nil {
		return nil, fmt.Errorf("creating the status API: %w", err)
	}
	site, err := statuspage.New(statuspage.Options{Server: srv, Cache: cache, Now: o.REST.Now, Static: o.Static})
	if err != nil {
		return nil, fmt.Errorf("creating the status page: %w", err)
	}
	if o.AccessLog == nil {
		o.AccessLog = &AccessLog{handler: o.Logger.Handler()}
	}
	g := &Gateway{
		o: o, graph: srv, site: site, v1: api, v2: documents, cache: cache, docs: docs,
		metrics: newMetrics(o.DB, cache, o.Followers, o.Traces, o.REST.Now),
		rates:   rates, root: root,
		refusals: refusals{pace: rate.NewLimiter(rate.Limit(refusalRate*runtime.GOMAXPROCS(0)), refusalBurst)},
		cors: cors.Handler(cors.Options{
			AllowedOrigins: o.Origins, AllowedMethods: []string{http.MethodGet, http.MethodHead, http.MethodPost},
			AllowedHeaders: []string{"*"}, // the requested ones: browsers send no credentials of their own
			ExposedHeaders: exposedHeaders, MaxAge: 600,
		}),
	}
	g.metrics.registry.MustRegister(observer.counts, collected)
	g.metrics.counter("log", "dropped_total",
		"Lines of the access log that were dropped because they arrived faster than they could be written.", nil,
		o.AccessLog.total.Load)
	if o.DB != nil {
		g.metrics.registry.MustRegister(queueMetrics{o.DB.Queue()})
	}
	g.metrics.gauge("build", "info", "1, with the version of the gateway.", prometheus.Labels{"version": o.Version},
		func() float64 {
			return 1
		})
	g.checks, g.budget.limit = g.parts(), o.MemoryLimit
	g.files = media.Files{DB: o.DB, Base: o.REST.Base, Log: o.Logger}
	if o.REST.Cache {
		g.files.Cache = media.NewCache()
	}
	return g, nil
}

// withOwnDocuments returns a copy of the trusted documents, by ID, with those that browsers send from the status
// page and that the tools of assistants send.
func withOwnDocuments(trusted map[string]string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, trusted)
	for _, document := range append(assistants.Documents(), statuspage.LiveDocument) {
		all[server.DocumentID(document)] = document
	}
	return all
}

// feesInterval is the interval at which the fee schedule is reloaded.
const feesInterval = 10 * time.Minute

// Maintain reads the fee schedule and counts blocks at intervals until ctx ends, so that requests find both in
// memory. Errors are logged. Without the setting Cache it does nothing.
func (g *Gateway) Maintain(ctx context.Context) {
	if !g.o.REST.Cache {
		return
	}
	for range repeat.Every(ctx, feesInterval) {
		g.Refresh(ctx)
		if err := g.root.CountBlocks(ctx); err != nil && ctx.Err() == nil {
			g.o.Logger.Log(ctx, storage.LevelOf(err), "counting blocks failed", "error", err)
		}
	}
}

// Refresh reads the fee schedule from the database again, within the request timeout. If it cannot be read, Refresh
// logs the error, unless ctx has ended, and the cached schedule remains in use.
func (g *Gateway) Refresh(ctx context.Context) {
	bounded, cancel := context.WithTimeout(ctx, g.o.RequestTimeout)
	defer cancel()
	if err := g.root.RefreshFees(bounded); err != nil && ctx.Err() == nil {
		g.o.Logger.Log(ctx, storage.LevelOf(err), "reloading the fee schedule failed", "error", err)
	}
}

// NotReady makes the readiness checks fail from now on, and responses close their connections. Requests are served
// as before. A server calls it before it shuts down, so that load balancers send no further requests.
func (g *Gateway) NotReady() { g.closing.Store(true) }

// Close makes the gateway report that it is not ready, and ends all subscriptions. It does not wait for open requests,
// which the server that shuts down does.
func (g *Gateway) Close() {
	g.NotReady()
	// before the subscriptions: clients of WebSockets connect again after the close code, but not after an error
	g.graph.Close()
	g.root.Close()
}

// Graph returns the GraphQL server of the gateway, without the middleware of the public port. Tests run documents on
// it.
func (g *Gateway) Graph() *server.Server { return g.graph }
