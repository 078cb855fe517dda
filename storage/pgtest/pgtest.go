// Package pgtest creates PostgreSQL databases for tests.
//
// All test binaries of a user share one server. The first one that needs a database starts it, and the last one that
// uses it stops it. A [Template] prepares the schema and data of a database once. A test gets its
// own copy, which takes about 50 ms, or shares a read-only copy with the other tests of the binary:
//
//	var empty = &pgtest.Template{Name: "empty", Package: "heliograph/storage/migrations", Prepare: migrate}
//	var rows = &pgtest.Template{Name: "rows", From: empty, Prepare: insertRows}
//
//	func TestMain(m *testing.M) { pgtest.Main(m) }
//
//	func TestRead(t *testing.T) { pool := connect(t, rows.Shared(t)) … }
//	func TestWrite(t *testing.T) { pool := connect(t, empty.Fresh(t)) … }
//
// The package is safe for parallel tests, for concurrent test binaries, and for several working trees. The environment
// variable HELIOGRAPH_PG_BINDIR sets the folder of the PostgreSQL programs.
package pgtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// timeout is the timeout of each step: starting the server, Prepare, copying a database.
const timeout = 3 * time.Minute

// running is the state of this test binary. It is global, because tests cannot share state otherwise.
var running = &host{}

var validName = regexp.MustCompile(`^[A-Za-z0-9_]{1,30}$`)

// host connects a test binary to the server, on first use, and has its templates.
type host struct {
	mu        sync.Mutex
	open      bool   // while Main runs
	dir       string // folder of the server
	server    *server
	err       error // error of joining the server
	templates map[*Template]*prepared
	run       string   // part of the names of the databases of this binary
	databases int      // number of databases created so far
	drop      []string // databases to drop at the end
}

// Main runs the tests of a package and then drops its databases. Call it as the last statement of TestMain. It does
// not return the result, because package testing records it. If the folder of the server cannot be determined, or the
// server cannot be left, it prints the error and ends the process with code 1.
func Main(m *testing.M) {
	dir, err := serverFolder()
	if err != nil {
		fmt.Fprintln(os.Stderr, "pgtest:", err)
		os.Exit(1)
	}
	running.begin(dir)
	m.Run()
	if err := running.end(); err != nil {
		fmt.Fprintln(os.Stderr, "pgtest:", err)
		os.Exit(1)
	}
}

// begin permits the use of the server in a folder, for [Main]. It does not start the server.
func (h *host) begin(dir string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open, h.dir, h.run, h.templates = true, dir, "test_"+strings.ToLower(rand.Text()[:8]), map[*Template]*prepared{}
}

// end drops the databases of this test binary, stops its PgBouncer, and leaves the server, which stops if no other
// binary uses it.
func (h *host) end() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open = false
	stopPooler()
	if h.server == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	var drop []string
	for _, name := range h.drop {
		drop = append(drop, "drop database if exists "+pgx.Identifier{name}.Sanitize()+" with (force)")
	}
	err := admin(ctx, h.server.URL, drop...)
	return errors.Join(err, h.server.leave())
}

// get returns the server. The first call starts or joins it. It fails outside of [Main]. The error of the first call
// is kept.
func (h *host) get() (*server, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.open {
		return nil, errors.New("pgtest: the package needs func TestMain(m *testing.M) { pgtest.Main(m) }")
	}
	if h.server == nil && h.err == nil {
		if h.server, h.err = join(h.dir); h.err != nil {
			h.err = fmt.Errorf("pgtest: starting the server in %s: %w", h.dir, h.err)
		}
	}
	return h.server, h.err
}

// lookUp returns the state of a template, and registers it on the first call. It fails if the name is invalid or
// another template has it.
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
	p := &prepared{}
	h.templates[t] = p
	return p, nil
}

// nextName returns a name for a database of this binary, which is dropped with the binary if it still exists.
func (h *host) nextName() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.databases++
	name := fmt.Sprintf("%s_%d", h.run, h.databases)
	h.drop = append(h.drop, name)
	return name
}

// Role creates a role that can log in to the database at url, and returns its name. The role is dropped when the test
// ends. Roles belong to the server, which other binaries use too. An error fails the test, which goes on.
func Role(tb testing.TB, url string) string {
	tb.Helper()
	name := "test_" + strings.ToLower(rand.Text()[:8])
	run := func(statements ...string) {
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		if err := admin(ctx, url, statements...); err != nil {
			tb.Error(err)
		}
	}
	run("create role " + name + " login")
	tb.Cleanup(func() { run("drop owned by "+name, "drop role "+name) })
	return name
}

// Connect returns a connection to a database that is closed when the test ends. An error ends the test.
func Connect(tb testing.TB, url string) *pgx.Conn {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), url)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// Exec runs statements on a connection, one after the other, and ends the test on the first error.
func Exec(tb testing.TB, conn *pgx.Conn, statements ...string) {
	tb.Helper()
	for _, sql := range statements {
		if _, err := conn.Exec(tb.Context(), sql); err != nil {
			tb.Fatalf("%s: %v", sql, err)
		}
	}
}

// admin runs statements on the database at url, each in its own transaction, until the first error. It opens and
// closes a connection. Without statements, it checks that the database can be reached.
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

// Allow allows connections to a database if yes; otherwise it closes all connections and rejects new ones, as if the
// server were down, which takes at least 0.2 s. The database must be on the server of this test binary. Errors end the
// test.
func Allow(tb testing.TB, url string, yes bool) {
	tb.Helper()
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		tb.Fatal(err)
	}
	statements := []string{
		fmt.Sprintf("alter database %s allow_connections %t", pgx.Identifier{cfg.Database}.Sanitize(), yes),
	}
	for range 4 { // a connection that is being opened appears late
		statements = append(statements, "select pg_sleep(0.05)",
			"select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '"+cfg.Database+"'")
	}
	if yes {
		statements = statements[:1]
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	server, err := running.get()
	if err == nil {
		err = admin(ctx, server.URL, statements...)
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// Distributed makes gateways read the database at url key by key, as if its tables were distributed with Citus.
// columns has the distribution column of each table. It creates a view that replaces that of Citus.
func Distributed(ctx context.Context, url string, columns map[string]string) error {
	var rows []string
	for table, column := range columns {
		rows = append(rows, fmt.Sprintf("('%s'::regclass, 'distributed', '%s')", table, column))
	}
	const view = `create or replace view citus_tables (table_name, citus_table_type, distribution_column) as values `
	return admin(ctx, url, view+strings.Join(rows, ", "))
}

// Keys reports whether the environment variable HELIOGRAPH_TEST_KEYS is set: then all tests read the ledger key by
// key.
func Keys() bool { return os.Getenv("HELIOGRAPH_TEST_KEYS") != "" }

// KeyByKey makes gateways read the test database at url key by key, by creating the view of [Distributed], if [Keys]
// is true. Otherwise it does nothing.
func KeyByKey(ctx context.Context, url string, columns map[string]string) error {
	if !Keys() {
		return nil
	}
	return Distributed(ctx, url, columns)
}
