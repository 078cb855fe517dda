package evm

import (
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/params"
)

// committed returns the value of a slot before the run.
func (s *State) committed(x *account, slot common.Hash) common.Hash {
	if x.created {
		return common.Hash{}
	}
	if v, ok := x.slots[slot]; ok {
		return v
	}
	if x.entity == nil || x.cleared {
		return common.Hash{}
	}
	s.reads++
	got, err := s.source.Slots(s.ctx, x.entity.ID, [][32]byte{slot})
	s.Check(err, "reading the storage of %s", x.entity.ID)
	if x.slots == nil {
		x.slots = map[common.Hash]common.Hash{}
	}
	x.slots[slot] = got[0]
	return got[0]
}

// GetStateAndCommittedState implements vm.StateDB.
func (s *State) GetStateAndCommittedState(a common.Address, slot common.Hash) (now, before common.Hash) {
	x := s.account(a)
	before = s.committed(x, slot)
	if v, ok := x.written[slot]; ok {
		return v, before
	}
	return before, before
}

// GetState implements vm.StateDB.
func (s *State) GetState(a common.Address, slot common.Hash) common.Hash {
	v, _ := s.GetStateAndCommittedState(a, slot)
	if s.onSlot != nil {
		s.onSlot(a, slot)
	}
	return v
}

// SetState implements vm.StateDB.
func (s *State) SetState(a common.Address, slot, value common.Hash) common.Hash {
	x := s.account(a)
	old, _ := s.GetStateAndCommittedState(a, slot)
	if x.written == nil {
		x.written = map[common.Hash]common.Hash{}
	}
	setKey(&s.journal, x.written, slot, value)
	if s.onSlot != nil {
		s.onSlot(a, slot)
	}
	return old
}

// current returns the value of a slot without reporting its use.
func (s *State) current(a common.Address, slot common.Hash) common.Hash {
	v, _ := s.GetStateAndCommittedState(a, slot)
	return v
}

// GetTransientState implements vm.StateDB.
func (s *State) GetTransientState(a common.Address, slot common.Hash) common.Hash {
	return s.transient[slotKey{a, slot}]
}

// SetTransientState implements vm.StateDB.
func (s *State) SetTransientState(a common.Address, slot, value common.Hash) {
	if s.transient == nil {
		s.transient = map[slotKey]common.Hash{}
	}
	setKey(&s.journal, s.transient, slotKey{a, slot}, value)
}

// AddressInAccessList implements vm.StateDB.
func (s *State) AddressInAccessList(a common.Address) bool {
	_, ok := s.warm[a]
	return ok
}

// SlotInAccessList implements vm.StateDB.
func (s *State) SlotInAccessList(a common.Address, slot common.Hash) (addressOk, slotOk bool) {
	_, slotOk = s.warmSlots[slotKey{a, slot}]
	return s.AddressInAccessList(a), slotOk
}

// AddAddressToAccessList implements vm.StateDB.
func (s *State) AddAddressToAccessList(a common.Address) {
	if !s.AddressInAccessList(a) {
		setKey(&s.journal, s.warm, a, struct{}{})
	}
}

// AddSlotToAccessList implements vm.StateDB.
func (s *State) AddSlotToAccessList(a common.Address, slot common.Hash) {
	s.AddAddressToAccessList(a)
	key := slotKey{a, slot}
	if _, ok := s.warmSlots[key]; !ok {
		setKey(&s.journal, s.warmSlots, key, struct{}{})
	}
}

// Prepare implements vm.StateDB: the addresses of a transaction are warm from the start.
func (s *State) Prepare(rules params.Rules, sender, coinbase common.Address, to *common.Address, precompiled []common.Address, list types.AccessList) {
	warm := func(a common.Address) { s.warm[a] = struct{}{} }
	warm(sender)
	if to != nil {
		warm(*to)
	}
	for _, a := range precompiled {
		warm(a)
	}
	for _, tuple := range list {
		warm(tuple.Address)
		for _, key := range tuple.StorageKeys {
			s.warmSlots[slotKey{tuple.Address, key}] = struct{}{}
		}
	}
	if rules.IsShanghai {
		warm(coinbase)
	}
}
