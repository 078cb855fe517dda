package pgtest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"heliograph/storage/embedded"
)

// Template describes a database that is prepared once in a test binary and copied for each test. Declare it as a
// package variable, and do not copy or change it afterwards.
type Template struct {
	// Name tells templates of one test binary apart, in messages and in the server: letters, digits and underscores.
	Name string
	// From is what Prepare begins with: a copy of that template, or an empty database if nil.
	From *Template
	// Prepare fills the database at url. It is given three minutes and must close its connections. The planner's
	// statistics are collected afterwards. May be nil.
	Prepare func(ctx context.Context, url string) error
}

// prepared is what a template became on the server.
type prepared struct {
	once   sync.Once
	name   string // of the database that is copied
	err    error
	shared sync.Once
	url    string // of the shared copy
	urlErr error
}

// Fresh returns the URL of a copy of the template that belongs to the test alone. It is dropped when the test ends,
// with the connections that are still open. The test fails when there is no server.
func (t *Template) Fresh(tb testing.TB) string {
	tb.Helper()
	server, p := t.mustPrepare(tb)
	return fresh(tb, server, p.name)
}

// Database returns the URL of a database without any table that belongs to the test alone, as [Template.Fresh] does.
func Database(tb testing.TB) string {
	tb.Helper()
	server, err := running.get()
	if err != nil {
		tb.Fatal(err)
	}
	return fresh(tb, server, "template0")
}

func fresh(tb testing.TB, server *embedded.Server, from string) string {
	tb.Helper()
	name := running.nextName()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	url, err := copyDatabase(ctx, server, from, name)
	if err != nil {
		tb.Fatalf("pgtest: %v", err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		if err := admin(ctx, server.URL("postgres"), "drop database "+name+" with (force)"); err != nil {
			tb.Errorf("pgtest: %v", err)
		}
	})
	return url
}

// Shared returns the URL of the one copy of the template that all tests of the binary share. Transactions on it are
// read-only unless they say otherwise, which they should not.
func (t *Template) Shared(tb testing.TB) string {
	tb.Helper()
	server, p := t.mustPrepare(tb)
	p.shared.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		name := running.nextName()
		if p.url, p.urlErr = copyDatabase(ctx, server, p.name, name); p.urlErr == nil {
			p.urlErr = admin(ctx, server.URL("postgres"), "alter database "+name+" set default_transaction_read_only = on")
		}
	})
	if p.urlErr != nil {
		tb.Fatalf("pgtest: share template %s: %v", t.Name, p.urlErr)
	}
	return p.url
}

func (t *Template) mustPrepare(tb testing.TB) (*embedded.Server, *prepared) {
	tb.Helper()
	server, err := running.get()
	if err != nil {
		tb.Fatal(err)
	}
	p, err := t.prepare(server)
	if err != nil {
		tb.Fatal(err)
	}
	return server, p
}

// prepare makes the database that is copied, at the first call.
func (t *Template) prepare(server *embedded.Server) (*prepared, error) {
	p, err := running.lookUp(t)
	if err != nil {
		return nil, err
	}
	p.once.Do(func() {
		if err := t.build(server, p.name); err != nil {
			p.err = fmt.Errorf("pgtest: prepare template %s: %w", t.Name, err)
		}
	})
	return p, p.err
}

func (t *Template) build(server *embedded.Server, name string) error {
	from := "template0"
	if t.From != nil {
		parent, err := t.From.prepare(server)
		if err != nil {
			return err
		}
		from = parent.name
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	url, err := copyDatabase(ctx, server, from, name)
	if err != nil || t.Prepare == nil {
		return err
	}
	if err := t.Prepare(ctx, url); err != nil {
		return err
	}
	// Visibility maps and statistics make plans those of a database that has been there for a while.
	if err := admin(ctx, url, "vacuum (analyze)"); err != nil {
		return err
	}
	return disconnect(ctx, server, name)
}

// disconnect ends what is still connected to a database and keeps others away, so that it can be copied at once:
// PostgreSQL does not copy a database in use. A closed connection's process may live a little longer than the call
// which closed it.
func disconnect(ctx context.Context, server *embedded.Server, name string) error {
	return admin(ctx, server.URL("postgres"),
		"alter database "+pgx.Identifier{name}.Sanitize()+" allow_connections false",
		"select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '"+name+"'")
}

// copyDatabase makes database name from another, and returns its URL.
func copyDatabase(ctx context.Context, server *embedded.Server, from, name string) (string, error) {
	sql := "create database " + pgx.Identifier{name}.Sanitize() + " template " + pgx.Identifier{from}.Sanitize()
	if server.Major() >= 15 {
		sql += " strategy file_copy" // no write-ahead log of each page
	}
	if err := admin(ctx, server.URL("postgres"), sql); err != nil {
		return "", err
	}
	return server.URL(name), nil
}
