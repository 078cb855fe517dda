package storage

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/time/rate"
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
	// cancelDelay is how long a statement may continue before it is canceled at the server. Most end within it, which is cheaper: a cancel request takes a
	// connection of its own and blocks the one of the statement for 100 ms.
	cancelDelay = 50 * time.Millisecond
	// cancelTimeout is how long a connection waits for the end of a canceled statement before it is closed.
	cancelTimeout = 5 * time.Second
	// cancelPause is how long a connection is not used after a cancel request, which could reach the next statement otherwise.
	cancelPause = 100 * time.Millisecond
)

// Config returns the configuration of a pool that can write: of several hosts in the URL, its connections lead to the primary. Sessions use the given settings
// unless the URL contains the same setting, or a pooler prevents it.
func (o *PoolOptions) Config(settings map[string]string) (*pgxpool.Config, error) {
	cfg, err := o.parse()
	if err != nil {
		return nil, err
	}
	ofPrimary(&cfg.ConnConfig.Config)
	o.configure(cfg, settings)
	return cfg, nil
}

func (o *PoolOptions) parse() (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(o.URL)
	if err != nil {
		return nil, fmt.Errorf("parsing the database URL: %w", err)
	}
	return cfg, nil
}

// configure completes a configuration. Sessions use the given settings as in [PoolOptions.Config].
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
	// If the context of a statement ends, the statement is canceled at the server, and the connection stays usable. By default, the driver closes it.
	cfg.ConnConfig.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler { return &canceler{conn: c} }
	var refused refusal
	cfg.AfterConnect = func(_ context.Context, c *pgx.Conn) error {
		refused.Store(nil)
		registerTypes(c.TypeMap())
		return nil
	}
	otherHost := func(f *pgconn.FallbackConfig) bool { return f.Host != cfg.ConnConfig.Host }
	if !slices.ContainsFunc(cfg.ConnConfig.Fallbacks, otherHost) { // it may accept connections
		refused.limit(cfg)
	}
}

// refusal is the error with which a server refused the last connection, or nil.
type refusal struct{ atomic.Pointer[pgconn.PgError] }

// attempts is the maximum number of attempts to connect in a second while the server starts or has no free connection. Each attempt takes a process of the
// server; hundreds of them make a start last for seconds.
const attempts = 10

// limit limits the attempts to connect while the server refuses connections. Others fail with the last error.
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

// canceler cancels the statement of a connection if its context ends. Unlike the handler of the driver, it does not close the connection of the cancel request
// before the server does: PgBouncer 1.18 exits if a client does that.
type canceler struct {
	conn        *pgconn.PgConn
	ended, done chan struct{} // closed when the statement has ended, and when no cancel request is pending
}

// HandleCancel implements [ctxwatch.Handler].
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

// HandleUnwatchAfterCancel implements [ctxwatch.Handler].
func (c *canceler) HandleUnwatchAfterCancel() {
	close(c.ended)
	<-c.done
	_ = c.conn.Conn().SetDeadline(time.Time{}) // fails if the connection is closed
}
