//go:build unix && !linux

package embedded

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// inspect tells what process pid is to the cluster in data, by its command line.
func inspect(pid int, data string) (relation, error) {
	line, err := output(context.Background(), "ps", "-o", "stat=,command=", "-p", strconv.Itoa(pid))
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return gone, nil // ps found none
	}
	if err != nil {
		return foreign, fmt.Errorf("look at process %d: %w", pid, err)
	}
	switch {
	case strings.HasPrefix(line, "Z"):
		return zombie, nil
	case strings.Contains(line, "postgres") && strings.Contains(line+" ", " -D "+data+" "):
		return ours, nil
	}
	return foreign, nil
}

// processesOf would list the cluster's workers, which cannot be told from those of other clusters here. A server that
// starts while some are left says so.
func processesOf(string) []int { return nil }

// processName returns the name of a process, as ps shows it, or "".
func processName(pid int) string {
	name, err := output(context.Background(), "ps", "-o", "comm=", "-p", strconv.Itoa(pid))
	if err != nil {
		return ""
	}
	return filepath.Base(name)
}
