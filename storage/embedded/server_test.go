//go:build unix

package embedded

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestServer(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	var log bytes.Buffer
	o := Options{
		DataDir: dir, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		Settings: map[string]string{"work_mem": "7MB"},
	}
	s := mustStart(t, o)
	for sql, want := range map[string]string{
		"select current_user || ' ' || current_database()": "heliograph heliograph",
		"show fsync":              "on",
		"show synchronous_commit": "off",
		"show max_connections":    "60",
		"show listen_addresses":   "",
		"show work_mem":           "7MB",
		"show server_encoding":    "UTF8",
		"select datcollate from pg_database where datname = current_database()": "C",
		"show timezone": "UTC",
	} {
		if got := queryString(t, s.URL(Name), sql); got != want {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
	execSQL(t, s.URL(Name), "create extension btree_gist", "create extension pg_trgm")
	info, err := os.Stat(s.paths.sock)
	if err != nil || info.Mode().Perm() != 0o700 || s.paths.sock != filepath.Join(s.paths.dir, "s") ||
		s.paths.base != dir {
		t.Errorf("the socket's folder %s below %s: %v, %v", s.paths.sock, s.paths.base, info.Mode(), err)
	}
	fill(t, s.URL(Name))
	if err := s.Err(); err != nil {
		t.Errorf("a running server: %v", err)
	}
	for range 2 {
		if err := s.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
	select {
	case <-s.Done():
	default:
		t.Error("Done is open after Stop")
	}
	if err := s.Err(); err != nil {
		t.Errorf("a stopped server: %v", err)
	}
	if !strings.Contains(log.String(), "embedded PostgreSQL is ready") || !strings.Contains(log.String(), "new=true") {
		t.Errorf("log: %s", log.String())
	}

	begin := time.Now()
	checkKept(t, dir)
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("a second start took %v", took)
	}
}

func TestStopInsists(t *testing.T) {
	t.Parallel()
	dir := usedDir(t)
	s := mustStart(t, Options{DataDir: dir})
	fill(t, s.URL(Name))
	// A stopped process handles no signal but SIGKILL until it is continued, which this test does after a delay.
	if err := s.proc.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(200*time.Millisecond, func() { _ = s.proc.cmd.Process.Signal(syscall.SIGCONT) })
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := s.Stop(ctx); err != nil {
		t.Error(err)
	}
	if !strings.Contains(logOf(t, dir), "immediate shutdown") {
		t.Error("the server did not get the signal for an immediate shutdown")
	}
	checkKept(t, dir)
}

func TestStartGivesUp(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	tired := errors.New("tired")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(tired)
	if _, err := Start(ctx, Options{DataDir: dir}); !errors.Is(err, tired) {
		t.Errorf("a start that was given up: %v", err)
	}
	mustStart(t, Options{DataDir: dir}) // the folder is no longer in use
}

func TestLongPath(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(tempDir(t), strings.Repeat("long", 25))
	s := mustStart(t, Options{DataDir: dir})
	fill(t, s.URL(Name))
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if there, err := exists(s.paths.sock); there || err != nil || strings.HasPrefix(s.paths.sock, dir) {
		t.Errorf("the socket's folder %s is still there: %v", s.paths.sock, err)
	}
	checkKept(t, dir)
}

func TestLongLogIsPutAside(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "postgres.log")
	if err := os.WriteFile(path, make([]byte, 17<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	f, size, err := openLog(path)
	if err != nil || size != 0 {
		t.Fatalf("a new log of %d bytes, %v", size, err)
	}
	defer f.Close()
	if info, err := os.Stat(path + ".1"); err != nil || info.Size() != 17<<20 {
		t.Errorf("the long log is lost: %v", err)
	}
}
