package pgtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Template describes a database that is prepared once and copied for tests. Declare it as a package variable, and do
// not copy or modify it.
type Template struct {
	// Name identifies the template in the test binary. It consists of letters, digits and underscores.
	Name string
	// From is the template to start from. Nil means an empty database.
	From *Template
	// Package is the import path of the package whose code, with the packages of this module that it imports,
	// determines what Prepare writes. Then all test binaries share the template until that code or the day changes.
	// Each binary prepares a template without Package for itself.
	Package string
	// Prepare fills the database at url. It has three minutes and must close its connections. Statistics are collected
	// afterwards. Can be nil.
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

// Fill fills the empty database at url, which can be on another server, like the template: it runs Prepare of the
// templates that it is based on, then its own. All of them must have a Prepare.
func (t *Template) Fill(ctx context.Context, url string) error {
	if t.From != nil {
		if err := t.From.Fill(ctx, url); err != nil {
			return err
		}
	}
	return t.Prepare(ctx, url)
}

// Fresh returns the URL of a new copy of the template. When the test ends, open connections are closed and the copy is
// dropped. It fails the test if the server is not available.
func (t *Template) Fresh(tb testing.TB) string {
	tb.Helper()
	server, p := t.mustPrepare(tb)
	return fresh(tb, server, p.name)
}

// Database returns the URL of a new, empty database, which is dropped when the test ends. It fails the test if the
// server is not available.
func Database(tb testing.TB) string {
	tb.Helper()
	server, err := running.get()
	if err != nil {
		tb.Fatal(err)
	}
	return fresh(tb, server, "template0")
}

// fresh returns the URL of a copy of a database, which is dropped when the test ends. It ends the test if the copy
// fails, for example because something is connected to the database.
func fresh(tb testing.TB, server *server, from string) string {
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
		if err := admin(ctx, server.URL, "drop database "+name+" with (force)"); err != nil {
			tb.Errorf("pgtest: %v", err)
		}
	})
	return url
}

// Shared returns the URL of the copy of the template that all tests of the binary share. Its transactions are
// read-only by default. The first call starts the server and fills the template if necessary, and creates the copy,
// which goes with the server; if that fails, it and all later calls fail their tests.
func (t *Template) Shared(tb testing.TB) string {
	tb.Helper()
	server, p := t.mustPrepare(tb)
	p.shared.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		name := running.nextName()
		if p.url, p.urlErr = copyDatabase(ctx, server, p.name, name); p.urlErr == nil {
			p.urlErr = admin(ctx, server.URL, "alter database "+name+" set default_transaction_read_only = on")
		}
	})
	if p.urlErr != nil {
		tb.Fatalf("pgtest: share template %s: %v", t.Name, p.urlErr)
	}
	return p.url
}

// mustPrepare returns the server and the prepared template, which the first call builds. The test fails if either
// is not available.
func (t *Template) mustPrepare(tb testing.TB) (*server, *prepared) {
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

// prepare returns the state of the template. The first call creates or finds the database to copy, while others wait.
// Its error is kept, and all later calls return it.
func (t *Template) prepare(server *server) (*prepared, error) {
	p, err := running.lookUp(t)
	if err != nil {
		return nil, err
	}
	p.once.Do(func() {
		if p.name, p.err = t.find(server); p.err != nil {
			p.err = fmt.Errorf("pgtest: prepare template %s: %w", t.Name, p.err)
		}
	})
	return p, p.err
}

// today returns the date in UTC as yymmdd, a part of the names of templates: each day has its own.
func today() string { return time.Now().UTC().Format("060102") }

// find returns the name of the template's database. It builds the database if it does not exist, and before that those
// of the templates that it is based on. A template without Package always gets a new database, which is dropped at the
// end of this test binary.
func (t *Template) find(server *server) (string, error) {
	from := "template0"
	if t.From != nil {
		parent, err := t.From.prepare(server)
		if err != nil {
			return "", err
		}
		from = parent.name
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	if t.Package == "" {
		name := running.nextName()
		return name, t.build(ctx, server, from, name)
	}
	code, err := hashOf(t.Package)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %s %t", code, from, t.Package, Keys()))
	name := "template_" + today() + "_" + hex.EncodeToString(sum[:6]) + "_" + t.Name
	return name, t.buildOnce(ctx, server, from, name)
}

// buildOnce builds a database that test binaries share, unless it exists. Others wait for the one that builds. What a
// killed one left is dropped.
func (t *Template) buildOnce(ctx context.Context, server *server, from, name string) error {
	conn, err := pgx.Connect(ctx, server.URL)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx)) // releases the lock
	if _, err := conn.Exec(ctx, `select pg_advisory_lock(hashtext($1))`, name); err != nil {
		return err
	}
	var complete bool
	err = conn.QueryRow(ctx, `select datistemplate from pg_database where datname = $1`, name).Scan(&complete)
	if complete || err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	quoted := pgx.Identifier{name}.Sanitize()
	if err := admin(ctx, server.URL, "drop database if exists "+quoted+" with (force)"); err != nil {
		return err
	}
	if err := t.build(ctx, server, from, name); err != nil {
		return err
	}
	return admin(ctx, server.URL, "alter database "+quoted+" is_template true")
}

// build creates a template database from another one, with Prepare and statistics. Without Prepare, it only copies.
// With it, no connections to the new database are permitted afterwards.
func (t *Template) build(ctx context.Context, server *server, from, name string) error {
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

// disconnect closes the connections to a database and prevents new ones, because PostgreSQL does not copy a database
// in use. The process of a connection can live a little longer than the call that closed it.
func disconnect(ctx context.Context, server *server, name string) error {
	return admin(ctx, server.URL,
		"alter database "+pgx.Identifier{name}.Sanitize()+" allow_connections false",
		"select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '"+name+"'")
}

// copyDatabase copies a database on the server and returns the URL of the copy. Nothing may be connected to the
// original.
func copyDatabase(ctx context.Context, server *server, from, name string) (string, error) {
	sql := "create database " + pgx.Identifier{name}.Sanitize() + " template " + pgx.Identifier{from}.Sanitize()
	if server.Major >= 15 {
		sql += " strategy file_copy" // does not write each page to the WAL
	}
	if err := admin(ctx, server.URL, sql); err != nil {
		return "", err
	}
	return server.database(name), nil
}
