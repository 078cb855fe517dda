// Package embedded runs a PostgreSQL server as a child process, for use if no database URL is configured.
//
// It uses the PostgreSQL programs installed on the machine and downloads nothing. [Options.BinDir] describes where it
// searches for them. The server listens on a Unix socket in a private folder and on no TCP port. It is stopped with
// the gateway, even if the gateway is killed. The next start cleans up after an earlier gateway. The data is never
// deleted.
//
// Layout of a data folder:
//
//	postgres.log      output of the server, for all versions
//	pg15.lock         locked by the gateway that owns pg15
//	pg15/data         the cluster of PostgreSQL 15
//	pg15/s            the socket
package embedded

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"

	"heliograph/internal/base/wrap"
)

// Name is the name of the superuser and of the database that [Start] creates.
const Name = "heliograph"

// MinMajor is the oldest supported major version of PostgreSQL.
const MinMajor = 14

// Errors to test for with [errors.Is]. The errors that [Start] returns add the details.
var (
	// ErrNoServer means that no usable PostgreSQL is installed.
	ErrNoServer = errors.New("no usable PostgreSQL server found")
	// ErrInUse means that another gateway uses the data folder.
	ErrInUse = errors.New("data folder is in use by another gateway")
	// ErrOtherVersion means that the data folder was created by a major version of PostgreSQL that was not found.
	ErrOtherVersion = errors.New("data folder was made by another major version of PostgreSQL")
)

// extensions returns the extensions that the schema needs. They are part of PostgreSQL, but some systems package them
// separately.
func extensions() []string { return []string{"btree_gist", "pg_trgm"} }

// Options configure the server. The zero value means a persistent server in the default folder.
type Options struct {
	// DataDir is the data folder. It is created if missing. The default is [DefaultDataDir].
	DataDir string

	// BinDir is the folder that contains postgres and initdb (HELIOGRAPH_PG_BINDIR). If set, no other folder is
	// searched, and it is an error if its programs are unusable. If empty, programs of the data's major version are
	// searched in this order: PATH, pg_config, the usual folders of the system, and heliograph/postgresql/*/bin in the
	// user's cache folder. Without data, the newest major version is used.
	BinDir string

	// Settings are further server settings by name. They override those of this package.
	Settings map[string]string

	// Logger is optional. Nil discards the log.
	Logger *slog.Logger

	// Outlives makes the server go on when the process ends that started it. The signal SIGINT stops it, as does the
	// next [Start]. See [Server.Release].
	Outlives bool

	// folders replaces all searched folders except BinDir, for tests.
	folders []string
}

// DefaultDataDir returns the default data folder of the current user. For root it is /var/lib/heliograph, because the
// PostgreSQL user cannot access root's home. For other users it is $XDG_STATE_HOME/heliograph if that is an absolute
// path; else it is ~/.local/state/heliograph, and on macOS in the folder for application data. It creates nothing, and
// fails if it needs the home folder and the environment has none.
func DefaultDataDir() (string, error) {
	if os.Geteuid() == 0 {
		return "/var/lib/heliograph", nil
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, Name), nil
	}
	var dir string
	var err error
	if runtime.GOOS == "darwin" {
		dir, err = os.UserConfigDir() // ~/Library/Application Support
	} else {
		dir, err = os.UserHomeDir()
		dir = filepath.Join(dir, ".local", "state")
	}
	if err != nil {
		return "", fmt.Errorf("no default folder for the data: %w", err)
	}
	return filepath.Join(dir, Name), nil
}

// cacheDir returns the folder in which unpacked PostgreSQL programs may be found: that of
// scripts/ensure-postgres.sh. It reads environment variables and creates nothing.
func cacheDir() string {
	if os.Geteuid() == 0 {
		return "/var/cache/heliograph"
	}
	if dir := os.Getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, Name)
	}
	home, _ := os.UserHomeDir() // without one, nothing is found: not even below the working directory
	return filepath.Join("/", home, ".cache", Name)
}

// layout contains the paths of one major version in one data folder. All are absolute and free of symbolic links, so
// that they can be compared with the paths that the system reports for processes.
type layout struct {
	base string // the data folder
	dir  string // base/pg<major>, accessible only to the server's user
	data string // dir/data
	init string // dir/init.tmp, a cluster that is being created
	sock string // dir/s, or a temporary folder with a short path
	lock string // base/pg<major>.lock
	log  string // base/postgres.log
}

// newLayout returns the paths of the data of a major version of PostgreSQL in base, a result of [openBase]. Versions
// have folders of their own, but share the log. It neither reads nor creates anything.
func newLayout(base string, major int) layout {
	dir := filepath.Join(base, fmt.Sprintf("pg%d", major))
	return layout{
		base: base,
		dir:  dir,
		data: filepath.Join(dir, "data"),
		init: filepath.Join(dir, "init.tmp"),
		sock: filepath.Join(dir, "s"),
		lock: dir + ".lock",
		log:  filepath.Join(base, "postgres.log"),
	}
}

// socketPathTooLong reports whether the path of a socket in dir exceeds the shortest limit of all Unix systems (macOS:
// 103 bytes, Linux: 107).
func socketPathTooLong(dir string) bool {
	return len(filepath.Join(dir, ".s.PGSQL.5432.lock")) > 100
}

// openBase creates the data folder if it does not exist and returns its absolute path without symbolic links. The
// default is [DefaultDataDir]. Only the user can access a new folder; one that root creates is readable by all. An
// existing folder keeps its mode.
func openBase(base string) (string, error) {
	var err error
	if base == "" {
		base, err = DefaultDataDir()
		if err != nil {
			return "", err
		}
	}
	base, err = filepath.Abs(base)
	if err != nil {
		return "", fmt.Errorf("data folder: %w", err)
	}
	mode := os.FileMode(0o700)
	if os.Geteuid() == 0 {
		mode = 0o755 // the server's user needs access
	}
	if err := os.MkdirAll(base, mode); err != nil {
		return "", fmt.Errorf("making the data folder: %w", err)
	}
	base, err = filepath.EvalSymlinks(base)
	return base, wrap.Error(err, "data folder")
}

// exists reports whether path exists. If this cannot be determined, it returns an error.
func exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
