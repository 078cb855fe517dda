//go:build unix

package embedded

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// TestKills ends gateways and servers in every way and checks the rows afterwards.
func TestKills(t *testing.T) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, dir string)
	}{
		{"SIGTERM to the gateway", killTerm},
		{"SIGKILL to the gateway", killGateway},
		{"SIGKILL to the gateway without a death signal", killGatewayLeavingOrphan},
		{"SIGKILL to the server", killServer},
		{"SIGKILL to the server while it works", killBusyServer},
		{"SIGKILL to the server, its process id reused", killAndReusePid},
		{"SIGKILL to the server, its mark empty", killAndEmptyMark},
		{"link in place of the socket's folder", linkedFolder},
		{"second gateway", secondGateway},
		{"interrupted initdb", interruptedInitdb},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if test.name == "interrupted initdb" {
				test.run(t, tempDir(t))
			} else {
				test.run(t, usedDir(t))
			}
		})
	}
}

func killTerm(t *testing.T, dir string) {
	g := mustGateway(t, assignment{Dir: dir})
	fill(t, g.URL)
	begin := time.Now()
	if status := g.kill(t, syscall.SIGTERM); status != 0 {
		t.Errorf("exit status %d", status)
	}
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("a clean shutdown took %v", took)
	}
	if !g.serverGone() {
		t.Error("the server lives on")
	}
	checkKept(t, dir)
	if strings.Contains(logOf(t, dir), "not properly shut down") {
		t.Error("the shutdown was not clean")
	}
}

func killGateway(t *testing.T, dir string) {
	g := mustGateway(t, assignment{Dir: dir})
	fill(t, g.URL)
	g.kill(t, syscall.SIGKILL)
	if runtime.GOOS == "linux" {
		eventually(t, "the server ends with the gateway", g.serverGone)
	}
	checkKept(t, dir)
	if strings.Contains(logOf(t, dir), "not properly shut down") {
		t.Error("the shutdown was not clean")
	}
}

func killGatewayLeavingOrphan(t *testing.T, dir string) {
	g := mustGateway(t, assignment{Dir: dir, NoDeathSignal: true})
	fill(t, g.URL)
	g.kill(t, syscall.SIGKILL)
	execSQL(t, g.URL, "select 1") // the orphan is still running
	checkKept(t, dir)
	eventually(t, "the orphan ends", g.serverGone)
	if strings.Contains(logOf(t, dir), "not properly shut down") {
		t.Error("the shutdown was not clean")
	}
}

func killServer(t *testing.T, dir string) {
	g := mustGateway(t, assignment{Dir: dir})
	fill(t, g.URL)
	if err := syscall.Kill(g.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if status := g.wait(t); status != 3 {
		t.Errorf("exit status %d, want that for a server that ended by itself", status)
	}
	s := checkKept(t, dir)
	if !strings.Contains(logOf(t, dir), "not properly shut down") {
		t.Error("no recovery was needed")
	}

	if err := syscall.Kill(s.proc.cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the death of the server is not noticed")
	}
	if err := s.Err(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("the death of the server is described by %v", err)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Errorf("stopping a dead server: %v", err)
	}
	if s.Err() == nil {
		t.Error("after Stop, the server's death is forgotten")
	}
	checkKept(t, dir)
}

// killBusyServer leaves a worker that does not notice the death of its server, because its statement never waits.
func killBusyServer(t *testing.T, dir string) {
	g := mustGateway(t, assignment{Dir: dir})
	fill(t, g.URL)
	conn, err := pgx.Connect(t.Context(), g.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	worker := int(conn.PgConn().PID())
	defer func() { _ = syscall.Kill(worker, syscall.SIGKILL) }()
	ended := make(chan error, 1)
	go func() {
		_, err := conn.Exec(context.Background(), "do 'begin loop end loop; end'")
		ended <- err
	}()
	eventually(t, "the worker is busy", func() bool {
		return queryString(t, g.URL, "select state from pg_stat_activity where pid = "+
			strconv.Itoa(worker)) == "active"
	})
	if err := syscall.Kill(g.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	g.wait(t)
	if syscall.Kill(worker, 0) != nil {
		t.Fatal("the worker has noticed")
	}
	if runtime.GOOS == "linux" {
		checkKept(t, dir)
		<-ended
		return
	}
	if s, err := Start(t.Context(), Options{DataDir: dir}); err == nil {
		t.Error("two servers write to the same data")
		_ = s.Stop(context.Background())
	}
}

func killAndReusePid(t *testing.T, dir string) {
	s := mustStart(t, Options{DataDir: dir})
	fill(t, s.URL(Name))
	files := []string{filepath.Join(s.paths.data, "postmaster.pid"), filepath.Join(s.paths.sock, ".s.PGSQL.5432.lock")}
	texts := make([][]byte, len(files))
	for i, file := range files {
		var err error
		if texts[i], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	id, err := chooseIdentity(s.paths.data)
	if err != nil {
		t.Fatal(err)
	}
	sleep := exec.Command("sleep", "60")
	sleep.Dir = "/"
	sleep.SysProcAttr = &syscall.SysProcAttr{Credential: id.cred}
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = sleep.Process.Kill()
		_ = sleep.Wait()
	}()
	if err := s.proc.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-s.Done()
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, file := range files {
		_, rest, _ := strings.Cut(string(texts[i]), "\n")
		if err := os.WriteFile(file, []byte(strconv.Itoa(sleep.Process.Pid)+"\n"+rest), 0o600); err != nil {
			t.Fatal(err)
		}
		if id.cred != nil {
			if err := os.Chown(file, int(id.cred.Uid), int(id.cred.Gid)); err != nil {
				t.Fatal(err)
			}
		}
	}
	checkKept(t, dir)
	if err := sleep.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the process that got the id was disturbed: %v", err)
	}
}

func killAndEmptyMark(t *testing.T, dir string) {
	s := mustStart(t, Options{DataDir: dir})
	fill(t, s.URL(Name))
	if err := s.proc.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-s.Done()
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(s.paths.data, "postmaster.pid"), 0); err != nil {
		t.Fatal(err)
	}
	checkKept(t, dir)
}

func linkedFolder(t *testing.T, dir string) {
	s := mustStart(t, Options{DataDir: dir})
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	target := t.TempDir()
	if err := errors.Join(os.RemoveAll(s.paths.sock), os.Symlink(target, s.paths.sock)); err != nil {
		t.Fatal(err)
	}
	if s, err := Start(t.Context(), Options{DataDir: dir}); err == nil ||
		!strings.Contains(err.Error(), "symbolic links are not followed") {
		t.Errorf("error %v", err)
		if err == nil {
			_ = s.Stop(context.Background())
		}
	}
	if info, err := os.Stat(target); err != nil || int(info.Sys().(*syscall.Stat_t).Uid) != os.Geteuid() {
		t.Errorf("the target of the link has another owner: %v", err)
	}
}

func secondGateway(t *testing.T, dir string) {
	g := mustGateway(t, assignment{Dir: dir})
	fill(t, g.URL)
	_, err := Start(t.Context(), Options{DataDir: dir})
	if !errors.Is(err, ErrInUse) {
		t.Fatalf("a second gateway: %v", err)
	}
	want := "starting the embedded PostgreSQL: data folder is in use by another gateway (process " +
		strconv.Itoa(g.cmd.Process.Pid) + "): " + dir
	if err.Error() != want {
		t.Errorf("error of a second gateway:\n%v, want\n%s", err, want)
	}
	if got := queryString(t, g.URL, "select count(*)::text from kept"); got != "1000" {
		t.Errorf("the first gateway was disturbed: %s rows", got)
	}
}

func interruptedInitdb(t *testing.T, dir string) {
	ctx, cancel := context.WithCancelCause(t.Context())
	impatient := errors.New("impatient")
	done := make(chan error, 1)
	go func() {
		_, err := Start(ctx, Options{DataDir: dir})
		done <- err
	}()
	var tmp string
	eventually(t, "initdb writes", func() bool {
		found, _ := filepath.Glob(filepath.Join(dir, "pg*", "init.tmp", "base"))
		if len(found) == 0 {
			return false
		}
		tmp = filepath.Dir(found[0])
		return true
	})
	cancel(impatient)
	if err := <-done; !errors.Is(err, impatient) {
		t.Fatalf("an interrupted start: %v", err)
	}
	// A power failure can also interrupt initdb and leave any content.
	if err := os.MkdirAll(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tmp, "PG_VERSION"), []byte("15\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := mustStart(t, Options{DataDir: dir})
	execSQL(t, s.URL(Name), "select 1")
	if there, err := exists(tmp); there || err != nil {
		t.Errorf("%s is still there: %v", tmp, err)
	}
}
