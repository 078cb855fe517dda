// Package pgtest gives tests real PostgreSQL databases.
//
// Each test binary has a server of its own, which starts when the first test asks for a database and stops with the
// binary. A [Template] says once how a database is made (its schema, its data); a test gets a copy of it, which takes
// some 50 ms, or shares one with the others when it only reads:
//
//	var empty = &pgtest.Template{Name: "empty", Prepare: migrate}
//	var demo = &pgtest.Template{Name: "demo", From: empty, Prepare: loadDemo}
//
//	func TestMain(m *testing.M) { pgtest.Main(m) }
//
//	func TestRead(t *testing.T) { pool := connect(t, demo.Shared(t)) … }
//	func TestWrite(t *testing.T) { pool := connect(t, empty.Fresh(t)) … }
//
// All of it may be used by parallel tests, and by several test binaries at once. The environment variable
// HELIOGRAPH_PG_BINDIR chooses the server's programs.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/storage/embedded"
)

// timeout bounds each step: the start of the server, a Prepare, a copy.
const timeout = 3 * time.Minute

// running is this binary's server. It is global because tests have no other way to share something.
var running = &host{templates: map[*Template]*prepared{}}

var validName = regexp.MustCompile(`^[A-Za-z0-9_]{1,50}$`)

// host is a server that starts when it is first needed, and what was made on it.
type host struct {
	mu        sync.Mutex
	open      bool // between the begin and the end of Main
	server    *embedded.Server
	err       error // why the server does not start
	templates map[*Template]*prepared
	databases int // made so far
}

// Main runs the tests of a package and stops the server afterwards. Call it from TestMain, as the last thing; it does
// not return the result, since the testing package takes note of it.
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

// get returns the server, which it starts at the first call.
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
				// Plans must not depend on when statistics happen to be collected, and no worker may be connected to a
				// template while it is copied.
				"autovacuum": "off",
			},
		})
	}
	return h.server, h.err
}

// lookUp returns what t has become, or is to become.
func (h *host) lookUp(t *Template) (*prepared, error) {
	if !validName.MatchString(t.Name) {
		return nil, fmt.Errorf("pgtest: %q cannot be the name of a template", t.Name)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if p := h.templates[t]; p != nil {
		return p, nil
	}
	for other := range h.templates {
		if other.Name == t.Name {
			return nil, fmt.Errorf("pgtest: two templates are named %s", t.Name)
		}
	}
	p := &prepared{name: "template_" + t.Name}
	h.templates[t] = p
	return p, nil
}

// nextName returns a name for one more database.
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

// admin runs statements, each in a transaction of its own, on a database of the server.
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
