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
)

// guard is what a run knows of rules that the interpreter does not have.
type guard struct {
	doomed  []doom
	final   ledger.ResponseCode // why the outermost frame failed, if not for the reason that the interpreter tells
	shifted bool                // the block's number is not the true one, for the sake of BLOCKHASH
	priced  bool
}

// doom is a frame that must end: the interpreter cannot be told so, but it can be left without gas.
type doom struct {
	depth int // of its opcodes: 1 for the outermost frame
	code  ledger.ResponseCode
}

// DestructGuard is a system contract that knows of contracts that must not destroy themselves, such as treasuries of tokens.
type DestructGuard interface {
	SystemContract
	// MayDestruct tells whether the contract may.
	MayDestruct(s *State, contract common.Address) bool
}

// refine replaces the interpreter's reason for the failure of the outermost frame by the one that the guard knows.
func (g *guard) refine(fail error) error {
	if g.final != 0 {
		return haltError{g.final}
	}
	return fail
}

// haltCaller dooms the frame that called the running one, which fails on its own account.
func (s *Simulation) haltCaller(code ledger.ResponseCode) {
	s.doom(len(s.state.frames)-1, code)
}

// doom lets the frame whose opcodes are at a depth fail; at depth 0 there is none.
func (s *Simulation) doom(depth int, code ledger.ResponseCode) {
	if depth == 0 {
		s.guard.final = code
		return
	}
	s.guard.doomed = append(s.guard.doomed, doom{depth, code})
	s.hooks.OnOpcode = s.opcode
}

// enter and exit follow the frames.
func (s *Simulation) enter(_ int, typ byte, from, to common.Address, input []byte, gas uint64, value *big.Int) {
	if s.state.ctx.Err() != nil {
		s.state.Abort(fmt.Errorf("running a contract: %w", s.state.ctx.Err()))
	}
	op := vm.OpCode(typ)
	s.state.frames.push(op, from, to, input, gas, value)
	if s.tracer != nil {
		s.tracer.enter(s.state.frames.top())
	}
	if op == vm.CREATE || op == vm.CREATE2 {
		s.watch(asksOf(input))
	}
}

func (s *Simulation) exit(_ int, _ []byte, used uint64, err error, _ bool) {
	depth := len(s.state.frames)
	if s.tracer != nil {
		s.tracer.exit(s.state.frames.top(), used, err)
	}
	s.state.frames.pop()
	for n := len(s.guard.doomed); n > 0 && s.guard.doomed[n-1].depth >= depth; n-- {
		if depth == 1 {
			s.guard.final = s.guard.doomed[n-1].code
		}
		s.guard.doomed = s.guard.doomed[:n-1]
	}
}

// watch prepares for what code that is about to run asks for.
func (s *Simulation) watch(a asks) {
	if a&(asksBlockHash|asksToDestruct) != 0 {
		s.hooks.OnOpcode = s.opcode
	}
	if a&asksGasPrice != 0 && !s.guard.priced {
		s.guard.priced = true
		price, err := s.state.source.GasPrice(s.state.ctx)
		if err != nil {
			s.state.Abort(fmt.Errorf("reading the price of gas: %w", err))
		}
		s.evm.GasPrice = uint256.NewInt(uint64(max(price, 0)))
	}
}

// opcode is called before each opcode once something has to be watched, for that doubles the time a run takes.
func (s *Simulation) opcode(pc uint64, op byte, gas, cost uint64, scope tracing.OpContext, _ []byte, depth int, err error) {
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
	s.before(vm.OpCode(op), frame)
	if n := len(s.guard.doomed); n > 0 && s.guard.doomed[n-1].depth == depth {
		switch vm.OpCode(op) {
		case vm.STOP, vm.RETURN, vm.REVERT, vm.SELFDESTRUCT:
			// The frame would end well before it misses its gas. It cannot be stopped here, so everything around it is.
			s.state.Abort(haltError{s.guard.doomed[n-1].code})
		default:
			frame.Contract.Gas.DrainExecution()
		}
	}
}

// before does what an opcode needs that the interpreter does not do.
func (s *Simulation) before(op vm.OpCode, frame *vm.ScopeContext) {
	stack := frame.StackData()
	last := len(stack) - 1
	switch op {
	case vm.BLOCKHASH:
		// The interpreter gives hashes of the 256 blocks before the current one. It is made to believe that the one asked for is among them.
		if want := stack[last]; want.IsUint64() && want.Uint64() <= uint64(s.block.Number) {
			s.evm.Context.BlockNumber, s.guard.shifted = new(big.Int).SetUint64(want.Uint64()+1), true
		}
	case vm.SELFDESTRUCT:
		s.beforeDestruct(frame.Address(), common.Address(stack[last].Bytes20()))
	case vm.BALANCE, vm.EXTCODESIZE, vm.EXTCODECOPY, vm.EXTCODEHASH:
		s.mustExist(common.Address(stack[last].Bytes20()))
	case vm.CALL, vm.CALLCODE, vm.DELEGATECALL, vm.STATICCALL:
		s.mustExist(common.Address(stack[last-1].Bytes20()))
	default:
	}
}

// mustExist dooms a frame that names a missing account, where the level wants that.
func (s *Simulation) mustExist(a common.Address) {
	if s.level.missingFails() && !s.state.Exist(a) {
		s.doom(len(s.state.frames), InvalidSolidityAddress)
	}
}

// beforeDestruct refuses a contract to destroy itself. The opcode's frame cannot be ended at this point, so all frames around it end with it.
func (s *Simulation) beforeDestruct(contract, beneficiary common.Address) {
	if s.state.frames.top().Static {
		return // the interpreter refuses it
	}
	num, longZero := ledger.EVMAddress(beneficiary).Num()
	switch {
	case beneficiary == contract:
		s.state.Abort(haltError{ObtainerSameContractID})
	case longZero && num <= lastSystemAccount, !s.state.Exist(beneficiary):
		s.state.Abort(haltError{InvalidSolidityAddress})
	}
	for _, c := range s.machine.cfg.SystemContracts {
		if g, ok := c.(DestructGuard); ok && !g.MayDestruct(s.state, contract) {
			s.state.Abort(haltError{ContractExecutionException})
		}
	}
}

// blockHash is what BLOCKHASH gives.
func (s *Simulation) blockHash(number uint64) common.Hash {
	if number == uint64(s.block.Number) {
		return s.block.Hash
	}
	hash, err := s.state.source.BlockHash(s.state.ctx, int64(number))
	if err != nil {
		s.state.Abort(fmt.Errorf("reading the hash of block %d: %w", number, err))
	}
	return hash
}

// canTransfer tells whether a frame may send value. The running frame is the one that is called; only when a contract is created it is the creator.
func (s *Simulation) canTransfer(_ vm.StateDB, from common.Address, value *uint256.Int) bool {
	if value.IsZero() {
		return true
	}
	sender := s.state.account(from)
	owns := sender.balance
	if least := uint256.NewInt(uint64(max(s.machine.cfg.MinimumBalance, 0))); !sender.isContract && !s.machine.cfg.ValidatePayer && owns.Lt(least) {
		owns = *least
	}
	if owns.Lt(value) {
		return false
	}
	if f := s.state.frames.top(); f.Op == vm.CALL && f.Caller == from {
		return s.canReceive(f.Code)
	}
	return true
}

// canReceive tells whether an address may be sent value.
func (s *Simulation) canReceive(to common.Address) bool {
	x := s.state.account(to)
	switch {
	case !x.exists && isLongZero(to):
		// Nobody can come to be at an address that is made of a number.
		if len(s.state.frames) == 1 {
			s.guard.final = InvalidAliasKey
		}
		return false
	case x.entity != nil && x.entity.ReceiverSigRequired && to != s.evm.Origin:
		s.haltCaller(InvalidSignature)
		return false
	default:
		return true
	}
}

// transfer moves value. An account that is treated as richer than it is sends what it does not have.
func (s *Simulation) transfer(_ vm.StateDB, from, to common.Address, value *uint256.Int, _ *params.Rules) {
	s.state.SubBalance(from, value, tracing.BalanceChangeTransfer)
	s.state.AddBalance(to, value, tracing.BalanceChangeTransfer)
}
