package evmstate

import (
	"slices"
	"sync"

	"github.com/maypok86/otter/v2"

	"heliograph/internal/domain/ledger"
)

// Limits of the data that is recorded for prefetching.
const (
	mostFootprints   = 10_000
	mostAddresses    = 32  // per footprint
	mostSlots        = 128 // per contract
	mostSlotted      = 10_000
	mostKnownAddress = 100_000
)

// memory caches data between executions: the code of contracts, which never changes, and keys to prefetch. A nil memory caches nothing.
type memory struct {
	codes      *otter.Cache[ledger.EntityID, []byte]
	ids        *otter.Cache[ledger.EVMAddress, ledger.EntityID]
	slots      *otter.Cache[ledger.EntityID, *slotList]
	footprints *otter.Cache[footprintKey, []ledger.EVMAddress]
}

// footprintKey identifies a function of a contract.
type footprintKey struct {
	callee   ledger.EVMAddress
	selector [4]byte
}

// footprint contains the keys that an execution read.
type footprint struct {
	addresses []ledger.EVMAddress
	slots     []slotKey
}

// slotList contains the slots of a contract that were read, newest last.
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

// code returns the cached code of a contract, or nil.
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

// idOf returns the entity last seen at an address, or the zero id. It may be outdated, so it is used for prefetching only.
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

// slotsOf returns the slots of a contract that earlier executions read.
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

// footprint returns the addresses that earlier calls of a function read.
func (m *memory) footprint(key footprintKey) []ledger.EVMAddress {
	if m == nil {
		return nil
	}
	addresses, _ := m.footprints.GetIfPresent(key)
	return addresses
}

// remember records the keys that an execution read.
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
