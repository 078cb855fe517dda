package pgtest

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// serverDir returns a folder for a server that no other test uses.
func serverDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pgtest") //nolint:usetesting // t.TempDir is closed to the user of PostgreSQL
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil { // the server may run as another user
		t.Fatal(err)
	}
	t.Cleanup(func() {
		waitFor(t, "the end of the server", func() bool { return stopped(t, dir) })
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// waitFor waits until done returns true, for at most 30 seconds.
func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 3000 {
		if done() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("waited in vain for %s", what)
}

// stopped reports whether no process runs the server in a folder.
func stopped(t *testing.T, dir string) bool {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "pg*", "data", "postmaster.pid"))
	return err == nil && len(found) == 0
}

func newHost(dir string) *host {
	h := &host{}
	h.begin(dir)
	return h
}

func mustGet(t *testing.T, h *host) *server {
	t.Helper()
	s, err := h.get()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func databases(t *testing.T, s *server) string {
	t.Helper()
	conn := connect(t, s.URL)
	const sql = `select datname from pg_database where datname ~ '^(test|template)_' order by 1`
	rows, err := conn.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, " ")
}

// TestHosts has two users of one server, one after the other and at the same time. The server stops without users, and
// starts again with its templates.
func TestHosts(t *testing.T) {
	t.Parallel()
	if _, err := (&host{}).get(); err == nil || !strings.Contains(err.Error(), "pgtest.Main(m)") {
		t.Errorf("a server without Main: %v", err)
	}
	dir := serverDir(t)
	first, second, unused := newHost(dir), newHost(dir), newHost(dir)
	if err := unused.end(); err != nil {
		t.Errorf("ending a binary that needs no server: %v", err)
	}
	server := mustGet(t, first)
	if mustGet(t, first) != server || mustGet(t, second).URL != server.URL {
		t.Error("a second server")
	}
	kept := &Template{Name: "kept"}
	old := "template_200101_0123456789ab_old"
	current := "template_" + today() + "_0123456789ab_kept"
	for range 2 {
		if err := kept.buildOnce(t.Context(), server, "template0", current); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(kept.buildOnce(t.Context(), server, "template0", old),
		admin(t.Context(), server.URL, "create database "+first.nextName())); err != nil {
		t.Fatal(err)
	}
	if err := first.end(); err != nil {
		t.Error(err)
	}
	if got, want := databases(t, server), old+" "+current; got != want {
		t.Errorf("databases %s, want %s", got, want)
	}
	left, err := copyDatabase(t.Context(), server, "template0", second.nextName())
	if err != nil {
		t.Fatal(err)
	}
	connect(t, left)                                          // as a process that a killed binary has started
	if err := sweep(t.Context(), server.URL, 1); err != nil { // those of today are kept before newer ones
		t.Error(err)
	}
	if err := second.end(); err != nil {
		t.Error(err)
	}
	if !stopped(t, dir) {
		t.Error("the server that nobody uses goes on")
	}
	again := newHost(dir)
	if got := databases(t, mustGet(t, again)); got != current {
		t.Errorf("databases %s after a restart, want %s", got, current)
	}
	if err := again.end(); err != nil {
		t.Error(err)
	}
}

// TestInterruptedTemplate finds a template that a killed binary began.
func TestInterruptedTemplate(t *testing.T) {
	t.Parallel()
	server, err := running.get()
	if err != nil {
		t.Fatal(err)
	}
	name := "template_" + today() + "_interrupted"
	if err := admin(t.Context(), server.URL, "drop database if exists "+name, "create database "+name); err != nil {
		t.Fatal(err)
	}
	template := &Template{Name: "interrupted", Prepare: func(ctx context.Context, url string) error {
		return admin(ctx, url, "create table complete ()")
	}}
	if err := template.buildOnce(t.Context(), server, "template0", name); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, fresh(t, server, name))
	if n := queryInt(t, conn, "select count(*) from pg_class where relname = 'complete'"); n != 1 {
		t.Error("the template of a killed binary was used")
	}
	err = admin(t.Context(), server.URL, "alter database "+name+" is_template false", "drop database "+name)
	if err != nil {
		t.Error(err)
	}
}

// TestKilled kills a test binary, and then the server. The next user gets a server without the databases of the killed
// binary.
func TestKilled(t *testing.T) {
	t.Parallel()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := serverDir(t)
	cmd := exec.Command(path)
	cmd.Env = append(os.Environ(), userVariable+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	h := newHost(dir)
	s := mustGet(t, h)
	if got := databases(t, s); !strings.HasPrefix(got, "test_") {
		t.Errorf("databases %s: the server stopped with the binary that started it", got)
	}
	if err := s.users.Close(); err != nil {
		t.Error(err)
	}
	if err := syscall.Kill(s.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	h = newHost(dir)
	if got := databases(t, mustGet(t, h)); got != "" {
		t.Errorf("databases %s after the server was killed", got)
	}
	if err := h.end(); err != nil {
		t.Error(err)
	}
}

// TestHashOf checks that the hash depends on the tests of a package, but not on those of its imports.
func TestHashOf(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(root, name)
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
		if err != nil {
			t.Fatal(err)
		}
	}
	sum := func() string {
		s, err := hashIn(root, "heliograph/a")
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	write("go.sum", "")
	write("a/a.go", `package a; import _ "heliograph/b"`)
	write("b/b.go", `package b`)
	last := sum()
	for _, test := range []struct {
		name, text string
		changes    bool
	}{
		{"a/a_test.go", `package a`, true},
		{"b/b.go", `package b; import _ "embed"`, true},
		{"b/b_test.go", `package b`, false},
		{"b/sql/1.sql", `select 1`, true},
		{"b/testdata/1.sql", `select 1`, false},
		{"b/c/c.go", `package c`, false},
		{"b/c/1.sql", `select 1`, false},
		{"go.sum", `x`, true},
	} {
		write(test.name, test.text)
		next := sum()
		if (next != last) != test.changes {
			t.Errorf("%s: hash %s, before %s", test.name, next, last)
		}
		last = next
	}
	if _, err := hashOf("heliograph/storage/pgtest"); err != nil {
		t.Error(err)
	}
}
