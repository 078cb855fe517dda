package world

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/rawdb"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/params"
	"github.com/ethereum/go-ethereum/triedb"
	"github.com/holiman/uint256"

	network "heliograph/internal/domain/evm"
	"heliograph/internal/domain/ledger/codes"
)

// tokenSystemContract is the number of the token system contract, and so its long-zero address.
const tokenSystemContract = 359

// ChainID is the EVM chain id of the demo network.
const ChainID = 0x128

// machine runs contracts on an EVM, so that results, logs, storage and traces agree with the bytecode. It stores code
// and storage only. The ledger keeps the hbars and applies the value transfers of an execution.
type machine struct {
	state  *state.StateDB
	runs   int
	tokens *tokenPrecompile
	known  func(common.Address) bool // whether the ledger has an account at an address
}

// accounts is the state of the EVM with the accounts of the ledger, which have no code and no hbars there.
type accounts struct {
	*state.StateDB
	known func(common.Address) bool
}

// Empty reports whether a transfer of value to the address creates an account. The EVM calls it to compute gas and
// code hashes. Entities of the ledger are not empty even if the EVM has no state of them.
func (a accounts) Empty(at common.Address) bool { return a.StateDB.Empty(at) && !a.known(at) }

// execution is the result of a contract execution.
type execution struct {
	output         []byte
	gasUsed        int64 // gas used, including intrinsic gas
	err            error
	logs           []*types.Log
	frames         []*frame
	slots          []slotChange
	transfers      []valueTransfer
	created        []*frame
	tokenTransfers []tokenTransfer
}

// frame is a call or creation within an execution.
type frame struct {
	depth                          int
	op                             vm.OpCode
	from, to                       common.Address
	input, output                  []byte
	gas, used                      uint64
	value                          *big.Int
	err                            error
	transfersBefore, createdBefore int
}

type slotChange struct {
	contract      common.Address
	slot          common.Hash
	before, after common.Hash
	written       bool
}

type valueTransfer struct {
	from, to common.Address
	amount   int64
}

type tokenTransfer struct {
	token, from, to common.Address
	amount          int64
	gas             uint64
	input           []byte
}

// tokenPrecompile is a stub of the token system contract. It accepts transferToken calls and records them.
type tokenPrecompile struct {
	requests []tokenTransfer
	hasFees  func(token common.Address) bool // whether transfers of a token have custom fees
}

var transferToken = crypto.Keccak256([]byte("transferToken(address,address,address,int64)"))[:4]

// The prices of a token transfer in tinycents: 0.001 $, or 0.002 $ if the token has custom fees.
const (
	transferPrice         = 10_000_000
	transferPriceWithFees = 20_000_000
)

// Name returns the name of the precompiled contract, which the EVM requires.
func (d *tokenPrecompile) Name() string { return "TOKEN" }

// RequiredGas returns the gas of a token transfer, which is higher for tokens with custom fees. Input that is too
// short for a token has the lower price. The EVM calls it before Run.
func (d *tokenPrecompile) RequiredGas(input []byte) uint64 {
	if len(input) >= 4+32 && d.hasFees(common.BytesToAddress(input[4:4+32])) {
		return network.DispatchGas(transferPriceWithFees)
	}
	return network.DispatchGas(transferPrice)
}

// Run appends a request for a transfer of tokens to d.requests, which the world executes after the call, and
// returns success. It fails for any other function and for short input.
func (d *tokenPrecompile) Run(input []byte) ([]byte, error) {
	if len(input) < 4+4*32 || !bytes.Equal(input[:4], transferToken) {
		return nil, errors.New("unknown function")
	}
	word := func(i int) []byte { return input[4+32*i : 36+32*i] }
	d.requests = append(d.requests, tokenTransfer{
		token: common.BytesToAddress(word(0)), from: common.BytesToAddress(word(1)),
		to:     common.BytesToAddress(word(2)),
		amount: new(big.Int).SetBytes(word(3)).Int64(), gas: d.RequiredGas(input), input: slices.Clone(input),
	})
	return common.LeftPadBytes([]byte{byte(codes.Success)}, 32), nil
}

// newMachine returns a new EVM with an empty state in memory, for [New]. The caller sets known and tokens.hasFees
// before the first run.
func newMachine() (*machine, error) {
	memory := rawdb.NewMemoryDatabase()
	s, err := state.New(types.EmptyRootHash, state.NewDatabase(triedb.NewDatabase(memory, nil),
		state.NewCodeDB(memory)))
	if err != nil {
		return nil, fmt.Errorf("starting the EVM: %w", err)
	}
	return &machine{state: s, tokens: &tokenPrecompile{}}, nil
}

// run executes a call of to, or a creation if to is nil, and returns its frames, transfers, logs, slots, the gas that
// it used, and its error. It changes the state of the EVM but no rows. value is in tinybars. If at is not nil, the
// contract is created at that address, as ContractCreate transactions do. gas must be at least the intrinsic gas,
// which run does not check.
func (m *machine) run(from common.Address, to, at *common.Address, input []byte, gas uint64, value int64) execution {
	m.runs++
	var x execution
	hash := common.BigToHash(big.NewInt(int64(m.runs)))
	m.state.SetTxContext(hash, 0, 0)
	m.tokens.requests = nil
	touched := map[common.Address]map[common.Hash]int{}
	var stack []*frame

	hooks := &tracing.Hooks{
		OnEnter: func(depth int, typ byte, from, to common.Address, input []byte, gas uint64, value *big.Int) {
			f := &frame{
				depth: depth, op: vm.OpCode(typ), from: from, to: to, input: slices.Clone(input), gas: gas,
				value: big.NewInt(0), transfersBefore: len(x.transfers), createdBefore: len(x.created),
			}
			if value != nil && f.op != vm.DELEGATECALL && f.op != vm.CALLCODE {
				f.value.Set(value)
				if value.Sign() > 0 {
					x.transfers = append(x.transfers, valueTransfer{from, to, value.Int64()})
				}
			}
			if (f.op == vm.CREATE || f.op == vm.CREATE2) && depth > 0 {
				x.created = append(x.created, f)
			}
			x.frames = append(x.frames, f)
			stack = append(stack, f)
		},
		OnExit: func(_ int, output []byte, used uint64, err error, _ bool) {
			f := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			f.output, f.used, f.err = slices.Clone(output), used, err
			if err != nil {
				x.transfers, x.created = x.transfers[:f.transfersBefore], x.created[:f.createdBefore]
			}
		},
		OnOpcode: func(_ uint64, op byte, _, _ uint64, scope tracing.OpContext, _ []byte, _ int, _ error) {
			code := vm.OpCode(op)
			if code != vm.SLOAD && code != vm.SSTORE {
				return
			}
			data := scope.StackData()
			slot := common.Hash(data[len(data)-1].Bytes32())
			account := scope.Address()
			if touched[account] == nil {
				touched[account] = map[common.Hash]int{}
			}
			i, ok := touched[account][slot]
			if !ok {
				i = len(x.slots)
				touched[account][slot] = i
				x.slots = append(x.slots, slotChange{
					contract: account, slot: slot,
					before: m.state.GetState(account, slot),
				})
			}
			x.slots[i].written = x.slots[i].written || code == vm.SSTORE
		},
	}
	evm := m.evm(from, hooks)
	rules := evm.ChainConfig().Rules(big.NewInt(1), true, 1)
	precompiles := vm.ActivePrecompiledContracts(rules)
	precompiles[common.BytesToAddress([]byte{1, 0x67})] = m.tokens
	evm.SetPrecompiles(precompiles)
	m.state.Prepare(rules, from, common.Address{}, to, vm.ActivePrecompiles(rules), nil)

	intrinsic, floor := intrinsicGas(input, to == nil)
	budget := vm.NewGasBudget(gas-intrinsic, 0)
	amount := uint256.NewInt(uint64(value))
	var left vm.GasBudget
	switch {
	case to != nil:
		x.output, left, x.err = evm.Call(from, *to, input, budget, amount)
	case at != nil:
		before := m.state.Snapshot()
		m.state.CreateAccount(*at)
		m.state.SetNonce(*at, 1, tracing.NonceChangeUnspecified)
		m.state.SetCode(*at, input, tracing.CodeChangeUnspecified)
		x.output, left, x.err = evm.Call(from, *at, nil, budget, amount)
		if x.err != nil {
			m.state.RevertToSnapshot(before)
		} else {
			m.state.SetCode(*at, x.output, tracing.CodeChangeUnspecified)
			left.ExecutionGas -= 200 * uint64(len(x.output)) // code deposit
		}
		x.frames[0].op, x.frames[0].input = vm.CREATE, nil
	default:
		x.output, _, left, x.err = evm.Create(from, input, budget, amount)
		x.frames[0].input = nil
	}
	used := gas - left.ExecutionGas
	if x.err == nil {
		used -= min(m.state.GetRefund(), used/params.RefundQuotientEIP3529)
	}
	x.gasUsed = int64(max(used, floor))
	for i := range x.slots {
		x.slots[i].after = m.state.GetState(x.slots[i].contract, x.slots[i].slot)
	}
	x.logs = m.state.GetLogs(hash, 1, common.Hash{}, 1)
	if x.err == nil {
		x.tokenTransfers = slices.Clone(m.tokens.requests)
	}
	m.state.Finalise(rules)
	return x
}

// intrinsicGas returns the gas that a message, a call or a creation, costs before it runs, and the minimum gas that it
// is charged (EIP-7623).
func intrinsicGas(input []byte, creation bool) (gas, floor uint64) {
	gas, floor = baseGas, baseGas
	for _, b := range input {
		units := uint64(4)
		if b == 0 {
			units = 1
		}
		gas, floor = gas+4*units, floor+10*units
	}
	if creation {
		gas += 32_000 + (uint64(len(input))+31)/32*params.InitCodeWordGas
	}
	return gas, floor
}

// evm returns an EVM of the newest version with constant block values, so that results do not depend on the time of
// the load. Transfers of value always succeed there and change no balance: the ledger applies them.
func (m *machine) evm(origin common.Address, hooks *tracing.Hooks) *vm.EVM {
	evm := vm.NewEVM(vm.BlockContext{
		CanTransfer: func(vm.StateDB, common.Address, *uint256.Int) bool { return true },
		Transfer:    func(vm.StateDB, common.Address, common.Address, *uint256.Int, *params.Rules) {},
		GetHash:     func(uint64) common.Hash { return common.Hash{} },
		BlockNumber: big.NewInt(1), Time: 1, Difficulty: new(big.Int), GasLimit: 15_000_000,
		BaseFee: new(big.Int), BlobBaseFee: new(big.Int), Random: new(common.Hash),
	}, accounts{m.state, m.known}, network.NewestLevel.ChainConfig(ChainID), vm.Config{Tracer: hooks})
	evm.SetTxContext(vm.TxContext{Origin: origin, GasPrice: new(uint256.Int)})
	return evm
}

// Storage returns the value of a storage slot in the EVM, or zero if the slot or the contract has none.
func (w *World) Storage(contract int64, slot common.Hash) common.Hash {
	return w.evm.state.GetState(w.Address(contract), slot)
}

// Code returns the code of a contract in the EVM, or nil for an account that has none.
func (w *World) Code(contract int64) []byte { return w.evm.state.GetCode(w.Address(contract)) }
