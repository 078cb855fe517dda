package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// inspect returns the relation of process pid to the cluster in data. A server's working directory is its data folder.
// If the working directory cannot be read (this takes a capability that containers lack), the command line is used.
func inspect(pid int, data string) (relation, error) {
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	args, err := os.ReadFile(filepath.Join(proc, "cmdline"))
	switch program, _, _ := strings.Cut(string(args), "\x00"); {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ESRCH):
		return gone, nil
	case err != nil:
		return foreign, fmt.Errorf("looking at process %d: %w", pid, err)
	case len(args) == 0:
		return zombie, nil
	case !strings.HasPrefix(filepath.Base(program), "postgres"):
		return foreign, nil
	}
	cwd, err := os.Readlink(filepath.Join(proc, "cwd"))
	if cwd == data || err != nil && strings.Contains(string(args), "\x00-D\x00"+data+"\x00") {
		return ours, nil
	}
	return foreign, nil
}

// processesOf returns the visible processes of the cluster in data, both leaders and workers.
func processesOf(data string) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if r, err := inspect(pid, data); err == nil && r == ours {
			pids = append(pids, pid)
		}
	}
	return pids
}

// procAttr makes a child run as cred, in its own process group so that Ctrl-C does not reach it. The kernel sends it
// the signal death when the thread that started it ends. A change of user resets this setting; Go applies it after the
// change.
func procAttr(cred *syscall.Credential, death syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: cred, Setpgid: true, Pdeathsig: death}
}
