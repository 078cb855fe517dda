package evm

import (
	"bytes"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/holiman/uint256"

	"heliograph/internal/domain/evm/calls"
	"heliograph/internal/domain/ledger"
)

// TraceOptions say what a trace tells of each step.
type TraceOptions struct {
	Stack, Memory, Storage bool
	// Reason, if not nil, says why a call of a contract without code failed in the original transaction: n counts such calls at a depth.
	Reason func(depth, n int) []byte
	// Step gets each step as soon as it is over, in the order in which they began. The step and what it holds are overwritten afterwards. An error
	// ends the run and is returned.
	Step func(*calls.OpcodeStep) error
}

// Trace runs a message and tells each step.
func (s *Simulation) Trace(m Message, o TraceOptions) (*Result, error) {
	s.tracer = &tracer{o: o, sim: s, systemCalls: map[int]int{}, touched: map[common.Hash]common.Address{}}
	defer func() { s.tracer, s.state.touch = nil, nil }()
	if o.Storage {
		s.state.touch = s.tracer.touch
	}
	return s.run(m)
}

// tracer turns what the interpreter tells before each opcode into what each opcode left behind. A step is over when its frame goes on with the
// next, or ends. A step that calls is told before those of the frame that it makes: what it left behind is known as soon as that frame begins, but for
// what comes back.
type tracer struct {
	o   TraceOptions
	sim *Simulation

	open    bool // there is a step that is not told yet
	step    calls.OpcodeStep
	scope   tracing.OpContext
	popped  int // what is on the stack still and will not be after the step
	running []running

	systemCalls map[int]int
	touched     map[common.Hash]common.Address // slots in the order of their keys, each with the first contract that touched it
	keys        []common.Hash                  // sorted
	values      []calls.SlotValue
	words       []byte // what memory and stack of the step are in
}

// running is a frame as the tracer sees it.
type running struct {
	opcodes bool // it has made a step
}

// touch notes that a contract used a slot.
func (t *tracer) touch(a common.Address, slot common.Hash) {
	if _, known := t.touched[slot]; known {
		return
	}
	t.touched[slot] = a
	at, _ := slices.BinarySearchFunc(t.keys, slot, func(a, b common.Hash) int { return bytes.Compare(a[:], b[:]) })
	t.keys = slices.Insert(t.keys, at, slot)
}

// before is called before an opcode.
func (t *tracer) before(pc uint64, op byte, gas, cost uint64, scope tracing.OpContext, depth int, err error) {
	t.finish(gas, depth-1)
	if n := len(t.running); n > 0 {
		t.running[n-1].opcodes = true
	}
	t.step = calls.OpcodeStep{
		Depth: int32(depth - 1), Gas: int64(gas - min(cost, gas)), GasCost: int64(cost), Op: opName(op), Pc: int64(pc),
		Memory: t.step.Memory[:0], Stack: t.step.Stack[:0], Storage: t.step.Storage[:0],
	}
	t.open, t.scope, t.popped = true, scope, 0
	if err == nil {
		switch vm.OpCode(op) {
		case vm.STOP:
		case vm.RETURN:
			t.popped = 2
		case vm.REVERT:
			t.popped, t.step.Reason = 2, revertData(scope)
		case vm.SELFDESTRUCT:
			t.popped = 1
		default:
			return // it is over when the next one begins
		}
	}
	t.emit()
}

// revertData is what REVERT is about to give back.
func revertData(scope tracing.OpContext) []byte {
	stack, memory := scope.StackData(), scope.MemoryData()
	from, size := stack[len(stack)-1].Uint64(), stack[len(stack)-2].Uint64()
	data := make([]byte, size)
	if from < uint64(len(memory)) {
		copy(data, memory[from:])
	}
	return data
}

// fault is called when an opcode failed after it began, while its frame is still there.
func (t *tracer) fault(uint64, byte, uint64, uint64, tracing.OpContext, int, error) { t.emit() }

// enter is called when a frame begins.
func (t *tracer) enter(f *Frame) {
	if f.Op == vm.SELFDESTRUCT {
		return
	}
	t.emit()
	t.running = append(t.running, running{})
}

// exit is called when a frame ends.
func (t *tracer) exit(f *Frame, used uint64, err error) {
	if f.Op == vm.SELFDESTRUCT || len(t.running) == 0 {
		return
	}
	depth := len(t.running) - 1
	r := t.running[depth]
	t.running = t.running[:depth]
	if r.opcodes || !t.sim.isCodeless(f.Code) {
		return
	}
	t.step = calls.OpcodeStep{
		Depth: int32(depth), Gas: int64(f.Gas - min(used, f.Gas)), GasCost: int64(used),
		Memory: t.step.Memory[:0], Stack: t.step.Stack[:0], Storage: t.step.Storage[:0],
	}
	if t.sim.isSystem(f.Code) {
		n := t.systemCalls[depth]
		t.systemCalls[depth] = n + 1
		if err != nil && t.o.Reason != nil {
			t.step.Reason = t.o.Reason(depth, n)
		}
	}
	t.tell()
}

// finish tells the open step when the frame that made it goes on, having so much gas.
func (t *tracer) finish(gas uint64, depth int) {
	if t.open && t.step.Depth == int32(depth) {
		t.step.Gas = int64(gas)
	}
	t.emit()
}

// emit tells the open step, with what it left behind.
func (t *tracer) emit() {
	if !t.open {
		return
	}
	t.open = false
	if t.o.Stack || t.o.Memory {
		t.words = t.words[:0]
		var stack []uint256.Int
		var memory []byte
		if t.o.Stack {
			stack = t.scope.StackData()
			stack = stack[:len(stack)-t.popped]
		}
		if t.o.Memory {
			memory = t.scope.MemoryData()
		}
		t.words = slices.Grow(t.words, 32*len(stack)+len(memory))
		for i := range stack {
			w := stack[i].Bytes32()
			t.step.Stack = append(t.step.Stack, t.keep(w[:]))
		}
		for len(memory) > 0 {
			n := min(32, len(memory))
			t.step.Memory = append(t.step.Memory, t.keep(memory[:n]))
			memory = memory[n:]
		}
	}
	t.storage()
	t.tell()
}

// keep copies a word into the memory of the step.
func (t *tracer) keep(b []byte) []byte {
	at := len(t.words)
	t.words = append(t.words, b...)
	return t.words[at:len(t.words):len(t.words)]
}

// storage adds the slots that were used so far.
func (t *tracer) storage() {
	if !t.o.Storage {
		return
	}
	t.values = slices.Grow(t.values[:0], len(t.keys))[:len(t.keys)]
	for i, key := range t.keys {
		value := t.sim.state.peek(t.touched[key], key)
		t.values[i] = calls.SlotValue{Key: append(t.values[i].Key[:0], key[:]...), Value: append(t.values[i].Value[:0], value[:]...)}
		t.step.Storage = append(t.step.Storage, &t.values[i])
	}
}

// tell hands the step over.
func (t *tracer) tell() {
	if err := t.o.Step(&t.step); err != nil {
		t.sim.state.Abort(err)
	}
}

// opName is the opcode's name as the network calls it; empty for one that there is not.
func opName(op byte) string {
	switch vm.OpCode(op) {
	case vm.DIFFICULTY:
		return "PREVRANDAO"
	default:
		name := vm.OpCode(op).String()
		if len(name) > 6 && name[:6] == "opcode" { // "opcode 0xef not defined"
			return ""
		}
		return name
	}
}

// isSystem tells whether the network itself answers at an address.
func (s *Simulation) isSystem(a common.Address) bool {
	num, ok := ledger.EVMAddress(a).Num()
	return ok && num > 0 && num <= lastSystemAccount && !s.isEthereumPrecompile(num)
}

// isEthereumPrecompile tells whether Ethereum itself has a contract at a number.
func (s *Simulation) isEthereumPrecompile(num int64) bool {
	return slices.Contains(s.machine.engines[s.level].warm, longZero(num))
}

// isCodeless tells whether what runs at an address is no code.
func (s *Simulation) isCodeless(a common.Address) bool {
	num, ok := ledger.EVMAddress(a).Num()
	return ok && num > 0 && num <= lastSystemAccount
}
