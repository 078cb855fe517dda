package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// DefaultDataDir returns the folder for the data of the user who runs the gateway: /var/lib/heliograph for root, whose
// home is closed to the user that PostgreSQL runs as; else $XDG_STATE_HOME/heliograph or ~/.local/state/heliograph, and
// on macOS and Windows the folder for application data.
func DefaultDataDir() (string, error) {
	if os.Geteuid() == 0 {
		return "/var/lib/heliograph", nil
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, Name), nil
	}
	var dir string
	var err error
	switch runtime.GOOS {
	case "windows":
		dir, err = os.UserCacheDir() // %LocalAppData%
	case "darwin":
		dir, err = os.UserConfigDir() // ~/Library/Application Support
	default:
		dir, err = os.UserHomeDir()
		dir = filepath.Join(dir, ".local", "state")
	}
	if err != nil {
		return "", fmt.Errorf("no default folder for the data, set HELIOGRAPH_DATA_DIR: %w", err)
	}
	return filepath.Join(dir, Name), nil
}

// cacheDirs returns the folders below which unpacked PostgreSQL programs may lie.
func cacheDirs() []string {
	if os.Geteuid() == 0 {
		return []string{"/var/cache/heliograph"}
	}
	var dirs []string
	if dir, err := os.UserCacheDir(); err == nil { // knows XDG_CACHE_HOME on Linux only
		dirs = append(dirs, filepath.Join(dir, Name))
	}
	if dir := os.Getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		dirs = append(dirs, filepath.Join(dir, Name))
	} else if home, err := os.UserHomeDir(); err == nil {
		dirs = append(dirs, filepath.Join(home, ".cache", Name))
	}
	return dirs
}

// layout holds the paths that belong to one major version in one data folder. All are absolute and free of symbolic
// links, so that they compare with what the system says about processes.
type layout struct {
	base string // the data folder
	dir  string // base/pg<major>, private to the server's user
	data string // dir/data
	init string // dir/init.tmp, a cluster that is being made
	sock string // dir/s, or a short temporary folder
	lock string // base/pg<major>.lock
	log  string // base/postgres.log
}

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

// socketPathTooLong tells whether a socket in dir exceeds what every Unix takes (macOS: 103 bytes, Linux: 107).
func socketPathTooLong(dir string) bool {
	return len(filepath.Join(dir, ".s.PGSQL.5432.lock")) > 100
}

// openBase makes the data folder and resolves it.
func openBase(o Options) (string, error) {
	base := o.DataDir
	if base == "" {
		var err error
		if base, err = DefaultDataDir(); err != nil {
			return "", err
		}
	}
	base, err := filepath.Abs(base)
	if err != nil {
		return "", fmt.Errorf("data folder: %w", err)
	}
	mode := os.FileMode(0o700)
	if os.Geteuid() == 0 {
		mode = 0o755 // the server's user has to pass through
	}
	if err := os.MkdirAll(base, mode); err != nil {
		return "", fmt.Errorf("make the data folder: %w", err)
	}
	if base, err = filepath.EvalSymlinks(base); err != nil {
		return "", fmt.Errorf("data folder: %w", err)
	}
	return base, nil
}

// exists tells whether path is there; a path that cannot be looked at is an error, not absence.
func exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
