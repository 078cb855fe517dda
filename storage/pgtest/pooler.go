package pgtest

import (
	"context"
	"errors"
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

var pooler struct {
	once sync.Once
	cmd  *exec.Cmd
	err  error
}

// Pooled returns the URL of a database through PgBouncer with transaction pooling, if the environment variable HELIOGRAPH_TEST_PGBOUNCER has its program.
// Otherwise it returns the URL itself, as for databases of other servers.
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
	own, err := url.Parse(server.URL("postgres"))
	if err != nil || !strings.Contains(direct, own.RawQuery) {
		return direct
	}
	pooler.once.Do(func() { pooler.err = startPooler(program, own.Query().Get("host"), own.User.Username()) })
	if pooler.err != nil {
		tb.Fatalf("pgtest: starting PgBouncer: %v", pooler.err)
	}
	return strings.Replace(direct, serverPort, poolerPort, 1)
}

// Direct is the inverse of [Pooled].
func Direct(pooled string) string { return strings.Replace(pooled, poolerPort, serverPort, 1) }

// startPooler starts PgBouncer with its defaults, except that the number of clients is not limited to those of one gateway.
func startPooler(program, folder, user string) error {
	settings := fmt.Sprintf("[databases]\n* = host=%s %s\n[pgbouncer]\nunix_socket_dir = %s\nlisten_%s\npool_mode = transaction\nauth_type = trust\n"+
		"auth_file = %s/users.txt\nmax_client_conn = 2000\n", folder, serverPort, folder, poolerPort, folder)
	version, err := exec.CommandContext(context.Background(), program, "--version").Output()
	var major, minor int
	if _, scan := fmt.Sscanf(string(version), "PgBouncer %d.%d", &major, &minor); scan == nil && (major > 1 || minor >= 21) {
		settings += "max_prepared_statements = 200\n"
	}
	var owner syscall.Stat_t
	config := filepath.Join(folder, "pgbouncer.ini")
	if err := errors.Join(err, syscall.Stat(folder, &owner), os.WriteFile(config, []byte(settings), 0o644),
		os.WriteFile(filepath.Join(folder, "users.txt"), fmt.Appendf(nil, "%q \"\"\n", user), 0o644)); err != nil {
		return err
	}
	pooler.cmd = exec.CommandContext(context.Background(), program, "--quiet", config)
	if os.Getuid() == 0 { // PgBouncer refuses to run as root
		pooler.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}}
	}
	if err := pooler.cmd.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, fmt.Sprintf("postgres://%s@/postgres?host=%s&%s", user, url.QueryEscape(folder), poolerPort))
		if err == nil {
			return conn.Close(ctx)
		}
		if ctx.Err() != nil {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// stopPooler stops PgBouncer, if it runs.
func stopPooler() {
	if pooler.cmd != nil && pooler.cmd.Process != nil {
		_ = pooler.cmd.Process.Kill() // it has no state
		_ = pooler.cmd.Wait()
	}
}
