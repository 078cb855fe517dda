package evmstate

import (
	"slices"
	"sync"

	"github.com/maypok86/otter/v2"

	"heliograph/internal/domain/ledger"
)

// Bounds of what is remembered to ask for much at once.
const (
	mostFootprints   = 10_000
	mostAddresses    = 32  // of a footprint
	mostSlots        = 128 // of a contract
	mostSlotted      = 10_000
	mostKnownAddress = 100_000
)

// memory is what executions leave for those after them: the code of contracts, which never changes, and what is worth reading ahead. A nil
// memory remembers nothing.
type memory struct {
	codes      *otter.Cache[ledger.EntityID, []byte]
	ids        *otter.Cache[ledger.EVMAddress, ledger.EntityID]
	slots      *otter.Cache[ledger.EntityID, *slotList]
	footprints *otter.Cache[footprintKey, []ledger.EVMAddress]
}

// footprintKey is a function of a contract.
type footprintKey struct {
	callee   ledger.EVMAddress
	selector [4]byte
}

// footprint is what an execution asked for.
type footprint struct {
	addresses []ledger.EVMAddress
	slots     []slotKey
}

// slotList are the slots of a contract that were asked for, the newest last.
type slotList struct {
	mu    sync.Mutex
	slots []slotKey
}

func newMemory(codeBytes uint64) *memory {
	if codeBytes == 0 {
		return nil
	}
	return &memory{
		codes: otter.Must(&otter.Options[ledger.EntityID, []byte]{
			MaximumWeight: codeBytes, Weigher: func(_ ledger.EntityID, code []byte) uint32 { return uint32(len(code)) },
		}),
		ids:        otter.Must(&otter.Options[ledger.EVMAddress, ledger.EntityID]{MaximumSize: mostKnownAddress}),
		slots:      otter.Must(&otter.Options[ledger.EntityID, *slotList]{MaximumSize: mostSlotted}),
		footprints: otter.Must(&otter.Options[footprintKey, []ledger.EVMAddress]{MaximumSize: mostFootprints}),
	}
}

// code is the code of a contract; nil when it is not remembered.
func (m *memory) code(id ledger.EntityID) []byte {
	if m == nil {
		return nil
	}
	code, _ := m.codes.GetIfPresent(id)
	return code
}

func (m *memory) keepCode(id ledger.EntityID, code []byte) {
	if m != nil {
		m.codes.Set(id, code)
	}
}

// idOf is who was last seen at an address; none when nobody was. It may be wrong, so it only helps to read ahead.
func (m *memory) idOf(base ledger.EntityID, a ledger.EVMAddress) ledger.EntityID {
	if num, ok := a.Num(); ok {
		return base.WithNum(num)
	}
	if m == nil {
		return 0
	}
	id, _ := m.ids.GetIfPresent(a)
	return id
}

func (m *memory) keepID(a ledger.EVMAddress, id ledger.EntityID) {
	if m != nil {
		m.ids.Set(a, id)
	}
}

// slotsOf are the slots of a contract that were asked for before.
func (m *memory) slotsOf(id ledger.EntityID) []slotKey {
	if m == nil {
		return nil
	}
	l, ok := m.slots.GetIfPresent(id)
	if !ok {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.slots)
}

// footprint are the addresses that a function asked for before.
func (m *memory) footprint(key footprintKey) []ledger.EVMAddress {
	if m == nil {
		return nil
	}
	addresses, _ := m.footprints.GetIfPresent(key)
	return addresses
}

// remember adds what an execution asked for.
func (m *memory) remember(key footprintKey, f footprint) {
	if m == nil {
		return
	}
	old := m.footprint(key)
	merged := old
	for _, a := range f.addresses {
		if !slices.Contains(merged, a) {
			merged = append(merged[:len(merged):len(merged)], a)
		}
	}
	if len(merged) > len(old) {
		m.footprints.Set(key, merged[max(0, len(merged)-mostAddresses):])
	}
	for _, s := range f.slots {
		l, ok := m.slots.GetIfPresent(s.contract)
		if !ok {
			l = &slotList{}
			l, _ = m.slots.SetIfAbsent(s.contract, l)
		}
		l.add(s)
	}
}

func (l *slotList) add(s slotKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if slices.Contains(l.slots, s) {
		return
	}
	l.slots = append(l.slots, s)
	if n := len(l.slots); n > mostSlots {
		l.slots = slices.Clone(l.slots[n-mostSlots:])
	}
}
