package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"heliograph/storage"
	"heliograph/storage/demo/demodb"
	"heliograph/storage/demo/statusdemo"
	"heliograph/storage/embedded"
	"heliograph/storage/migrations"
)

// connectTimeout bounds the wait for a database at start.
const connectTimeout = 5 * time.Second

// database is the ledger's database while the process runs: somebody else's, or the embedded one.
type database struct {
	url    string
	server *embedded.Server // nil when attached
}

// open attaches to the database of the settings, or starts the embedded server and migrates it.
func (s *databaseSettings) open(ctx context.Context, log *slog.Logger) (*database, error) {
	if s.DatabaseURL != "" {
		if _, err := pgx.ParseConfig(s.DatabaseURL); err != nil {
			// The driver's text can hold the password.
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
		return nil, errors.Join(fmt.Errorf("creating the tables: %w", err), d.close())
	}
	return d, nil
}

// partitionsEvery is how often the monthly partitions of our own tables are looked after. They reach a month ahead, so a day is often enough.
const partitionsEvery = 24 * time.Hour

// maintain adds the partitions that months to come need, until the context ends. Somebody else's database is left alone.
func (d *database) maintain(ctx context.Context, log *slog.Logger) {
	if d.server == nil {
		return
	}
	tick := time.NewTicker(partitionsEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := ensurePartitions(ctx, d.url); err != nil {
				log.WarnContext(ctx, "partitions could not be added", "error", err)
			}
		}
	}
}

func ensurePartitions(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
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
		return fmt.Errorf("stopping the embedded PostgreSQL: %w", err)
	}
	return nil
}

// done is closed when the embedded server dies by itself.
func (d *database) done() <-chan struct{} {
	if d.server == nil {
		return nil
	}
	return d.server.Done()
}

// unreachable makes one line of an error of connecting, without the password that a URL can hold.
func unreachable(url string, err error) error {
	cfg, parseErr := pgx.ParseConfig(url)
	if parseErr != nil {
		return errors.New("the database URL cannot be read")
	}
	text := err.Error()
	if i := strings.LastIndex(text, "\n"); i >= 0 {
		text = strings.TrimSpace(text[i+1:])
	}
	if cfg.Password != "" {
		text = strings.ReplaceAll(text, cfg.Password, "***")
	}
	return fmt.Errorf("cannot use the database %s on %s: %s", cfg.Database, cfg.Host, text)
}

// check makes sure that the tables are there.
func check(ctx context.Context, db *storage.DB) error {
	missing, err := migrations.Missing(ctx, db.Pool())
	if err != nil {
		return fmt.Errorf("looking at the tables: %w", err)
	}
	if len(missing) == 0 {
		return nil
	}
	const shown = 8
	list := strings.Join(missing[:min(shown, len(missing))], ", ")
	if more := len(missing) - shown; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Errorf("the database lacks %s; `heliograph migrate` creates them", list)
}

// loadDemo loads the demo network into an empty database.
func loadDemo(ctx context.Context, url string, now time.Time, again bool) error {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return unreachable(url, err)
	}
	defer pool.Close()
	bar := newProgress(os.Stderr)
	defer bar.end()
	if again {
		_, err = demodb.Reload(ctx, pool, now, bar.show)
	} else {
		empty, emptyErr := demodb.IsEmpty(ctx, pool)
		if emptyErr != nil || !empty {
			return emptyErr
		}
		_, err = demodb.Load(ctx, pool, now, bar.show)
	}
	return err
}

// loadDemoStatus gives the demo network its status page. Where there are other pages already, it is left out; again makes that an error.
func loadDemoStatus(ctx context.Context, url string, now time.Time, again bool) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return unreachable(url, err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // nothing is lost: the load has been committed
	if again {
		return statusdemo.Reload(ctx, conn, now)
	}
	return statusdemo.Load(ctx, conn, now)
}

// isDemo tells whether the database holds the demo network.
func isDemo(ctx context.Context, url string) (bool, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return false, unreachable(url, err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // nothing was written
	return demodb.IsDemo(ctx, conn)
}
