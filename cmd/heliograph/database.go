package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"heliograph/internal/base/list"
	"heliograph/storage"
	"heliograph/storage/demo/demodb"
	"heliograph/storage/demo/statusdemo"
	"heliograph/storage/embedded"
	"heliograph/storage/migrations"
)

// connectTimeout is the timeout for connecting to a database at startup.
const connectTimeout = 5 * time.Second

// database is the ledger database: an external one or the embedded one.
type database struct {
	url    string
	server *embedded.Server // nil for an external database
}

// open returns the configured database, or starts the embedded server and migrates its database.
func (s *databaseSettings) open(ctx context.Context, log *slog.Logger) (*database, error) {
	if s.DatabaseURL != "" {
		if _, err := pgx.ParseConfig(s.DatabaseURL); err != nil {
			// The error of the driver can contain the password.
			return nil, errors.New("HELIOGRAPH_DATABASE_URL is not a PostgreSQL URL such as postgres://user@host:5432/name")
		}
		return &database{url: s.DatabaseURL}, nil
	}
	dir, err := s.dataDir()
	if err != nil {
		return nil, err
	}
	server, err := embedded.Start(ctx, embedded.Options{DataDir: dir, BinDir: s.PGBindir, Logger: log})
	if err != nil {
		return nil, err
	}
	d := &database{url: server.URL(embedded.Name), server: server}
	if err := errors.Join(migrations.Ledger(ctx, d.url, log), migrations.Status(ctx, d.url, log)); err != nil {
		return nil, errors.Join(fmt.Errorf("create the tables: %w", err), d.close())
	}
	return d, nil
}

// partitionsInterval is the interval at which missing monthly partitions are added. Partitions are created a month ahead, so once a day is enough.
const partitionsInterval = 24 * time.Hour

// maintain adds partitions for coming months to the embedded database until the context ends. It does nothing for an external database.
func (d *database) maintain(ctx context.Context, log *slog.Logger) {
	if d.server == nil {
		return
	}
	tick := time.NewTicker(partitionsInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := ensurePartitions(ctx, d.url); err != nil {
				log.WarnContext(ctx, "adding partitions failed", "error", err)
			}
		}
	}
}

func ensurePartitions(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	return errors.Join(migrations.EnsurePartitions(ctx, conn, time.Time{}), conn.Close(context.WithoutCancel(ctx)))
}

// close stops the embedded server.
func (d *database) close() error {
	if d.server == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := d.server.Stop(ctx); err != nil {
		return fmt.Errorf("stop the embedded PostgreSQL: %w", err)
	}
	return nil
}

// done returns a channel that is closed if the embedded server ends unexpectedly, or nil for an external database.
func (d *database) done() <-chan struct{} {
	if d.server == nil {
		return nil
	}
	return d.server.Done()
}

// unreachable returns a one-line connection error that does not contain the password of the URL.
func unreachable(url string, err error) error {
	cfg, parseErr := pgx.ParseConfig(url)
	if parseErr != nil {
		return errors.New("invalid database URL")
	}
	text := err.Error()
	if i := strings.LastIndex(text, "\n"); i >= 0 {
		text = strings.TrimSpace(text[i+1:])
	}
	if cfg.Password != "" {
		text = strings.ReplaceAll(text, cfg.Password, "***")
	}
	return fmt.Errorf("cannot use the database %s on %s: %s; check its URL, or run without one for the demo network", cfg.Database, cfg.Host, text)
}

// essential are the tables without which nothing can be served.
const essential = " address_book entity record_file transaction "

// check compares the tables of the database with those that the gateway reads. It fails if essential tables are missing, and logs other differences.
func check(ctx context.Context, db *storage.DB, log *slog.Logger) error {
	absent, unknown, err := migrations.Compare(ctx, db.Pool())
	if err != nil {
		return fmt.Errorf("check the tables: %w", err)
	}
	db.SetAbsent(absent)
	if err := db.ReadPlacement(ctx); err != nil {
		return err
	}
	const shown = 8
	text := strings.Join(list.Map(absent[:min(shown, len(absent))], storage.Absent.String), ", ")
	if more := len(absent) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	if slices.ContainsFunc(absent, func(a storage.Absent) bool { return strings.Contains(essential, " "+a.String()+" ") }) {
		return fmt.Errorf("missing tables: %s; run `heliograph migrate` to create them", text)
	}
	if len(absent)+len(unknown) > 0 {
		log.WarnContext(ctx, "the tables are those of another version: `heliograph check` lists the differences", "missing", text, "unknown", len(unknown))
	}
	return nil
}

// loadDemo loads the demo network into a database if it is empty. With again, it replaces the demo network, and fails if the database contains other data.
func loadDemo(ctx context.Context, url string, now time.Time, again bool) error {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return unreachable(url, err)
	}
	defer pool.Close()
	bar := newProgress(os.Stderr)
	defer bar.end()
	if again {
		return demodb.Reload(ctx, pool, now, bar.show)
	}
	if empty, err := demodb.IsEmpty(ctx, pool); err != nil || !empty {
		return err
	}
	return demodb.Load(ctx, pool, now, bar.show)
}

// loadDemoStatus loads the demo status page, unless there are status pages. With again, it replaces the demo status page, and fails if there are other pages.
func loadDemoStatus(ctx context.Context, url string, now time.Time, again bool) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return unreachable(url, err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // the load has been committed
	if again {
		return statusdemo.Reload(ctx, conn, now)
	}
	return statusdemo.Load(ctx, conn, now)
}

// isDemo reports whether the database contains the demo network.
func isDemo(ctx context.Context, url string) (bool, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return false, unreachable(url, err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // nothing was written
	return demodb.IsDemo(ctx, conn)
}
