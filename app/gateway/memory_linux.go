package gateway

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// releaseProgram unmaps the read-only pages of the executable that are unmodified from the process, in the mappings of
// [unchangedMappings]. Pages that only startup needed, such as tables of linked packages, stay unmapped. The others
// are mapped again from the page cache on use. If the mappings cannot be read, it does nothing.
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
		// On an error the pages stay mapped.
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, m.start, m.end-m.start, unix.MADV_DONTNEED)
	}
}

// statm opens the file with the memory of the process. It stays open: opening it for each measurement takes 0.6 % of
// the time of a request.
var statm = sync.OnceValues(func() (int, error) { return unix.Open("/proc/self/statm", unix.O_CLOEXEC, 0) })

// residentMemory returns the physical memory that the process uses, and the part of it that the executable does,
// in bytes. It returns zeros if it cannot read them.
func residentMemory() (all, program int64) {
	file, err := statm()
	if err != nil {
		return 0, 0
	}
	var text [256]byte
	n, _ := unix.Pread(file, text[:], 0)
	var pages [3]int64 // size, resident, shared
	for i, word := range strings.Fields(string(text[:max(n, 0)])) {
		if i < len(pages) {
			pages[i], _ = strconv.ParseInt(word, 10, 64)
		}
	}
	size := int64(os.Getpagesize())
	return pages[1] * size, pages[2] * size
}

// systemMemory returns the memory limit of the control group of the process and the memory of the machine in bytes.
// Each is 0 if it is unknown. The text max, for no limit, counts as unknown.
func systemMemory() (group, machine int64) {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		machine = int64(info.Totalram) * int64(info.Unit)
	}
	for _, path := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil { // "max" without a limit
			return n, machine
		}
	}
	return 0, machine
}

type mapping struct{ start, end uintptr }

// unchangedMappings parses /proc/self/smaps and returns the read-only mappings of a file whose pages are all
// unmodified. A loader can modify pages for relocation before it makes them read-only. Such pages cannot be read from
// the file again. file is the path of the executable. If lines ends with an error, it returns the mappings before it.
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
