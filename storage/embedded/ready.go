//go:build unix

package embedded

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// readyTimeout is the timeout of a start whose context has no deadline. Recovery after a crash may take minutes.
const readyTimeout = 5 * time.Minute

// awaitReady waits until the server accepts connections and the database exists. Only a real connection proves this: after a kill, the socket and the last
// line of postmaster.pid remain and look ready.
func (s *Server) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	cfg, err := pgx.ParseConfig(s.URL("postgres"))
	if err != nil {
		return fmt.Errorf("connection settings (is a PG… variable set to something odd?): %w", err)
	}
	cfg.ConnectTimeout = 5 * time.Second
	pause := 10 * time.Millisecond
	for begin := time.Now(); ; {
		conn, err := pgx.ConnectConfig(ctx, cfg)
		if err == nil {
			err := s.prepareDatabase(ctx, conn)
			return errors.Join(err, conn.Close(context.WithoutCancel(ctx)))
		}
		if time.Since(begin) > time.Second {
			pause = 100 * time.Millisecond // each attempt adds a line to the server's log
		}
		select {
		case <-s.proc.done:
			return s.death()
		case <-ctx.Done():
			return fmt.Errorf("PostgreSQL does not answer: %w (%w)", context.Cause(ctx), err)
		case <-time.After(pause):
		}
	}
}

// prepareDatabase checks that the extensions are available and creates the database on the first start.
func (s *Server) prepareDatabase(ctx context.Context, conn *pgx.Conn) error {
	const lookUp = `
select exists (select from pg_database where datname = $1),
       array(select e from unnest($2::text[]) e where e not in (select name from pg_available_extensions))`
	var there bool
	var missing []string
	if err := conn.QueryRow(ctx, lookUp, Name, extensions()).Scan(&there, &missing); err != nil {
		return fmt.Errorf("look for the database: %w", err)
	}
	if len(missing) > 0 {
		return missingExtensions(s.bin, missing)
	}
	if there {
		return nil
	}
	if _, err := conn.Exec(ctx, "create database "+Name); err != nil {
		return fmt.Errorf("make the database: %w", err)
	}
	return nil
}
