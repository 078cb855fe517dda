package gateway

import (
	"bufio"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// releaseProgram takes the pages of the program's own file out of the process: those which only the start needed (the tables of every
// package that is linked in) do not come back, the others are mapped again from the file cache as they are used.
func releaseProgram() {
	program, err := os.Executable()
	if err != nil {
		return
	}
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer maps.Close()
	for _, m := range unchangedMappings(bufio.NewScanner(maps), program) {
		// An error only means that the pages stay.
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, m.start, m.end-m.start, unix.MADV_DONTNEED)
	}
}

type mapping struct{ start, end uintptr }

// unchangedMappings reads the form of /proc/self/smaps: the mappings of a file that cannot be written, and of which no page differs from
// the file. (A loader that relocates a program changes pages before it protects them; these could not be read again.)
func unchangedMappings(lines *bufio.Scanner, file string) []mapping {
	var (
		all  []mapping
		last *mapping
	)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) == 0 {
			continue
		}
		if strings.HasSuffix(words[0], ":") {
			if words[0] == "Anonymous:" && last != nil && len(words) > 1 && words[1] == "0" {
				all = append(all, *last)
			}
			continue
		}
		last = nil
		if len(words) < 6 || strings.Join(words[5:], " ") != file || !strings.HasPrefix(words[1], "r-") {
			continue
		}
		from, to, _ := strings.Cut(words[0], "-")
		start, startErr := strconv.ParseUint(from, 16, 64)
		end, endErr := strconv.ParseUint(to, 16, 64)
		if startErr == nil && endErr == nil && start < end {
			last = &mapping{uintptr(start), uintptr(end)}
		}
	}
	return all
}
