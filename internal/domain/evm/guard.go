package evm

import (
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"

	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
)

// guard is the state of rules that the interpreter does not implement, in one run.
type guard struct {
	failing []failingFrame
	final   ledger.ResponseCode // of the outermost frame, if it differs from the interpreter's error
	shifted bool                // the block number is changed for BLOCKHASH
	priced  bool                // the gas price is set
}

// failingFrame is a frame that must fail. The interpreter has no operation for that, so the frame loses its gas before
// its next opcode.
type failingFrame struct {
	depth int // 1 for the outermost frame
	code  ledger.ResponseCode
}

// DestructGuard is a system contract that can prevent SELFDESTRUCT of a contract, such as the treasury of a token.
type DestructGuard interface {
	SystemContract
	// MayDestruct reports whether the contract may destroy itself.
	MayDestruct(s *State, contract common.Address) bool
}

// refine returns the error with which a run ends: the response code that the guard set for the outermost frame if
// there is one, else fail, the error of the interpreter.
func (g *guard) refine(fail error) error {
	if g.final != 0 {
		return haltError{g.final}
	}
	return fail
}

// haltCaller makes the caller of the current frame fail with a response code, at the caller's next opcode. In the
// outermost frame, which has no caller, the run fails with the code.
func (s *Simulation) haltCaller(code ledger.ResponseCode) {
	s.failFrame(len(s.state.frames)-1, code)
}

// failFrame makes the frame at a depth fail with a response code, at its next opcode, for which it installs the
// opcode hook. At depth 0 there is no frame, and the run fails with the code.
func (s *Simulation) failFrame(depth int, code ledger.ResponseCode) {
	if depth == 0 {
		s.guard.final = code
		return
	}
	s.guard.failing = append(s.guard.failing, failingFrame{depth, code})
	s.hooks.OnOpcode = s.opcode
}

// enter is called when a frame begins, by the EVM, or by [Simulation.create] for the outermost creation. It records
// the frame, passes it to the tracer if there is one, and prepares for the opcodes of code that a contract is created
// with. SELFDESTRUCT, which the EVM reports as a frame, also records its transfer of the balance. It ends the run if
// the context has ended.
func (s *Simulation) enter(_ int, typ byte, from, to common.Address, input []byte, gas uint64, value *big.Int) {
	if s.state.ctx.Err() != nil {
		s.state.Abort(fmt.Errorf("running a contract: %w", s.state.ctx.Err()))
	}
	op := vm.OpCode(typ)
	if op == vm.SELFDESTRUCT && value != nil {
		s.state.addTransfer(from, to, uint256.MustFromBig(value))
	}
	s.state.frames.push(op, from, to, input, gas, value)
	if s.tracer != nil {
		s.tracer.enter(s.state.frames.top())
	}
	if op == vm.CREATE || op == vm.CREATE2 {
		s.prepareFor(scanOpcodes(input))
	}
}

// exit is called when a frame ends, by the EVM, or by [Simulation.create] for the outermost creation. It removes the
// frame and the halts that were decided in it, and passes the frame, the gas that it used and its error to the tracer
// if there is one. The code of a halt of the outermost frame becomes that of the run.
func (s *Simulation) exit(_ int, _ []byte, used uint64, err error, _ bool) {
	depth := len(s.state.frames)
	if s.tracer != nil {
		s.tracer.exit(s.state.frames.top(), used, err)
	}
	s.state.frames = s.state.frames[:depth-1]
	for n := len(s.guard.failing); n > 0 && s.guard.failing[n-1].depth >= depth; n-- {
		if depth == 1 {
			s.guard.final = s.guard.failing[n-1].code
		}
		s.guard.failing = s.guard.failing[:n-1]
	}
}

// prepareFor installs the opcode hook if code that is about to run needs it, and sets the gas price if the code uses
// it. The first use in a run reads the price from the source, and aborts the run if that fails.
func (s *Simulation) prepareFor(set opcodes) {
	if set&(usesBlockHash|usesSelfDestruct) != 0 {
		s.hooks.OnOpcode = s.opcode
	}
	if set&usesGasPrice != 0 && !s.guard.priced {
		s.guard.priced = true
		price, err := s.state.source.GasPrice(s.state.ctx)
		s.state.Check(err, "reading the gas price")
		s.evm.GasPrice = uint256.NewInt(uint64(max(price, 0)))
	}
}

// opcode is called by the EVM before each opcode: it passes the opcode to the tracer, restores the block number that
// it changed for the opcode before, applies the rules of the network, and drains the gas of a frame that has to fail,
// or aborts the run if the opcode ends that frame. If err is set, the opcode fails anyway, and no rules apply. It is
// installed only if needed, because it doubles the duration of a run.
func (s *Simulation) opcode(
	pc uint64, op byte, gas, cost uint64, scope tracing.OpContext, _ []byte, depth int, err error,
) {
	if s.tracer != nil {
		s.tracer.before(pc, op, gas, cost, scope, depth, err)
	}
	if s.guard.shifted {
		s.evm.Context.BlockNumber, s.guard.shifted = big.NewInt(s.block.Number), false
	}
	if err != nil {
		return
	}
	frame, ok := scope.(*vm.ScopeContext)
	if !ok {
		return
	}
	s.beforeOpcode(vm.OpCode(op), frame)
	if n := len(s.guard.failing); n > 0 && s.guard.failing[n-1].depth == depth {
		switch vm.OpCode(op) {
		case vm.STOP, vm.RETURN, vm.REVERT, vm.SELFDESTRUCT:
			// The frame would end without using gas. It cannot be stopped here, so the whole run is.
			s.state.Abort(haltError{s.guard.failing[n-1].code})
		default:
			frame.Contract.Gas.DrainExecution()
		}
	}
}

// beforeOpcode applies the rules of an opcode that the interpreter does not implement. It can change the block number
// that the opcode sees, make the frame fail, read accounts and tokens, or abort the run. The EVM has checked that the
// stack has the operands of the opcode.
func (s *Simulation) beforeOpcode(op vm.OpCode, frame *vm.ScopeContext) {
	stack := frame.StackData()
	last := len(stack) - 1
	switch op {
	case vm.BLOCKHASH:
		// The interpreter returns the hashes of the 256 blocks before the current one. So the block number is changed
		// for this opcode: to the block after the requested one, or to 0, which has no blocks before it.
		shown := new(big.Int)
		if number := stack[last]; number.IsUint64() && s.inHashWindow(number.Uint64()) {
			shown.SetUint64(number.Uint64() + 1)
		}
		s.evm.Context.BlockNumber, s.guard.shifted = shown, true
	case vm.SELFDESTRUCT:
		s.checkSelfDestruct(frame.Address(), common.Address(stack[last].Bytes20()))
	case vm.BALANCE, vm.EXTCODESIZE, vm.EXTCODECOPY, vm.EXTCODEHASH:
		s.requireAccount(common.Address(stack[last].Bytes20()))
	case vm.CALL, vm.CALLCODE, vm.DELEGATECALL, vm.STATICCALL:
		s.requireAccount(common.Address(stack[last-1].Bytes20()))
	default:
	}
}

// inHashWindow reports whether contracts can read the hash of the block with a number: the current block and as
// many before it as the machine is configured for.
func (s *Simulation) inHashWindow(number uint64) bool {
	current := uint64(s.block.Number)
	return number <= current && current-number < s.machine.cfg.BlockHashWindow
}

// requireAccount makes the current frame fail with a response code if an account does not exist and the level requires
// it. It can read the account; a failed read aborts the run.
func (s *Simulation) requireAccount(a common.Address) {
	if s.level.missingFails() && !s.state.Exist(a) {
		s.failFrame(len(s.state.frames), codes.InvalidSolidityAddress)
	}
}

// checkSelfDestruct aborts the run with a response code if a contract must not destroy itself. The current frame
// cannot be stopped alone. In a static frame it does nothing, because the interpreter rejects the opcode. It can read
// the beneficiary and the tokens of the contract; a failed read aborts the run too.
func (s *Simulation) checkSelfDestruct(contract, beneficiary common.Address) {
	if s.state.frames.top().Static {
		return // the interpreter rejects it
	}
	num, longZero := ledger.EVMAddress(beneficiary).Num()
	switch {
	case beneficiary == contract:
		s.state.Abort(haltError{codes.ObtainerSameContractID})
	case longZero && num <= lastSystemAccount, !s.state.Exist(beneficiary):
		s.state.Abort(haltError{codes.InvalidSolidityAddress})
	}
	for _, c := range s.machine.cfg.SystemContracts {
		if g, ok := c.(DestructGuard); ok && !g.MayDestruct(s.state, contract) {
			s.state.Abort(haltError{codes.ContractExecutionException})
		}
	}
}

// blockHash returns the hash of a block for the opcode BLOCKHASH: of a simulated block, or of one that it reads from
// the source, zero if it does not exist. Once blocks are simulated, the hash of another block after that of the state
// is zero. If the read fails, it aborts the run.
func (s *Simulation) blockHash(number uint64) common.Hash {
	if number == uint64(s.block.Number) {
		return s.block.Hash
	}
	if hash, simulated := s.hashes[int64(number)]; simulated || len(s.hashes) > 0 && int64(number) > s.first {
		return hash
	}
	hash, err := s.state.source.BlockHash(s.state.ctx, int64(number))
	s.state.Check(err, "reading the hash of block %d", number)
	return hash
}

// canTransfer reports whether a frame may send value, in tinybars. The EVM calls it before [Simulation.transfer]. It
// can read both accounts, and set a response code as [Simulation.canReceive] does. Unless payers are validated, a
// sender that is no contract has at least the minimum balance. The current frame is the called one, except in the
// creation of a contract, where it is the creator. The first transfer in the frame of a call with value is that of the
// call.
func (s *Simulation) canTransfer(_ vm.StateDB, from common.Address, value *uint256.Int) bool {
	if value.IsZero() {
		return true
	}
	sender := s.state.account(from)
	balance := sender.balance
	if minimum := s.machine.minimumBalance(); !sender.isContract && balance.Lt(minimum) {
		balance = *minimum
	}
	if balance.Lt(value) {
		return false
	}
	if f := s.state.frames.top(); f.unpaid {
		f.unpaid = false
		return s.canReceive(f.Code)
	}
	return true
}

// canReceive, for [Simulation.canTransfer], reports whether an address may receive value. If not, it sets the response
// code of the run or halts the caller. Without an account at a long-zero address, only the outermost call sets a code.
// It reads the account on first use; a failed read aborts the run.
func (s *Simulation) canReceive(to common.Address) bool {
	x := s.state.account(to)
	switch {
	case !x.exists && isLongZero(to):
		// No account can be created at a long-zero address.
		if len(s.state.frames) == 1 {
			s.guard.final = codes.InvalidAliasKey
		}
		return false
	case x.entity != nil && x.entity.ReceiverSigRequired && to != s.evm.Origin:
		s.haltCaller(codes.InvalidSignature)
		return false
	default:
		return true
	}
}

// transfer moves value, in tinybars, between accounts of the state and records the transfer for the result. The EVM
// calls it after [Simulation.canTransfer]. A sender with a minimum balance may send more than it has; its balance is
// then 0. The changes are undone if the frame is reverted.
func (s *Simulation) transfer(_ vm.StateDB, from, to common.Address, value *uint256.Int, _ *params.Rules) {
	s.state.SubBalance(from, value, tracing.BalanceChangeTransfer)
	s.state.AddBalance(to, value, tracing.BalanceChangeTransfer)
	s.state.addTransfer(from, to, value)
}

// Frame is a call frame: a call or the creation of a contract.
type Frame struct {
	// Op is CALL, CALLCODE, DELEGATECALL, STATICCALL, CREATE or CREATE2.
	Op vm.OpCode
	// Caller, Self and Value are msg.sender, address(this) and msg.value of the frame.
	Caller, Self common.Address
	Value        *uint256.Int
	// Code is the address whose code runs. It differs from Self in delegate calls.
	Code common.Address
	// Static reports whether the state must not change: this frame or an outer one was called by STATICCALL.
	Static bool
	// Input is the call's data, or the code that creates a contract.
	Input []byte
	// Gas is the gas limit of the frame.
	Gas uint64

	unpaid bool // whether it is a CALL whose value has yet to be transferred
}

// frames is the call stack, outermost frame first.
type frames []*Frame

// top returns the current frame. It panics if there is none.
func (f frames) top() *Frame { return f[len(f)-1] }

// push adds a frame. from is the contract whose opcode made the call, to is the contract whose code runs. input is
// kept without a copy. gas is the limit of the frame. A nil value is 0. A frame in a static one is static. A delegate
// call has the caller and the value of the frame that it is in.
func (f *frames) push(op vm.OpCode, from, to common.Address, input []byte, gas uint64, value *big.Int) {
	frame := &Frame{
		Op: op, Caller: from, Self: to, Value: new(uint256.Int), Code: to, Input: input, Gas: gas,
		Static: op == vm.STATICCALL,
	}
	if value != nil {
		frame.Value.SetFromBig(value)
		frame.unpaid = op == vm.CALL && value.Sign() > 0
	}
	if len(*f) > 0 {
		parent := f.top()
		frame.Static = frame.Static || parent.Static
		if op == vm.DELEGATECALL {
			frame.Caller, frame.Value = parent.Caller, parent.Value
		}
	}
	if op == vm.DELEGATECALL || op == vm.CALLCODE {
		frame.Self = from
	}
	*f = append(*f, frame)
}
