//go:build unix

package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"heliograph/internal/base/wrap"
)

// relation is the relation of a process to a cluster.
type relation int

const (
	gone    relation = iota // the process does not exist
	zombie                  // it has ended, but its parent has not reaped it
	ours                    // it serves the cluster
	foreign                 // another process with a reused process id
)

// takeOver cleans up after an earlier gateway: it stops its server and workers, and removes the files that mark a
// running server: postmaster.pid if it is stale, the socket and its lock file. It must be called with the lock of
// [acquire] held: no other gateway is running, so any server of the cluster is an orphan. The folder of the socket
// must exist. It fails if a process does not end or cannot be inspected, or if ctx ends. PostgreSQL alone refuses to
// start if the process id in such a file is that of a zombie or of another process of its user.
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
	// Workers of a killed server finish their statement first. None may still write to the cluster at the next start.
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
	} else if pid == 0 { // PostgreSQL does not start if the file is empty, as it is after a crash while it was written
		stale = append(stale, pidFile)
	}
	entries, err := os.ReadDir(l.sock)
	if err != nil {
		return fmt.Errorf("looking for a stale socket: %w", err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".s.PGSQL.") { // the socket and its lock file
			stale = append(stale, filepath.Join(l.sock, e.Name()))
		}
	}
	for _, path := range stale {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("removing a stale file: %w", err)
		}
	}
	return nil
}

// readPid returns the process id in the file's first line, or 0 if the file or the number is missing.
func readPid(path string) (int, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("looking for a running server: %w", err)
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	pid, err := strconv.Atoi(strings.TrimSpace(string(line)))
	if err != nil {
		return 0, nil //nolint:nilerr // incomplete file: no server finished its start
	}
	return pid, nil
}

// stopAll sends the first signal to the processes in pids, of which the caller has checked that they serve data, and
// after 10 s each further signal to those that still do. It returns nil as soon as none is left, and fails if ctx ends
// or a process remains. It removes ended processes from the slice pids.
func stopAll(ctx context.Context, pids []int, data string, signals ...syscall.Signal) error {
	if len(pids) == 0 {
		return nil
	}
	for _, sig := range signals {
		for _, pid := range pids {
			if err := syscall.Kill(pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("stopping PostgreSQL process %d: %w", pid, err)
			}
		}
		for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
			pids = slices.DeleteFunc(pids, func(pid int) bool {
				rel, err := inspect(pid, data)
				return err == nil && rel != ours
			})
			if len(pids) == 0 {
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

// acquire locks the file at path, which marks the owner of the folder next to it, and writes the process id of this
// process into it. If another process has the lock, acquire fails with [ErrInUse] at once. The kernel releases the
// lock when the file is closed or this process ends. The file is not removed; otherwise two processes could lock two
// files of the same name.
func acquire(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the lock: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer f.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("locking %s: %w", path, err)
		}
		owner := ""
		if pid, err := io.ReadAll(io.LimitReader(f, 20)); err == nil && len(pid) > 0 {
			owner = fmt.Sprintf(" (process %s)", strings.TrimSpace(string(pid)))
		}
		return nil, fmt.Errorf("%w%s: %s", ErrInUse, owner, filepath.Dir(path))
	}
	// The owner's process id is for information only.
	if f.Truncate(0) == nil {
		_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	return f, nil
}

// makeTemp creates a temporary folder for a socket, which the server's user can traverse, and returns its path without
// symbolic links. If the mode cannot be set, it returns the path together with the error, and the folder stays.
func makeTemp(parent string) (string, error) {
	dir, err := os.MkdirTemp(parent, "heliograph-")
	if err == nil && os.Geteuid() == 0 {
		err = os.Chmod(dir, 0o711)
	}
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	return dir, wrap.Error(err, "making a temporary folder")
}
