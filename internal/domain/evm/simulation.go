package evm

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"

	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
)

// Simulation runs messages in a block on a source. It belongs to one goroutine.
type Simulation struct {
	machine *Machine
	block   Block
	level   Level
	state   *State

	first  int64              // the number of the block of the state
	hashes map[int64][32]byte // of the blocks of [Simulation.InBlock]

	evm      *vm.EVM
	hooks    *tracing.Hooks
	guard    guard
	tracer   *tracer // nil without a trace
	children []ledger.ResponseCode
	keep     bool // whether the changes of a successful run are kept
}

// Message is a call or the creation of a contract.
type Message struct {
	// From is the sender, an address in any form. Default: the treasury.
	From ledger.Null[ledger.EVMAddress]
	// To is the callee, an address in any form. If it is null, the message creates a contract and Data is its
	// initcode.
	To   ledger.Null[ledger.EVMAddress]
	Data []byte
	// Value is in tinybars.
	Value int64
	// Gas is the gas limit, at most 2^63-1.
	Gas uint64
	// GasPrice is the sender's price per gas, in tinybars. It is used only with [Config.ValidatePayer].
	GasPrice int64
}

// Result is the result of a message.
type Result struct {
	// Output is the return data, the revert data of a failure, or the code of a created contract.
	Output []byte
	// GasUsed includes the intrinsic gas.
	GasUsed uint64
	// Code is [Success] or the reason of the failure.
	Code ledger.ResponseCode
	// NoSender reports that the message did not run because its sender does not exist.
	NoSender bool
	// Children are the distinct response codes of failed operations of system contracts.
	Children []ledger.ResponseCode
	// Contract is the address of the called or created contract.
	Contract ledger.EVMAddress
	// Logs and Transfers are the logs and the transfers of value in a successful message, in order.
	Logs      []*types.Log
	Transfers []Transfer
}

// Transfer is a transfer of value between accounts, in tinybars.
type Transfer struct {
	From, To ledger.EVMAddress
	Value    uint256.Int
}

// Failed reports whether the message failed: its code is not SUCCESS. Its changes of the state were undone then.
func (r *Result) Failed() bool { return r.Code != codes.Success }

// Call runs a message and undoes its changes. A message that reverts has a failed result and no error. The error
// is one that the message did not cause: the source failed, or the context ended.
func (s *Simulation) Call(m Message) (*Result, error) {
	return s.run(m)
}

// Apply runs a message and keeps its changes for later messages if it succeeds, otherwise it undoes them. Its results
// are those of [Simulation.Call].
func (s *Simulation) Apply(m Message) (*Result, error) {
	s.keep = true
	defer func() { s.keep = false }()
	return s.run(m)
}

// InBlock sets the block of later messages, and records its hash, which messages of later blocks can read. The state
// does not change, and the EVM version stays that of the first block.
func (s *Simulation) InBlock(b Block) {
	if s.hashes == nil {
		s.hashes = map[int64][32]byte{}
	}
	s.block, s.hashes[b.Number] = b, b.Hash
}

// participants are the canonical addresses of a message's sender and callee.
type participants struct {
	from common.Address
	to   *common.Address
}

// resolve returns the canonical addresses of sender and callee, whose entities it reads from the source. failure is
// not nil if the sender does not exist or is not an account. A contract as sender is replaced by the treasury, and so
// is the zero address in a message without value. A callee without an entity keeps its address, and p.to is nil for a
// creation. err is that of a failed read. m is not changed.
func (s *Simulation) resolve(m *Message) (p participants, failure *Result, err error) {
	from := common.Address(m.From.V)
	if m.From.V == (ledger.EVMAddress{}) && m.Value == 0 {
		from = longZero(treasuryNumber)
	}
	addresses := []common.Address{from}
	if m.To.Valid {
		addresses = append(addresses, common.Address(m.To.V))
	}
	if err := s.state.prefetch(addresses...); err != nil {
		return p, nil, err
	}
	if p.from = s.visible(from); p.from == (common.Address{}) {
		if from != longZero(treasuryNumber) && !s.state.hasCreated(from) {
			return p, &Result{Code: codes.PayerAccountNotFound, NoSender: true}, nil
		}
		p.from = from
	}
	switch sender := s.state.account(p.from); {
	case sender.isContract:
		p.from = longZero(treasuryNumber)
	case sender.entity == nil: // an account that the simulation created, or a ledger without a treasury
	case sender.entity.Type != ledger.EntityAccount && sender.entity.Type != ledger.EntityUnknown:
		return p, &Result{Code: codes.PayerAccountNotFound, NoSender: true}, nil
	}
	if m.To.Valid {
		to := common.Address(m.To.V)
		if visible := s.visible(to); visible != (common.Address{}) {
			to = visible
		}
		p.to = &to
	}
	return p, nil, nil
}

// visible returns the canonical address of the entity at an address in any form, or the zero address if it does
// not exist. It uses entities that have been read and reads none.
func (s *Simulation) visible(a common.Address) common.Address {
	if e := s.state.entities[a]; e != nil {
		return Canonical(e)
	}
	return common.Address{}
}

// run runs a message, and undoes its changes unless [Simulation.Apply] keeps them. It recovers an [abort] and returns
// its error, or a failed result if a rule of the network ended the run; see [Simulation.aborted]. Other panics
// continue. It resets the data of the run.
func (s *Simulation) run(m Message) (result *Result, err error) {
	mark := s.state.Snapshot()
	defer func() {
		switch p := recover().(type) {
		case nil:
		case abort:
			result, err = s.aborted(m, p)
		default:
			panic(p) // a bug; the server recovers it
		}
		if s.keep && err == nil && !result.Failed() {
			s.state.commit()
		} else {
			s.state.reset(mark)
		}
		s.children, s.guard = nil, guard{}
	}()
	p, failure, err := s.resolve(&m)
	if failure != nil || err != nil {
		return failure, err
	}
	if failure := s.checkPayer(&m, p.from); failure != nil {
		return failure, nil
	}
	intrinsic, floor := s.intrinsicGas(&m)
	if intrinsic > m.Gas || floor > m.Gas {
		return &Result{Code: codes.InsufficientGas, GasUsed: m.Gas}, nil
	}
	result, err = s.execute(&m, p, intrinsic)
	if err != nil {
		return nil, err
	}
	result.GasUsed = max(result.GasUsed, floor)
	result.Children = s.children
	return result, nil
}

// aborted returns the result of a run that was aborted: a failed result with all gas used if a rule of the network
// ended it, else the error.
func (s *Simulation) aborted(m Message, a abort) (*Result, error) {
	var halt haltError
	if !errors.As(a.err, &halt) {
		return nil, a.err
	}
	return &Result{Code: halt.code, GasUsed: m.Gas, Children: s.children}, nil
}

// checkPayer returns a failed result if the sender cannot pay for the message and the machine validates payers, else
// nil. A message without a sender, or with neither a gas price nor value, is not checked.
func (s *Simulation) checkPayer(m *Message, from common.Address) *Result {
	if !s.machine.cfg.ValidatePayer || !m.From.Valid || m.GasPrice == 0 && m.Value == 0 {
		return nil
	}
	cost := new(uint256.Int).Mul(uint256.NewInt(m.Gas), uint256.NewInt(uint64(m.GasPrice)))
	cost.Add(cost, uint256.NewInt(uint64(m.Value)))
	if balance := s.state.account(from).balance; balance.Lt(cost) {
		return &Result{Code: codes.InsufficientPayerBalance, GasUsed: m.Gas}
	}
	return nil
}

// execute runs a message whose gas limit covers the intrinsic gas, with an engine of the pool. It changes the state,
// also if the message fails: the caller undoes that. It returns an error only if the context ends. An [abort] passes
// through it as a panic.
func (s *Simulation) execute(m *Message, p participants, intrinsic uint64) (*Result, error) {
	shared := &s.machine.engines[s.level]
	e := shared.pool.Get().(*engine)
	e.sim = s
	defer func() {
		e.sim = nil
		shared.pool.Put(e)
	}()
	s.setUp(e, shared, m, p)
	defer s.evm.Release()
	stop := context.AfterFunc(s.state.ctx, s.evm.Cancel)
	defer stop()

	gas := vm.NewGasBudget(m.Gas-intrinsic, 0)
	r := &Result{Code: codes.Success}
	var (
		left vm.GasBudget
		fail error
	)
	if p.to == nil {
		r.Output, r.Contract, left, fail = s.create(p.from, m.Data, gas)
	} else {
		r.Contract = ledger.EVMAddress(*p.to)
		var extra uint64
		if extra, fail = s.hollowGas(m, *p.to); fail == nil && gas.ExecutionGas < extra {
			fail = vm.ErrOutOfGas
		}
		if fail == nil {
			gas.ExecutionGas -= extra
			r.Output, left, fail = s.evm.Call(p.from, *p.to, m.Data, gas, uint256.NewInt(uint64(m.Value)))
		}
	}
	if err := s.state.ctx.Err(); err != nil {
		return nil, fmt.Errorf("running a contract: %w", context.Cause(s.state.ctx))
	}
	used := m.Gas - left.ExecutionGas
	if fail == nil {
		used -= min(s.state.refund, used/params.RefundQuotientEIP3529)
	}
	r.GasUsed = used
	if fail == nil {
		r.Logs, r.Transfers = s.state.logs, s.state.transfers
	} else {
		r.Code = codeOf(s.guard.refine(fail))
		if !errors.Is(fail, vm.ErrExecutionReverted) {
			r.Output = nil
		}
	}
	r.Output = slices.Clone(r.Output)
	return r, nil
}

// setUp sets s.evm to a new interpreter of go-ethereum for a run, with the hooks and precompiled contracts of the
// block's version, and prepares the state. It replaces s.hooks. The caller must release s.evm.
func (s *Simulation) setUp(e *engine, shared *engines, m *Message, p participants) {
	s.hooks = &tracing.Hooks{OnEnter: s.enter, OnExit: s.exit}
	s.state.onCode = s.prepareFor
	var random *common.Hash
	if s.level.isMerge() {
		hash := common.Hash(s.block.Hash)
		random = &hash
	}
	s.evm = vm.NewEVM(vm.BlockContext{
		CanTransfer: s.canTransfer, Transfer: s.transfer, GetHash: s.blockHash,
		Coinbase: longZero(98), GasLimit: m.Gas, BlockNumber: big.NewInt(s.block.Number),
		Time:       uint64(s.block.Start) / 1_000_000_000,
		Difficulty: new(big.Int), BaseFee: new(big.Int), BlobBaseFee: big.NewInt(1), Random: random,
	}, s.state, shared.chain, vm.Config{Tracer: s.hooks, NoBaseFee: true})
	s.evm.SetPrecompiles(e.precompiled)
	if s.machine.codes != nil {
		s.evm.SetJumpDestCache(s.machine.codes)
	}
	s.evm.SetTxContext(vm.TxContext{Origin: p.from, GasPrice: new(uint256.Int)})
	s.state.Prepare(shared.rules, p.from, longZero(98), p.to, shared.warm, nil)
	if s.level.missingFails() || s.tracer != nil {
		s.hooks.OnOpcode = s.opcode
	}
	if s.tracer != nil {
		s.hooks.OnFault = s.tracer.fault
	}
}

// create runs initcode of a new contract, at the address of the next entity number, and stores the code that it
// returns. It transfers no value. It returns that code, the address and the remaining gas. err is that of the
// interpreter: ret can then be revert data, and [Simulation.run] undoes the changes. If the highest number of the
// ledger cannot be read, it aborts the run.
func (s *Simulation) create(
	from common.Address, initcode []byte, gas vm.GasBudget,
) (ret []byte, at ledger.EVMAddress, left vm.GasBudget, err error) {
	a := longZero(s.state.allocateNumber())
	s.state.AddAddressToAccessList(a)
	s.enter(0, byte(vm.CREATE), from, a, initcode, gas.ExecutionGas, nil)
	defer func() { s.exit(0, ret, gas.ExecutionGas-left.ExecutionGas, err, err != nil) }()
	s.state.CreateAccount(a)
	s.state.CreateContract(a)
	s.state.SetNonce(a, 1, tracing.NonceChangeNewContract)
	contract := vm.NewContract(from, a, new(uint256.Int), gas, nil)
	contract.SetCallCode(common.Hash{}, initcode)
	contract.IsDeployment = true
	ret, err = s.evm.Run(contract, nil, false)
	if err == nil {
		err = s.deposit(a, contract, ret, &s.machine.engines[s.level].rules)
	}
	return ret, ledger.EVMAddress(a), contract.Gas.Exit(err), err
}

// deposit validates the code of a new contract, charges its gas, and stores it in the state. It returns errors of
// the interpreter.
func (s *Simulation) deposit(a common.Address, contract *vm.Contract, code []byte, rules *params.Rules) error {
	if len(code) > 0 && code[0] == 0xef {
		return vm.ErrInvalidCode
	}
	if !contract.Gas.ChargeExecutionOnly(uint64(len(code)) * params.CreateDataGas) {
		return vm.ErrCodeStoreOutOfGas
	}
	if err := vm.CheckMaxCodeSize(rules, uint64(len(code))); err != nil {
		return err //nolint:wrapcheck // codeOf compares it
	}
	if len(code) > 0 {
		s.state.SetCode(a, code, tracing.CodeChangeContractCreation)
	}
	return nil
}

// childFailed records the response code of a failed operation of a system contract, each code once, for
// Result.Children.
func (s *Simulation) childFailed(code ledger.ResponseCode) {
	if !slices.Contains(s.children, code) {
		s.children = append(s.children, code)
	}
}

// Override replaces values of an account in a simulation. Null values are not replaced.
type Override struct {
	// Address is the account's address in any form. If no account has it, an account is created, or a contract if the
	// override has code or storage.
	Address ledger.EVMAddress
	// Balance is in tinybars.
	Balance ledger.Null[uint64]
	Nonce   ledger.Null[uint64]
	Code    []byte
	// Slots replace storage slots. With All, all other slots are zero.
	Slots map[[32]byte][32]byte
	All   bool
}

// Override applies state overrides of a request to the whole simulation. It must be called before a message runs.
// It fails if the entities at the addresses cannot be read.
func (s *Simulation) Override(list []Override) error {
	addresses := make([]common.Address, len(list))
	for i, o := range list {
		addresses[i] = common.Address(o.Address)
	}
	if err := s.state.prefetch(addresses...); err != nil {
		return err
	}
	for i, o := range list {
		a := addresses[i]
		if visible := s.visible(a); visible != (common.Address{}) {
			a = visible
		}
		s.state.override(a, o)
	}
	return nil
}

// override changes an account in the simulation as a state override says. The change is not undone. An account that
// the ledger does not have is created there, and one that gets code or storage counts as a contract. If o.All is set,
// its other storage slots are empty. It reads nothing: [Simulation.Override] has read the entity.
func (s *State) override(a common.Address, o Override) {
	x := s.account(a)
	if x.entity == nil {
		// The ledger has no such account.
		s.entities[a] = &worldstate.Entity{Type: ledger.EntityAccount, Alias: ledger.Of(ledger.EVMAddress(a))}
	}
	x.exists = true
	if o.Balance.Valid {
		x.balance = *uint256.NewInt(o.Balance.V)
	}
	if o.Nonce.Valid {
		x.nonce = o.Nonce.V
	}
	if o.Code != nil {
		x.code = newCode(slices.Clone(o.Code))
	}
	x.isContract = x.isContract || o.Code != nil || o.Slots != nil
	if x.slots == nil && (o.Slots != nil || o.All) {
		x.slots = map[common.Hash]common.Hash{}
	}
	if o.All {
		clear(x.slots)
		x.cleared = true
	}
	for slot, value := range o.Slots {
		x.slots[slot] = value
	}
}
