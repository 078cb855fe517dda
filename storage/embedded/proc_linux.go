package embedded

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// inspect tells what process pid is to the cluster in data. A server's working directory is its data folder; where
// that may not be seen (it takes a capability that containers lack), its command line names the folder.
func inspect(pid int, data string) (relation, error) {
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	stat, err := os.ReadFile(filepath.Join(proc, "stat"))
	if errors.Is(err, fs.ErrNotExist) {
		return gone, nil
	}
	if err != nil {
		return foreign, fmt.Errorf("look at process %d: %w", pid, err)
	}
	// The line is: pid (name) state …, and the name may hold anything.
	i, j := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if i < 0 || j < i || len(stat) < j+3 {
		return foreign, fmt.Errorf("look at process %d: its state reads %q", pid, stat)
	}
	switch name, state := string(stat[i+1:j]), stat[j+2]; {
	case state == 'Z' || state == 'X':
		return zombie, nil
	case !strings.Contains(name, "postgres"):
		return foreign, nil
	}
	cwd, err := os.Readlink(filepath.Join(proc, "cwd"))
	if err == nil {
		if cwd == data {
			return ours, nil
		}
		return foreign, nil
	}
	args, err := os.ReadFile(filepath.Join(proc, "cmdline"))
	if err != nil {
		return inspect(pid, data) // it ended meanwhile
	}
	if bytes.Contains(args, []byte("\x00-D\x00"+data+"\x00")) {
		return ours, nil
	}
	return foreign, nil
}

// processesOf lists the processes of the cluster in data that can be seen, leaders and workers alike.
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

// processName returns the name of a process, as ps shows it, or "".
func processName(pid int) string {
	name, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "comm"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(name))
}
