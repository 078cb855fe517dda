package pgtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// The ports are parts of the names of the sockets, which are in the same folder.
const (
	serverPort = "port=5432"
	poolerPort = "port=6432"
)

// pooler is the PgBouncer of this test binary.
var pooler struct {
	once sync.Once
	cmd  *exec.Cmd
	err  error
}

// Pooled returns the URL of a database through PgBouncer with transaction pooling, if the environment variable HELIOGRAPH_TEST_PGBOUNCER has its program.
// Otherwise it returns the URL itself.
func Pooled(tb testing.TB, direct string) string {
	tb.Helper()
	program := os.Getenv("HELIOGRAPH_TEST_PGBOUNCER")
	u, err := url.Parse(direct)
	if program == "" || err != nil {
		return direct
	}
	server, err := running.get()
	if err != nil {
		tb.Fatal(err)
	}
	own, err := url.Parse(server.URL("postgres"))
	if folder := u.Query().Get("host"); err != nil || folder != own.Query().Get("host") { // of another server
		return direct
	}
	pooler.once.Do(func() { pooler.err = startPooler(program, u.Query().Get("host"), u.User.Username()) })
	if pooler.err != nil {
		tb.Fatalf("pgtest: %v", pooler.err)
	}
	return strings.Replace(direct, serverPort, poolerPort, 1)
}

// Direct is the inverse of [Pooled].
func Direct(pooled string) string { return strings.Replace(pooled, poolerPort, serverPort, 1) }

// startPooler starts PgBouncer with its defaults, except that the number of clients is not limited to those of one gateway.
func startPooler(program, folder, user string) error {
	version, err := exec.Command(program, "--version").Output()
	if err != nil {
		return fmt.Errorf("running PgBouncer: %w", err)
	}
	settings := fmt.Sprintf("[databases]\n* = host=%s %s\n[pgbouncer]\nunix_socket_dir = %s\nlisten_%s\nlogfile = %s\n"+
		"pool_mode = transaction\nauth_type = trust\nauth_file = %s\nmax_client_conn = 2000\n", folder, serverPort, folder, poolerPort,
		filepath.Join(folder, "pgbouncer.log"), filepath.Join(folder, "users.txt"))
	var major, minor int
	if _, err := fmt.Sscanf(string(version), "PgBouncer %d.%d", &major, &minor); err == nil && (major > 1 || minor >= 21) {
		settings += "max_prepared_statements = 200\n"
	}
	var owner syscall.Stat_t
	if err := syscall.Stat(folder, &owner); err != nil {
		return fmt.Errorf("reading the owner of the server's folder: %w", err)
	}
	for name, text := range map[string]string{"pgbouncer.ini": settings, "users.txt": fmt.Sprintf("%q \"\"\n", user)} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil { //nolint:gosec // the server's user reads it
			return fmt.Errorf("configuring PgBouncer: %w", err)
		}
	}
	var output strings.Builder
	pooler.cmd = exec.Command(program, "--quiet", filepath.Join(folder, "pgbouncer.ini"))
	pooler.cmd.Stderr = &output
	if os.Getuid() == 0 { // PgBouncer refuses to run as root
		pooler.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}}
	}
	if err := pooler.cmd.Start(); err != nil {
		return fmt.Errorf("starting PgBouncer: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	for ctx.Err() == nil {
		conn, err := pgx.Connect(ctx, fmt.Sprintf("postgres://%s@/postgres?host=%s&%s", user, url.QueryEscape(folder), poolerPort))
		if err == nil {
			return conn.Close(ctx) //nolint:wrapcheck // never fails after a start
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("PgBouncer does not respond: %s", output.String())
}

// stopPooler stops PgBouncer, if it runs.
func stopPooler() {
	if pooler.cmd == nil || pooler.cmd.Process == nil {
		return
	}
	_ = pooler.cmd.Process.Kill() // it has no state
	_ = pooler.cmd.Wait()
}
