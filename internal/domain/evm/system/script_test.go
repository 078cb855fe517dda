package system_test

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
	"heliograph/storage/evmstate"
)

// step is a call that somebody makes: of a contract with data, or of several that are all undone because they end in a revert.
type step struct {
	to     common.Address
	data   []byte
	op     vm.OpCode // CALL when it is not given
	undone []step
	nth    int // which word of what is returned counts; the first one is 0
	value  uint64
	code   []byte // is run where the step has no address
}

// outcome is how a step ended: whether it succeeded, and the word that counts of what it returned.
type outcome struct {
	ok   bool
	word *big.Int
}

// stepGas is what each call of a script may use.
const stepGas = 3_000_000

// results is where a script keeps what its steps returned: above all of their data.
const results = 0x4000

// returned is where a script takes what a step returns.
const returned = 0x3000

// script is code that makes calls one after the other and returns for each whether it succeeded and the first word of what it returned. Undone steps
// are code at addresses of their own.
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
		push(0) // what is returned may be shorter next time
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

// as runs steps in one simulation, called by somebody.
func (b *bench) as(t testing.TB, ref worldstate.BlockRef, who common.Address, steps ...step) []outcome {
	t.Helper()
	s, err := b.reader.Open(t.Context(), evmstate.Request{Block: ref, Addresses: []ledger.EVMAddress{ledger.EVMAddress(who)}})
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
		own.Balance = ledger.Of(uint64(1_000_000 * 100_000_000)) // code has only what it really has
	}
	overrides = append(overrides, own)
	sim := b.machine.Begin(t.Context(), s, s.Block())
	if err := sim.Override(overrides); err != nil {
		t.Fatal(err)
	}
	r, err := sim.Call(evm.Message{From: ledger.Of(ledger.EVMAddress(lz(2))), To: ledger.Of(ledger.EVMAddress(who)), Gas: 100_000_000})
	if err != nil {
		t.Fatal(err)
	}
	if r.Code != evm.Success || len(r.Output) != 64*len(steps) {
		t.Fatalf("the script ended with %s and %d bytes", r.Code, len(r.Output))
	}
	out := make([]outcome, len(steps))
	for i := range out {
		word := r.Output[64*i:]
		out[i] = outcome{word[31] == 1, new(big.Int).SetBytes(word[32:64])}
	}
	return out
}

// addressOf is the address by which contracts know an entity.
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
