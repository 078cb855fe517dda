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

// TraceOptions select the parts of each step.
type TraceOptions struct {
	Stack, Memory, Storage bool
	// Reason, if not nil, returns why the n-th call of a system contract at a depth failed in the original
	// transaction.
	Reason func(depth, n int) []byte
	// Step is called with each step when it is complete, in the order in which steps began. The step is overwritten
	// afterwards. An error ends the run and is returned.
	Step func(*calls.OpcodeStep) error
}

// Trace runs a message, calls [TraceOptions.Step] for each step, and undoes the changes of the message. The step is
// reused: Step must copy what it keeps. An error of Step aborts the run and is returned. Other results are those of
// [Simulation.Call].
func (s *Simulation) Trace(m Message, o TraceOptions) (*Result, error) {
	s.tracer = &tracer{o: o, sim: s, systemCalls: map[int]int{}, touched: map[common.Hash]common.Address{}}
	defer func() { s.tracer, s.state.onSlot = nil, nil }()
	if o.Storage {
		s.state.onSlot = s.tracer.useSlot
	}
	return s.run(m)
}

// tracer converts the interpreter's events, which come before each opcode, to steps that have the state after the
// opcode. A step is complete when its frame continues with the next opcode, or ends. A step that calls is complete
// when the called frame begins, so it comes before the steps of that frame and does not have its return data.
type tracer struct {
	o   TraceOptions
	sim *Simulation

	open   bool // step is not complete
	step   calls.OpcodeStep
	scope  tracing.OpContext
	popped int // stack items that the opcode will remove
	frames []tracedFrame

	systemCalls map[int]int
	touched     map[common.Hash]common.Address // used slots, with the first contract that used them
	keys        []common.Hash                  // sorted
	values      []calls.SlotValue
	words       []byte // backing array of the step's memory and stack
}

// tracedFrame is a frame on the call stack.
type tracedFrame struct {
	opcodes bool // it has run an opcode
}

// useSlot records that a contract used a slot, for the storage in later steps. Of several contracts with the same
// slot, the first counts.
func (t *tracer) useSlot(a common.Address, slot common.Hash) {
	if _, known := t.touched[slot]; known {
		return
	}
	t.touched[slot] = a
	at, _ := slices.BinarySearchFunc(t.keys, slot, func(a, b common.Hash) int { return bytes.Compare(a[:], b[:]) })
	t.keys = slices.Insert(t.keys, at, slot)
}

// before is called before an opcode. It completes the step before and begins that of the opcode, which is sent when
// its effects are known: at once if the opcode ends the frame, or fails with err. depth is 1 for the outermost frame.
func (t *tracer) before(pc uint64, op byte, gas, cost uint64, scope tracing.OpContext, depth int, err error) {
	t.resume(gas, depth-1)
	if n := len(t.frames); n > 0 {
		t.frames[n-1].opcodes = true
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
			return // it is complete when the next one begins
		}
	}
	t.complete()
}

// revertData returns the data of a REVERT that is about to run, as a copy. Bytes after the end of the memory are zero.
func revertData(scope tracing.OpContext) []byte {
	stack, memory := scope.StackData(), scope.MemoryData()
	from, size := stack[len(stack)-1].Uint64(), stack[len(stack)-2].Uint64()
	data := make([]byte, size)
	if from < uint64(len(memory)) {
		copy(data, memory[from:])
	}
	return data
}

// fault is called by the EVM when an opcode fails. It sends the open step.
func (t *tracer) fault(uint64, byte, uint64, uint64, tracing.OpContext, int, error) { t.complete() }

// enter is called when a frame begins. It sends the open step of the caller. A SELFDESTRUCT, which the EVM reports as
// a frame, is ignored.
func (t *tracer) enter(f *Frame) {
	if f.Op == vm.SELFDESTRUCT {
		return
	}
	t.complete()
	t.frames = append(t.frames, tracedFrame{})
}

// exit is called when a frame ends. A call of a system account or precompiled contract, which has no opcodes, gets a
// step of its own, with the reason that [TraceOptions.Reason] has for a failed system contract. Calls of other
// accounts without code get none, and the frame of a SELFDESTRUCT is ignored.
func (t *tracer) exit(f *Frame, used uint64, err error) {
	if f.Op == vm.SELFDESTRUCT || len(t.frames) == 0 {
		return
	}
	depth := len(t.frames) - 1
	frame := t.frames[depth]
	t.frames = t.frames[:depth]
	if frame.opcodes || !t.sim.isCodeless(f.Code) {
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
	t.send()
}

// resume completes the open step when a frame continues with the given gas. If the step is of another depth, its gas
// does not change. depth is 0 for the outermost frame.
func (t *tracer) resume(gas uint64, depth int) {
	if t.open && t.step.Depth == int32(depth) {
		t.step.Gas = int64(gas)
	}
	t.complete()
}

// complete adds the stack, memory and storage after the open step to it, as the options select, and sends it.
// Without an open step it does nothing.
func (t *tracer) complete() {
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
			t.step.Stack = append(t.step.Stack, t.copy(w[:]))
		}
		for len(memory) > 0 {
			n := min(32, len(memory))
			t.step.Memory = append(t.step.Memory, t.copy(memory[:n]))
			memory = memory[n:]
		}
	}
	t.storage()
	t.send()
}

// copy appends a word to the backing array of the step and returns the copy, which is valid until the next step.
func (t *tracer) copy(b []byte) []byte {
	at := len(t.words)
	t.words = append(t.words, b...)
	return t.words[at:len(t.words):len(t.words)]
}

// storage adds the slots that contracts have used so far to the step, with their values, if the options select
// storage.
func (t *tracer) storage() {
	if !t.o.Storage {
		return
	}
	t.values = slices.Grow(t.values[:0], len(t.keys))[:len(t.keys)]
	for i, key := range t.keys {
		value := t.sim.state.current(t.touched[key], key)
		t.values[i] = calls.SlotValue{
			Key:   append(t.values[i].Key[:0], key[:]...),
			Value: append(t.values[i].Value[:0], value[:]...),
		}
		t.step.Storage = append(t.step.Storage, &t.values[i])
	}
}

// send passes the step to [TraceOptions.Step]. If that fails, it aborts the run.
func (t *tracer) send() {
	if err := t.o.Step(&t.step); err != nil {
		t.sim.state.Abort(err)
	}
}

// opName returns the network's name of an opcode, empty for an undefined opcode.
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

// isSystem reports whether an address is a system contract or system account, other than Ethereum's precompiled
// contracts.
func (s *Simulation) isSystem(a common.Address) bool {
	num, ok := ledger.EVMAddress(a).Num()
	ethereum := s.machine.engines[s.level].warm
	return ok && num > 0 && num <= lastSystemAccount && !slices.Contains(ethereum, longZero(num))
}

// isCodeless reports whether calls of an address run no EVM code, because it has the number of a system account or of
// a precompiled contract, from 1 to lastSystemAccount.
func (s *Simulation) isCodeless(a common.Address) bool {
	num, ok := ledger.EVMAddress(a).Num()
	return ok && num > 0 && num <= lastSystemAccount
}
