package pgtest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"heliograph/storage/embedded"
)

// Template describes a database that is prepared once per test binary and copied for tests. Declare it as a package variable, and do not copy or modify it.
type Template struct {
	// Name identifies the template in the test binary. It consists of letters, digits and underscores.
	Name string
	// From is the template to start from. Nil means an empty database.
	From *Template
	// Prepare fills the database at url. It has three minutes and must close its connections. Statistics are collected afterwards. Can be nil.
	Prepare func(ctx context.Context, url string) error
}

// prepared is the state of a template on the server.
type prepared struct {
	once   sync.Once
	name   string // database to copy
	err    error
	shared sync.Once
	url    string // URL of the shared copy
	urlErr error
}

// Fresh returns the URL of a new copy of the template. When the test ends, open connections are closed and the copy is dropped. It fails the test if
// the server is not available.
func (t *Template) Fresh(tb testing.TB) string {
	tb.Helper()
	server, p := t.mustPrepare(tb)
	return fresh(tb, server, p.name)
}

// Database is like [Template.Fresh] for an empty database.
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

// Shared returns the URL of the copy of the template that all tests of the binary share. Its transactions are read-only by default.
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

// prepare creates the database to copy on the first call.
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
	// Visibility maps and statistics give the plans of an established database.
	if err := admin(ctx, url, "vacuum (analyze)"); err != nil {
		return err
	}
	return disconnect(ctx, server, name)
}

// disconnect closes the connections to a database and prevents new ones, because PostgreSQL does not copy a database in use. The process of a
// connection can live a little longer than the call that closed it.
func disconnect(ctx context.Context, server *embedded.Server, name string) error {
	return admin(ctx, server.URL("postgres"),
		"alter database "+pgx.Identifier{name}.Sanitize()+" allow_connections false",
		"select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '"+name+"'")
}

func copyDatabase(ctx context.Context, server *embedded.Server, from, name string) (string, error) {
	sql := "create database " + pgx.Identifier{name}.Sanitize() + " template " + pgx.Identifier{from}.Sanitize()
	if server.Major() >= 15 {
		sql += " strategy file_copy" // does not write each page to the WAL
	}
	if err := admin(ctx, server.URL("postgres"), sql); err != nil {
		return "", err
	}
	return server.URL(name), nil
}
