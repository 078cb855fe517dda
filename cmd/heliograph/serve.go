package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/app/gateway"
	"heliograph/app/probe"
	"heliograph/app/tracing"
	"heliograph/internal/domain/status"
	"heliograph/storage"
	"heliograph/storage/demo/demodb"
	"heliograph/storage/embedded"
	"heliograph/storage/statuspages"
)

// Times that bound what the server waits for.
const (
	drainTimeout      = 20 * time.Second
	readHeaderTimeout = 10 * time.Second
	idleTimeout       = 2 * time.Minute
)

// exitDatabaseDied is the exit code when the embedded server ended by itself.
const exitDatabaseDied = 3

type serveCmd struct {
	Listen         []string      `env:"HELIOGRAPH_LISTEN" default:"127.0.0.1:8080" help:"Public address; repeatable."`
	AdminListen    string        `env:"HELIOGRAPH_ADMIN_LISTEN" default:"127.0.0.1:9464" help:"Address of metrics, health and profiles; empty for none."`
	Demo           demoMode      `env:"HELIOGRAPH_DEMO" default:"on" help:"Load the demo network into an empty embedded database; live also keeps it alive, with a block every two seconds."`
	RequestTimeout time.Duration `env:"HELIOGRAPH_REQUEST_TIMEOUT" default:"20s" help:"How long a request may take, its statements included."`
	MaxConnections int32         `env:"HELIOGRAPH_MAX_CONNECTIONS" default:"10" help:"Connections to the database at most."`
	CORSOrigins    []string      `name:"cors-origins" env:"HELIOGRAPH_CORS_ORIGINS" default:"*" help:"Origins whose pages may read answers; * for all."`
	TrustedProxies []string      `env:"HELIOGRAPH_TRUSTED_PROXIES" help:"Addresses or networks whose forwarding headers are believed."`
	OperatorTokens string        `env:"HELIOGRAPH_OPERATOR_TOKENS" help:"Who may write to status pages: name:role:token, separated by commas; the roles are viewer, reporter, operator, admin."`
	syncSettings
	databaseSettings
	ledgerSettings
	evmSettings
	graphSettings
	rateSettings
	traceSettings
	logSettings
}

// Run serves until the context ends.
func (c *serveCmd) Run(ctx context.Context) (err error) {
	floor := gateway.NewFloor()
	defer runtime.KeepAlive(floor)
	log := c.logger()
	cfg, err := c.rest()
	if err != nil {
		return err
	}
	graph, err := c.graph()
	if err != nil {
		return err
	}
	if !c.Cache.on {
		graph.CacheBytes = 0
	}
	rates, err := c.rates()
	if err != nil {
		return err
	}
	proxies, err := readProxies(c.TrustedProxies)
	if err != nil {
		return err
	}
	contracts, err := c.evm(cfg.Cache)
	if err != nil {
		return err
	}
	tokens, err := status.ParseTokens(c.OperatorTokens)
	if err != nil {
		return fmt.Errorf("HELIOGRAPH_OPERATOR_TOKENS: %w", err)
	}
	if err := c.mayLive(); err != nil {
		return err
	}
	traces, err := c.traces(ctx, log)
	if err != nil {
		return err
	}
	log = traces.Logger(log)
	// The ports come first: nothing has to be undone when one is taken.
	public, admin, err := c.listen(ctx)
	if err != nil {
		return err
	}
	defer closeAll(append(public, admin...))

	d, err := c.open(ctx, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	if d.server != nil && c.Demo.on {
		if err := c.demo(ctx, d, cfg.Now()); err != nil {
			return fmt.Errorf("loading the demo network: %w", err)
		}
	}
	stopLife, err := c.live(ctx, d, cfg.Now, log)
	if err != nil {
		return err
	}
	defer stopLife()
	g, err := c.connect(ctx, d, cfg.Base, traces.Statements())
	if err != nil {
		return err
	}
	defer g.Close()
	if err := check(ctx, g); err != nil {
		return err
	}
	pages, err := c.connectStatus(ctx, d, traces.Statements())
	if err != nil {
		return err
	}
	defer pages.Close()
	followers, err := c.followers(pages, cfg.Now, log)
	if err != nil {
		return err
	}
	editor := statuspages.NewEditor(pages, cfg.Now, nil)
	handlers, err := gateway.New(gateway.Options{
		DB: g, Status: pages, Followers: followers, Watcher: probe.NewWatcher(editor, probe.NewChecker(cfg.Now, g.LedgerHealth), log, nil), Tokens: tokens, REST: cfg, Graph: graph, Rates: rates, Logger: log, Origins: c.CORSOrigins, Proxies: proxies,
		RequestTimeout: c.RequestTimeout, Version: version, EVM: contracts, Traces: traces,
	})
	if err != nil {
		return fmt.Errorf("putting the gateway together: %w", err)
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	go gateway.ReleaseWhenIdle(watching)
	go watchStatus(watching, editor, log, watchEvery)
	return c.serve(ctx, log, d, handlers, traces, public, admin)
}

// demo loads the demo network into an empty embedded database, and gives it its status page, unless the pages are in a database of their own.
func (c *serveCmd) demo(ctx context.Context, d *database, now time.Time) error {
	if err := loadDemo(ctx, d.url, now, false); err != nil || c.StatusURL != "" {
		return err
	}
	if loaded, err := isDemo(ctx, d.url); err != nil || !loaded {
		return err
	}
	return loadDemoStatus(ctx, d.url, now, false)
}

// mayLive refuses a demo network that lives where it cannot.
func (c *serveCmd) mayLive() error {
	switch {
	case !c.Demo.live:
		return nil
	case c.DatabaseURL != "":
		return errors.New("--demo=live writes blocks, and Heliograph writes to no ledger database but its embedded one: leave --database-url out")
	case c.FixedTime != "":
		return errors.New("--demo=live needs a clock that runs: leave HELIOGRAPH_FIXED_TIME out")
	}
	return nil
}

// live keeps the demo network alive, if the settings say so, until the function that it returns is called.
func (c *serveCmd) live(ctx context.Context, d *database, now func() time.Time, log *slog.Logger) (stop func(), err error) {
	if !c.Demo.live {
		return func() {}, nil
	}
	switch is, err := isDemo(ctx, d.url); {
	case err != nil:
		return nil, err
	case !is:
		return nil, errors.New("--demo=live continues the demo network, and the embedded database holds something else; choose another --data-dir")
	}
	living, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		if err := demodb.KeepAlive(living, d.url, now, log); err != nil {
			log.ErrorContext(living, "the demo network no longer lives", "error", err)
		}
	})
	return func() {
		cancel()
		done.Wait()
	}, nil
}

// connect opens the pool. Without a write to do, every session refuses to write.
func (c *serveCmd) connect(ctx context.Context, d *database, base ledgerID, tracer pgx.QueryTracer) (*storage.DB, error) {
	chainID, err := c.chainID()
	if err != nil {
		return nil, err
	}
	db, err := storage.Open(ctx, storage.Options{
		PoolOptions: storage.PoolOptions{URL: d.url, StatementTimeout: c.RequestTimeout, ConnectTimeout: connectTimeout, MaxConnections: c.MaxConnections, Tracer: tracer},
		ReadOnly:    true, Base: base, ChainID: chainID, FileAttempts: c.MaxFileAttempts, Cache: c.Cache.on,
	})
	if err != nil {
		return nil, unreachable(d.url, err)
	}
	return db, nil
}

// statusConnections is how many connections to the status pages there are at most: they are asked for little.
const statusConnections = 4

// connectStatus makes the pool of the status pages. It does not have to reach them: they come when they can.
func (c *serveCmd) connectStatus(ctx context.Context, d *database, tracer pgx.QueryTracer) (*statuspages.DB, error) {
	url, err := c.statusURL(d.url)
	if err != nil {
		return nil, err
	}
	return statuspages.Open(ctx, storage.PoolOptions{
		URL: url, StatementTimeout: c.RequestTimeout, ConnectTimeout: connectTimeout, MaxConnections: statusConnections, Tracer: tracer,
	})
}

// listen opens the ports.
func (c *serveCmd) listen(ctx context.Context) (public, admin []net.Listener, err error) {
	for _, address := range c.Listen {
		l, err := listenOn(ctx, address)
		if err != nil {
			closeAll(public)
			return nil, nil, err
		}
		public = append(public, l)
	}
	if c.AdminListen == "" {
		return public, nil, nil
	}
	l, err := listenOn(ctx, c.AdminListen)
	if err != nil {
		closeAll(public)
		return nil, nil, err
	}
	return public, []net.Listener{l}, nil
}

func listenOn(ctx context.Context, address string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", strings.TrimSpace(address))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("the address %s is in use by another program; choose one with --listen or --admin-listen", address)
	case err != nil:
		return nil, fmt.Errorf("cannot listen on %s: %w", address, err)
	}
	return l, nil
}

func closeAll(list []net.Listener) {
	for _, l := range list {
		_ = l.Close() // closed by the server already, normally
	}
}

// serve answers requests until the context ends or something dies, and drains.
func (c *serveCmd) serve(ctx context.Context, log *slog.Logger, d *database, h *gateway.Gateway, traces *tracing.Traces, public, admin []net.Listener) error {
	failed := make(chan error, len(public)+len(admin))
	var servers []*http.Server
	start := func(list []net.Listener, handler http.Handler) {
		for _, l := range list {
			s := &http.Server{Handler: handler, ReadHeaderTimeout: readHeaderTimeout, IdleTimeout: idleTimeout, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}
			servers = append(servers, s)
			go func() { failed <- s.Serve(l) }()
		}
	}
	maintenance, stop := context.WithCancel(ctx)
	defer stop()
	go d.maintain(maintenance, log)
	go h.Maintain(maintenance)
	go h.Run(maintenance)
	start(public, h.Public())
	start(admin, h.Admin())
	c.announce(log, d, public, admin)

	var err error
	select {
	case <-ctx.Done():
		log.Info("shutting down")
	case <-embedded.WatchParent(ctx):
		log.Info("the parent process has gone: shutting down")
	case <-d.done():
		err = &exitError{exitDatabaseDied, fmt.Errorf("the embedded PostgreSQL died: %w", d.server.Err())}
	case err = <-failed:
		err = fmt.Errorf("serving: %w", err)
	}
	h.Close()
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	for _, s := range servers {
		if e := s.Shutdown(drain); e != nil {
			err = errors.Join(err, fmt.Errorf("draining: %w", e))
		}
	}
	traces.Shutdown(drain)
	return err
}

// announce tells where things are. People see lines, programs the log.
func (c *serveCmd) announce(log *slog.Logger, d *database, public, admin []net.Listener) {
	for _, l := range public {
		log.Info("listening", "address", l.Addr().String(), "embedded", d.server != nil)
	}
	for _, l := range admin {
		log.Info("listening for administration", "address", l.Addr().String())
	}
	base := "http://" + public[0].Addr().String()
	fmt.Fprintf(os.Stdout, "heliograph %s\n  GraphiQL  %s/graphiql\n  GraphQL   %s/graphql\n  REST      %s/api/v1/accounts\n  status    %s/\n", version, base, base, base, base)
	if d.server != nil {
		fmt.Fprintf(os.Stdout, "  database  %s\n", d.url)
	}
}
