package embedded

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// execWithoutCap drops a capability and executes the test binary again.
func execWithoutCap(a assignment) error {
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(a.DropCap), 0, 0, 0); err != nil {
		return fmt.Errorf("drop capability %d: %w", a.DropCap, err)
	}
	a.DropCap = 0
	path, err := os.Executable()
	if err != nil {
		return err
	}
	value, err := json.Marshal(a)
	if err != nil {
		return err
	}
	if err := os.Setenv(roleVariable, string(value)); err != nil {
		return err
	}
	return unix.Exec(path, []string{path}, os.Environ())
}

// negligentParentRole acts as the first process of a container that does not reap: the killed server remains its
// zombie.
func negligentParentRole(a assignment) error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	path, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := command(path, assignment{Role: "gateway", Dir: a.Dir})
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	var said announcement
	if err := json.NewDecoder(out).Decode(&said); err != nil {
		return err
	}
	in := bufio.NewReader(os.Stdin)
	if err := json.NewEncoder(os.Stdout).Encode(said); err != nil {
		return err
	}
	if _, err := in.ReadString('\n'); err != nil { // wait until the test has written its rows
		return err
	}
	// A stopped gateway does not reap the server either. It has stopped when all its threads have: one that waits for
	// the server could still reap it.
	gateway := cmd.Process.Pid
	if err := syscall.Kill(gateway, syscall.SIGSTOP); err != nil {
		return err
	}
	var state syscall.WaitStatus
	if _, err := syscall.Wait4(gateway, &state, syscall.WUNTRACED, nil); err != nil {
		return fmt.Errorf("waiting for the gateway to stop: %w", err)
	}
	if !state.Stopped() {
		return fmt.Errorf("the gateway has the state %d", state)
	}
	for _, pid := range []int{said.Pid, gateway} {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			return err
		}
	}
	_ = cmd.Wait() // killed
	fmt.Println("killed")
	_, _ = in.ReadString('\n') // until the test is done
	return nil
}

func TestZombieServer(t *testing.T) {
	t.Parallel()
	dir := usedDir(t)
	cmd := command(testBinary(t), assignment{Role: "negligent parent", Dir: dir})
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	lines := bufio.NewReader(out)
	line, err := lines.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var said announcement
	if err := json.Unmarshal(line, &said); err != nil || said.Err != "" {
		t.Fatal(err, said.Err)
	}
	fill(t, said.URL)
	if _, err := fmt.Fprintln(in, "rows are written"); err != nil {
		t.Fatal(err)
	}
	if line, err := lines.ReadString('\n'); err != nil || line != "killed\n" {
		t.Fatal(line, err)
	}
	eventually(t, "the server is a zombie", func() bool {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(said.Pid) + "/stat")
		return err == nil && strings.Contains(string(stat), ") Z ")
	})
	checkKept(t, dir)
}

// TestOrphanOfUnseenFolder takes over an orphan without the capability to read other users' working directories. Root
// in containers lacks this capability.
func TestOrphanOfUnseenFolder(t *testing.T) {
	t.Parallel()
	dir := usedDir(t)
	orphan := mustGateway(t, assignment{Dir: dir, NoDeathSignal: true})
	fill(t, orphan.URL)
	orphan.kill(t, syscall.SIGKILL)
	a := assignment{Dir: dir}
	if os.Geteuid() == 0 {
		a.DropCap = unix.CAP_SYS_PTRACE
	}
	g := mustGateway(t, a)
	eventually(t, "the orphan ends", orphan.serverGone)
	if status := g.kill(t, syscall.SIGTERM); status != 0 {
		t.Errorf("exit status %d", status)
	}
	checkKept(t, dir)
	if strings.Contains(logOf(t, dir), "not properly shut down") {
		t.Error("the orphan's shutdown was not clean")
	}
}

// rootErrors tests errors that only root can cause.
func rootErrors(t *testing.T) {
	t.Run("no permission to become another user", func(t *testing.T) {
		g := runGateway(t, assignment{Dir: tempDir(t), DropCap: unix.CAP_SETUID}, nil)
		wantError(t, g.Err, "not allowed to start it as user postgres", "run the gateway as an ordinary user")
	})
	program := publicCopy(t)
	asUser := func(uid uint32) func(*exec.Cmd) {
		return func(cmd *exec.Cmd) {
			cmd.Path, cmd.Dir = program, "/"
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		}
	}
	const nameless = 54321
	t.Run("user without a name", func(t *testing.T) {
		dir := tempDir(t)
		if err := os.Chown(dir, nameless, nameless); err != nil {
			t.Fatal(err)
		}
		g := runGateway(t, assignment{Dir: dir}, asUser(nameless))
		wantError(t, g.Err, "user id 54321 has none: add it to /etc/passwd")
	})
	t.Run("data of another user", func(t *testing.T) {
		dir := tempDir(t)
		s := mustStart(t, Options{DataDir: dir})
		if err := s.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		g := runGateway(t, assignment{Dir: dir}, asUser(nameless))
		wantError(t, g.Err, "permission denied", "run as the user who made them")
	})
}

// publicCopy returns a copy of this test binary that every user can execute.
func publicCopy(t *testing.T) string {
	t.Helper()
	program, err := os.ReadFile(testBinary(t))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(tempDir(t), "gateway")
	write(t, path, string(program), 0o755)
	return path
}
