package abi

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
)

// TestRoundTrip encodes values and decodes them, and decodes truncated and invalid data.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	typ, err := Parse("(address,(string,int64)[],bytes,bool,uint256,uint8[])")
	if err != nil {
		t.Fatal(err)
	}
	v := []any{
		common.HexToAddress("0x7"),
		[]any{[]any{"a", int64(-1)}, []any{"", int64(2)}},
		[]byte{1, 2, 3},
		true, big.NewInt(9),
		[]any{uint64(1), uint64(255)},
	}
	data := typ.Encode(nil, v)
	got, err := typ.Decode(data)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(v) {
		t.Fatalf("got %v, want %v: %v", got, v, err)
	}
	for n := range data {
		if _, err := typ.Decode(data[:n]); err == nil {
			t.Errorf("%d of %d bytes decode", n, len(data))
		}
	}
	for _, bad := range []struct {
		typ  string
		word int // whose bytes are all set
	}{{"(bool)", 0}, {"(address)", 0}, {"(uint8)", 0}, {"(bytes)", 0}, {"(bytes)", 1}, {"(int64[])", 1}} {
		typ, err := Parse(bad.typ)
		if err != nil {
			t.Fatal(err)
		}
		words := make([]byte, 96)
		words[31] = 32
		copy(words[32*bad.word:], slices.Repeat([]byte{0xff}, 32))
		if _, err := typ.Decode(words); err == nil {
			t.Errorf("%s: decoded from %x", bad.typ, words)
		}
	}
	// A list whose elements all refer to one list: far more values than there are words.
	nested, err := Parse("(int64[][])")
	if err != nil {
		t.Fatal(err)
	}
	const n = 1000
	bomb := appendUint(appendUint(nil, 32), n)
	for range n {
		bomb = appendUint(bomb, 32*n)
	}
	bomb = append(appendUint(bomb, n), make([]byte, 32*n)...)
	if _, err := nested.Decode(bomb); err == nil {
		t.Error("a million values were decoded from two thousand words")
	}
	for _, text := range []string{"float", "(bool", "bool,int64", "(bool)x"} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%s is a valid type", text)
		}
	}
}
