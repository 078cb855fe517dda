package evm_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/calls"
)

// steps traces a message and returns a line per step.
func steps(t *testing.T, src evm.Source, msg evm.Message, o evm.TraceOptions) (*evm.Result, []string) {
	t.Helper()
	var out []string
	o.Step = func(s *calls.OpcodeStep) error {
		var stack []string
		for _, w := range s.Stack {
			stack = append(stack, new32(w))
		}
		line := fmt.Sprintf("%d %s@%d cost %d [%s]", s.Depth, s.Op, s.Pc, s.GasCost, strings.Join(stack, " "))
		if s.Reason != nil {
			line += fmt.Sprintf(" reason %x", s.Reason)
		}
		var lineSb28 strings.Builder
		for _, v := range s.Storage {
			lineSb28.WriteString(" " + new32(v.Key) + "=" + new32(v.Value))
		}
		line += lineSb28.String()
		if len(s.Memory) > 0 {
			line += fmt.Sprintf(" memory %d", len(s.Memory))
		}
		out = append(out, line)
		return nil
	}
	r, err := begin(t, newMachine(), src).Trace(msg, o)
	if err != nil {
		t.Fatal(err)
	}
	return r, out
}

// new32 formats a word as a short hex number.
func new32(b []byte) string { return common.BytesToHash(b).Big().Text(16) }

func TestTrace(t *testing.T) {
	t.Parallel()
	all := evm.TraceOptions{Stack: true, Memory: true, Storage: true}
	cases := []struct {
		name, code string
		msg        evm.Message
		want       []string
	}{
		{"storage and memory", "0x01 0x00 SSTORE 0x07 SLOAD 0x20 MSTORE STOP", to(target), []string{
			"0 PUSH1@0 cost 3 [1]", "0 PUSH1@2 cost 3 [1 0]", "0 SSTORE@4 cost 5000 [] 0=1",
			"0 PUSH1@5 cost 3 [7] 0=1",
			"0 SLOAD@7 cost 2100 [9] 0=1 7=9", "0 PUSH1@8 cost 3 [9 20] 0=1 7=9",
			"0 MSTORE@10 cost 9 [] 0=1 7=9 memory 2", "0 STOP@11 cost 0 [] 0=1 7=9 memory 2",
		}},
		{"a revert", "0x01 0x00 MSTORE8 0x01 0x00 REVERT", to(target), []string{
			"0 PUSH1@0 cost 3 [1]", "0 PUSH1@2 cost 3 [1 0]", "0 MSTORE8@4 cost 6 [] memory 1",
			"0 PUSH1@5 cost 3 [1] memory 1", "0 PUSH1@7 cost 3 [1 0] memory 1",
			"0 REVERT@9 cost 0 [] reason 01 memory 1",
		}},
		{"a failing opcode", "0x63 JUMP", to(target), []string{"0 PUSH1@0 cost 3 [63]", "0 JUMP@2 cost 8 []"}},
		{"an unknown opcode", "0x01 INVALID", to(target), []string{"0 PUSH1@0 cost 3 [1]", "0 INVALID@2 cost 0 [1]"}},
		{"a precompiled contract", "0x00 0x00 0x00 0x00 0x04 GAS STATICCALL STOP", to(target), []string{
			"0 PUSH1@0 cost 3 [0]", "0 PUSH1@2 cost 3 [0 0]", "0 PUSH1@4 cost 3 [0 0 0]", "0 PUSH1@6 cost 3 [0 0 0 0]",
			"0 PUSH1@8 cost 3 [0 0 0 0 4]",
			"0 GAS@10 cost 2 [0 0 0 0 4 e48fa7]", "", "1 @0 cost 15 []", "0 STOP@12 cost 0 [1]",
		}},
		{
			"a call",
			"0x00 CALLDATALOAD @end JUMPI 0x00 0x00 0x20 0x00 0x00 0x01 0x00 MSTORE ADDRESS GAS CALL DIFFICULTY " +
				":end STOP", to(target), nil,
		},
	}
	for _, c := range cases {
		_, got := steps(t, world(t, c.code), c.msg, all)
		if c.want == nil {
			joined := strings.Join(got, "\n")
			if !strings.Contains(joined, "\n1 JUMPI") || !strings.Contains(joined, "\n1 STOP") ||
				!strings.Contains(joined, "\n0 PREVRANDAO") || !strings.Contains(joined, "\n0 CALL@") {
				t.Errorf("%s: %s", c.name, joined)
			}
			continue
		}
		if len(got) != len(c.want) {
			t.Errorf("%s: %s", c.name, strings.Join(got, "\n"))
			continue
		}
		for i, want := range c.want {
			if want != "" && got[i] != want {
				t.Errorf("%s: step %d is %q, want %q", c.name, i, got[i], want)
			}
		}
	}
	src := world(t, callCode)
	reasons := evm.TraceOptions{Reason: func(depth, n int) []byte {
		return evm.SystemReason([]byte{byte(depth), byte(n + 22)})
	}}
	_, got := steps(t, src, to(target, word(0x168), word(0), common.FromHex("43a88229")), reasons)
	var system string
	for _, s := range got {
		if strings.HasPrefix(s, "1 @") {
			system = s
		}
	}
	if want := fmt.Sprintf(" reason %x", evm.SystemReason([]byte{1, 22})); !strings.HasSuffix(system, want) {
		t.Errorf("the call of a system contract is %q, want %q", system, want)
	}
}

// TestLongTrace traces more than a million steps without storing them.
func TestLongTrace(t *testing.T) {
	src := world(t, ":l 0x01 ADD DUP1 0x030d40 GT @l JUMPI STOP")
	msg := to(target)
	var before, after runtime.MemStats
	n, most := 0, uint64(0)
	o := evm.TraceOptions{Stack: true, Memory: true, Storage: true, Step: func(*calls.OpcodeStep) error {
		n++
		if n%200_000 == 0 {
			runtime.GC()
			runtime.ReadMemStats(&after)
			if before.HeapAlloc == 0 {
				before = after
			}
			most = max(most, after.HeapAlloc)
		}
		return nil
	}}
	src.entities[4].Code = assemble(t, "0x00 :l 0x01 ADD DUP1 0x030d40 GT @l JUMPI STOP")
	if r, err := begin(t, newMachine(), src).Trace(msg, o); err != nil || r.Failed() {
		t.Fatal(err, r)
	}
	if n < 1_000_000 {
		t.Errorf("%d steps", n)
	}
	if grown := int64(most) - int64(before.HeapAlloc); grown > 1<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
}

func TestRevertReason(t *testing.T) {
	t.Parallel()
	plain := evm.ErrorString("Custom revert message")
	for _, c := range []struct {
		name, want string
		data       []byte
	}{
		{"a text", "Custom revert message", plain},
		{"an empty text", "", evm.ErrorString("")},
		{"nothing", "", nil},
		{"the selector", "", plain[:4]},
		{"cut off", "", plain[:70]},
		{"a panic", "", common.FromHex("4e487b710000000000000000000000000000000000000000000000000000000000000011")},
	} {
		if got := evm.RevertReason(c.data); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	for _, c := range []struct{ data, want []byte }{
		{nil, []byte{}},
		{make([]byte, 32), []byte{}},
		{plain, plain},
		{[]byte{0, 0, 22}, evm.ErrorString("SUCCESS")},
		{[]byte("text of five"), evm.ErrorString("text of five")},
	} {
		if got := evm.SystemReason(c.data); !bytes.Equal(got, c.want) {
			t.Errorf("%x: got %x, want %x", c.data, got, c.want)
		}
	}
}
