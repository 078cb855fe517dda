package evm

import (
	"bytes"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/params"
	"github.com/maypok86/otter/v2"
)

// committed returns the value of a slot before the run. It reads it from the source on first use and caches it. In a
// contract that the message created it is zero. Other slots that are not cached are zero without a read if the ledger
// has no entity at the address, or if the entire storage is known. If the read fails, it aborts the run.
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
	got, err := s.source.Slots(s.ctx, x.entity.ID, [][32]byte{slot})
	s.Check(err, "reading the storage of %s", x.entity.ID)
	if x.slots == nil {
		x.slots = map[common.Hash]common.Hash{}
	}
	x.slots[slot] = got[0]
	return got[0]
}

// GetStateAndCommittedState implements vm.StateDB. It returns the current value of a slot, and the one before the run,
// which it reads from the source on first use. If the read fails, it aborts the run.
func (s *State) GetStateAndCommittedState(a common.Address, slot common.Hash) (now, before common.Hash) {
	x := s.account(a)
	before = s.committed(x, slot)
	if v, ok := x.written[slot]; ok {
		return v, before
	}
	return before, before
}

// GetState implements vm.StateDB. It returns the current value of a slot, which it reads from the source on first use,
// and reports the use to the tracer, if there is one. If the read fails, it aborts the run.
func (s *State) GetState(a common.Address, slot common.Hash) common.Hash {
	v, _ := s.GetStateAndCommittedState(a, slot)
	if s.onSlot != nil {
		s.onSlot(a, slot)
	}
	return v
}

// SetState implements vm.StateDB. It returns the previous value, which it reads from the source on first use, and
// reports the use of the slot to the tracer, if there is one. The change is undone if the frame is reverted. If the
// read fails, it aborts the run.
func (s *State) SetState(a common.Address, slot, value common.Hash) common.Hash {
	x := s.account(a)
	old, _ := s.GetStateAndCommittedState(a, slot)
	if x.written == nil {
		x.written = map[common.Hash]common.Hash{}
	}
	SetKey(s, x.written, slot, value)
	if s.onSlot != nil {
		s.onSlot(a, slot)
	}
	return old
}

// current returns the value of a slot for the tracer, without reporting its use. It reads the slot from the source on
// first use. If the read fails, it aborts the run.
func (s *State) current(a common.Address, slot common.Hash) common.Hash {
	v, _ := s.GetStateAndCommittedState(a, slot)
	return v
}

// GetTransientState implements vm.StateDB. Transient slots are zero at the start of each message.
func (s *State) GetTransientState(a common.Address, slot common.Hash) common.Hash {
	return s.transient[slotKey{a, slot}]
}

// SetTransientState implements vm.StateDB. The change is undone if the frame is reverted.
func (s *State) SetTransientState(a common.Address, slot, value common.Hash) {
	if s.transient == nil {
		s.transient = map[slotKey]common.Hash{}
	}
	SetKey(s, s.transient, slotKey{a, slot}, value)
}

// AddressInAccessList implements vm.StateDB. It reports whether the address is warm (EIP-2929).
func (s *State) AddressInAccessList(a common.Address) bool {
	_, ok := s.warm[a]
	return ok
}

// SlotInAccessList implements vm.StateDB. It reports whether the address and the slot are warm (EIP-2929).
func (s *State) SlotInAccessList(a common.Address, slot common.Hash) (addressOk, slotOk bool) {
	_, slotOk = s.warmSlots[slotKey{a, slot}]
	return s.AddressInAccessList(a), slotOk
}

// AddAddressToAccessList implements vm.StateDB. It makes the address warm (EIP-2929) until the frame is reverted.
func (s *State) AddAddressToAccessList(a common.Address) {
	if !s.AddressInAccessList(a) {
		SetKey(s, s.warm, a, struct{}{})
	}
}

// AddSlotToAccessList implements vm.StateDB. It makes the address and the slot warm (EIP-2929) until the frame is
// reverted.
func (s *State) AddSlotToAccessList(a common.Address, slot common.Hash) {
	s.AddAddressToAccessList(a)
	key := slotKey{a, slot}
	if _, ok := s.warmSlots[key]; !ok {
		SetKey(s, s.warmSlots, key, struct{}{})
	}
}

// Prepare implements vm.StateDB: it marks the addresses of a transaction, and the slots in list, as warm (EIP-2929),
// coinbase only from Shanghai on. The change is not undone by a snapshot. to is nil for the creation of a contract.
func (s *State) Prepare(
	rules params.Rules, sender, coinbase common.Address, to *common.Address, precompiled []common.Address,
	list types.AccessList,
) {
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

// code is the code of a contract, with properties that do not depend on its execution.
type code struct {
	bytes []byte
	hash  common.Hash
	uses  opcodes
}

// opcodes is a set of opcodes that the interpreter cannot run without help.
type opcodes uint8

const (
	usesBlockHash opcodes = 1 << iota
	usesGasPrice
	usesSelfDestruct
)

// newCode returns a contract's code with its hash and the opcodes that it uses. It keeps b without a copy.
func newCode(b []byte) *code {
	return &code{bytes: b, hash: crypto.Keccak256Hash(b), uses: scanOpcodes(b)}
}

// scanOpcodes returns which of the opcodes that need help (see [opcodes]) are in code. Operands of PUSH do not count.
// It may report too many, because compilers append data to the code.
func scanOpcodes(b []byte) opcodes {
	var set opcodes
	for i := 0; i < len(b); i++ {
		switch op := vm.OpCode(b[i]); {
		case op == vm.BLOCKHASH:
			set |= usesBlockHash
		case op == vm.GASPRICE:
			set |= usesGasPrice
		case op == vm.SELFDESTRUCT:
			set |= usesSelfDestruct
		case op >= vm.PUSH1 && op <= vm.PUSH32:
			i += int(op - vm.PUSH0)
		}
	}
	return set
}

// codeCache caches scanned code by the address of its bytes. Its size is limited by the size of the code.
type codeCache struct {
	codes *otter.Cache[*byte, *code]
	dests *otter.Cache[common.Hash, vm.BitVec]
}

// newCodeCache returns a cache for about limit bytes of code, and an eighth of that for jump destinations. If limit is
// 0, it returns nil, which caches nothing.
func newCodeCache(limit uint64) *codeCache {
	if limit == 0 {
		return nil
	}
	return &codeCache{
		codes: otter.Must(&otter.Options[*byte, *code]{MaximumWeight: limit, Weigher: func(_ *byte, c *code) uint32 {
			return uint32(len(c.bytes))
		}}),
		dests: otter.Must(&otter.Options[common.Hash, vm.BitVec]{
			MaximumWeight: limit / 8, Weigher: func(_ common.Hash, v vm.BitVec) uint32 { return uint32(len(v)) },
		}),
	}
}

// get returns the scanned code of bytes from a source, and caches it. Sources that cache code return the same bytes
// again, so their address in memory is the key. The cache keeps them alive. c may be nil. It may be called
// concurrently.
func (c *codeCache) get(b []byte) *code {
	if c == nil || len(b) == 0 {
		return newCode(b)
	}
	key := &b[0]
	if known, ok := c.codes.GetIfPresent(key); ok && len(known.bytes) == len(b) {
		return known
	}
	made := newCode(b)
	c.codes.Set(key, made)
	return made
}

// Load implements vm.JumpDestCache: it returns the valid jump destinations of code by its hash, and whether they are
// cached. c must not be nil. It may be called concurrently.
func (c *codeCache) Load(hash common.Hash) (vm.BitVec, bool) { return c.dests.GetIfPresent(hash) }

// Store implements vm.JumpDestCache: it caches the valid jump destinations of code by its hash. c must not be nil. It
// may be called concurrently.
func (c *codeCache) Store(hash common.Hash, v vm.BitVec) { c.dests.Set(hash, v) }

// Parts of the proxy code of tokens, schedules and accounts. It delegates the call to a system contract and passes the
// address.
var (
	proxyHead = common.FromHex("6080604052348015600f57600080fd5b50600061")
	proxyPush = common.FromHex("905077")
	proxyTail = common.FromHex("600052366000602037600080366018016008845af43d806000803e8160008114605857816000f35b" +
		"816000fdfea2646970667358221220d8378feed472ba49a0005514ef7087017f707b45fb9bf56bb81bb93ff19a238b64736f6c6343" +
		"00080b0033")
)

// redirect is the system contract and the function that receive the calls of a kind of entity.
type redirect struct {
	system   uint16
	selector [4]byte
}

var (
	tokenRedirect    = redirect{0x167, [4]byte{0x61, 0x8d, 0xc6, 0x5e}} // redirectForToken(address,bytes)
	accountRedirect  = redirect{0x16a, [4]byte{0xe4, 0xcb, 0xd3, 0xa7}} // redirectForAccount(address,bytes)
	scheduleRedirect = redirect{0x16b, [4]byte{0x5c, 0x38, 0x89, 0xca}} // redirectForScheduleTxn(address,bytes)
)

// proxy returns the EVM code of the entity at an address: it passes each call, with that address, to the function
// r.selector of the system contract with the number r.system.
func (r redirect) proxy(of common.Address) []byte {
	return bytes.Join([][]byte{
		proxyHead,
		{byte(r.system >> 8), byte(r.system)},
		proxyPush, r.selector[:], of[:],
		proxyTail,
	}, nil)
}
