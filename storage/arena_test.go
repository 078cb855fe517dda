package storage

import (
	"bytes"
	"testing"
)

// TestArena checks that adjacent values do not overlap, and that empty and null differ.
func TestArena(t *testing.T) {
	t.Parallel()
	var a arena
	if kept := a.clone([]byte{}); kept == nil || len(kept) != 0 {
		t.Errorf("no bytes are kept as %#v", kept)
	}
	var kept, want [][]byte
	for i := range 3 * chunkSize / 10 {
		b := bytes.Repeat([]byte{byte(i)}, i%20)
		kept, want = append(kept, a.clone(b)), append(want, bytes.Clone(b))
		clear(b) // the driver's memory is used again
	}
	large := a.clone(bytes.Repeat([]byte{1}, chunkSize))
	for i := range kept {
		_ = append(kept[i], 0xff) // must not reach the neighbour
	}
	for i := range kept {
		if !bytes.Equal(kept[i], want[i]) {
			t.Fatalf("value %d is %x, not %x", i, kept[i], want[i])
		}
	}
	if len(large) != chunkSize || large[0] != 1 {
		t.Error("a large value is lost")
	}
}
