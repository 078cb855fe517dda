package resolvers

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"heliograph/internal/domain/evm/system/abi"
)

// TestABIMemory parses many different ABIs. Afterwards only the newest is in memory.
func TestABIMemory(t *testing.T) {
	var kept abis
	parse := func(n int) {
		text := fmt.Sprintf("function f%d(%s uint256)", n, strings.Repeat("address,", abi.MaxText/32))
		if _, err := kept.of([]string{text}); err != nil {
			t.Fatal(err)
		}
	}
	used := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	parse(0)
	before := used()
	for n := range 200 {
		parse(n + 1)
	}
	if after := used(); after > before+8<<20 {
		t.Errorf("200 ABIs of 32 KiB keep %d KiB", (after-before)>>10)
	}
}
