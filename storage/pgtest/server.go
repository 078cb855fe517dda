package pgtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/storage/embedded"
)

// The server outlives the test binary that starts it, so that others can use it. The last one that uses it stops it.
// Templates stay in the cluster. Files in its folder, besides the cluster:
//
//	users   locked by each test binary that uses the server
//	start   locked while a binary begins or ends the use of the server
//	server  the URL, version and process id of the server, as JSON
//
// The system releases the locks of a killed process, so that nothing has to be cleaned up. If all binaries that use
// the server are killed, it runs until the next use ends.

// keepTemplates is the number of templates that a starting server keeps.
const keepTemplates = 20

// settings returns the PostgreSQL settings of the test server, by name.
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
// machine, where the system reports it. It does not create the folder.
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
	fmt.Fprint(h, string(boot), os.Getenv("HELIOGRAPH_PG_BINDIR"), settings())
	return filepath.Join(base, "heliograph", "tests", hex.EncodeToString(h.Sum(nil)[:6])), nil
}

// server is the server as its users see it.
type server struct {
	URL   string // of the database postgres
	Major int    // version
	PID   int    // of its first process

	dir   string
	users *os.File // locked while this process uses the server
}

// database returns the URL of the database with a name. It does not create it.
func (s *server) database(name string) string {
	return strings.Replace(s.URL, "/postgres?", "/"+name+"?", 1)
}

// lock opens a file in the server's folder, creates it if missing, and locks it. how is the mode of flock: without
// LOCK_NB, lock waits until other processes have released the file. The caller closes the file to unlock it.
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

// join makes this process a user of the server in a folder, with a shared lock that it holds until [server.leave]. It
// starts the server if it does not run. Meanwhile other processes that join or leave wait.
func join(dir string) (*server, error) {
	err := os.MkdirAll(dir, 0o755)
	if err != nil {
		return nil, err
	}
	start, err := lock(dir, "start", syscall.LOCK_EX)
	if err != nil {
		return nil, err
	}
	defer start.Close()
	users, err := lock(dir, "users", syscall.LOCK_SH)
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir, users: users}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	text, err := os.ReadFile(filepath.Join(dir, "server"))
	err = errors.Join(err, json.Unmarshal(text, s))
	if err == nil {
		err = admin(ctx, s.URL) // whether it runs
	}
	if err != nil {
		err = s.start(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, users.Close())
	}
	return s, nil
}

// start starts the server, writes its address to the file "server" in its folder, and removes what is left of earlier
// users: databases, roles and folders. It first marks the open files of this process, so that child processes do not
// inherit them. If a step after the start fails, it stops the server again.
func (s *server) start(ctx context.Context) error {
	for fd := 3; fd < 256; fd++ { // inherited files, such as a pipe whose reader waits for its end
		syscall.CloseOnExec(fd)
	}
	started, err := embedded.Start(ctx, embedded.Options{
		DataDir: s.dir, BinDir: os.Getenv("HELIOGRAPH_PG_BINDIR"), Settings: settings(), Outlives: true,
	})
	if err != nil {
		return err
	}
	s.URL = started.URL("postgres")
	s.Major, s.PID = started.Process()
	text, err := json.Marshal(s)
	err = errors.Join(err, started.Release(), os.WriteFile(filepath.Join(s.dir, "server"), text, 0o600),
		sweep(ctx, s.URL, keepTemplates), sweepFolders(s.dir))
	if err != nil {
		return errors.Join(err, s.stop())
	}
	return nil
}

// leave ends the use of the server by this process. The last user stops it. Meanwhile other processes that join or
// leave wait.
func (s *server) leave() error {
	start, err := lock(s.dir, "start", syscall.LOCK_EX)
	if err != nil {
		return err
	}
	defer start.Close()
	if syscall.Flock(int(s.users.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		err = s.stop()
	}
	return errors.Join(err, s.users.Close())
}

// stop stops the server, and waits up to 30 seconds for its end. If the process does not exist, it fails at once. As
// its last act, the server removes the file with its process id. The process itself can remain as a zombie.
func (s *server) stop() error {
	file := filepath.Join(s.dir, fmt.Sprintf("pg%d", s.Major), "data", "postmaster.pid")
	err := syscall.Kill(s.PID, syscall.SIGINT)
	for range 3000 {
		_, ended := os.Stat(file)
		if err != nil || ended != nil {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return errors.Join(err, fmt.Errorf("the server %d does not stop", s.PID))
}

// sweep drops the databases and roles of killed test binaries, and all templates but keep of them: those of today have
// priority, then the newest. The caller holds the lock of the file start, and nobody uses the server yet.
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
		// A process that a killed binary has started can still be connected.
		err := admin(ctx, url, "alter database "+name+" is_template false", "drop database "+name+" with (force)")
		if err != nil {
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

// sweepFolders removes the folders beside dir whose server was last started two days ago or earlier: those of earlier
// starts of the machine and of other settings.
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
