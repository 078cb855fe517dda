package evm_test

import (
	"bytes"
	"encoding/hex"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/rawdb"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/params"
	"github.com/ethereum/go-ethereum/triedb"
	"github.com/holiman/uint256"

	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
)

const helper = 2001

// reference runs a call on the interpreter's own state, as an Ethereum node does.
func reference(t testing.TB, src *memory, msg evm.Message) (output []byte, gas uint64, err error) {
	t.Helper()
	db := rawdb.NewMemoryDatabase()
	s, err := state.New(types.EmptyRootHash, state.NewDatabase(triedb.NewDatabase(db, nil), state.NewCodeDB(db)))
	if err != nil {
		t.Fatal(err)
	}
	zero, now := new(big.Int), uint64(0)
	config := &params.ChainConfig{
		ChainID: big.NewInt(evm.ChainIDTestnet), HomesteadBlock: zero, EIP150Block: zero, EIP155Block: zero,
		EIP158Block: zero, ByzantiumBlock: zero,
		ConstantinopleBlock: zero, PetersburgBlock: zero, IstanbulBlock: zero, BerlinBlock: zero, LondonBlock: zero,
		MergeNetsplitBlock:      zero,
		TerminalTotalDifficulty: zero, ShanghaiTime: &now, CancunTime: &now, PragueTime: &now,
		BlobScheduleConfig: params.DefaultBlobSchedule,
	}
	for _, e := range src.entities {
		a := common.Address(e.ID.LongZero())
		s.CreateAccount(a)
		s.SetBalance(a, uint256.NewInt(uint64(e.Balance.V)), tracing.BalanceChangeUnspecified)
		s.SetNonce(a, uint64(e.Nonce), tracing.NonceChangeUnspecified)
		if e.Code != nil {
			s.SetCode(a, e.Code, tracing.CodeChangeUnspecified)
		}
		for slot, value := range src.slots[e.ID.Num()] {
			s.SetState(a, slot, value)
		}
	}
	random := common.Hash(hashOf(block))
	machine := vm.NewEVM(vm.BlockContext{
		CanTransfer: func(s vm.StateDB, a common.Address, v *uint256.Int) bool { return !s.GetBalance(a).Lt(v) },
		Transfer: func(s vm.StateDB, from, to common.Address, v *uint256.Int, _ *params.Rules) {
			s.SubBalance(from, v, tracing.BalanceChangeTransfer)
			s.AddBalance(to, v, tracing.BalanceChangeTransfer)
		},
		GetHash: func(uint64) common.Hash {
			return common.Hash{}
		}, Coinbase: common.BigToAddress(big.NewInt(98)), GasLimit: msg.Gas,
		BlockNumber: big.NewInt(block), Time: 1_700_000_000, Difficulty: zero, BaseFee: zero,
		BlobBaseFee: big.NewInt(1), Random: &random,
	}, s, config, vm.Config{NoBaseFee: true})
	rules := config.Rules(big.NewInt(block), true, 1_700_000_000)
	from, to := common.Address(msg.From.V), common.Address(msg.To.V)
	machine.SetTxContext(vm.TxContext{Origin: from, GasPrice: new(uint256.Int)})
	s.Finalise(rules)
	s.SetTxContext(common.Hash{1}, 0, 0)
	s.Prepare(rules, from, common.BigToAddress(big.NewInt(98)), &to, vm.ActivePrecompiles(rules), nil)
	intrinsic := uint64(21_000)
	for _, b := range msg.Data {
		intrinsic += 16
		if b == 0 {
			intrinsic -= 12
		}
	}
	output, left, err := machine.Call(from, to, msg.Data, vm.NewGasBudget(msg.Gas-intrinsic, 0),
		uint256.NewInt(uint64(msg.Value)))
	used := msg.Gas - left.ExecutionGas
	return output, used - min(s.GetRefund(), used/5), err
}

// program returns random code. Most of it is valid, because the stack usually has the operands of each opcode. Steady
// code is always valid and its gas use does not depend on the gas limit: no call in it fails, and it does not read the
// remaining gas.
func program(r *rand.Rand, size int, steady bool) []byte {
	var code []byte
	depth := 0
	push := func(v ...byte) {
		code = append(append(code, byte(vm.PUSH1)+byte(len(v)-1)), v...)
		depth++
	}
	contract := func() { push(0x07, 0xd0+byte(r.IntN(2))) } // 2000 or 2001
	small := func() { push(byte(r.IntN(96))) }
	type op struct {
		code       vm.OpCode
		takes, put int
	}
	plain := []op{
		{vm.ADD, 2, 1},
		{vm.MUL, 2, 1},
		{vm.SUB, 2, 1},
		{vm.DIV, 2, 1},
		{vm.SDIV, 2, 1},
		{vm.MOD, 2, 1},
		{vm.SMOD, 2, 1},
		{vm.ADDMOD, 3, 1},
		{vm.MULMOD, 3, 1},
		{vm.EXP, 2, 1},
		{vm.SIGNEXTEND, 2, 1},
		{vm.LT, 2, 1},
		{vm.GT, 2, 1},
		{vm.SLT, 2, 1},
		{vm.SGT, 2, 1},
		{vm.EQ, 2, 1},
		{vm.ISZERO, 1, 1},
		{vm.AND, 2, 1},
		{vm.OR, 2, 1},
		{vm.XOR, 2, 1},
		{vm.NOT, 1, 1},
		{vm.BYTE, 2, 1},
		{vm.SHL, 2, 1},
		{vm.SHR, 2, 1},
		{vm.SAR, 2, 1},
		{vm.POP, 1, 0},
		{vm.DUP1, 1, 2},
		{vm.DUP3, 3, 4},
		{vm.SWAP1, 2, 2},
		{vm.SWAP2, 3, 3},
		{vm.CALLDATALOAD, 1, 1},
		{vm.CALLER, 0, 1},
		{vm.ORIGIN, 0, 1},
		{vm.ADDRESS, 0, 1},
		{vm.CALLVALUE, 0, 1},
		{vm.CALLDATASIZE, 0, 1},
		{vm.CODESIZE, 0, 1},
		{vm.RETURNDATASIZE, 0, 1},
		{vm.TIMESTAMP, 0, 1},
		{vm.NUMBER, 0, 1},
		{vm.DIFFICULTY, 0, 1},
		{vm.GASLIMIT, 0, 1},
		{vm.CHAINID, 0, 1},
		{vm.SELFBALANCE, 0, 1},
		{vm.BASEFEE, 0, 1},
		{vm.COINBASE, 0, 1},
		{vm.PC, 0, 1},
		{vm.MSIZE, 0, 1},
		{vm.GAS, 0, 1},
		{vm.PUSH0, 0, 1},
		{vm.BLOBBASEFEE, 0, 1},
		{vm.JUMPDEST, 0, 0},
	}
	emit := func(o vm.OpCode, takes, puts int) {
		code = append(code, byte(o))
		depth += puts - takes
	}
	for len(code) < size {
		kind := r.IntN(16)
		if steady && kind == 12 {
			continue
		}
		switch kind {
		case 0, 1, 2:
			push(byte(r.IntN(256)))
		case 3:
			small()
			emit(vm.MLOAD, 1, 1)
		case 4:
			small()
			small()
			emit(vm.MSTORE, 2, 0)
		case 5:
			push(byte(r.IntN(4)))
			emit(vm.SLOAD, 1, 1)
		case 6:
			push(byte(r.IntN(3))) // often zero, to cause refunds
			push(byte(r.IntN(4)))
			emit(vm.SSTORE, 2, 0)
		case 7:
			small()
			small()
			emit(vm.KECCAK256, 2, 1)
		case 8:
			for range 2 {
				push(byte(r.IntN(4)))
			}
			emit(vm.TSTORE, 2, 0)
			push(byte(r.IntN(4)))
			emit(vm.TLOAD, 1, 1)
		case 9:
			small()
			small()
			small()
			emit([]vm.OpCode{vm.MCOPY, vm.CALLDATACOPY, vm.CODECOPY}[r.IntN(3)], 3, 0)
		case 10:
			contract()
			emit([]vm.OpCode{vm.BALANCE, vm.EXTCODESIZE, vm.EXTCODEHASH}[r.IntN(3)], 1, 1)
		case 11:
			kind := []vm.OpCode{vm.CALL, vm.CALLCODE, vm.DELEGATECALL, vm.STATICCALL}[r.IntN(4)]
			for range 4 {
				small()
			}
			if steady {
				push(0)
				push(0x07, 0xd1)
				emit(vm.GAS, 0, 1)
				emit(vm.CALL, 7, 1)
				emit(vm.ISZERO, 1, 1)
				push(1) // not a jump destination, so a failed call fails the frame
				emit(vm.JUMPI, 2, 0)
				break
			}
			takes := 6
			if kind == vm.CALL || kind == vm.CALLCODE {
				push(byte(r.IntN(3)))
				takes = 7
			}
			contract()
			push(byte(r.IntN(256)), byte(r.IntN(256)))
			emit(kind, takes, 1)
		case 12:
			// PUSH5 of code that returns a byte of memory, then CREATE or CREATE2.
			push(byte(vm.PUSH1), byte(r.IntN(8)), byte(vm.PUSH0), byte(vm.RETURN), 0)
			push(0)
			emit(vm.MSTORE, 2, 0)
			if r.IntN(2) == 0 {
				push(5)
				push(27)
				push(0)
				emit(vm.CREATE, 3, 1)
			} else {
				push(byte(r.IntN(2)))
				push(5)
				push(27)
				push(0)
				emit(vm.CREATE2, 4, 1)
			}
		default:
			o := plain[r.IntN(len(plain))]
			switch {
			case steady && (o.code == vm.GAS || depth < o.takes):
			case depth >= o.takes || r.IntN(300) == 0:
				emit(o.code, o.takes, o.put)
			}
		}
		if !steady && r.IntN(2000) == 0 {
			code = append(code, byte(r.IntN(256)))
		}
	}
	end := vm.RETURN
	if !steady && r.IntN(8) == 0 {
		end = vm.REVERT
	}
	return append(code, byte(vm.PUSH1), 96, byte(vm.PUSH0), byte(end))
}

// hasExcluded reports whether code may run an opcode that differs between the network and Ethereum.
func hasExcluded(code []byte) bool {
	for i := 0; i < len(code); i++ {
		switch op := vm.OpCode(code[i]); {
		case op >= vm.LOG0 && op <= vm.LOG4, op == vm.GASPRICE, op == vm.SELFDESTRUCT, op == vm.BLOCKHASH:
			return true
		case op >= vm.PUSH1 && op <= vm.PUSH32:
			i += int(op - vm.PUSH0)
		}
	}
	return false
}

func TestDifferential(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	machine := newMachine()
	failures, created := 0, 0
	for n := 0; n < 500; {
		src := world(t, "")
		src.entities = []*worldstate.Entity{
			{ID: payer, Type: ledger.EntityAccount, Balance: ledger.Of[int64](1_000_000)},
			{
				ID: target, Type: ledger.EntityContract, Nonce: 1, Balance: ledger.Of[int64](7),
				Code: program(r, 40+r.IntN(400), false),
			},
			{
				ID: helper, Type: ledger.EntityContract, Nonce: 1, Balance: ledger.Of[int64](9),
				Code: program(r, 20+r.IntN(60), false),
			},
		}
		if hasExcluded(src.entities[1].Code) || hasExcluded(src.entities[2].Code) {
			continue
		}
		n++
		msg := to(target, word(int64(r.IntN(1000))))
		msg.Gas, msg.Value = uint64(60_000+r.IntN(3_000_000)), int64(r.IntN(3))
		output, gas, fail := reference(t, src, msg)
		got := run(t, machine, src, msg)
		if got.Failed() != (fail != nil) || got.GasUsed != gas || !got.Failed() && !bytes.Equal(got.Output, output) {
			t.Fatalf("program %s\nhelper %s\ngot %s, %d gas, %x\nwant %v, %d gas, %x",
				hex.EncodeToString(src.entities[1].Code), hex.EncodeToString(src.entities[2].Code),
				got.Code, got.GasUsed, got.Output, fail, gas, output)
		}
		if fail != nil {
			failures++
		}
		if bytes.Contains(src.entities[1].Code, []byte{
			byte(vm.PUSH0), byte(vm.RETURN), 0, byte(vm.PUSH1), 0,
			byte(vm.MSTORE),
		}) {
			created++
		}
	}
	if failures < 25 || failures > 400 || created < 25 {
		t.Errorf("%d of the programs fail and %d create", failures, created)
	}
}

// TestEstimates finds the minimum gas of generated calls and compares the estimates with it.
func TestEstimates(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	machine := newMachine()
	for n := 0; n < 200; {
		src := world(t, "")
		src.entities = append(src.entities[:4:4],
			&worldstate.Entity{
				ID: target, Type: ledger.EntityContract, Nonce: 1,
				Code: program(r, 40+r.IntN(300), true),
			},
			&worldstate.Entity{
				ID: helper, Type: ledger.EntityContract, Nonce: 1,
				Code: assemble(t, []string{
					"0x01 0x09 SSTORE STOP", "0x00 0x07 SSTORE STOP",
					"0x20 0x00 KECCAK256 0x03 SSTORE STOP",
				}[r.IntN(3)]),
			})
		msg := to(target, word(int64(r.IntN(1000))))
		msg.Gas = 1_000_000
		sim := begin(t, machine, src)
		estimate, err := sim.Estimate(msg)
		if err != nil {
			t.Fatal(err)
		}
		if estimate.Failed() {
			continue
		}
		n++
		reads := src.reads.Load()
		succeeds := func(gas uint64) bool {
			try := msg
			try.Gas = gas
			got, err := sim.Call(try)
			if err != nil {
				t.Fatal(err)
			}
			return !got.Failed()
		}
		low, high := uint64(20_999), msg.Gas
		for low+1 < high {
			if mid := (low + high) / 2; succeeds(mid) {
				high = mid
			} else {
				low = mid
			}
		}
		if got := estimate.GasUsed; got < high || got > high*135/100 {
			t.Errorf("program %x needs %d, estimated %d", src.entities[4].Code, high, got)
		}
		if more := src.reads.Load(); more != reads {
			t.Errorf("running again read %d times", more-reads)
		}
	}
}
