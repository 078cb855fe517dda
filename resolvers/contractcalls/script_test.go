package contractcalls_test

import (
	"encoding/binary"
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"

	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
	"heliograph/storage/evmstate"
)

// step is a call of a contract, or several calls that are undone together by a revert.
type step struct {
	to     common.Address
	data   []byte
	op     vm.OpCode // default: CALL
	undone []step
	nth    int // index of the return word to check
	value  uint64
	code   []byte // run if the step has no address
}

// outcome is the result of a step: whether it succeeded, and the selected word of its return data.
type outcome struct {
	ok   bool
	word *big.Int
}

// stepGas is the gas limit of each call of a script.
const stepGas = 6_000_000

// results is the memory offset at which a script stores the outcomes of its steps. It is above the data of all steps.
const results = 0x4000

// returned is the memory offset of a step's return data.
const returned = 0x3000

// script returns code that makes calls in order. For each call it returns the success flag and the selected return
// word. Steps that are undone run as code at separate addresses.
func script(steps []step, revert bool, at func(code []byte) common.Address) []byte {
	var code, data []byte
	push := func(v int) { code = append(code, byte(vm.PUSH3), byte(v>>16), byte(v>>8), byte(v)) }
	op := func(ops ...vm.OpCode) {
		for _, o := range ops {
			code = append(code, byte(o))
		}
	}
	type fix struct{ at, offset int }
	var fixes []fix
	for i, s := range steps {
		place := results + 64*i
		call := s.op
		if call == 0 {
			call = vm.CALL
		}
		if s.undone != nil {
			s.to, call = at(script(s.undone, true, at)), vm.DELEGATECALL
		}
		if s.code != nil {
			s.to = at(s.code)
		}
		push(len(s.data))
		fixes = append(fixes, fix{len(code) + 1, len(data)})
		push(0)
		push(0)
		op(vm.CODECOPY)
		data = append(data, s.data...)
		push(32 * (s.nth + 1))
		push(returned)
		push(len(s.data))
		push(0)
		if call == vm.CALL {
			code = binary.BigEndian.AppendUint64(append(code, byte(vm.PUSH8)), s.value)
		}
		code = append(append(code, byte(vm.PUSH20)), s.to[:]...)
		if s.undone != nil {
			op(vm.GAS)
		} else {
			push(stepGas)
		}
		op(call)
		push(place)
		op(vm.MSTORE)
		push(returned + 32*s.nth)
		op(vm.MLOAD)
		push(place + 32)
		op(vm.MSTORE)
		push(0) // clear the word, because the next return data may be shorter
		push(returned + 32*s.nth)
		op(vm.MSTORE)
	}
	push(64 * len(steps))
	push(results)
	op(vm.RETURN)
	if revert {
		code[len(code)-1] = byte(vm.REVERT)
	}
	for _, f := range fixes {
		v := len(code) + f.offset
		code[f.at], code[f.at+1], code[f.at+2] = byte(v>>16), byte(v>>8), byte(v)
	}
	return append(code, data...)
}

// as runs steps as who in one simulation.
func (b *bench) as(t testing.TB, ref worldstate.BlockRef, who common.Address, steps ...step) []outcome {
	t.Helper()
	s, err := b.reader.Open(t.Context(),
		evmstate.Request{Block: ref, Addresses: []ledger.EVMAddress{ledger.EVMAddress(who)}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var overrides []evm.Override
	at := func(code []byte) common.Address {
		a := common.BigToAddress(new(big.Int).Lsh(big.NewInt(int64(len(overrides)+1)), 80))
		overrides = append(overrides, evm.Override{Address: ledger.EVMAddress(a), Code: code})
		return a
	}
	own := evm.Override{Address: ledger.EVMAddress(who), Code: script(steps, false, at)}
	if slices.ContainsFunc(steps, func(s step) bool { return s.value > 0 }) {
		own.Balance = ledger.Of(uint64(1_000_000 * 100_000_000)) // code cannot spend the minimum balance
	}
	overrides = append(overrides, own)
	sim := b.machine.Begin(t.Context(), s, s.Block())
	if err := sim.Override(overrides); err != nil {
		t.Fatal(err)
	}
	r, err := sim.Call(evm.Message{
		From: ledger.Of(ledger.EVMAddress(lz(2))), To: ledger.Of(ledger.EVMAddress(who)),
		Gas: 100_000_000,
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Code != codes.Success || len(r.Output) != 64*len(steps) {
		t.Fatalf("the script ended with %s and %d bytes", r.Code, len(r.Output))
	}
	out := make([]outcome, len(steps))
	for i := range out {
		word := r.Output[64*i:]
		out[i] = outcome{word[31] == 1, new(big.Int).SetBytes(word[32:64])}
	}
	return out
}

// addressOf returns the address that contracts use for an entity.
func (b *bench) addressOf(t testing.TB, num int64) common.Address {
	t.Helper()
	s, err := b.reader.Open(t.Context(), evmstate.Request{Addresses: []ledger.EVMAddress{ledger.EVMAddress(lz(num))}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	e, err := s.Entities(t.Context(), []ledger.EVMAddress{ledger.EVMAddress(lz(num))})
	if err != nil || e[0] == nil {
		t.Fatalf("0.0.%d is not there: %v", num, err)
	}
	return evm.Canonical(e[0])
}
