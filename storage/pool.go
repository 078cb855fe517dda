package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/time/rate"

	"heliograph/internal/base/wrap"
)

// PoolOptions configures a connection pool.
type PoolOptions struct {
	// URL is the connection string of the database.
	URL string
	// Pooler is the connection pooler between the gateway and the server. Empty means [PoolerAuto].
	Pooler Pooler
	// DirectURL is the connection string for connections that need a session of their own. Empty means URL.
	DirectURL string
	// StatementTimeout is the maximum duration of a statement, enforced by the server. 0 means no limit.
	StatementTimeout time.Duration
	// ConnectTimeout is the maximum duration of a connection attempt. 0 means no limit.
	ConnectTimeout time.Duration
	// MaxConnections is the maximum number of connections. 0 means the default of the driver.
	MaxConnections int32
	// Tracer observes every statement. It may be nil.
	Tracer pgx.QueryTracer
}

const (
	// cancelDelay is how long a statement may continue before it is canceled at the server. Most end within it, which
	// is cheaper: a cancel request takes a connection of its own and blocks the one of the statement for 100 ms.
	cancelDelay = 50 * time.Millisecond
	// cancelTimeout is how long a connection waits for the end of a canceled statement before it is closed.
	cancelTimeout = 5 * time.Second
	// cancelPause is how long a connection is not used after a cancel request, which could reach the next statement
	// otherwise.
	cancelPause = 100 * time.Millisecond
)

// Config returns the configuration of a pool that can write: of several hosts in the URL, its connections lead to the
// primary. Sessions use the given settings unless the URL contains the same setting, or a pooler prevents it. settings
// must not be nil and is not changed. It fails if the URL is invalid, and does not connect.
func (o *PoolOptions) Config(settings map[string]string) (*pgxpool.Config, error) {
	cfg, err := o.parse()
	if err != nil {
		return nil, err
	}
	ofPrimary(&cfg.ConnConfig.Config)
	o.configure(cfg, settings)
	return cfg, nil
}

// parse returns pgx's settings of the database URL. It fails if the URL is invalid, and does not connect.
func (o *PoolOptions) parse() (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(o.URL)
	return cfg, wrap.Error(err, "parsing the database URL")
}

// configure changes cfg by the options: timeouts, limits, tracer, and hooks for connections. Sessions use the given
// settings as in [PoolOptions.Config], except that StatementTimeout replaces the timeout in the URL. If cfg has a
// single server, attempts to connect are limited while it refuses them.
func (o *PoolOptions) configure(cfg *pgxpool.Config, settings map[string]string) {
	params := cfg.ConnConfig.RuntimeParams
	session := maps.Clone(settings)
	if o.StatementTimeout > 0 {
		session["statement_timeout"] = strconv.FormatInt(o.StatementTimeout.Milliseconds(), 10)
		delete(params, "statement_timeout")
	}
	maps.DeleteFunc(session, func(name, _ string) bool { return params[name] != "" })
	cfg.BeforeConnect = o.Pooler.prepare(session)
	if o.ConnectTimeout > 0 {
		cfg.ConnConfig.ConnectTimeout = o.ConnectTimeout
	}
	if o.MaxConnections > 0 {
		cfg.MaxConns = o.MaxConnections
	}
	cfg.ConnConfig.Tracer = o.Tracer
	// If the context of a statement ends, the statement is canceled at the server, and the connection stays usable. By
	// default, the driver closes it.
	cfg.ConnConfig.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler { return &canceler{conn: c} }
	var refused refusal
	cfg.AfterConnect = func(_ context.Context, c *pgx.Conn) error {
		refused.Store(nil)
		registerTypes(c.TypeMap())
		return nil
	}
	if !severalHosts(&cfg.ConnConfig.Config) { // another one may accept connections
		refused.limit(cfg)
	}
}

// refusal is the error with which a server refused the last connection, or nil.
type refusal struct{ atomic.Pointer[pgconn.PgError] }

// attempts is the maximum number of attempts to connect in a second while the server starts or has no free connection.
// Each attempt takes a process of the server; hundreds of them make a start last for seconds.
const attempts = 10

// limit changes cfg so that at most [attempts] attempts to connect in a second reach the server while it refuses
// connections. Further ones fail at once with its last error, which is kept in r until a connection succeeds: the
// caller clears it in cfg.AfterConnect.
func (r *refusal) limit(cfg *pgxpool.Config) {
	limiter, prepare, onError := rate.NewLimiter(attempts, 1), cfg.BeforeConnect, cfg.ConnConfig.OnPgError
	cfg.BeforeConnect = func(ctx context.Context, c *pgx.ConnConfig) error {
		if err := r.Load(); err != nil && !limiter.Allow() {
			return err
		}
		return prepare(ctx, c)
	}
	cfg.ConnConfig.OnPgError = func(c *pgconn.PgConn, err *pgconn.PgError) bool {
		if err.Code == "57P03" || err.Code == "53300" { // cannot connect now; too many connections
			r.Store(err)
		}
		return onError(c, err)
	}
}

// canceler cancels the statement of a connection if its context ends. Unlike the handler of the driver, it does not
// close the connection of the cancel request before the server does: PgBouncer 1.18 exits if a client does that.
type canceler struct {
	conn        *pgconn.PgConn
	ended, done chan struct{} // closed when the statement has ended, and when no cancel request is pending
}

// HandleCancel implements [ctxwatch.Handler]. The driver calls it when the context of a statement ends: a goroutine
// cancels the statement at the server unless that ends within cancelDelay. A deadline of the connection,
// cancelTimeout, limits how long it waits.
func (c *canceler) HandleCancel(context.Context) {
	_ = c.conn.Conn().SetDeadline(time.Now().Add(cancelTimeout)) //nolint:forbidigo // the clock of connections
	c.ended, c.done = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(c.done)
		select {
		case <-c.ended:
			return
		case <-time.After(cancelDelay):
		}
		ctx, stop := context.WithTimeout(context.Background(), cancelTimeout)
		defer stop()
		_ = c.conn.CancelRequest(ctx) // if it fails, the deadline ends the statement
		time.Sleep(cancelPause)
	}()
}

// HandleUnwatchAfterCancel implements [ctxwatch.Handler]. The driver calls it when the canceled statement has ended:
// it waits for the goroutine of [canceler.HandleCancel], up to cancelTimeout and cancelPause, and removes the deadline
// of the connection.
func (c *canceler) HandleUnwatchAfterCancel() {
	close(c.ended)
	<-c.done
	_ = c.conn.Conn().SetDeadline(time.Time{}) // fails if the connection is closed
}

// Pooler is a kind of connection pooler between the gateway and the server. Behind a pooler, consecutive transactions
// can run in different sessions of the server, so connections have no settings: those of the role apply.
type Pooler string

// The kinds of poolers.
const (
	// PoolerAuto detects the kind with the first connection.
	PoolerAuto Pooler = "auto"
	// PoolerNone connects to the server itself.
	PoolerNone Pooler = "off"
	// PoolerTransaction does not support prepared statements. Each execution plans its statement.
	PoolerTransaction Pooler = "transaction"
	// PoolerPrepared supports prepared statements of the protocol, like PgBouncer 1.21 and newer with
	// max_prepared_statements.
	PoolerPrepared Pooler = "prepared"
)

// prepare returns the function that prepares the configuration of each connection of a pool. If p is [PoolerAuto] or
// empty, each call opens another connection to detect the kind until one succeeds, and later calls use the result.
// session contains settings that only sessions of the server have. Behind a pooler, connections get only the
// application_name of it.
func (p Pooler) prepare(session map[string]string) func(context.Context, *pgx.ConnConfig) error {
	var known atomic.Pointer[Pooler]
	if p != PoolerAuto && p != "" {
		known.Store(&p)
	}
	return func(ctx context.Context, c *pgx.ConnConfig) error {
		kind := known.Load()
		if kind == nil {
			found, err := detectPooler(ctx, c)
			if err != nil {
				return err
			}
			kind = &found
			known.Store(kind)
		}
		for name, value := range session {
			if *kind == PoolerNone || name == "application_name" { // poolers accept the name
				c.RuntimeParams[name] = value
			}
		}
		if *kind == PoolerTransaction {
			c.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe // unnamed statements with binary results
		}
		// a connection uses only the cache of its mode; an empty one takes some 25 KiB
		if c.DefaultQueryExecMode != pgx.QueryExecModeCacheStatement {
			c.StatementCacheCapacity = 0
		}
		if c.DefaultQueryExecMode != pgx.QueryExecModeCacheDescribe {
			c.DescriptionCacheCapacity = 0
		}
		return nil
	}
}

// detectPooler opens a connection, detects the kind of the pooler with [PoolerOf], and closes it. It does not change
// c.
func detectPooler(ctx context.Context, c *pgx.ConnConfig) (kind Pooler, err error) {
	c = c.Copy()
	c.Tracer, c.DefaultQueryExecMode = nil, pgx.QueryExecModeExec
	conn, err := pgx.ConnectConfig(ctx, c)
	if err != nil {
		return "", fmt.Errorf("connecting to detect a pooler: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	return PoolerOf(ctx, conn)
}

// PoolerOf returns the kind of the pooler to which a connection leads, or [PoolerNone] if it leads to the server
// itself. Behind a pooler, it runs a transaction that prepares a statement. With an error, the kind is not valid.
func PoolerOf(ctx context.Context, conn *pgx.Conn) (Pooler, error) {
	if direct, err := IsDirect(ctx, conn); direct || err != nil {
		return PoolerNone, err
	}
	kind := PoolerTransaction
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { // one session of the server
		const name = "heliograph_probe"
		if _, err := tx.Prepare(ctx, name, `select 1`); err != nil {
			return fmt.Errorf("preparing a statement: %w", err)
		}
		var plain bool // a pooler that supports prepared statements gives them names of its own
		if err := tx.QueryRow(ctx, `select exists (select 1 from pg_prepared_statements where name = $1)`,
			pgx.QueryExecModeExec, name).Scan(&plain); err != nil {
			return fmt.Errorf("looking for a prepared statement: %w", err)
		}
		if !plain {
			kind = PoolerPrepared
			return nil
		}
		return conn.Deallocate(ctx, name)
	})
	return kind, wrap.Error(err, "detecting a pooler")
}

// IsDirect reports whether a connection leads to the server itself, which it asks for its process ID. A pooler
// announces process IDs of its own.
func IsDirect(ctx context.Context, conn *pgx.Conn) (bool, error) {
	var pid uint32
	if err := conn.QueryRow(ctx, `select pg_backend_pid()`, pgx.QueryExecModeExec).Scan(&pid); err != nil {
		return false, fmt.Errorf("reading the process ID of the session: %w", err)
	}
	return pid == conn.PgConn().PID(), nil
}

// ConnectDirect opens a connection to the primary for a session of its own, with DirectURL if it is set. The caller
// closes it. If a pooler prevents that, it closes the connection and returns nil and false without an error.
func (o *PoolOptions) ConnectDirect(ctx context.Context) (conn *pgx.Conn, ok bool, err error) {
	c, err := pgx.ParseConfig(cmp.Or(o.DirectURL, o.URL))
	if err != nil {
		return nil, false, fmt.Errorf("parsing the database URL: %w", err)
	}
	c.ConnectTimeout = cmp.Or(o.ConnectTimeout, c.ConnectTimeout)
	ofPrimary(&c.Config)
	if conn, err = pgx.ConnectConfig(ctx, c); err != nil {
		return nil, false, fmt.Errorf("connecting: %w", err)
	}
	if ok, err = IsDirect(ctx, conn); !ok || err != nil {
		_ = conn.Close(context.WithoutCancel(ctx)) // nothing was written
		return nil, false, err
	}
	return conn, true, nil
}
