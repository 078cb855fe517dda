package pgtest

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/storage/embedded"
)

// The server belongs to a process of its own, a copy of the test binary that found none. It outlives that binary, so
// that the next ones need not start a server and find the templates of earlier runs. Files in its folder, besides the
// cluster:
//
//	users       locked by each test binary that uses the server (shared), and by the server's process while it stops
//	start       locked by the test binary that starts the server
//	server      locked by the server's process while it runs; has its URL
//	server.log  errors of the server's process
//
// The system releases the locks of a killed process, so that nothing has to be cleaned up. If the server's process is
// killed, the system or the next start stops the server.

// ServerVariable is an environment variable. It makes a test binary run the server in the folder that is its value,
// instead of tests.
const ServerVariable = "HELIOGRAPH_TEST_SERVER"

// idleVariable is the duration after which an unused server stops.
const idleVariable = "HELIOGRAPH_TEST_SERVER_IDLE"

// keepTemplates is the number of templates that a starting server keeps.
const keepTemplates = 20

// settings are the settings of the server.
func settings() map[string]string {
	return map[string]string{
		"max_connections": "1000",
		"shared_buffers":  "128MB",
		"max_wal_size":    "512MB",
		// A crash of the machine leaves a folder that is not used again. See serverFolder.
		"fsync":            "off",
		"full_page_writes": "off",
		// Plans must not depend on the time of automatic statistics, and no worker may be connected to a template
		// while it is copied.
		"autovacuum": "off",
	}
}

// serverFolder returns the folder of the server. Its name depends on the settings, the programs, and the start of the
// machine, where the system reports it.
func serverFolder() (string, error) {
	base := "/var/cache" // root's home is closed to the user that runs the server
	if os.Geteuid() != 0 {
		var err error
		if base, err = os.UserCacheDir(); err != nil {
			return "", fmt.Errorf("no folder for the test server: %w", err)
		}
	}
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // Linux only
	h := sha256.New()
	fmt.Fprintf(h, "%s %s", boot, os.Getenv("HELIOGRAPH_PG_BINDIR"))
	for _, name := range slices.Sorted(maps.Keys(settings())) {
		fmt.Fprintf(h, " %s=%s", name, settings()[name])
	}
	return filepath.Join(base, "heliograph", "tests", hex.EncodeToString(h.Sum(nil)[:6])), nil
}

// server is the server as its users see it.
type server struct {
	URL   string // of the database postgres
	Major int    // version
	PID   int    // of the server's process, whose child is the server

	users *os.File // locked while this process uses the server
}

// database returns the URL of a database.
func (s *server) database(name string) string {
	u, err := url.Parse(s.URL)
	if err != nil {
		return err.Error() // it was built by package embedded
	}
	u.Path = "/" + name
	return u.String()
}

// leave ends the use of the server.
func (s *server) leave() error { return s.users.Close() }

// lock opens and locks a file in the server's folder.
func lock(dir, name string, how int) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// join makes this process a user of the server in a folder. It starts the server if it does not run.
func join(dir string, idle time.Duration) (*server, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	users, err := lock(dir, "users", syscall.LOCK_SH)
	if err != nil {
		return nil, err
	}
	s := &server{users: users}
	if err := s.find(dir, idle); err != nil {
		return nil, errors.Join(err, users.Close())
	}
	return s, nil
}

func (s *server) find(dir string, idle time.Duration) error {
	start, err := lock(dir, "start", syscall.LOCK_EX)
	if err != nil {
		return err
	}
	defer start.Close()
	free, err := lock(dir, "server", syscall.LOCK_SH|syscall.LOCK_NB)
	switch {
	case err == nil:
		free.Close()
		if err := launch(dir, idle); err != nil {
			return err
		}
	case !errors.Is(err, syscall.EWOULDBLOCK):
		return err
	}
	text, err := os.ReadFile(filepath.Join(dir, "server"))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, s)
}

// launch starts the server's process and returns when the server accepts connections.
func launch(dir string, idle time.Duration) error {
	path, err := os.Executable()
	if err != nil {
		return err
	}
	errs, err := os.Create(filepath.Join(dir, "server.log"))
	if err != nil {
		return err
	}
	defer errs.Close()                                     // the process has its own copy
	cmd := exec.CommandContext(context.Background(), path) // outlives this process
	cmd.Env = append(os.Environ(), ServerVariable+"="+dir, idleVariable+"="+idle.String())
	cmd.Dir = "/"
	cmd.Stderr = errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // Ctrl-C ends the tests only
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	for fd := 3; fd < 256; fd++ { // inherited files, such as a pipe whose reader waits for its end
		syscall.CloseOnExec(fd)
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	_, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		text, _ := os.ReadFile(errs.Name())
		return fmt.Errorf("%w: %s", errors.Join(err, cmd.Wait()), text)
	}
	go func() { _ = cmd.Wait() }() // usually it outlives this process
	return nil
}

// serve runs the server in a folder until it was not used for a while. It prints a line when the server is ready.
func serve(dir string) error {
	idle, err := time.ParseDuration(os.Getenv(idleVariable))
	if err != nil {
		return err
	}
	file, err := lock(dir, "server", syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	programs := os.Getenv("HELIOGRAPH_PG_BINDIR")
	s, err := embedded.Start(ctx, embedded.Options{DataDir: dir, BinDir: programs, Settings: settings()})
	if err != nil {
		return err
	}
	own := &server{URL: s.URL("postgres"), Major: s.Major(), PID: os.Getpid()}
	if err := errors.Join(sweep(ctx, own.URL, keepTemplates), sweepFolders(dir), file.Truncate(0),
		json.NewEncoder(file).Encode(own)); err != nil {
		return errors.Join(err, s.Stop(ctx))
	}
	fmt.Println("ready")
	if err := os.Stdout.Close(); err != nil {
		return errors.Join(err, s.Stop(ctx))
	}
	for used := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		select {
		case <-s.Done():
			return errors.Join(s.Err(), file.Close())
		default:
		}
		users, err := lock(dir, "users", syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err != nil:
			used = time.Now()
		case time.Since(used) < idle:
			users.Close()
		default: // new users wait until the last file is closed
			return errors.Join(s.Stop(context.Background()), file.Close(), users.Close())
		}
	}
}

// sweep drops the databases and roles of killed test binaries, and all but the newest templates. Nobody uses the
// server yet.
func sweep(ctx context.Context, url string, keep int) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, `
select datname from pg_database where datname like 'test\_%'
union all
(select datname from pg_database where datname like 'template\_%'
 order by datname like 'template\_' || $1 || '%' desc, oid desc offset $2)`, today(), keep)
	if err != nil {
		return err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, name := range names {
		name = pgx.Identifier{name}.Sanitize()
		if err := admin(ctx, url, "alter database "+name+" is_template false", "drop database "+name); err != nil {
			return err
		}
	}
	_, err = conn.Exec(ctx, `do $$ declare name text;
begin
  for name in select rolname from pg_roles where rolname like 'test\_%' loop
    execute format('drop role %I', name);
  end loop;
end $$`)
	return err
}

// sweepFolders removes the folders beside dir that have not been used for two days: those of earlier starts of the
// machine and of other settings.
func sweepFolders(dir string) error {
	beside, err := filepath.Glob(filepath.Join(filepath.Dir(dir), "*", "server"))
	if err != nil {
		return err
	}
	for _, path := range beside {
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > 48*time.Hour {
			if err := os.RemoveAll(filepath.Dir(path)); err != nil {
				return err
			}
		}
	}
	return nil
}
