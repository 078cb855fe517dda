package evm

import (
	"context"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/stateless"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/types/bal"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"

	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
)

// State is what contracts see and change. It reads from the source whatever is touched for the first time, remembers it for the whole
// simulation, and keeps changes beside it, which the journal can undo. Balances are tinybars.
//
// The methods that the interpreter calls cannot return an error: they leave it by a panic of an [abort], which ends the run.
type State struct {
	ctx     context.Context
	source  Source
	codes   *codeCache
	level   Level
	journal Journal
	frames  frames
	watch   func(asks) // is told what code that will run asks for

	accounts  map[common.Address]*account
	seen      map[common.Address]*worldstate.Entity // who was read at an address in any form
	overlays  map[any]any
	transient map[slotKey]common.Hash
	warm      map[common.Address]struct{}
	warmSlots map[slotKey]struct{}
	refund    uint64
	logs      []*types.Log
	highest   ledger.Null[int64]                // the greatest number of the ledger's entities, when it has been asked for
	taken     int64                             // how many numbers of entities the run took
	reads     int                               // of the source
	touch     func(common.Address, common.Hash) // is told which slots are used; nil unless somebody wants to know
}

type slotKey struct {
	address common.Address
	slot    common.Hash
}

var _ vm.StateDB = (*State)(nil)

func newState(ctx context.Context, source Source, codes *codeCache, level Level) *State {
	s := &State{
		ctx: ctx, source: source, codes: codes, level: level,
		accounts: map[common.Address]*account{}, seen: map[common.Address]*worldstate.Entity{}, overlays: map[any]any{},
	}
	s.startRun()
	return s
}

// startRun forgets what a transaction has of its own.
func (s *State) startRun() {
	s.transient, s.warm, s.warmSlots = nil, map[common.Address]struct{}{}, map[slotKey]struct{}{}
	s.refund, s.logs, s.frames = 0, nil, s.frames[:0]
}

// reset undoes all that a run changed and keeps what was read, so that running again costs no reads.
func (s *State) reset(to int) {
	s.journal.revert(to)
	s.startRun()
}

// Reads is how many times the state asked its source.
func (s *State) Reads() int { return s.reads }

// Journal is where whoever keeps changes of its own registers how to undo them.
func (s *State) Journal() *Journal { return &s.journal }

// Context ends with the time that the simulation may take.
func (s *State) Context() context.Context { return s.ctx }

// Source is what the state reads from; system contracts read their own things from the same.
func (s *State) Source() Source { return s.source }

// Level is the version of the EVM that runs.
func (s *State) Level() Level { return s.level }

// Abort ends the whole simulation with an error that is not the contract's fault, such as a failed read. It does not return.
func (s *State) Abort(err error) { panic(abort{err}) }

// Overlay returns what a system contract keeps beside the state for as long as the simulation lasts: the value that fresh returned the first time
// that key was asked for. Changes of it must be registered in the journal.
func Overlay[T any](s *State, key any, fresh func() *T) *T {
	if v, ok := s.overlays[key].(*T); ok {
		return v
	}
	v := fresh()
	s.overlays[key] = v
	return v
}

// Exist implements vm.StateDB.
func (s *State) Exist(a common.Address) bool { return s.account(a).exists }

// Empty implements vm.StateDB. An account that is there is never empty, whatever it has: calling it creates nothing.
func (s *State) Empty(a common.Address) bool { return !s.account(a).exists }

// CreateAccount implements vm.StateDB.
func (s *State) CreateAccount(a common.Address) {
	x := s.account(a)
	set(&s.journal, &x.exists, true)
}

// CreateContract implements vm.StateDB.
func (s *State) CreateContract(a common.Address) {
	x := s.account(a)
	set(&s.journal, &x.created, true)
	set(&s.journal, &x.isContract, true)
}

// IsNewContract implements vm.StateDB.
func (s *State) IsNewContract(a common.Address) bool { return s.account(a).created }

// SelfDestruct implements vm.StateDB.
func (s *State) SelfDestruct(a common.Address) {
	x := s.account(a)
	set(&s.journal, &x.destroyed, true)
	set(&s.journal, &x.balance, uint256.Int{})
}

// HasSelfDestructed implements vm.StateDB.
func (s *State) HasSelfDestructed(a common.Address) bool { return s.account(a).destroyed }

// GetBalance implements vm.StateDB.
func (s *State) GetBalance(a common.Address) *uint256.Int {
	if num, ok := ledger.EVMAddress(a).Num(); ok && num <= lastSystemAccount {
		return new(uint256.Int)
	}
	return s.account(a).balance.Clone()
}

// SubBalance implements vm.StateDB. What is not there cannot be taken: the balance of an account that is treated as richer than it is ends at zero.
func (s *State) SubBalance(a common.Address, v *uint256.Int, _ tracing.BalanceChangeReason) uint256.Int {
	x := s.account(a)
	old := x.balance
	if v.IsZero() {
		return old
	}
	var left uint256.Int
	if old.Gt(v) {
		left.Sub(&old, v)
	}
	set(&s.journal, &x.balance, left)
	return old
}

// AddBalance implements vm.StateDB.
func (s *State) AddBalance(a common.Address, v *uint256.Int, _ tracing.BalanceChangeReason) uint256.Int {
	if v.IsZero() {
		return uint256.Int{} // a touch; nobody may be there, and reading would be for nothing
	}
	x := s.account(a)
	old := x.balance
	var sum uint256.Int
	set(&s.journal, &x.balance, *sum.Add(&old, v))
	return old
}

// GetNonce implements vm.StateDB.
func (s *State) GetNonce(a common.Address) uint64 { return s.account(a).nonce }

// SetNonce implements vm.StateDB.
func (s *State) SetNonce(a common.Address, n uint64, _ tracing.NonceChangeReason) {
	set(&s.journal, &s.account(a).nonce, n)
}

// GetCode implements vm.StateDB.
func (s *State) GetCode(a common.Address) []byte {
	x := s.account(a)
	if x.code == nil {
		return s.accountProxy(a, x)
	}
	if s.watch != nil && x.code.asks != 0 {
		s.watch(x.code.asks)
	}
	return x.code.bytes
}

// accountProxy is the code of an account without code while it is being called with a function of the account service.
func (s *State) accountProxy(a common.Address, x *account) []byte {
	if x.entity == nil || x.entity.Type != ledger.EntityAccount || !s.level.hasAccountService() || len(s.frames) == 0 {
		return nil
	}
	f := s.frames.top()
	if f.Code != a || len(f.Input) < 4 || !isAccountSelector([4]byte(f.Input)) {
		return nil
	}
	return accountRedirect.proxy(a)
}

// GetCodeHash implements vm.StateDB.
func (s *State) GetCodeHash(a common.Address) common.Hash {
	if num, ok := ledger.EVMAddress(a).Num(); ok && num <= lastReservedNumber {
		return common.Hash{}
	}
	x := s.account(a)
	switch {
	case x.code != nil:
		return x.code.hash
	case x.exists:
		return types.EmptyCodeHash
	default:
		return common.Hash{}
	}
}

// GetCodeSize implements vm.StateDB.
func (s *State) GetCodeSize(a common.Address) int {
	if x := s.account(a); x.code != nil {
		return len(x.code.bytes)
	}
	return 0
}

// SetCode implements vm.StateDB.
func (s *State) SetCode(a common.Address, b []byte, _ tracing.CodeChangeReason) []byte {
	x := s.account(a)
	var old []byte
	if x.code != nil {
		old = x.code.bytes
	}
	set(&s.journal, &x.code, newCode(b))
	return old
}

// AddRefund implements vm.StateDB.
func (s *State) AddRefund(gas uint64) { set(&s.journal, &s.refund, s.refund+gas) }

// SubRefund implements vm.StateDB.
func (s *State) SubRefund(gas uint64) { set(&s.journal, &s.refund, s.refund-gas) }

// GetRefund implements vm.StateDB.
func (s *State) GetRefund() uint64 { return s.refund }

// Snapshot implements vm.StateDB.
func (s *State) Snapshot() int { return s.journal.len() }

// RevertToSnapshot implements vm.StateDB.
func (s *State) RevertToSnapshot(to int) { s.journal.revert(to) }

// AddLog implements vm.StateDB.
func (s *State) AddLog(l *types.Log) { set(&s.journal, &s.logs, append(s.logs, l)) }

// Touch implements vm.StateDB.
func (s *State) Touch(common.Address) {}

// AddPreimage implements vm.StateDB.
func (s *State) AddPreimage(common.Hash, []byte) {}

// Witness implements vm.StateDB: nobody proves anything.
func (s *State) Witness() *stateless.Witness { return nil }

// AccessEvents implements vm.StateDB.
func (s *State) AccessEvents() *state.AccessEvents { return nil }

// Finalise implements vm.StateDB.
func (s *State) Finalise(params.Rules) *bal.ConstructionBlockAccessList { return nil }

// SetTxContext implements vm.StateDB.
func (s *State) SetTxContext(common.Hash, int, uint32) {}
