package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
)

// Pooler is a kind of connection pooler between the gateway and the server. Behind a pooler, consecutive transactions can run in different sessions of the
// server, so connections have no settings: those of the role apply.
type Pooler string

// The kinds of poolers.
const (
	// PoolerAuto detects the kind with the first connection.
	PoolerAuto Pooler = "auto"
	// PoolerNone connects to the server itself.
	PoolerNone Pooler = "off"
	// PoolerTransaction does not support prepared statements. Each execution plans its statement.
	PoolerTransaction Pooler = "transaction"
	// PoolerPrepared supports prepared statements of the protocol, like PgBouncer 1.21 and newer with max_prepared_statements.
	PoolerPrepared Pooler = "prepared"
)

// prepare returns the function that prepares the configuration of each connection of a pool. session contains settings that only sessions of the server have.
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
		return nil
	}
}

// detectPooler opens a connection to detect the kind of the pooler.
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

// PoolerOf returns the kind of the pooler to which a connection leads.
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
		if err := tx.QueryRow(ctx, `select exists (select from pg_prepared_statements where name = $1)`, pgx.QueryExecModeExec, name).Scan(&plain); err != nil {
			return fmt.Errorf("looking for a prepared statement: %w", err)
		}
		if !plain {
			kind = PoolerPrepared
			return nil
		}
		return conn.Deallocate(ctx, name)
	})
	if err != nil {
		return "", fmt.Errorf("detecting a pooler: %w", err)
	}
	return kind, nil
}

// IsDirect reports whether a connection leads to the server itself. A pooler announces process IDs of its own.
func IsDirect(ctx context.Context, conn *pgx.Conn) (bool, error) {
	var pid uint32
	if err := conn.QueryRow(ctx, `select pg_backend_pid()`, pgx.QueryExecModeExec).Scan(&pid); err != nil {
		return false, fmt.Errorf("reading the process ID of the session: %w", err)
	}
	return pid == conn.PgConn().PID(), nil
}

// ConnectDirect opens a connection for a session of its own. ok is false if a pooler prevents that; the connection is closed then.
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
