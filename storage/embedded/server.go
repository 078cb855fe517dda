//go:build unix

package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/internal/base/wrap"
)

// Server is a running PostgreSQL server.
type Server struct {
	bin      binaries
	paths    layout
	log      *slog.Logger
	lock     *os.File
	proc     *process
	logSize  int64  // size of the log before this server wrote to it
	tmp      string // folder to remove at the end, or empty
	stopping atomic.Bool
	stopOnce sync.Once
	stopErr  error
}

// Start starts the server and returns when it accepts connections and the database [Name] exists. This takes about 0.1
// s, and 1 s for the first start. Start takes over the data folder of a killed gateway. Canceling ctx aborts the start
// but does not stop a server that Start has returned. If Start fails, it has stopped the server, and the returned one
// must not be used. Errors wrap [ErrNoServer], [ErrInUse] or [ErrOtherVersion] if one of these is the reason.
func Start(ctx context.Context, o Options) (_ *Server, err error) {
	begin := time.Now()
	s := &Server{log: cmp.Or(o.Logger, slog.New(slog.DiscardHandler))}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("starting the embedded PostgreSQL: %w", err), s.abort())
		}
	}()
	base, err := openBase(o.DataDir)
	if err != nil {
		return s, err
	}
	majors, err := clusters(base)
	if err != nil {
		return s, err
	}
	s.bin, err = find(ctx, o, base, majors)
	if err != nil {
		return s, err
	}
	for _, m := range majors {
		if m != s.bin.major {
			s.log.Warn("these data stay unused", "data", newLayout(base, m).data, "running", s.bin.version)
		}
	}
	s.paths = newLayout(base, s.bin.major)
	s.lock, err = acquire(s.paths.lock)
	if err != nil {
		return s, err
	}
	id, err := s.prepareFolders()
	if err != nil {
		return s, err
	}
	err = takeOver(ctx, s.log, s.paths)
	if err != nil {
		return s, err
	}
	made, err := ensureCluster(ctx, s.bin, s.paths, id)
	if err != nil {
		return s, err
	}
	err = s.launch(id, o)
	if err != nil {
		return s, err
	}
	err = s.awaitReady(ctx)
	if err != nil {
		return s, err
	}
	s.log.Info("embedded PostgreSQL is ready", "version", s.bin.version, "programs", s.bin.dir, "data", s.paths.data,
		"new", made, "user", id.name, "url", s.URL(Name), "took", time.Since(begin).Round(time.Millisecond))
	return s, nil
}

// prepareFolders creates the folders of this major version and returns the user that runs the server. If the path of
// the socket is too long, it puts the socket into a temporary folder, which it records in s.tmp and s.paths.sock.
func (s *Server) prepareFolders() (identity, error) {
	id, err := chooseIdentity(s.paths.data)
	if err != nil {
		return id, err
	}
	if socketPathTooLong(s.paths.sock) {
		dir := os.TempDir()
		if socketPathTooLong(filepath.Join(dir, "heliograph-0123456789")) {
			dir = "/tmp"
		}
		s.tmp, err = makeTemp(dir)
		if err != nil {
			return id, err
		}
		s.paths.sock = s.tmp
	}
	for _, dir := range []string{s.paths.dir, s.paths.sock} {
		if err := id.privateDir(dir); err != nil {
			return id, fmt.Errorf("making a folder for PostgreSQL: %w", err)
		}
	}
	return id, nil
}

// settings returns the PostgreSQL settings of the server by name: the defaults and those of o, which take
// precedence.
func (s *Server) settings(o Options) map[string]string {
	set := map[string]string{
		"cluster_name":            Name, // shown by ps
		"listen_addresses":        "",
		"port":                    "5432", // part of the socket's name
		"unix_socket_directories": s.paths.sock,
		"unix_socket_permissions": "0700",
		"max_connections":         "60",
		"shared_buffers":          "128MB",
		// There is no replication.
		"wal_level":       "minimal",
		"max_wal_senders": "0",
		// A crash of the machine may lose the last transactions, but does not corrupt data.
		"synchronous_commit": "off",
		"jit":                "off", // costs more than it saves on short statements
		// /dev/shm has 64 MB in containers.
		"dynamic_shared_memory_type": "mmap",
		"logging_collector":          "off",
		"timezone":                   "UTC",
		"log_timezone":               "UTC",
	}
	maps.Copy(set, o.Settings)
	return set
}

// launch starts the server's first process and sets s.proc and s.logSize. It runs postgres itself instead of pg_ctl,
// which would detach it. It does not wait until the server accepts connections. With o.Outlives, the process goes on
// when this one ends.
func (s *Server) launch(id identity, o Options) error {
	args := []string{"-D", s.paths.data}
	settings := s.settings(o)
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		args = append(args, "-c", name+"="+settings[name])
	}
	out, size, err := openLog(s.paths.log)
	if err != nil {
		return err
	}
	defer out.Close() // the child has its own copy
	s.logSize = size
	cmd := exec.Command(filepath.Join(s.bin.dir, "postgres"), args...)
	cmd.Dir, cmd.Env = s.paths.dir, serverEnv()
	cmd.Stdout, cmd.Stderr = out, out
	death := syscall.SIGINT // fast shutdown, no recovery needed
	if o.Outlives {
		death = 0
	}
	cmd.SysProcAttr = procAttr(id.cred, death)
	proc, err := launch(cmd)
	if err != nil {
		return fmt.Errorf("starting postgres: %w", id.explain(err, s.paths.dir, s.bin.dir))
	}
	s.proc = proc
	return nil
}

// URL returns the URL of a database of the server for the superuser, as accepted by pgx and psql. Only the server's
// user and root can open the Unix socket.
func (s *Server) URL(database string) string {
	u := url.URL{Scheme: "postgres", User: url.User(Name), Path: "/" + database}
	u.RawQuery = url.Values{"host": {s.paths.sock}, "port": {"5432"}}.Encode()
	return u.String()
}

// Process returns the server's major version, such as 15, and the ID of its first process.
func (s *Server) Process() (major, pid int) { return s.bin.major, s.proc.cmd.Process.Pid }

// Done returns a channel that is closed when the server has ended, by [Server.Stop] or by itself.
func (s *Server) Done() <-chan struct{} { return s.proc.done }

// Err returns the reason if the server ended by itself. It returns nil while the server runs, and if [Server.Stop]
// ended it.
func (s *Server) Err() error {
	if !s.proc.ended() || s.stopping.Load() {
		return nil
	}
	return s.death()
}

// death returns an error for an unexpected end of the server, with its exit status and the last lines of its log. The
// server must have ended.
func (s *Server) death() error {
	how := "exit status 0"
	if s.proc.err != nil {
		how = s.proc.err.Error()
	}
	return fmt.Errorf("PostgreSQL ended by itself (%s): %s (from %s)", how, s.logTail(), s.paths.log)
}

// logTail returns the last four lines of the server's log since this process started it, from at most 4096 bytes, or a
// note if the log cannot be read.
func (s *Server) logTail() string {
	f, err := os.Open(s.paths.log)
	if err != nil {
		return "no log"
	}
	defer f.Close()
	const most = 4096 // bytes
	from := s.logSize
	if info, err := f.Stat(); err == nil {
		from = max(from, info.Size()-most)
	}
	text := make([]byte, most)
	n, err := f.ReadAt(text, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return "no log"
	}
	return lastLines(text[:n], 4)
}

// Stop shuts the server down, closes all connections, and returns when it has ended. This takes about 20 ms. After 15
// s, or when ctx is done, it forces an immediate shutdown, and 10 s later it kills the server; the next start then
// needs recovery. Further calls return the first result.
func (s *Server) Stop(ctx context.Context) error {
	s.stopOnce.Do(func() { s.stopErr = s.stop(ctx) })
	return s.stopErr
}

// stop stops the server, if it still runs, and releases the lock of its data. The lock is released only after the
// process has ended: the end of ctx makes it end sooner, see [Server.shutdown]. The error is that of the release.
// [Server.Stop] calls it once.
func (s *Server) stop(ctx context.Context) error {
	if !s.proc.ended() {
		s.stopping.Store(true)
		s.shutdown(ctx)
	}
	return s.release()
}

// shutdown ends the server within 25 seconds: at first it closes connections, then it stops at once, at last it is
// killed. The end of ctx ends only the first wait, of 15 seconds.
func (s *Server) shutdown(ctx context.Context) {
	deadline := time.NewTimer(15 * time.Second)
	defer deadline.Stop()
	_ = s.proc.cmd.Process.Signal(syscall.SIGINT) // fails only if the server has just ended
	select {
	case <-s.proc.done:
		return
	case <-ctx.Done():
	case <-deadline.C:
	}
	s.log.Warn("PostgreSQL does not stop, insisting", "pid", s.proc.cmd.Process.Pid)
	_ = s.proc.cmd.Process.Signal(syscall.SIGQUIT)
	deadline.Reset(10 * time.Second) // the server kills its workers after 5 s
	select {
	case <-s.proc.done:
		return
	case <-deadline.C:
	}
	_ = s.proc.cmd.Process.Kill()
	<-s.proc.done
}

// abort cleans up after a failed start: it stops the process, if there is one, and releases the lock.
func (s *Server) abort() error {
	if s.proc == nil {
		return s.release()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return s.Stop(ctx)
}

// release removes the temporary folder of the socket and unlocks the data folder. The process is not affected.
func (s *Server) release() error {
	return errors.Join(os.RemoveAll(s.tmp), s.Release()) // without a name, nothing is removed
}

// Release unlocks the data folder, for a server that outlives this process. It does nothing if it is unlocked.
func (s *Server) Release() error {
	if s.lock == nil {
		return nil
	}
	// Closing alone would leave the lock to a child that is just being started.
	err := errors.Join(syscall.Flock(int(s.lock.Fd()), syscall.LOCK_UN), s.lock.Close())
	s.lock = nil
	return wrap.Error(err, "unlocking the data folder of the embedded PostgreSQL")
}

// process is a started program. err is its result and may be read after done is closed.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error
}

// launch starts cmd and returns without waiting for its end. A goroutine waits for that on a separate thread, and then
// closes done of the process. The parent-death signal is sent when the thread that started the child ends, so that
// thread must live as long as the child. The goroutine never unlocks the thread, so the thread ends with it. If cmd
// cannot be started, the returned process must not be used: its done is never closed.
func launch(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, <-started
}

// ended reports whether the program has ended. It does not wait.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// readyTimeout is how long a start takes at most, also if its context ends later. Recovery after a crash may take
// minutes.
const readyTimeout = 5 * time.Minute

// awaitReady waits until the server accepts connections, checks that it has the extensions, and creates the database
// if it does not exist. Only a real connection proves this: after a kill, the socket and the last line of
// postmaster.pid remain and look ready. It waits at most [readyTimeout], and fails at once if the server ends.
func (s *Server) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	cfg, err := pgx.ParseConfig(s.URL("postgres"))
	if err != nil {
		return fmt.Errorf("connection settings (is a PG… variable set to something odd?): %w", err)
	}
	cfg.ConnectTimeout = 5 * time.Second
	pause := 10 * time.Millisecond
	for begin := time.Now(); ; {
		conn, err := pgx.ConnectConfig(ctx, cfg)
		if err == nil {
			err := s.prepareDatabase(ctx, conn)
			return errors.Join(err, conn.Close(context.WithoutCancel(ctx)))
		}
		if time.Since(begin) > time.Second {
			pause = 100 * time.Millisecond // each attempt adds a line to the server's log
		}
		select {
		case <-s.proc.done:
			return s.death()
		case <-ctx.Done():
			return fmt.Errorf("PostgreSQL does not answer: %w (%w)", context.Cause(ctx), err)
		case <-time.After(pause):
		}
	}
}

// prepareDatabase fails if an extension is not available, and creates the database if it does not exist. It does not
// install the extensions.
func (s *Server) prepareDatabase(ctx context.Context, conn *pgx.Conn) error {
	const lookUp = `
select exists (select from pg_database where datname = $1),
       array(select e from unnest($2::text[]) e where e not in (select name from pg_available_extensions))`
	var there bool
	var missing []string
	if err := conn.QueryRow(ctx, lookUp, Name, extensions()).Scan(&there, &missing); err != nil {
		return fmt.Errorf("looking for the database: %w", err)
	}
	if len(missing) > 0 {
		return fmt.Errorf("PostgreSQL %s in %s lacks %s: install its contrib package (often postgresql-contrib)",
			s.bin.version, s.bin.dir, strings.Join(missing, " and "))
	}
	if there {
		return nil
	}
	_, err := conn.Exec(ctx, "create database "+Name)
	return wrap.Error(err, "making the database")
}
