//go:build unix

package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// roleVariable is the environment variable with the role of this process. The test binary also acts as the gateway, so
// that tests can kill it.
const roleVariable = "HELIOGRAPH_EMBEDDED_TEST_ROLE"

// assignment is the value of that variable, in JSON.
type assignment struct {
	Role          string // one of the functions in TestMain
	Dir           string
	NoDeathSignal bool
	DropCap       int // a capability that root drops before; 0 for none
}

// announcement is the output of a gateway after its start succeeded or failed.
type announcement struct {
	URL string
	Pid int // process id of the server
	Err string
}

func TestMain(m *testing.M) {
	value := os.Getenv(roleVariable)
	if value == "" {
		code := m.Run()
		_ = os.RemoveAll(earlier.dir) // a temporary folder
		os.Exit(code)
	}
	var a assignment
	err := json.Unmarshal([]byte(value), &a)
	if err == nil && a.DropCap != 0 {
		err = execWithoutCap(a)
	}
	if err == nil {
		switch a.Role {
		case "gateway":
			err = gatewayRole(a)
		case "negligent parent":
			err = negligentParentRole(a)
		default:
			err = fmt.Errorf("no role %q", a.Role)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// gatewayRole runs a server until it receives a stop signal, like the real gateway.
func gatewayRole(a assignment) error {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	s, err := Start(context.Background(), Options{
		DataDir: a.Dir, Outlives: a.NoDeathSignal,
	})
	if err != nil {
		return json.NewEncoder(os.Stdout).Encode(announcement{Err: err.Error()})
	}
	if err := json.NewEncoder(os.Stdout).Encode(announcement{
		URL: s.URL(Name),
		Pid: s.proc.cmd.Process.Pid,
	}); err != nil {
		return err
	}
	select {
	case <-stop:
		return s.Stop(context.Background())
	case <-s.Done():
		os.Exit(3)
		return nil
	}
}

// command returns a command that runs this test binary in a role.
func command(path string, a assignment) *exec.Cmd {
	value, err := json.Marshal(a)
	if err != nil {
		panic(err) // cannot fail: a struct of plain fields
	}
	cmd := exec.Command(path)
	cmd.Env = append(os.Environ(), roleVariable+"="+string(value))
	cmd.Stderr = os.Stderr
	return cmd
}

// gateway is a process that acts as the gateway.
type gateway struct {
	announcement
	cmd *exec.Cmd
}

// runGateway starts a gateway and waits for its announcement. prepare may change the command first.
func runGateway(t *testing.T, a assignment, prepare func(*exec.Cmd)) *gateway {
	t.Helper()
	a.Role = "gateway"
	g := &gateway{cmd: command(testBinary(t), a)}
	if prepare != nil {
		prepare(g.cmd)
	}
	out, err := g.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := g.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = g.cmd.Process.Kill()
		_ = g.cmd.Wait()
		if g.Pid > 0 && !g.serverGone() {
			_ = syscall.Kill(g.Pid, syscall.SIGKILL)
		}
	})
	if err := json.NewDecoder(out).Decode(&g.announcement); err != nil {
		t.Fatalf("no output of the gateway: %v", err)
	}
	return g
}

func mustGateway(t *testing.T, a assignment) *gateway {
	t.Helper()
	g := runGateway(t, a, nil)
	if g.Err != "" {
		t.Fatal(g.Err)
	}
	return g
}

// kill sends a signal to the gateway and waits for its end. It returns the exit status, or -1 if a signal ended the
// gateway.
func (g *gateway) kill(t *testing.T, sig syscall.Signal) int {
	t.Helper()
	if err := g.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	return g.wait(t)
}

func (g *gateway) wait(t *testing.T) int {
	t.Helper()
	err := g.cmd.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return g.cmd.ProcessState.ExitCode()
}

// serverGone reports whether the server's first process has ended.
func (g *gateway) serverGone() bool { return errors.Is(syscall.Kill(g.Pid, 0), syscall.ESRCH) }

// testBinary returns the path of this binary.
func testBinary(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// tempDir returns a temporary folder that, unlike t.TempDir, other users can traverse: PostgreSQL does not run as
// root.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := makeTemp(os.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// earlier is a data folder in which a server ran and was stopped.
var earlier struct {
	once sync.Once
	dir  string
	err  error
}

// usedDir is [tempDir] with the data of an earlier server, which are copied because initdb takes a second.
func usedDir(t *testing.T) string {
	t.Helper()
	earlier.once.Do(func() {
		var s *Server
		if earlier.dir, earlier.err = makeTemp(os.TempDir()); earlier.err != nil {
			return
		}
		if s, earlier.err = Start(context.Background(), Options{DataDir: earlier.dir}); earlier.err == nil {
			earlier.err = s.Stop(context.Background())
		}
	})
	dir := tempDir(t)
	if err := errors.Join(earlier.err, exec.Command("cp", "-Rp", earlier.dir+"/.", dir).Run()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// mustStart starts a server in this process. It is stopped at the end of the test.
func mustStart(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

func execSQL(t *testing.T, url string, statements ...string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for _, sql := range statements {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

func queryString(t *testing.T, url, sql string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var value string
	if err := conn.QueryRow(t.Context(), sql).Scan(&value); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return value
}

// fill writes rows that must survive. It enables synchronous commit, which the server disables by default.
func fill(t *testing.T, url string) {
	t.Helper()
	execSQL(t, url, "set synchronous_commit = on", "create table kept (n int primary key)",
		"insert into kept select generate_series(1, 1000)")
}

// checkKept starts a server on dir and checks these rows with and without the index.
func checkKept(t *testing.T, dir string) *Server {
	t.Helper()
	s := mustStart(t, Options{DataDir: dir})
	const count = "select format('%s %s', (select count(*) from kept), (select count(*) from kept where n = 500))"
	if got := queryString(t, s.URL(Name), count); got != "1000 1" {
		t.Errorf("rows in all, row 500: %s", got)
	}
	return s
}

// eventually waits up to 90 s for a condition. A process that is killed while it waits for a busy disk ends only after
// the disk has responded.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for range 9000 {
		if condition() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("in vain: %s", what)
}

// logOf returns the log of the servers that ran on dir.
func logOf(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "postgres.log"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
