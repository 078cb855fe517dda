//go:build unix

package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const tempPrefix = "heliograph-pg-"

// makeTemp creates a temporary folder that the server's user can traverse.
func makeTemp(parent, prefix string) (string, error) {
	dir, err := os.MkdirTemp(parent, prefix)
	if err == nil && os.Geteuid() == 0 {
		err = os.Chmod(dir, 0o711)
	}
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", fmt.Errorf("make a temporary folder: %w", err)
	}
	return dir, nil
}

// sweep removes the folders of ephemeral servers whose gateway was killed. A folder whose lock is free has no owner. Only old folders are removed, because a
// new folder's lock file is created before it is locked.
func sweep(ctx context.Context, log *slog.Logger) {
	locks, _ := filepath.Glob(filepath.Join(os.TempDir(), tempPrefix+"*", "pg*.lock"))
	for _, path := range locks {
		base := filepath.Dir(path)
		if !ownedByUs(base) {
			continue // folders of other users are not trusted
		}
		if info, err := os.Stat(path); err != nil || time.Since(info.ModTime()) < time.Minute {
			continue
		}
		lock, err := acquire(path)
		if err != nil {
			continue // in use
		}
		dir := path[:len(path)-len(".lock")]
		l := layout{data: filepath.Join(dir, "data"), sock: filepath.Join(dir, "s")}
		if err := takeOver(ctx, log, l); err != nil && !errors.Is(err, os.ErrNotExist) { // without folders, no server
			log.Warn("leaving the folder of a killed ephemeral server", "folder", base, "error", err)
		} else if err := os.RemoveAll(base); err != nil {
			log.Warn("removing the folder of a killed ephemeral server", "folder", base, "error", err)
		}
		lock.Close()
	}
}

// ownedByUs reports whether dir is a folder of this process's user and not a symbolic link.
func ownedByUs(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
