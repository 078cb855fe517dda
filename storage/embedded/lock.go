//go:build unix

package embedded

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// acquire locks the file at path, which marks the owner of the folder next to it. The kernel releases the lock when the file is closed or this process ends.
// The file is not removed; otherwise two processes could lock two files of the same name.
func acquire(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer f.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock %s: %w", path, err)
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
