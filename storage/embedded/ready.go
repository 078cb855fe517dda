//go:build unix

package embedded

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// readyTimeout bounds a start whose context has no deadline. Recovery after a crash may take minutes.
const readyTimeout = 5 * time.Minute

// awaitReady returns when the server answers and has our database. Only a real connection shows that: after a kill, the
// socket and the last line of postmaster.pid are left over and look ready.
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
			pause = 100 * time.Millisecond // each try is a line in the server's log
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

// prepareDatabase makes sure that the extensions can be had, and makes our database at the first start.
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
