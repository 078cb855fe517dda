package evm

import (
	"context"
	"fmt"
	"maps"

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

// State is the state that contracts read and change. It reads accounts and slots from the source on first use, caches
// them for the whole simulation, and records how to undo changes. Balances are in tinybars.
//
// The methods that the interpreter calls cannot return errors. On an error they panic with an [abort], which ends the
// run.
type State struct {
	ctx    context.Context
	source Source
	codes  *codeCache
	level  Level
	undos  []func() // of the changes that can be reverted, newest last
	frames frames
	onCode func(opcodes) // called before code with these opcodes runs

	accounts  map[common.Address]*account
	entities  map[common.Address]*worldstate.Entity // of the ledger, by addresses in any form; nil: does not exist
	overlays  map[any]any
	transient map[slotKey]common.Hash
	warm      map[common.Address]struct{}
	warmSlots map[slotKey]struct{}
	refund    uint64
	logs      []*types.Log
	transfers []Transfer
	highest   ledger.Null[int64]                // the highest entity number of the ledger, once it was read
	allocated int64                             // entity numbers that the run allocated
	onSlot    func(common.Address, common.Hash) // if not nil, called for each use of a slot
}

type slotKey struct {
	address common.Address
	slot    common.Hash
}

var _ vm.StateDB = (*State)(nil)

// newState returns an empty state that reads accounts from source when they are first used. ctx is the context of all
// reads. cache may be nil.
func newState(ctx context.Context, source Source, cache *codeCache, level Level) *State {
	s := &State{
		ctx: ctx, source: source, codes: cache, level: level,
		accounts: map[common.Address]*account{}, entities: map[common.Address]*worldstate.Entity{},
		overlays: map[any]any{},
	}
	s.startRun()
	return s
}

// startRun resets the state of a single transaction: transient storage, warm addresses and slots, refund, logs,
// transfers and frames.
func (s *State) startRun() {
	s.transient, s.warm, s.warmSlots = nil, map[common.Address]struct{}{}, map[slotKey]struct{}{}
	s.refund, s.logs, s.transfers, s.frames = 0, nil, nil, s.frames[:0]
}

// reset undoes the changes of a run since snapshot to, and starts the next run. Values that were read stay cached.
func (s *State) reset(to int) {
	s.RevertToSnapshot(to)
	s.startRun()
}

// commit makes the changes of a run part of the state before the next run. They can no longer be undone. It
// removes destroyed accounts.
func (s *State) commit() {
	for _, x := range s.accounts {
		switch {
		case x.destroyed:
			*x = account{cleared: true}
			continue
		case x.created:
			x.created, x.cleared = false, true
		}
		if len(x.written) > 0 {
			if x.slots == nil {
				x.slots = map[common.Hash]common.Hash{}
			}
			maps.Copy(x.slots, x.written)
			x.written = nil
		}
	}
	s.undos = nil
	s.startRun()
}

// hasCreated reports whether an earlier message of the simulation created an account at an address. The ledger must
// have no entity at it. It is false for long-zero addresses.
func (s *State) hasCreated(a common.Address) bool {
	x := s.accounts[a]
	return x != nil && x.exists && !isLongZero(a)
}

// addTransfer records a transfer of value for the result, unless value is 0. It moves no balance. The record is
// removed if the frame is reverted.
func (s *State) addTransfer(from, to common.Address, value *uint256.Int) {
	if !value.IsZero() {
		t := Transfer{ledger.EVMAddress(from), ledger.EVMAddress(to), *value}
		Set(s, &s.transfers, append(s.transfers, t))
	}
}

// Context returns the context of the simulation, which system contracts use for reads.
func (s *State) Context() context.Context { return s.ctx }

// Source returns the source, which system contracts also read from.
func (s *State) Source() Source { return s.source }

// Abort ends the run of a message with an error that the contract did not cause, such as a failed read. With a
// [haltError], the message has a failed result instead. It does not return: [Simulation.run] recovers its panic.
func (s *State) Abort(err error) { panic(abort{err}) }

// Check aborts the run, by a panic as [State.Abort] does, if err is not nil. The format and its arguments describe the
// read that failed, without err.
func (s *State) Check(err error, format string, args ...any) {
	if err != nil {
		s.Abort(fmt.Errorf(format+": %w", append(args, err)...))
	}
}

// Overlay returns the data of a system contract in a simulation: the value of key, which fresh creates on the first
// call. It stays in the simulation even if the frame is reverted. Changes of it must be made by [Set] and [SetKey].
func Overlay[T any](s *State, key any, fresh func() *T) *T {
	if v, ok := s.overlays[key].(*T); ok {
		return v
	}
	v := fresh()
	s.overlays[key] = v
	return v
}

// Exist implements vm.StateDB. It reads the account from the source on first use. A failed read aborts the run.
func (s *State) Exist(a common.Address) bool { return s.account(a).exists }

// Empty implements vm.StateDB. An account that exists is never empty, so that calling it does not create it. It reads
// the account from the source on first use. A failed read aborts the run.
func (s *State) Empty(a common.Address) bool { return !s.account(a).exists }

// CreateAccount implements vm.StateDB: it marks the account, which it reads from the source on first use, as existing
// and keeps its balance. The change is undone if the frame is reverted. A failed read aborts the run.
func (s *State) CreateAccount(a common.Address) {
	x := s.account(a)
	Set(s, &x.exists, true)
}

// CreateContract implements vm.StateDB: it marks the account, which it reads from the source on first use, as a
// contract that the current message created. The change is undone if the frame is reverted. A failed read aborts the
// run.
func (s *State) CreateContract(a common.Address) {
	x := s.account(a)
	Set(s, &x.created, true)
	Set(s, &x.isContract, true)
}

// IsNewContract implements vm.StateDB. It reports whether the current message created the contract. It reads the
// account from the source on first use. A failed read aborts the run.
func (s *State) IsNewContract(a common.Address) bool { return s.account(a).created }

// SelfDestruct implements vm.StateDB: it sets the balance to 0 and marks the account, which [State.commit] removes.
// The change is undone if the frame is reverted. It reads the account from the source on first use. A failed read
// aborts the run.
func (s *State) SelfDestruct(a common.Address) {
	x := s.account(a)
	Set(s, &x.destroyed, true)
	Set(s, &x.balance, uint256.Int{})
}

// HasSelfDestructed implements vm.StateDB. It reports whether the current message destroyed the account, which it
// reads from the source on first use. A failed read aborts the run.
func (s *State) HasSelfDestructed(a common.Address) bool { return s.account(a).destroyed }

// GetBalance implements vm.StateDB. It returns a copy of the balance in tinybars. For system accounts it returns 0
// without a read; other accounts are read from the source on first use. A failed read aborts the run.
func (s *State) GetBalance(a common.Address) *uint256.Int {
	if num, ok := ledger.EVMAddress(a).Num(); ok && num <= lastSystemAccount {
		return new(uint256.Int)
	}
	return s.account(a).balance.Clone()
}

// SubBalance implements vm.StateDB. It subtracts v, in tinybars, and returns the balance before, which it reads from
// the source on first use. The new balance is at least 0: a sender with a minimum balance may send more than its real
// balance. The change is undone if the frame is reverted. A failed read aborts the run.
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
	Set(s, &x.balance, left)
	return old
}

// AddBalance implements vm.StateDB. It adds v, in tinybars, and returns the balance before, which it reads from the
// source on first use. If v is 0, it returns 0 and reads nothing. The change is undone if the frame is reverted. A
// failed read aborts the run.
func (s *State) AddBalance(a common.Address, v *uint256.Int, _ tracing.BalanceChangeReason) uint256.Int {
	if v.IsZero() {
		return uint256.Int{} // a touch, which needs no read
	}
	x := s.account(a)
	old := x.balance
	var sum uint256.Int
	Set(s, &x.balance, *sum.Add(&old, v))
	return old
}

// GetNonce implements vm.StateDB. It reads the account from the source on first use. A failed read aborts the run.
func (s *State) GetNonce(a common.Address) uint64 { return s.account(a).nonce }

// SetNonce implements vm.StateDB. It reads the account from the source on first use; a failed read aborts the run. The
// change is undone if the frame is reverted.
func (s *State) SetNonce(a common.Address, n uint64, _ tracing.NonceChangeReason) {
	Set(s, &s.account(a).nonce, n)
}

// GetCode implements vm.StateDB. It reads the account from the source on first use; a read that fails aborts the run,
// see [State]. It prepares the hooks that the opcodes of the code need. For a token or schedule to which an account
// delegates, it returns an invalid opcode. For an account without code it can return a proxy; see [State.accountProxy].
func (s *State) GetCode(a common.Address) []byte {
	x := s.account(a)
	switch {
	case x.code == nil:
		return s.accountProxy(a, x)
	case x.entity != nil && (x.entity.Type == ledger.EntityToken || x.entity.Type == ledger.EntitySchedule) &&
		s.isDelegatedTo(a): // calls of these entities are redirected to a system contract
		return invalidDelegation
	}
	if s.onCode != nil && x.code.uses != 0 {
		s.onCode(x.code.uses)
	}
	return x.code.bytes
}

// invalidDelegation is the code of an account that delegates to a token or schedule, whose own code is a delegation
// for the network. It begins with an invalid opcode.
var invalidDelegation = []byte{byte(vm.INVALID)}

// isDelegatedTo reports whether the current frame runs an account that delegates its code to the entity at a. It reads
// nothing: the account of the frame has been read.
func (s *State) isDelegatedTo(a common.Address) bool {
	if len(s.frames) == 0 || s.frames.top().Code == a {
		return false
	}
	x := s.accounts[s.frames.top().Code]
	return x != nil && x.entity != nil && x.entity.Delegation.Valid && x.entity.Delegation.V == ledger.EVMAddress(a)
}

// accountProxy returns the code of the account x at address a, which has none, while a function of the account service
// is called on it: a proxy of the system contract. Otherwise it returns nil.
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

// GetCodeHash implements vm.StateDB. It returns the hash of empty code for accounts without code, and zero for missing
// accounts. For reserved numbers it returns zero without a read. Other accounts are read from the source on first use;
// a read that fails aborts the run.
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

// GetCodeSize implements vm.StateDB. It returns the size in bytes, and 0 without code. It reads the account from the
// source on first use. A failed read aborts the run.
func (s *State) GetCodeSize(a common.Address) int {
	if x := s.account(a); x.code != nil {
		return len(x.code.bytes)
	}
	return 0
}

// SetCode implements vm.StateDB. It returns the previous code, or nil. It keeps b without a copy. The change is undone
// if the frame is reverted. It reads the account from the source on first use. A failed read aborts the run.
func (s *State) SetCode(a common.Address, b []byte, _ tracing.CodeChangeReason) []byte {
	x := s.account(a)
	var old []byte
	if x.code != nil {
		old = x.code.bytes
	}
	Set(s, &x.code, newCode(b))
	return old
}

// AddRefund implements vm.StateDB. It adds to the gas that is refunded at the end of the message. The change is undone
// if the frame is reverted.
func (s *State) AddRefund(gas uint64) { Set(s, &s.refund, s.refund+gas) }

// SubRefund implements vm.StateDB. It subtracts from the gas that is refunded at the end of the message: at most what
// has been added, which it does not check. The change is undone if the frame is reverted.
func (s *State) SubRefund(gas uint64) { Set(s, &s.refund, s.refund-gas) }

// GetRefund implements vm.StateDB. It returns the gas that is refunded at the end of the message.
func (s *State) GetRefund() uint64 { return s.refund }

// Snapshot implements vm.StateDB. It returns the number of changes so far, for [State.RevertToSnapshot].
func (s *State) Snapshot() int { return len(s.undos) }

// RevertToSnapshot implements vm.StateDB. It undoes the changes since the snapshot, newest first.
func (s *State) RevertToSnapshot(to int) {
	for i := len(s.undos) - 1; i >= to; i-- {
		s.undos[i]()
	}
	clear(s.undos[to:])
	s.undos = s.undos[:to]
}

// AddLog implements vm.StateDB. It keeps l, without a copy, for the result, unless the frame is reverted.
func (s *State) AddLog(l *types.Log) { Set(s, &s.logs, append(s.logs, l)) }

// Touch implements vm.StateDB. It does nothing: accounts are not deleted for being empty.
func (s *State) Touch(common.Address) {}

// AddPreimage implements vm.StateDB. It does nothing: the inputs of hashes are not used.
func (s *State) AddPreimage(common.Hash, []byte) {}

// Witness implements vm.StateDB. There is none: the state has no trie.
func (s *State) Witness() *stateless.Witness { return nil }

// AccessEvents implements vm.StateDB. There are none: the ledger does not charge for parts of a trie.
func (s *State) AccessEvents() *state.AccessEvents { return nil }

// Finalise implements vm.StateDB. It does nothing and returns nil: [State.commit] and [State.reset] end a message.
func (s *State) Finalise(params.Rules) *bal.ConstructionBlockAccessList { return nil }

// SetTxContext implements vm.StateDB. It does nothing: [State.AddLog] does not add the hash and the index
// of the transaction to a log.
func (s *State) SetTxContext(common.Hash, int, uint32) {}

// Set assigns a value, which is undone if the frame is reverted. Code that keeps its own data, such as the [Overlay] of
// a system contract, must change it by Set and [SetKey].
func Set[T any](s *State, at *T, value T) {
	old := *at
	s.undos = append(s.undos, func() { *at = old })
	*at = value
}

// SetKey sets the value of a key in the map m, which is undone if the frame of s is reverted; see [Set].
func SetKey[K comparable, V any](s *State, m map[K]V, key K, value V) {
	old, had := m[key]
	s.undos = append(s.undos, func() {
		if had {
			m[key] = old
		} else {
			delete(m, key)
		}
	})
	m[key] = value
}
