package gateway

import (
	"bufio"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestUnchangedMappings(t *testing.T) {
	t.Parallel()
	const smaps = `00400000-01c16000 r-xp 00000000 fe:00 9978107                            /opt/a gateway
Size:              24664 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me
01c16000-042a1000 r--p 01816000 fe:00 9978107                            /opt/a gateway
Size:              39468 kB
Anonymous:             4 kB
042a1000-043de000 rw-p 03ea1000 fe:00 9978107                            /opt/a gateway
Anonymous:             0 kB
c000000000-c000400000 rw-p 00000000 00:00 0
Anonymous:             0 kB
7f0000000000-7f0000001000 r-xp 00000000 fe:00 11                         /lib/libc.so
Anonymous:             0 kB
7f0000002000-7f0000003000 r--p 00000000 fe:00 9978107                    /opt/a gateway
Anonymous:             0 kB
`
	got := unchangedMappings(bufio.NewScanner(strings.NewReader(smaps)), "/opt/a gateway")
	if want := []mapping{{0x400000, 0x1c16000}, {0x7f0000002000, 0x7f0000003000}}; !slices.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
	for _, broken := range []string{
		"", "x", "\n\n", "1-2 r-xp 0 0 0 /p\nAnonymous:",
		"z-2 r-xp 0 0 0 /p\nAnonymous: 0 kB", "2-1 r-xp 0 0 0 /p\nAnonymous: 0 kB",
	} {
		if got := unchangedMappings(bufio.NewScanner(strings.NewReader(broken)), "/p"); len(got) != 0 {
			t.Errorf("%q: got %x, want none", broken, got)
		}
	}
}

// TestReleaseProgram checks that releaseProgram reduces the resident pages of the executable.
func TestReleaseProgram(t *testing.T) { //nolint:paralleltest // parallel tests would map the pages again
	before := residentFile(t)
	releaseProgram()
	if after := residentFile(t); after >= before {
		t.Errorf("%d kB of files are resident, before %d kB", after, before)
	}
}

func residentFile(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(status), "RssFile:")
	words := strings.Fields(rest)
	if !found || len(words) == 0 {
		t.Fatal("/proc/self/status has no RssFile, which exists since Linux 4.5")
	}
	kB, err := strconv.Atoi(words[0])
	if err != nil {
		t.Fatal(err)
	}
	return kB
}
