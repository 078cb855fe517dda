//go:build unix && !linux

package embedded

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// inspect returns the relation of process pid to the cluster in data, according to its command line, which it reads
// with the program ps. A process that ps does not find is gone. With an error, the relation is not known.
func inspect(pid int, data string) (relation, error) {
	line, err := output(context.Background(), "ps", "-o", "stat=,command=", "-p", strconv.Itoa(pid))
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return gone, nil // not found by ps
	}
	if err != nil {
		return foreign, fmt.Errorf("looking at process %d: %w", pid, err)
	}
	switch {
	case strings.HasPrefix(line, "Z"):
		return zombie, nil
	case strings.Contains(line, "postgres") && strings.Contains(line+" ", " -D "+data+" "):
		return ours, nil
	}
	return foreign, nil
}

// processesOf returns nil: on this system, the workers of different clusters cannot be distinguished. PostgreSQL
// reports an error if workers of an earlier server are still running.
func processesOf(string) []int { return nil }

// procAttr returns attributes for starting a child that runs as cred, or as the user of this process if cred is nil,
// in its own process group so that Ctrl-C does not reach it. There is no parent-death signal on this system, so the
// signal is not used. A server that outlives its gateway is stopped at the next start.
func procAttr(cred *syscall.Credential, _ syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: cred, Setpgid: true}
}
