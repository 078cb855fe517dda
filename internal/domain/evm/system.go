package evm

import (
	"math"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/holiman/uint256"

	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
)

// SystemContract is a contract that the network implements itself, at the address of a system entity
// ([Config.SystemContracts]).
//
// It may read and change the state and its own data ([Overlay]). It must change its data by [Set] and [SetKey], so that
// the changes are undone if the frame or an outer frame fails. One value serves all simulations at the same time, so it
// must not keep data of its own.
//
// The machine rejects calls with value unless the contract is a [PayableContract] and the function is payable: they
// halt the caller. An input that is shorter than a selector halts the frame.
type SystemContract interface {
	Call(c *SystemCall) Outcome
}

// PayableContract is a system contract with payable functions.
type PayableContract interface {
	SystemContract
	// Payable reports whether the function with the selector accepts value.
	Payable(selector uint32) bool
}

// SystemCall is one call of a system contract.
type SystemCall struct {
	// Frame is the frame of the call, at the top level that of the message. In a delegate call, such as that of a
	// redirect proxy, Caller is the caller of the delegating code, and Self is the delegating contract: for a redirect
	// proxy the token, account or schedule. Its input must not be retained.
	*Frame
	// Depth is the number of outer frames, 0 at the top level.
	Depth int
	// Selector is the first 4 bytes of the input, Args the rest.
	Selector uint32
	Args     []byte

	State *State
	Block Block

	sim *Simulation
}

// MinimumBalance returns the balance, in tinybars, that accounts other than contracts have at least when they send
// hbars, by the configuration of the machine.
func (c *SystemCall) MinimumBalance() *uint256.Int { return c.sim.machine.minimumBalance() }

// Word returns the i-th 32-byte word of the arguments, from 0. ok is false if they are too short.
func (c *SystemCall) Word(i int) (word [32]byte, ok bool) {
	if len(c.Args) < 32*(i+1) {
		return word, false
	}
	return [32]byte(c.Args[32*i:]), true
}

// Proxied reports whether the call comes from the redirect proxy at the address of an entity, so that it concerns
// that entity.
func (c *SystemCall) Proxied(entity common.Address) bool {
	return c.Op == vm.DELEGATECALL && c.Self == entity
}

// ChildFailed records the response code of a failed operation. [Result.Children] has these codes, also if the message
// succeeds. The record is not undone if the frame fails.
func (c *SystemCall) ChildFailed(code ledger.ResponseCode) { c.sim.childFailed(code) }

// Outcome is the result of a call of a system contract. [Return], [Revert], [Halt], [HaltCaller] and [Unknown] return
// one.
type Outcome struct {
	gas    uint64
	allGas bool // instead of gas
	output []byte
	err    error
	caller ledger.ResponseCode // with which the caller halts too, 0 if it continues
}

// Return returns the outcome of a successful call. The call uses gas; if the frame has less, it runs out of gas
// and its changes are undone.
func Return(gas uint64, output []byte) Outcome { return Outcome{gas: gas, output: output} }

// Revert returns the outcome of a call that fails: its changes are undone, and the caller gets data and keeps the
// remaining gas. If the frame has less than gas, it runs out of gas instead.
func Revert(gas uint64, data []byte) Outcome {
	return Outcome{gas: gas, output: data, err: vm.ErrExecutionReverted}
}

// Halt returns the outcome of a call whose frame halts and loses all its gas. At the top level the simulation
// fails with the code. A contract that called sees a failed call.
func Halt(code ledger.ResponseCode) Outcome { return Outcome{err: haltError{code}} }

// HaltCaller returns the outcome of a call that halts its frame and that of its caller with the code. At the top
// level, where there is no caller, the run fails with the code.
func HaltCaller(code ledger.ResponseCode) Outcome { return Outcome{err: haltError{code}, caller: code} }

// Unknown returns the outcome of a call of a function that does not exist: the call succeeds without output and
// uses all gas.
func Unknown() Outcome { return Outcome{allGas: true} }

// systemAdapter is a system contract as a precompiled contract. The interpreter calls RequiredGas before Run, so
// RequiredGas runs the contract and Run returns the outcome.
type systemAdapter struct {
	at       common.Address
	contract SystemContract // nil for a system account without a contract
	sim      **Simulation   // the current simulation
	outcome  Outcome
}

var _ vm.PrecompiledContract = (*systemAdapter)(nil)

// Name implements vm.PrecompiledContract. It returns the address in hex.
func (a *systemAdapter) Name() string { return a.at.Hex() }

// RequiredGas implements vm.PrecompiledContract. The EVM calls it before Run. It already runs the system contract,
// which can change the state or abort the run, and keeps the outcome for Run, because the gas depends on the outcome.
func (a *systemAdapter) RequiredGas(input []byte) uint64 {
	sim := *a.sim
	frame := sim.state.frames.top()
	a.outcome = a.call(sim, frame, input)
	if a.outcome.allGas {
		return frame.Gas
	}
	return a.outcome.gas
}

// call runs a call of a system contract and returns its outcome. Native value halts the frame and its caller unless
// the function is payable; a delegate call sends none. Without a contract, every function is unknown; with one, an
// input without a selector halts the frame.
func (a *systemAdapter) call(sim *Simulation, frame *Frame, input []byte) Outcome {
	selector, known := selectorOf(input)
	if !frame.Value.IsZero() && frame.Op != vm.DELEGATECALL {
		payable, ok := a.contract.(PayableContract)
		if !ok || !payable.Payable(selector) {
			return HaltCaller(codes.InvalidContractID)
		}
	}
	switch {
	case a.contract == nil:
		return Unknown()
	case !known:
		return Halt(codes.ContractExecutionException)
	}
	return a.contract.Call(&SystemCall{
		Frame: frame, Depth: len(sim.state.frames) - 1, Selector: selector, Args: input[4:],
		State: sim.state, Block: sim.block, sim: sim,
	})
}

// Run implements vm.PrecompiledContract. It returns the outcome of the call that RequiredGas has run, and makes
// the caller fail if the outcome says so. The input is not used.
func (a *systemAdapter) Run([]byte) ([]byte, error) {
	o := a.outcome
	a.outcome = Outcome{}
	if o.caller != 0 {
		(*a.sim).haltCaller(o.caller)
	}
	return o.output, o.err
}

// valueGuard rejects calls with value of Ethereum's precompiled contracts, which are system accounts.
type valueGuard struct {
	vm.PrecompiledContract
	sim **Simulation
}

// Run implements vm.PrecompiledContract: it runs a precompiled contract of Ethereum, or makes the caller fail if
// the call sends value.
func (g valueGuard) Run(input []byte) ([]byte, error) {
	if f := (*g.sim).state.frames.top(); !f.Value.IsZero() && f.Op != vm.DELEGATECALL {
		(*g.sim).haltCaller(codes.InvalidContractID)
		return nil, haltError{codes.InvalidContractID}
	}
	return g.PrecompiledContract.Run(input) //nolint:wrapcheck // the interpreter compares errors
}

// Prices of operations of system contracts.
const (
	viewTinycents = 1_000_000 // 0.0001 $
	viewGasPrice  = 852_000   // thousandths of tinycents
)

// ViewGas returns the gas of a read-only function of a system contract.
func ViewGas() uint64 { return OperationGas(viewTinycents, viewGasPrice) }

// DispatchGas returns the gas of an operation with a price in tinycents: at least that of a read-only function.
func DispatchGas(tinycents int64) uint64 {
	return OperationGas(max(tinycents, viewTinycents), viewGasPrice)
}

// OperationGas returns the gas of a network operation that a contract requests: its price in tinycents, at a gas price
// in thousandths of tinycents, plus 20 percent. Like the network, it adds gasPrice - 1 to tinycents before it divides,
// which is up to 1000 gas before the 20 percent. It is 0 without a gas price, and at most the maximum of the type.
// tinycents must not be negative.
func OperationGas(tinycents, gasPrice int64) uint64 {
	if gasPrice <= 0 {
		return 0
	}
	g := new(big.Int).Mul(big.NewInt(tinycents+gasPrice-1), big.NewInt(1000))
	g.Quo(g, big.NewInt(gasPrice))
	g.Add(g, new(big.Int).Quo(g, big.NewInt(5)))
	if !g.IsUint64() {
		return math.MaxUint64
	}
	return g.Uint64()
}
