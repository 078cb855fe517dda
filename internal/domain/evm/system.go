package evm

import (
	"math"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/holiman/uint256"

	"heliograph/internal/domain/ledger"
)

// SystemContract is a contract that the network itself runs, at an address that is the number of a system entity ([Config.SystemContracts]).
//
// It is called in the middle of a simulation, once for each call that reaches it. It may read and change the state, and things of its own
// beside it ([Overlay]), as long as it registers each change in the state's journal: when the frame that it runs in, or one around it, fails, the
// journal undoes what was done. One value serves all simulations at the same time, so it keeps nothing itself.
//
// What has been sent along is checked by the machine: a call with value halts the caller unless [PayableContract] says that the function takes
// value, and so does an input that is shorter than a selector, which ends the frame.
type SystemContract interface {
	Call(c *SystemCall) Outcome
}

// PayableContract is a system contract that takes value with some of its functions.
type PayableContract interface {
	SystemContract
	// Payable tells whether the function with this selector may be sent value.
	Payable(selector uint32) bool
}

// SystemCall is one call of a system contract.
type SystemCall struct {
	// Op is the opcode that made it; CALL for a call at the top level.
	Op vm.OpCode
	// Caller is msg.sender. In a delegate call, such as those of the redirect proxies, it is who called the code that delegates.
	Caller common.Address
	// Self is address(this): the system contract, or in a delegate call the contract that delegates, which for a redirect proxy is the
	// token, account or schedule that was called.
	Self common.Address
	// Value is msg.value in tinybars.
	Value *uint256.Int
	// Static tells that nothing may be changed.
	Static bool
	// Depth is how many frames are around this one; 0 at the top level.
	Depth int
	// Gas is what the frame has.
	Gas uint64
	// Selector is the first 4 bytes of the input, Args what follows. The input belongs to the caller and must not be kept.
	Selector uint32
	Args     []byte
	Input    []byte

	State *State
	Block Block

	sim *Simulation
}

// Word is the 32-byte word of the arguments with the given place, counted from 0; ok is false when they are too short.
func (c *SystemCall) Word(i int) (word [32]byte, ok bool) {
	if len(c.Args) < 32*(i+1) {
		return word, false
	}
	return [32]byte(c.Args[32*i:]), true
}

// Proxied tells whether the call comes from the redirect proxy of the entity that it is about.
func (c *SystemCall) Proxied(entity common.Address) bool {
	return c.Op == vm.DELEGATECALL && c.Self == entity
}

// ChildFailed notes that an operation that the call began was refused with a code. When the whole simulation fails, its error names the codes.
func (c *SystemCall) ChildFailed(code ledger.ResponseCode) { c.sim.childFailed(code) }

// Outcome is how a call of a system contract ended. Make one by [Return], [Revert], [Halt], [HaltCaller] or [Unknown].
type Outcome struct {
	status outcomeStatus
	gas    uint64
	output []byte
	code   ledger.ResponseCode
}

type outcomeStatus uint8

const (
	returned outcomeStatus = iota
	reverted
	halted
	haltedCaller
	unknown
)

// Return ends the call normally. When the frame has less gas than it takes, the frame fails for want of it, and what was changed is undone.
func Return(gas uint64, output []byte) Outcome {
	return Outcome{status: returned, gas: gas, output: output}
}

// Revert undoes the call and gives data to the caller, which keeps the rest of its gas.
func Revert(gas uint64, data []byte) Outcome {
	return Outcome{status: reverted, gas: gas, output: data}
}

// Halt ends the frame, which loses all its gas. At the top level the simulation fails with the code; any other caller sees a failed call.
func Halt(code ledger.ResponseCode) Outcome { return Outcome{status: halted, code: code} }

// HaltCaller ends the frame and the one that called it.
func HaltCaller(code ledger.ResponseCode) Outcome { return Outcome{status: haltedCaller, code: code} }

// Unknown answers a function that the contract does not have: the call succeeds without output and takes all gas.
func Unknown() Outcome { return Outcome{status: unknown} }

// systemAdapter makes a system contract one that the interpreter can call. The interpreter asks first for the gas and then for the output, so
// the work is done when it asks for the gas.
type systemAdapter struct {
	at       common.Address
	contract SystemContract // nil: a system account that does nothing
	sim      **Simulation   // whose run it is part of
	outcome  Outcome
}

var _ vm.PrecompiledContract = (*systemAdapter)(nil)

// Name implements vm.PrecompiledContract.
func (a *systemAdapter) Name() string { return a.at.Hex() }

// RequiredGas implements vm.PrecompiledContract.
func (a *systemAdapter) RequiredGas(input []byte) uint64 {
	sim := *a.sim
	frame := sim.state.frames.top()
	a.outcome = a.call(sim, frame, input)
	switch a.outcome.status {
	case unknown:
		return frame.Gas
	case halted, haltedCaller:
		return 0 // the frame loses all of it anyway
	default:
		return a.outcome.gas
	}
}

func (a *systemAdapter) call(sim *Simulation, frame *Frame, input []byte) Outcome {
	selector, known := selectorOf(input)
	if !frame.Value.IsZero() && frame.Op != vm.DELEGATECALL {
		payable, ok := a.contract.(PayableContract)
		if !ok || !payable.Payable(selector) {
			return HaltCaller(InvalidContractID)
		}
	}
	switch {
	case a.contract == nil:
		return Unknown()
	case !known:
		return Halt(ContractExecutionException)
	}
	return a.contract.Call(&SystemCall{
		Op: frame.Op, Caller: frame.Caller, Self: frame.Self, Value: frame.Value, Static: frame.Static, Depth: len(sim.state.frames) - 1, Gas: frame.Gas,
		Selector: selector, Args: input[4:], Input: input, State: sim.state, Block: sim.block, sim: sim,
	})
}

// Run implements vm.PrecompiledContract.
func (a *systemAdapter) Run([]byte) ([]byte, error) {
	o := a.outcome
	a.outcome = Outcome{}
	switch o.status {
	case reverted:
		return o.output, vm.ErrExecutionReverted
	case haltedCaller:
		(*a.sim).haltCaller(o.code)
		return nil, haltError{o.code}
	case halted:
		return nil, haltError{o.code}
	default:
		return o.output, nil
	}
}

// valueGuard refuses value that is sent to one of Ethereum's precompiled contracts, which are system accounts here.
type valueGuard struct {
	vm.PrecompiledContract
	sim **Simulation
}

// Run implements vm.PrecompiledContract.
func (g valueGuard) Run(input []byte) ([]byte, error) {
	if f := (*g.sim).state.frames.top(); !f.Value.IsZero() && f.Op != vm.DELEGATECALL {
		(*g.sim).haltCaller(InvalidContractID)
		return nil, haltError{InvalidContractID}
	}
	return g.PrecompiledContract.Run(input) //nolint:wrapcheck // the interpreter compares errors
}

// The prices of the fixed rates at which operations of system contracts are charged.
const (
	viewTinycents = 1_000_000 // 0.0001 $
	viewGasPrice  = 852_000   // thousandths of tinycents
)

// ViewGas is what a function costs that only reads.
func ViewGas() uint64 { return OperationGas(viewTinycents, viewGasPrice) }

// DispatchGas is what a function costs that does something whose price is known in tinycents: never less than one that only reads.
func DispatchGas(tinycents int64) uint64 {
	return OperationGas(max(tinycents, viewTinycents), viewGasPrice)
}

// OperationGas is what an operation of the network costs when a contract asks for it: its price in tinycents at a price of gas in thousandths
// of tinycents, and a fifth more.
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
