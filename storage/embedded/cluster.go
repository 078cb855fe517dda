//go:build unix

package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

var versionDir = regexp.MustCompile(`^pg(\d+)$`)

// clusters reads the data folder base, and returns the major versions of the clusters in it, in no particular order.
// It fails if the folder cannot be read.
func clusters(base string) ([]int, error) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return nil, lookError(err)
	}
	var majors []int
	for _, e := range entries {
		m := versionDir.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		major, err := strconv.Atoi(m[1])
		if err != nil {
			continue
		}
		there, err := exists(newLayout(base, major).data)
		if err != nil {
			return nil, lookError(err)
		}
		if there {
			majors = append(majors, major)
		}
	}
	return majors, nil
}

// lookError returns the error for a data folder that cannot be read, with advice if permissions are missing.
func lookError(err error) error {
	if errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("looking for data: %w: run as the user who made them, or choose another data folder", err)
	}
	return fmt.Errorf("looking for data: %w", err)
}

// ensureCluster creates the cluster with initdb if it does not exist. It is created in a temporary folder and renamed,
// so that an incomplete cluster is never used. Before that, it kills the processes of an interrupted initdb and
// removes its temporary folder. If ctx ends meanwhile, initdb is killed. made reports whether the cluster is new. A
// cluster of another version fails with [ErrOtherVersion] and is not changed.
func ensureCluster(ctx context.Context, b binaries, l layout, id identity) (made bool, err error) {
	there, err := exists(l.data)
	if err != nil {
		return false, fmt.Errorf("looking for data: %w", err)
	}
	if there {
		version, err := os.ReadFile(filepath.Join(l.data, "PG_VERSION"))
		if err != nil {
			return false, fmt.Errorf("%s is not a PostgreSQL data folder: %w", l.data, err)
		}
		if v := strings.TrimSpace(string(version)); v != strconv.Itoa(b.major) {
			return false, fmt.Errorf("%w: %s is of PostgreSQL %s, but %s is %s. Nothing was changed",
				ErrOtherVersion, l.data, v, b.dir, b.version)
		}
		return false, nil
	}
	// The server of an interrupted initdb may still be writing there.
	if err := stopAll(ctx, processesOf(l.init), l.init, syscall.SIGKILL); err != nil {
		return false, err
	}
	if err := os.RemoveAll(l.init); err != nil {
		return false, fmt.Errorf("removing what an interrupted initdb left: %w", err)
	}
	// Syncing the new files can take many seconds on a busy disk, so it is skipped. The system writes them within half
	// a minute. If the machine crashes before that, the empty cluster may have to be created again.
	cmd := exec.Command(filepath.Join(b.dir, "initdb"), "-D", l.init, "-U", Name, "-A", "trust", "-E", "UTF8",
		"--locale=C", "--no-instructions", "--no-sync")
	cmd.Dir, cmd.Env = l.dir, serverEnv()
	cmd.SysProcAttr = procAttr(id.cred, syscall.SIGTERM)
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	p, err := launch(cmd)
	if err != nil {
		return false, fmt.Errorf("starting initdb: %w", id.explain(err, l.dir, b.dir))
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // also kill the server that initdb started
		<-p.done
		return false, fmt.Errorf("initdb: %w", context.Cause(ctx))
	}
	if p.err != nil {
		return false, initdbError(p.err, out.String())
	}
	if err := os.Rename(l.init, l.data); err != nil {
		return false, fmt.Errorf("putting the new cluster in its place: %w", err)
	}
	return true, nil
}

// initdbError returns the error of initdb with what to do, or with its last lines of output.
func initdbError(err error, out string) error {
	if strings.Contains(out, "could not look up effective user ID") {
		return fmt.Errorf("PostgreSQL needs a name for the user that it runs as, and user id %d has none: "+
			"add it to /etc/passwd, or run as a user who is there", os.Geteuid())
	}
	return fmt.Errorf("initdb: %w: %s", err, lastLines([]byte(out), 5))
}

// lastLines returns the last n lines of text, joined into one line. Errors of premature connection attempts are
// excluded.
func lastLines(text []byte, n int) string {
	lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(string(text)), "\n"), func(line string) bool {
		return strings.Contains(line, "the database system is starting up")
	})
	return strings.Join(lines[max(0, len(lines)-n):], " / ")
}

// openLog opens the server's log for appending, after renaming one of more than 16 MiB, which replaces the one that
// was renamed before. The caller must close it. size is the offset in bytes at which new text starts.
func openLog(path string) (f *os.File, size int64, err error) {
	const long = 16 << 20 // bytes
	if info, err := os.Stat(path); err == nil && info.Size() > long {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, 0, fmt.Errorf("putting the long log aside: %w", err)
		}
	}
	f, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return nil, 0, fmt.Errorf("opening the server's log: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("opening the server's log: %w", err), f.Close())
	}
	return f, info.Size(), nil
}
