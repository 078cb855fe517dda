// Package pgtest creates PostgreSQL databases for tests.
//
// Each test binary has its own server. It starts when the first test needs a database and stops with the binary. A [Template] prepares the schema and
// data of a database once. A test gets its own copy, which takes about 50 ms, or shares a read-only copy with other tests:
//
//	var empty = &pgtest.Template{Name: "empty", Prepare: migrate}
//	var demo = &pgtest.Template{Name: "demo", From: empty, Prepare: loadDemo}
//
//	func TestMain(m *testing.M) { pgtest.Main(m) }
//
//	func TestRead(t *testing.T) { pool := connect(t, demo.Shared(t)) … }
//	func TestWrite(t *testing.T) { pool := connect(t, empty.Fresh(t)) … }
//
// The package is safe for parallel tests and for concurrent test binaries. The environment variable HELIOGRAPH_PG_BINDIR sets the folder of the
// PostgreSQL programs.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/storage/embedded"
)

// timeout is the timeout of each step: starting the server, Prepare, copying a database.
const timeout = 3 * time.Minute

// running is the server of this test binary. It is global, because tests cannot share state otherwise.
var running = &host{templates: map[*Template]*prepared{}}

var validName = regexp.MustCompile(`^[A-Za-z0-9_]{1,50}$`)

// host is a server that starts on first use, with its templates.
type host struct {
	mu        sync.Mutex
	open      bool // while Main runs
	server    *embedded.Server
	err       error // error of starting the server
	templates map[*Template]*prepared
	databases int // number of databases created so far
}

// Main runs the tests of a package and then stops the server. Call it as the last statement of TestMain. It does not return the result, because
// package testing records it.
func Main(m *testing.M) {
	running.begin()
	m.Run()
	if err := running.end(); err != nil {
		fmt.Fprintln(os.Stderr, "pgtest:", err)
		os.Exit(1)
	}
}

func (h *host) begin() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open = true
}

func (h *host) end() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open = false
	stopPooler()
	if h.server == nil {
		return nil
	}
	early := h.server.Err()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	if err := h.server.Stop(ctx); err != nil {
		return err
	}
	return early
}

// get returns the server. The first call starts it.
func (h *host) get() (*embedded.Server, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.open {
		return nil, errors.New("pgtest: the package needs func TestMain(m *testing.M) { pgtest.Main(m) }")
	}
	if h.server == nil && h.err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		h.server, h.err = embedded.Start(ctx, embedded.Options{
			Ephemeral: true,
			BinDir:    os.Getenv("HELIOGRAPH_PG_BINDIR"),
			Settings: map[string]string{
				"max_connections": "200",
				"shared_buffers":  "64MB",
				// Plans must not depend on the time of automatic statistics, and no worker may be connected to a template while it is copied.
				"autovacuum": "off",
			},
		})
	}
	return h.server, h.err
}

// lookUp returns the state of a template, and registers it on the first call.
func (h *host) lookUp(t *Template) (*prepared, error) {
	if !validName.MatchString(t.Name) {
		return nil, fmt.Errorf("pgtest: invalid template name %q", t.Name)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if p := h.templates[t]; p != nil {
		return p, nil
	}
	for other := range h.templates {
		if other.Name == t.Name {
			return nil, fmt.Errorf("pgtest: duplicate template name %s", t.Name)
		}
	}
	p := &prepared{name: "template_" + t.Name}
	h.templates[t] = p
	return p, nil
}

func (h *host) nextName() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.databases++
	return fmt.Sprintf("test_%d", h.databases)
}

// Connect returns a connection to a database that is closed when the test ends.
func Connect(tb testing.TB, url string) *pgx.Conn {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), url)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// Exec runs statements and fails the test on the first error.
func Exec(tb testing.TB, conn *pgx.Conn, statements ...string) {
	tb.Helper()
	for _, sql := range statements {
		if _, err := conn.Exec(tb.Context(), sql); err != nil {
			tb.Fatalf("%s: %v", sql, err)
		}
	}
}

// admin runs statements on a database of the server, each in its own transaction.
func admin(ctx context.Context, url string, statements ...string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}

// Allow allows connections to a database, or closes all connections and rejects new ones, as if the server were down.
func Allow(tb testing.TB, url string, yes bool) {
	tb.Helper()
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		tb.Fatal(err)
	}
	database := cfg.Database
	cfg.Database = "postgres"
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }() // every statement has been committed
	exec := func(sql string) int64 {
		tag, err := conn.Exec(ctx, sql)
		if err != nil {
			tb.Fatal(err)
		}
		return tag.RowsAffected()
	}
	exec(`alter database ` + pgx.Identifier{database}.Sanitize() + ` allow_connections ` + strconv.FormatBool(yes))
	for idle := 0; !yes && idle < 3; idle++ { // a connection that is being opened appears late
		if exec(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '`+database+`'`) > 0 {
			idle = 0
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// Distributed makes gateways read the database at url key by key, as if its tables were distributed with Citus. columns has the distribution column of each
// table. It creates a view that replaces that of Citus.
func Distributed(ctx context.Context, url string, columns map[string]string) error {
	var rows []string
	for table, column := range columns {
		rows = append(rows, fmt.Sprintf("('%s'::regclass, 'distributed', '%s')", table, column))
	}
	return admin(ctx, url, `create or replace view citus_tables (table_name, citus_table_type, distribution_column) as values `+strings.Join(rows, ", "))
}

// Keys reports whether the environment variable HELIOGRAPH_TEST_KEYS is set: then all tests read the ledger key by key.
func Keys() bool { return os.Getenv("HELIOGRAPH_TEST_KEYS") != "" }

// KeyByKey is [Distributed] if [Keys] is true.
func KeyByKey(ctx context.Context, url string, columns map[string]string) error {
	if !Keys() {
		return nil
	}
	return Distributed(ctx, url, columns)
}
