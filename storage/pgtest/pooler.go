package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

var pooler struct {
	once   sync.Once
	cmd    *exec.Cmd
	folder string // of its socket and settings
	server string // folder of the server's socket
	err    error
}

const (
	serverPort = "5432"
	poolerPort = "6432"
)

// Pooled returns the URL of a database through PgBouncer with transaction pooling, if the environment variable
// HELIOGRAPH_TEST_PGBOUNCER has its program; the first call starts it. Otherwise it returns the URL itself, as for
// databases of other servers. It fails the test if PgBouncer cannot be started.
func Pooled(tb testing.TB, direct string) string {
	tb.Helper()
	program := os.Getenv("HELIOGRAPH_TEST_PGBOUNCER")
	if program == "" {
		return direct
	}
	server, err := running.get()
	if err != nil {
		tb.Fatal(err)
	}
	own, err := url.Parse(server.URL)
	if err != nil {
		tb.Fatal(err)
	}
	pooler.once.Do(func() {
		pooler.server = own.Query().Get("host")
		if pooler.err = startPooler(program, own.User.Username()); pooler.err != nil {
			pooler.err = fmt.Errorf("pgtest: starting PgBouncer: %w", pooler.err)
		}
	})
	if pooler.err != nil {
		tb.Fatal(pooler.err)
	}
	return replaceSocket(direct, pooler.server, serverPort, pooler.folder, poolerPort)
}

// Direct is the inverse of [Pooled]: it returns the URL of the database without PgBouncer. URLs of other servers, and
// all if PgBouncer was not started, are returned unchanged.
func Direct(pooled string) string {
	if pooler.folder == "" {
		return pooled
	}
	return replaceSocket(pooled, pooler.folder, poolerPort, pooler.server, serverPort)
}

// replaceSocket returns the URL of a database with another folder and port of the socket. URLs with another socket
// than the expected one and texts that are no URL are returned unchanged.
func replaceSocket(text, fromFolder, fromPort, toFolder, toPort string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	q := u.Query()
	if q.Get("host") != fromFolder || q.Get("port") != fromPort {
		return text
	}
	q.Set("host", toFolder)
	q.Set("port", toPort)
	u.RawQuery = q.Encode()
	return u.String()
}

// startPooler starts PgBouncer in a temporary folder and waits until it accepts connections, up to the timeout. It
// pools by transaction, trusts all clients, permits 2000 of them, and keeps prepared statements if its version can
// (1.21). Started by root, it runs as the owner of the server's folder. It sets the variable pooler, also before an
// error, so that [stopPooler] can end it.
func startPooler(program, user string) error {
	folder, err := os.MkdirTemp("", "heliograph-pooler-")
	if err != nil {
		return err
	}
	pooler.folder = folder
	settings := fmt.Sprintf("[databases]\n* = host=%s port=%s\n", pooler.server, serverPort) +
		fmt.Sprintf("[pgbouncer]\nunix_socket_dir = %s\nlisten_port = %s\n", folder, poolerPort) +
		fmt.Sprintf("auth_file = %s/users.txt\n", folder) +
		"pool_mode = transaction\nauth_type = trust\nmax_client_conn = 2000\n"
	version, err := exec.CommandContext(context.Background(), program, "--version").Output()
	var major, minor int
	_, unknown := fmt.Sscanf(string(version), "PgBouncer %d.%d", &major, &minor)
	if unknown == nil && (major > 1 || minor >= 21) {
		settings += "max_prepared_statements = 200\n"
	}
	var owner syscall.Stat_t
	config := filepath.Join(folder, "pgbouncer.ini")
	if err := errors.Join(err, syscall.Stat(pooler.server, &owner), os.WriteFile(config, []byte(settings), 0o644),
		os.WriteFile(filepath.Join(folder, "users.txt"), fmt.Appendf(nil, "%q \"\"\n", user), 0o644)); err != nil {
		return err
	}
	pooler.cmd = exec.CommandContext(context.Background(), program, "--quiet", config)
	if os.Getuid() == 0 { // PgBouncer refuses to run as root
		if err := os.Chown(folder, int(owner.Uid), int(owner.Gid)); err != nil {
			return err
		}
		pooler.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}}
	}
	if err := pooler.cmd.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	pooled := fmt.Sprintf("postgres://%s@/postgres?host=%s&port=%s", user, url.QueryEscape(folder), poolerPort)
	for {
		conn, err := pgx.Connect(ctx, pooled)
		if err == nil {
			return conn.Close(ctx)
		}
		if ctx.Err() != nil {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// stopPooler kills the PgBouncer that this test binary started, and removes its folder. It does nothing if none was
// started.
func stopPooler() {
	if pooler.cmd != nil && pooler.cmd.Process != nil {
		_ = pooler.cmd.Process.Kill() // it has no state
		_ = pooler.cmd.Wait()
		_ = os.RemoveAll(pooler.folder)
	}
}
