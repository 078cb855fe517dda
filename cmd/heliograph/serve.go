package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
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
	"github.com/jackc/pgx/v5/pgconn"

	"heliograph/app/gateway"
	"heliograph/app/probe"
	"heliograph/app/tracing"
	"heliograph/internal/base/admission"
	"heliograph/internal/base/repeat"
	"heliograph/internal/base/wrap"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/storage"
	"heliograph/storage/demo"
	"heliograph/storage/demo/demodb"
	"heliograph/storage/statuspages"
)

// Timeouts of the HTTP servers.
const (
	drainTimeout      = 20 * time.Second
	readHeaderTimeout = 10 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 32 << 10
)

// exitDatabaseDied is the exit code if the embedded PostgreSQL ends unexpectedly.
const exitDatabaseDied = 3

type serveCmd struct {
	Listen         []string `env:"HELIOGRAPH_LISTEN" default:"127.0.0.1:8080" help:"Public listen address; can be repeated." group:"Addresses"`
	AdminListen    string   `env:"HELIOGRAPH_ADMIN_LISTEN" default:"127.0.0.1:9464" help:"Listen address for metrics, health checks and profiles; empty to disable." group:"Addresses"`
	AdminHosts     []string `env:"HELIOGRAPH_ADMIN_HOSTS" help:"Host names of the admin port, in addition to IP addresses and localhost." group:"Addresses"`
	CORSOrigins    []string `name:"cors-origins" env:"HELIOGRAPH_CORS_ORIGINS" default:"*" help:"Origins allowed to read responses (CORS); * allows all." group:"Addresses"`
	TrustedProxies []string `env:"HELIOGRAPH_TRUSTED_PROXIES" help:"Trusted proxies: addresses or networks whose X-Forwarded-For header is used." group:"Addresses"`

	databaseSettings `group:"Databases"`
	Demo             demoMode      `env:"HELIOGRAPH_DEMO" default:"on" help:"Load the demo network into an empty embedded database. live also adds a block every two seconds." group:"Databases"`
	MaxConnections   int32         `env:"HELIOGRAPH_MAX_CONNECTIONS" min:"1" default:"10" help:"Maximum number of connections to the ledger database, for each of its servers." group:"Databases"`
	PerOperation     int           `name:"max-connections-per-operation" env:"HELIOGRAPH_MAX_CONNECTIONS_PER_OPERATION" min:"1" default:"2" help:"Maximum number of database connections that one operation uses at the same time." group:"Databases"`
	RequireLedger    toggle        `env:"HELIOGRAPH_REQUIRE_LEDGER" default:"off" help:"Fail at startup if the ledger database cannot be reached. If off, serve everything else and connect later." group:"Databases"`
	ReplicaLag       time.Duration `name:"max-lag" env:"HELIOGRAPH_MAX_LAG" min:"10ms" default:"10s" help:"Lag above which a server of the ledger database is not used: how much its newest block is older than that of the freshest server. For a URL with several hosts." group:"Databases"`
	MaxLag           time.Duration `name:"ready-max-lag" env:"HELIOGRAPH_READY_MAX_LAG" min:"0s" default:"0" help:"Age of the newest block above which the ledger is not ready; 0 for no limit." group:"Databases"`

	ledgerSettings `group:"Ledger and REST API"`

	graphSettings `group:"GraphQL API and subscriptions"`

	mediaSettings `group:"Files of NFTs"`

	evmSettings `group:"Contract calls"`

	RequestTimeout      time.Duration `env:"HELIOGRAPH_REQUEST_TIMEOUT" min:"10ms" default:"20s" help:"Timeout of a request, including its database statements." group:"Limits"`
	ShutdownDelay       time.Duration `env:"HELIOGRAPH_SHUTDOWN_DELAY" min:"0s" default:"0" help:"Time between the signal to stop and the closing of the ports. Readiness fails from the signal on, so that load balancers stop sending requests; use a time in which theirs notices that." group:"Limits"`
	MemoryLimit         int64         `env:"HELIOGRAPH_MEMORY_LIMIT" min:"67108864" help:"Memory in bytes above which new requests are refused (default: 80 % of the limit of the control group less 512 MiB for the embedded PostgreSQL, or half of the machine's memory)." group:"Limits"`
	QueueTimeout        time.Duration `env:"HELIOGRAPH_QUEUE_TIMEOUT" min:"10ms" default:"5s" help:"How long a request waits for its turn before it is refused." group:"Limits"`
	PerClient           int           `name:"max-connections-per-client" env:"HELIOGRAPH_MAX_CONNECTIONS_PER_CLIENT" min:"0" default:"2000" help:"Maximum number of open connections of a client address (IPv6: per /64 network), except of trusted proxies; 0 for no limit." group:"Limits"`
	gateway.RateOptions `group:"Limits"`

	OperatorTokens  string `env:"HELIOGRAPH_OPERATOR_TOKENS" help:"Tokens that may edit status pages: comma-separated entries name:role:token. Roles: viewer, reporter, operator, admin." group:"Status pages"`
	syncSettings    `group:"Status pages"`
	webhookSettings `group:"Status pages"`

	logSettings   `group:"Logs and traces"`
	traceSettings `group:"Logs and traces"`
}

// Run checks the settings, listens, opens the databases, loads the demo if configured, and serves until the context
// ends, a server fails or the embedded database ends. It changes settings of the whole process: the default logger,
// the memory profile and the garbage collector. Its tasks in the background end when it returns or when the context
// ends; it does not wait for all of them.
func (c *serveCmd) Run(ctx context.Context) (err error) {
	runtime.MemProfileRate = 4 << 20 // with the default, 512 KiB, the samples take 1.5 % of the time of a request
	gateway.SetCollector()
	log := c.logger()
	slog.SetDefault(log)
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
	for _, o := range c.CORSOrigins {
		if o != "*" && !strings.Contains(o, "://") {
			return invalid("HELIOGRAPH_CORS_ORIGINS: %q is not an origin such as https://app.example.com", o)
		}
	}
	proxies, err := readNetworks("HELIOGRAPH_TRUSTED_PROXIES", c.TrustedProxies)
	if err != nil {
		return err
	}
	showsDemo := c.DatabaseURL == "" && c.Demo.on
	if showsDemo {
		c.Network = cmp.Or(c.Network, "DEMO")
	}
	graph.MCP = c.MCP.Or(showsDemo)
	graph.Plans = c.Plans == "on" || c.Plans == "" && showsDemo
	graph.PlansOfKeys = c.Plans == "keys"
	contracts, err := c.evm(cfg.Cache, showsDemo)
	if err != nil {
		return err
	}
	nfts, err := c.media()
	if err != nil {
		return err
	}
	tokens, err := status.ParseTokens(c.OperatorTokens)
	if err != nil {
		return invalid("HELIOGRAPH_OPERATOR_TOKENS: %w", err)
	}
	err = c.checkLive()
	if err != nil {
		return err
	}
	memory := cmp.Or(c.MemoryLimit, gateway.DefaultMemoryLimit(c.DatabaseURL == ""))
	gateway.LimitMemory(memory, &graph, &contracts)
	traces, err := c.traces(ctx, log)
	if err != nil {
		return err
	}
	log = traces.Logger(log)
	accessLog := gateway.NewAccessLog(os.Stderr, func(out io.Writer) slog.Handler {
		return traces.Logger(slog.New(c.handler(out, nil))).Handler() // its lines have no errors
	})
	defer accessLog.Flush()
	// Listen first, so that a port in use fails before anything else has been started.
	public, admin, err := c.listen(ctx)
	defer closeAll(append(public, admin...))
	if err != nil {
		return err
	}
	if c.PerClient > 0 {
		for i, l := range public {
			public[i] = gateway.LimitConnections(l, c.PerClient, proxies)
		}
	}

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
	stopLive, err := c.live(ctx, d, cfg.Now, log)
	if err != nil {
		return err
	}
	defer stopLive()
	queue := admission.New(admission.Options{Timeout: c.QueueTimeout, Memory: memory / waitingShare})
	g, err := c.connect(ctx, d, cfg.Base, queue, traces.Statements())
	if err != nil {
		return err
	}
	defer g.Close()
	err = c.await(ctx, d, g, log)
	if err != nil {
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
	editor := statuspages.NewEditor(pages, cfg.Now)
	if d.server != nil && c.Demo.on && c.StatusURL == "" {
		if err := linkDemo(ctx, editor, public[0].Addr().String()); err != nil {
			return fmt.Errorf("setting the URL of the demo status page: %w", err)
		}
	}
	sender, err := c.sender(editor, cfg.Now, log)
	if err != nil {
		return err
	}
	handlers, err := gateway.New(gateway.Options{
		DB: g, Status: pages, Followers: followers,
		Watcher: probe.NewWatcher(editor, probe.NewChecker(cfg.Now, g.LedgerHealth), log),
		Sender:  sender, Tokens: tokens,
		REST: cfg, Graph: graph, Rates: c.RateOptions, Logger: log, AccessLog: accessLog,
		Origins: c.CORSOrigins, Proxies: proxies,
		MemoryLimit: memory, AdminHosts: c.AdminHosts, MaxLag: c.MaxLag, RequestTimeout: c.RequestTimeout,
		Version: version, EVM: contracts, Media: nfts, Traces: traces,
		SyntheticOff: !c.SyntheticResults.on,
	})
	if err != nil {
		return invalid("create the gateway: %w", err) // because of a setting, such as the file of API keys
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	go gateway.ReleaseWhenIdle(watching)
	go runDue(watching, editor, log, false, dueInterval)
	return c.serve(ctx, log, d, handlers, traces, public, admin)
}

// demo writes the demo network to an embedded database that is empty. It replaces nothing (false). It also writes the
// demo status page, unless there are status pages, they have their own database, or the ledger database contains other
// data.
func (c *serveCmd) demo(ctx context.Context, d *database, now time.Time) error {
	if err := loadDemo(ctx, d.url, now, false); err != nil || c.StatusURL != "" {
		return err
	}
	if is, err := isDemo(ctx, d.url); err != nil || !is {
		return err
	}
	return loadDemoStatus(ctx, d.url, now, false)
}

// linkDemo sets the URL of the demo status page to http://localhost with the port of address, that of the public
// listener, so that its links lead here. It writes as the editor does, with an entry in the audit log. It does nothing
// if the page does not exist or has a URL on another host.
func linkDemo(ctx context.Context, editor *statuspages.Editor, address string) error {
	const local = "http://localhost:"
	page, err := editor.DB().PageByCode(ctx, demo.StatusPage)
	_, port, _ := net.SplitHostPort(address)
	if err != nil || page == nil || !strings.HasPrefix(page.URL, local) || page.URL == local+port {
		return err
	}
	_, err = editor.SetPage(ctx, statuspages.Author{Name: "serve"}, page.Code,
		[]status.PageSetting{{Key: "url", Value: local + port}})
	return err
}

// checkLive returns a usage error if --demo=live contradicts other settings. It reads only the settings.
func (c *serveCmd) checkLive() error {
	switch {
	case !c.Demo.live:
		return nil
	case c.DatabaseURL != "":
		return invalid(
			"--demo=live writes blocks, which is only possible in the embedded database: remove --database-url")
	case c.FixedTime != "":
		return invalid("--demo=live needs a running clock: remove HELIOGRAPH_FIXED_TIME")
	}
	return nil
}

// live writes blocks to the demo network in the background with --demo=live, at the times of the clock now, until the
// returned function is called, which waits for the last one. If writing ends with an error, it logs that, and the
// gateway goes on without new blocks. It reads the database first, and fails if that contains other data than the
// demo network; stop is then nil. Without --demo=live it does nothing.
func (c *serveCmd) live(
	ctx context.Context, d *database, now func() time.Time, log *slog.Logger,
) (stop func(), err error) {
	if !c.Demo.live {
		return func() {}, nil
	}
	is, err := isDemo(ctx, d.url)
	if err != nil {
		return nil, err
	}
	if !is {
		return nil,
			errors.New(
				"--demo=live continues the demo network, but the embedded database contains other data: choose " +
					"another --data-dir")
	}
	living, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		if err := demodb.KeepAlive(living, d.url, now, log); err != nil {
			log.ErrorContext(living, "no more blocks are added to the demo network", "error", err)
		}
	})
	return func() {
		cancel()
		done.Wait()
	}, nil
}

// waitingShare is the inverse of the share of the memory limit that waiting requests can use.
const waitingShare = 4

// connect opens the pool of the ledger database from the settings. The database does not have to be reachable yet.
// Its sessions are read-only. queue limits the requests that use it; tracer can be nil. An invalid chain id or
// network is a usage error. The caller must close the pool.
func (c *serveCmd) connect(
	ctx context.Context, d *database, base ledger.EntityID, queue *admission.Queue, tracer pgx.QueryTracer,
) (*storage.DB, error) {
	chainID, err := c.chainID()
	if err != nil {
		return nil, err
	}
	files, err := c.feeFiles()
	if err != nil {
		return nil, err
	}
	options := c.pool(d.url, c.RequestTimeout, c.MaxConnections)
	options.Tracer = tracer
	db, err := storage.Open(ctx, storage.Options{
		PoolOptions: options, PerOperation: c.PerOperation, Queue: queue, MaxLag: c.ReplicaLag, ReadOnly: true,
		Base: base, ChainID: chainID, FileAttempts: c.MaxFileAttempts, Fees: files, Cache: c.Cache.on,
	})
	if err != nil {
		return nil, unreachable(d.url, err)
	}
	return db, nil
}

const reconnectInterval = 2 * time.Second

// await checks the tables of the ledger database at startup. If the database cannot be reached, await returns nil
// unless --require-ledger is set, and a goroutine repeats the check every [reconnectInterval] until it succeeds or
// ctx ends. Until then the gateway serves everything else. Missing tables, an unknown role and an unknown database
// are errors of the first check; the goroutine only logs them and checks again.
func (c *serveCmd) await(ctx context.Context, d *database, db *storage.DB, log *slog.Logger) error {
	err := check(ctx, db, log)
	if err == nil || storage.FailureOf(err) == storage.FailureOther {
		return err
	}
	var server *pgconn.PgError // the database responds; classes 28 and 3D are an unknown user and an unknown database
	if errors.As(err, &server) && (strings.HasPrefix(server.Code, "28") || strings.HasPrefix(server.Code, "3D")) ||
		c.RequireLedger.on {
		return unreachable(d.url, err)
	}
	log.WarnContext(ctx, "the ledger database does not respond: its requests fail with status 503 until it does",
		"error", unreachable(d.url, err))
	go func() {
		for last := ""; repeat.Sleep(ctx, reconnectInterval); {
			err := check(ctx, db, log)
			if err == nil {
				log.InfoContext(ctx, "the ledger database responds")
				return
			}
			if text := unreachable(d.url, err).Error(); text != last && ctx.Err() == nil {
				last = text
				log.WarnContext(ctx, "the ledger database is still not usable", "error", text)
			}
		}
	}()
	return nil
}

// statusConnections is the maximum number of connections to the status database, which has little load.
const statusConnections = 4

// connectStatus opens the pool of the status database, which is the ledger database by default. The database does not
// have to be reachable yet. tracer can be nil. An invalid URL is a usage error. The caller must close the pool.
func (c *serveCmd) connectStatus(ctx context.Context, d *database, tracer pgx.QueryTracer) (*statuspages.DB, error) {
	url, err := c.statusURL(d.url)
	if err != nil {
		return nil, err
	}
	options := c.pool(url, c.RequestTimeout, statusConnections)
	options.Tracer = tracer
	return statuspages.Open(ctx, options)
}

// listen opens the ports of the public handler and, if set, of the admin handler. If one fails, it returns those that
// are open beside the error. The caller must close them.
func (c *serveCmd) listen(ctx context.Context) (public, admin []net.Listener, err error) {
	for _, address := range c.Listen {
		l, err := listenOn(ctx, "--listen", address)
		if err != nil {
			return public, nil, err
		}
		public = append(public, l)
	}
	if c.AdminListen != "" {
		l, err := listenOn(ctx, "--admin-listen", c.AdminListen)
		if err != nil {
			return public, nil, err
		}
		admin = append(admin, l)
	}
	return public, admin, nil
}

// listenOn opens the port of an address. flag is the name of the flag that sets it; errors contain it and say how to
// choose another address.
func listenOn(ctx context.Context, flag, address string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", strings.TrimSpace(address))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("the address %s is already in use; choose another with %s", address, flag)
	case err != nil:
		return nil,
			fmt.Errorf(
				"cannot listen on %s: %w; give an address of this machine with a port, for example 127.0.0.1:8080",
				address, err)
	}
	return l, nil
}

// closeAll closes listeners and ignores errors, because a server may have closed them.
func closeAll(list []net.Listener) {
	for _, l := range list {
		_ = l.Close() // normally the server has closed it
	}
}

// serve serves requests and runs the background tasks until the context ends, a server fails or the embedded database
// ends. After the end of the context, readiness fails at once, and requests are served for the shutdown delay. Then
// serve ends subscriptions, waits for open requests for up to drainTimeout, and waits for messages that are being
// sent. It returns nil after the end of the context, unless the requests take longer. After a failure, it shuts down
// in the same way without the delay and returns the error, which for the database has the exit code exitDatabaseDied.
func (c *serveCmd) serve(
	ctx context.Context, log *slog.Logger, d *database, h *gateway.Gateway, traces *tracing.Traces, public,
	admin []net.Listener,
) error {
	failed := make(chan error, len(public)+len(admin))
	var servers []*http.Server
	start := func(list []net.Listener, handler http.Handler) {
		for _, l := range list {
			s := &http.Server{
				Handler: handler, ReadHeaderTimeout: readHeaderTimeout, IdleTimeout: idleTimeout,
				MaxHeaderBytes: maxHeaderBytes, ConnContext: gateway.ConnContext,
				ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
			}
			servers = append(servers, s)
			go func() { failed <- s.Serve(l) }()
		}
	}
	maintenance, stop := context.WithCancel(ctx)
	defer stop()
	go d.maintain(maintenance, log)
	go h.Maintain(maintenance)
	var tasks sync.WaitGroup
	tasks.Go(func() { h.Run(maintenance) })
	start(public, h.Public())
	start(admin, h.Admin())
	c.announce(log, d, public, admin)

	var err error
	select {
	case <-ctx.Done():
		log.Info("shutting down", "delay", c.ShutdownDelay.String())
		h.NotReady()
		time.Sleep(c.ShutdownDelay)
	case <-d.done():
		err = &exitError{exitDatabaseDied, fmt.Errorf("the embedded PostgreSQL ended unexpectedly: %w",
			d.server.Err())}
	case err = <-failed:
		err = fmt.Errorf("serving: %w", err)
	}
	h.Close()
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	for _, s := range servers {
		err = errors.Join(err, wrap.Error(s.Shutdown(drain), "shutting down"))
	}
	stop()
	tasks.Wait() // messages that are being sent
	traces.Shutdown(drain)
	log.Info("stopped")
	return err
}

// announce logs the addresses. If standard output is a terminal or the database is embedded, it also prints the URLs
// there: those of the first public listener, of the admin listeners and of the embedded database. public must not be
// empty; admin can be.
func (c *serveCmd) announce(log *slog.Logger, d *database, public, admin []net.Listener) {
	ledger, _ := pgx.ParseConfig(d.url) // opening it has succeeded
	log.Info("serving", "version", version, "database", ledger.Database, "host", ledger.Host, "role", ledger.User)
	for _, l := range public {
		log.Info("listening", "address", l.Addr().String(), "embedded", d.server != nil)
	}
	for _, l := range admin {
		log.Info("listening for admin requests", "address", l.Addr().String())
	}
	if d.server == nil && !isTerminal(os.Stdout) {
		return
	}
	base := "http://" + public[0].Addr().String()
	fmt.Fprintf(os.Stdout, "heliograph %s\n  GraphiQL  %[2]s/graphiql\n  GraphQL   %[2]s/graphql\n"+
		"  REST      %[2]s/api/v1/accounts (reference: %[2]s/api/v1/docs)\n  status    %[2]s/\n", version, base)
	for _, l := range admin {
		fmt.Fprintf(os.Stdout, "  metrics   http://%s/metrics\n", l.Addr())
	}
	if d.server != nil {
		fmt.Fprintf(os.Stdout, "  database  %s\n", d.url)
	}
	fmt.Fprintln(os.Stdout, "Stop with Ctrl+C. Settings: heliograph serve --help")
}
