package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// DefaultDataDir returns the default data folder of the current user. For root it is /var/lib/heliograph, because the PostgreSQL user cannot access root's
// home. For other users it is $XDG_STATE_HOME/heliograph or ~/.local/state/heliograph. On macOS and Windows it is in the folder for application data.
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

// cacheDirs returns the folders in which unpacked PostgreSQL programs may be found.
func cacheDirs() []string {
	if os.Geteuid() == 0 {
		return []string{"/var/cache/heliograph"}
	}
	var dirs []string
	if dir, err := os.UserCacheDir(); err == nil { // uses XDG_CACHE_HOME on Linux only
		dirs = append(dirs, filepath.Join(dir, Name))
	}
	if dir := os.Getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		dirs = append(dirs, filepath.Join(dir, Name))
	} else if home, err := os.UserHomeDir(); err == nil {
		dirs = append(dirs, filepath.Join(home, ".cache", Name))
	}
	return dirs
}

// layout contains the paths of one major version in one data folder. All are absolute and free of symbolic links, so that they can be compared with the paths
// that the system reports for processes.
type layout struct {
	base string // the data folder
	dir  string // base/pg<major>, accessible only to the server's user
	data string // dir/data
	init string // dir/init.tmp, a cluster that is being created
	sock string // dir/s, or a temporary folder with a short path
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

// socketPathTooLong reports whether the path of a socket in dir exceeds the shortest limit of all Unix systems (macOS: 103 bytes, Linux: 107).
func socketPathTooLong(dir string) bool {
	return len(filepath.Join(dir, ".s.PGSQL.5432.lock")) > 100
}

// openBase creates the data folder and returns its path without symbolic links.
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
		mode = 0o755 // the server's user needs access
	}
	if err := os.MkdirAll(base, mode); err != nil {
		return "", fmt.Errorf("make the data folder: %w", err)
	}
	if base, err = filepath.EvalSymlinks(base); err != nil {
		return "", fmt.Errorf("data folder: %w", err)
	}
	return base, nil
}

// exists reports whether path exists. If this cannot be determined, it returns an error.
func exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
