//go:build unix

package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// relation is what a process is to a cluster.
type relation int

const (
	gone    relation = iota // there is no such process
	zombie                  // it ended, but its parent has not taken note
	ours                    // it serves the cluster
	foreign                 // it is something else that got a used process id
)

// takeOver clears away what an earlier gateway left behind. It must run with the lock held: no gateway lives, so
// whatever still serves the cluster is an orphan, and the files that mark a running server are stale. PostgreSQL on its
// own refuses to start when the process id in such a file is that of a zombie or of any other process of its user.
func takeOver(ctx context.Context, log *slog.Logger, l layout) error {
	pidFile := filepath.Join(l.data, "postmaster.pid")
	pid, err := readPid(pidFile)
	if err != nil {
		return err
	}
	rel := gone
	if pid > 1 {
		if rel, err = inspect(pid, l.data); err != nil {
			return fmt.Errorf("cannot tell whether the server that %s names still runs: %w", pidFile, err)
		}
	}
	if rel == ours {
		log.Warn("stopping the PostgreSQL that a killed gateway left running", "pid", pid, "data", l.data)
		// Fast shutdown, then immediate shutdown.
		if err := stopAll(ctx, []int{pid}, l.data, syscall.SIGINT, syscall.SIGQUIT); err != nil {
			return err
		}
	}
	// Workers of a killed server finish their statement first. Nothing may write to the cluster at the next start.
	if pids := processesOf(l.data); len(pids) > 0 {
		log.Warn("stopping the workers of a killed PostgreSQL", "pids", pids, "data", l.data)
		if err := stopAll(ctx, pids, l.data, syscall.SIGQUIT, syscall.SIGKILL); err != nil {
			return err
		}
	}
	var stale []string
	if rel == zombie || rel == foreign {
		log.Warn("removing the mark of a killed PostgreSQL", "file", pidFile, "pid", pid)
		stale = append(stale, pidFile)
	}
	entries, err := os.ReadDir(l.sock)
	if err != nil {
		return fmt.Errorf("look for a stale socket: %w", err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".s.PGSQL.") { // the socket, and its lock file
			stale = append(stale, filepath.Join(l.sock, e.Name()))
		}
	}
	for _, path := range stale {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove a stale file: %w", err)
		}
	}
	return nil
}

// readPid returns the process id in the file's first line, 0 without file or number.
func readPid(path string) (int, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("look for a running server: %w", err)
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	pid, err := strconv.Atoi(strings.TrimSpace(string(line)))
	if err != nil {
		return 0, nil //nolint:nilerr // written only in part: no server got far with it
	}
	return pid, nil
}

// stopAll sends each signal in turn to those of pids that still serve data, and gives them 10 s after each.
func stopAll(ctx context.Context, pids []int, data string, signals ...syscall.Signal) error {
	if len(pids) == 0 {
		return nil
	}
	for _, sig := range signals {
		for _, pid := range pids {
			if err := syscall.Kill(pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("stop PostgreSQL process %d: %w", pid, err)
			}
		}
		for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
			var left []int
			for _, pid := range pids {
				if rel, err := inspect(pid, data); err != nil || rel == ours {
					left = append(left, pid)
				}
			}
			if pids = left; len(pids) == 0 {
				return nil
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("waiting for an orphaned PostgreSQL to end: %w", context.Cause(ctx))
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
	return fmt.Errorf("the PostgreSQL processes %v on %s do not end", pids, data)
}
