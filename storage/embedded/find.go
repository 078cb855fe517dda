//go:build unix

package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"heliograph/internal/base/list"
)

// binaries are the programs of one PostgreSQL installation.
type binaries struct {
	dir     string
	major   int
	version string // from postgres --version, e.g. "15.18"
}

// usualFolders returns the folders in which systems install PostgreSQL, as glob patterns.
func usualFolders() []string {
	return []string{
		"/usr/lib/postgresql/*/bin", // Debian does not add the server to PATH
		"/usr/pgsql-*/bin",          // RHEL, SUSE
		"/usr/libexec/postgresql*",  // Alpine
		"/usr/lib/postgresql*/bin",  // Arch
		"/opt/homebrew/opt/postgresql*/bin",
		"/usr/local/opt/postgresql*/bin",
		"/usr/local/pgsql/bin",
		"/opt/local/lib/postgresql*/bin",
		"/Applications/Postgres.app/Contents/Versions/*/bin",
	}
}

// searchFolders returns the folders that may contain the programs, in order of preference. It searches PATH, runs
// pg_config, and looks in the usual folders and in the cache folder of this program. A source that fails is skipped.
// A folder can occur more than once.
func searchFolders(ctx context.Context) []string {
	var dirs []string
	if path, err := exec.LookPath("postgres"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			dirs = append(dirs, filepath.Dir(path))
		}
	}
	if out, err := output(ctx, "pg_config", "--bindir"); err == nil {
		dirs = append(dirs, out)
	}
	for _, p := range append(usualFolders(), filepath.Join(cacheDir(), "postgresql", "*", "bin")) {
		found, _ := filepath.Glob(p) // the only possible error is a malformed pattern
		dirs = append(dirs, found...)
	}
	return dirs
}

// find selects the programs for the data in base: those in o.BinDir, or the newest usable ones that fit. majors are
// the versions of its clusters; base itself is only part of errors. It fails with [ErrNoServer] or [ErrOtherVersion],
// and with the reasons. It also fails if the programs in o.BinDir are unusable, or if ctx ends during the search.
func find(ctx context.Context, o Options, base string, majors []int) (binaries, error) {
	if o.BinDir != "" {
		dir, err := filepath.Abs(o.BinDir) // the programs run in another working directory
		if err != nil {
			return binaries{}, fmt.Errorf("HELIOGRAPH_PG_BINDIR: %w", err)
		}
		b, err := probe(ctx, dir)
		if err != nil {
			return b, fmt.Errorf("HELIOGRAPH_PG_BINDIR is set to %s, which is unusable: %w", o.BinDir, err)
		}
		if len(majors) > 0 && !slices.Contains(majors, b.major) {
			return b, otherVersion(base, majors, []binaries{b})
		}
		return b, nil
	}
	dirs := o.folders
	if dirs == nil {
		dirs = searchFolders(ctx)
	}
	var usable []binaries
	var rejected []string
	for i, dir := range dirs {
		if slices.Contains(dirs[:i], dir) {
			continue
		}
		b, err := probe(ctx, dir)
		switch {
		case err == nil:
			usable = append(usable, b)
		case !errors.Is(err, os.ErrNotExist): // a folder without a server is not reported
			rejected = append(rejected, fmt.Sprintf("%s: %v", dir, err))
		}
	}
	if ctx.Err() != nil {
		return binaries{}, fmt.Errorf("looking for PostgreSQL: %w", context.Cause(ctx)) // the search was incomplete
	}
	slices.SortStableFunc(usable, func(a, b binaries) int { return b.major - a.major })
	if len(usable) == 0 {
		return binaries{}, noServer(rejected)
	}
	if len(majors) == 0 {
		return usable[0], nil
	}
	for _, b := range usable {
		if slices.Contains(majors, b.major) {
			return b, nil
		}
	}
	return binaries{}, otherVersion(base, majors, usable)
}

// probe checks whether dir contains a usable server, and returns its version. It runs postgres --version. Without a
// server in dir, it fails with [os.ErrNotExist]. It also fails if the version cannot be read or is older than
// [MinMajor]. Missing extensions are detected after the start.
func probe(ctx context.Context, dir string) (binaries, error) {
	b := binaries{dir: dir}
	for _, name := range []string{"postgres", "initdb"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return b, err
		}
	}
	out, err := output(ctx, filepath.Join(dir, "postgres"), "--version")
	if err != nil {
		return b, fmt.Errorf("postgres --version: %w", err)
	}
	if b.version, b.major, err = parseVersion(out); err != nil {
		return b, err
	}
	if b.major < MinMajor {
		return b, fmt.Errorf("PostgreSQL %s is older than %d", b.version, MinMajor)
	}
	return b, nil
}

// parseVersion parses a line such as "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)" or "… 19beta1". It returns
// the version, "15.18" or "19beta1", and its leading number. It fails for other text.
func parseVersion(line string) (version string, major int, err error) {
	_, err = fmt.Sscanf(line, "postgres (PostgreSQL) %s", &version)
	if err == nil {
		_, err = fmt.Sscanf(version, "%d", &major)
	}
	if err != nil {
		return "", 0, fmt.Errorf("unexpected output of postgres --version: %q", line)
	}
	return version, major, nil
}

// output runs a command of at most 5 seconds, in the environment of [serverEnv], and returns its output without
// surrounding space. A command that exits with another status than 0 is an error.
func output(ctx context.Context, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = serverEnv()
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// noServer returns the error for a machine without a usable PostgreSQL. rejected are the installations that were
// found, with the reasons. The error wraps [ErrNoServer].
func noServer(rejected []string) error {
	var b strings.Builder
	fmt.Fprintf(&b, `; it takes version %d or newer, with initdb and the extensions %s.
There are three ways out:
  1. install PostgreSQL with the system's package manager, for example
       apt-get install postgresql
       dnf install postgresql-server postgresql-contrib
       apk add postgresql postgresql-contrib
       brew install postgresql
  2. set HELIOGRAPH_PG_BINDIR to the folder of its programs postgres and initdb
  3. set HELIOGRAPH_DATABASE_URL to a database that runs elsewhere`,
		MinMajor, strings.Join(extensions(), " and "))
	if len(rejected) > 0 {
		b.WriteString("\nPassed over:\n  " + strings.Join(rejected, "\n  "))
	}
	return fmt.Errorf("%w%s", ErrNoServer, b.String())
}

// otherVersion returns the error for data of a version of PostgreSQL that is not installed. base is the data folder,
// majors are the versions of its data, and found are the usable installed programs. The error wraps
// [ErrOtherVersion].
func otherVersion(base string, majors []int, found []binaries) error {
	got := list.Map(found, func(b binaries) string { return b.version + " in " + b.dir })
	version := strings.Join(list.Map(majors, strconv.Itoa), " or ")
	return fmt.Errorf("%w: %s holds data of PostgreSQL %s, but found is %s. Nothing was changed. "+
		"Install PostgreSQL %s, or set HELIOGRAPH_PG_BINDIR to its programs, or choose another data folder",
		ErrOtherVersion, base, version, strings.Join(got, ", "), version)
}
