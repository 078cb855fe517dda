package evm_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
)

// at returns a machine that always uses a level.
func at(level evm.Level) *evm.Machine {
	return evm.New(
		evm.Config{MinimumBalance: evm.DefaultMinimumBalance, Level: func(evm.Block) evm.Level { return level }},
	)
}

// TestDelegation calls accounts that delegate their code (EIP-7702).
func TestDelegation(t *testing.T) {
	t.Parallel()
	const delegator, other = 1010, 1011
	for _, c := range []struct {
		name   string
		to     ledger.EVMAddress
		level  evm.Level
		code   ledger.ResponseCode
		output string // hex
	}{
		{"to a contract", lz(target), evm.Level70, codes.Success, fmt.Sprintf("%064x", delegator)},
		{"to a contract, before Prague", lz(target), evm.Level67, codes.Success, ""},
		{"to a precompiled contract", lz(4), evm.Level70, codes.Success, ""},
		{"to a system contract", lz(0x167), evm.Level70, codes.Success, ""},
		{"to a delegating account", lz(other), evm.Level70, codes.ContractExecutionException, ""},
		{"to a token", lz(token), evm.Level70, codes.ContractExecutionException, ""},
		{"to a schedule", lz(schedule), evm.Level70, codes.ContractExecutionException, ""},
		{"to a missing account", lz(4999), evm.Level70, codes.Success, ""},
		{"to the zero address", ledger.EVMAddress{}, evm.Level70, codes.Success, ""},
	} {
		src := world(t, "ADDRESS"+returnWord)
		src.entities = append(src.entities,
			&worldstate.Entity{ID: delegator, Type: ledger.EntityAccount, Delegation: ledger.Of(c.to)},
			&worldstate.Entity{ID: other, Type: ledger.EntityAccount, Delegation: ledger.Of(lz(target))})
		r := run(t, at(c.level), src, to(delegator, common.FromHex("01020304")))
		if r.Code != c.code || hex.EncodeToString(r.Output) != c.output {
			t.Errorf("%s: got %s %x", c.name, r.Code, r.Output)
		}
		// The code that contracts read is the delegation, if there is one.
		src.entities[4].Code = assemble(
			t,
			`0x20 0x00 0x00 0x03f2 EXTCODECOPY 0x03f2 EXTCODESIZE 0x20 MSTORE 0x03f2 EXTCODEHASH 0x40 MSTORE 0x60 `+
				`0x00 RETURN`,
		)
		var want []byte
		if c.level == evm.Level70 && c.to != (ledger.EVMAddress{}) {
			want = append(common.FromHex("ef0100"), c.to[:]...)
		}
		got := words(run(t, at(c.level), src, to(target)).Output)
		if len(got) != 3 || got[0] != common.Hash(common.RightPadBytes(want, 32)) ||
			got[1].Big().Int64() != int64(len(want)) ||
			got[2] != crypto.Keccak256Hash(want) {
			t.Errorf("%s: contracts read %v", c.name, got)
		}
	}
	// A contract calls a delegating account like any other.
	src := world(t, callCode)
	src.entities = append(
		src.entities,
		&worldstate.Entity{ID: 2001, Type: ledger.EntityContract, Code: assemble(t, "ADDRESS"+returnWord)},
		&worldstate.Entity{ID: delegator, Type: ledger.EntityAccount, Delegation: ledger.Of(lz(2001))},
	)
	if got := words(run(t, at(evm.Level70), src, to(target, word(delegator), word(0))).Output); len(got) != 3 ||
		got[0].Big().Int64() != delegator {
		t.Errorf("a call by a contract: got %v", got)
	}
	// The token's own calls are not affected by an account that delegates to it.
	if got := words(run(t, at(evm.Level70), src, to(target, word(token), word(0))).Output); len(got) != 3 {
		t.Errorf("a call of a token: got %v", got)
	}
}

// TestCalldataFloor checks the minimum price of call data: 100 bytes cost 22,600 before execution, and at least
// 25,000.
func TestCalldataFloor(t *testing.T) {
	t.Parallel()
	data := bytes.Repeat([]byte{1}, 100)
	for _, c := range []struct {
		name  string
		floor ledger.Null[bool]
		level evm.Level
		gas   uint64
		code  ledger.ResponseCode
		used  uint64
	}{
		{"Prague", ledger.Null[bool]{}, evm.Level70, 15_000_000, codes.Success, 25_000},
		{"Prague, exactly", ledger.Null[bool]{}, evm.Level70, 25_000, codes.Success, 25_000},
		{"Prague, less gas", ledger.Null[bool]{}, evm.Level70, 24_999, codes.InsufficientGas, 24_999},
		{"before Prague", ledger.Null[bool]{}, evm.Level67, 15_000_000, codes.Success, 22_600},
		{"off", ledger.Of(false), evm.Level70, 15_000_000, codes.Success, 22_600},
		{"on before Prague", ledger.Of(true), evm.Level67, 15_000_000, codes.Success, 25_000},
		{"on long before Prague", ledger.Of(true), evm.Level51, 15_000_000, codes.Success, 22_600},
	} {
		m := evm.New(evm.Config{CalldataFloor: c.floor, Level: func(evm.Block) evm.Level { return c.level }})
		msg := to(target, data)
		msg.Gas = c.gas
		if r := run(t, m, world(t, "STOP"), msg); r.Code != c.code || r.GasUsed != c.used {
			t.Errorf("%s: got %s, %d gas, want %s, %d", c.name, r.Code, r.GasUsed, c.code, c.used)
		}
	}
}

// TestEstimateSteps checks the search of estimates with examples: a contract that uses a known amount of gas.
func TestEstimateSteps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ used, gas, want uint64 }{
		{33_210, 15_000_000, 36_073},   // the first guess is close enough
		{174_667, 15_000_000, 179_776}, // same
		{21_000, 15_000_000, 22_334},   // one step after the guess
		{30_000, 32_000, 32_000},       // the guess is above the limit
		{30_000, 30_000, 30_000},       // the limit is used completely
	} {
		msg := to(target)
		msg.Gas = c.gas
		src := world(t, strings.Repeat("JUMPDEST ", int(c.used-21_000)))
		if r := run(t, newMachine(), src, msg); r.GasUsed != c.used {
			t.Fatalf("the contract uses %d", r.GasUsed)
		}
		got, err := begin(t, newMachine(), src).Estimate(msg)
		if err != nil || got.GasUsed != c.want {
			t.Errorf("%d used of %d: got %d, want %d, %v", c.used, c.gas, got.GasUsed, c.want, err)
		}
	}
	// A contract that requires 300,000 gas to be left: the search goes on above the guess.
	src := world(t, "0x0493e0 GAS LT @no JUMPI STOP :no INVALID")
	got, err := begin(t, newMachine(), src).Estimate(to(target))
	if err != nil || got.Failed() || got.GasUsed < 321_000 || got.GasUsed > 322_000*10/9 {
		t.Errorf("a contract that requires spare gas: got %d, %v", got.GasUsed, err)
	}
	msg := to(target)
	msg.Gas = got.GasUsed
	if r := run(t, newMachine(), src, msg); r.Failed() {
		t.Errorf("a run with the estimate: got %s", r.Code)
	}
}

// TestHugeGas checks that gas limits near the end of the range of numbers are charged and estimated as others.
func TestHugeGas(t *testing.T) {
	t.Parallel()
	src := world(t, "0x0493e0 GAS LT @no JUMPI STOP :no INVALID")
	for _, gas := range []uint64{4_000_000_000_000_000_000, 1<<63 - 1} {
		msg := to(target)
		msg.Gas = gas
		if r := run(t, newMachine(), src, msg); r.Failed() || r.GasUsed > 30_000 {
			t.Errorf("of %d gas, %d is used; %s", gas, r.GasUsed, r.Code)
		}
		got, err := begin(t, newMachine(), src).Estimate(msg)
		if err != nil || got.Failed() || got.GasUsed > 322_000*10/9 {
			t.Errorf("with %d gas, the estimate is %d; %v", gas, got.GasUsed, err)
		}
	}
}
