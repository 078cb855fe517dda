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
// If the working directory cannot be read (this takes a capability that containers lack), the command line is used. A
// process that is ending loses its command line before it detaches from the shared memory of the cluster, and its
// working directory after that. With an error, the relation is not known.
func inspect(pid int, data string) (relation, error) {
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	stat, err := os.ReadFile(filepath.Join(proc, "stat"))
	// The format is: pid (name) state ….
	switch name, state, _ := strings.Cut(string(stat), ") "); {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ESRCH):
		return gone, nil
	case err != nil:
		return foreign, fmt.Errorf("looking at process %d: %w", pid, err)
	case !strings.Contains(name, "(postgres"):
		return foreign, nil
	case strings.HasPrefix(state, "Z"), strings.HasPrefix(state, "X"):
		return zombie, nil
	}
	cwd, err := os.Readlink(filepath.Join(proc, "cwd"))
	args, _ := os.ReadFile(filepath.Join(proc, "cmdline")) // empty if the process has ended
	if cwd == data || err != nil && strings.Contains(string(args), "\x00-D\x00"+data+"\x00") {
		return ours, nil
	}
	return foreign, nil
}

// processesOf returns the visible processes of the cluster in data, both leaders and workers. It leaves out processes
// that cannot be inspected, and returns nil if /proc cannot be read.
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

// procAttr returns attributes for starting a child that runs as cred, or as the user of this process if cred is nil,
// in its own process group so that Ctrl-C does not reach it. The kernel sends it the signal death when the thread that
// started it ends; 0 sends none. A change of user resets this setting; Go applies it after the change.
func procAttr(cred *syscall.Credential, death syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: cred, Setpgid: true, Pdeathsig: death}
}
