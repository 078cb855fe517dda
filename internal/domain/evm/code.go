package evm

import (
	"bytes"
	"unsafe"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/maypok86/otter/v2"
)

// code is the code of a contract with what is known of it without running it.
type code struct {
	bytes []byte
	hash  common.Hash
	asks  asks
}

// asks are opcodes in code whose answer takes more than the interpreter can do alone.
type asks uint8

const (
	asksBlockHash asks = 1 << iota
	asksGasPrice
	asksToDestruct
)

func newCode(b []byte) *code {
	return &code{bytes: b, hash: crypto.Keccak256Hash(b), asks: asksOf(b)}
}

// asksOf looks through code from its start. What compilers put behind the code is data, and may make it ask for more than it does.
func asksOf(b []byte) asks {
	var a asks
	for i := 0; i < len(b); i++ {
		switch op := vm.OpCode(b[i]); {
		case op == vm.BLOCKHASH:
			a |= asksBlockHash
		case op == vm.GASPRICE:
			a |= asksGasPrice
		case op == vm.SELFDESTRUCT:
			a |= asksToDestruct
		case op >= vm.PUSH1 && op <= vm.PUSH32:
			i += int(op - vm.PUSH0)
		}
	}
	return a
}

// codeCache keeps what is known of code for as long as the source hands out the very same bytes. It is bounded by the size of the code.
type codeCache struct {
	codes *otter.Cache[*byte, *code]
	dests *otter.Cache[common.Hash, vm.BitVec]
}

// newCodeCache makes a cache for about limit bytes of code; nil, which keeps nothing, when limit is 0.
func newCodeCache(limit uint64) *codeCache {
	if limit == 0 {
		return nil
	}
	return &codeCache{
		codes: otter.Must(&otter.Options[*byte, *code]{
			MaximumWeight: limit, Weigher: func(_ *byte, c *code) uint32 { return uint32(len(c.bytes)) },
		}),
		dests: otter.Must(&otter.Options[common.Hash, vm.BitVec]{
			MaximumWeight: limit / 8, Weigher: func(_ common.Hash, v vm.BitVec) uint32 { return uint32(len(v)) },
		}),
	}
}

// of returns what is known of code that a source read. Sources that remember code hand out the same bytes again, whose place in memory names
// them: the cache itself keeps them there.
func (c *codeCache) of(b []byte) *code {
	if c == nil {
		return newCode(b)
	}
	key := unsafe.SliceData(b)
	if known, ok := c.codes.GetIfPresent(key); ok && len(known.bytes) == len(b) {
		return known
	}
	made := newCode(b)
	c.codes.Set(key, made)
	return made
}

// Load and Store make the cache one of valid jump destinations, by the hash of the code.
func (c *codeCache) Load(hash common.Hash) (vm.BitVec, bool) { return c.dests.GetIfPresent(hash) }

// Store remembers the jump destinations of code.
func (c *codeCache) Store(hash common.Hash, v vm.BitVec) { c.dests.Set(hash, v) }

// The code that the addresses of tokens, schedules and accounts run: it hands the call on to a system contract, together with the address.
var (
	proxyHead = common.FromHex("6080604052348015600f57600080fd5b50600061")
	proxyPush = common.FromHex("905077")
	proxyTail = common.FromHex("600052366000602037600080366018016008845af43d806000803e8160008114605857816000f35b" +
		"816000fdfea2646970667358221220d8378feed472ba49a0005514ef7087017f707b45fb9bf56bb81bb93ff19a238b64736f6c634300080b0033")
)

// redirect says to which function of which system contract a kind of entity hands its calls on.
type redirect struct {
	system   uint16
	selector [4]byte
}

var (
	tokenRedirect    = redirect{0x167, [4]byte{0x61, 0x8d, 0xc6, 0x5e}} // redirectForToken(address,bytes)
	accountRedirect  = redirect{0x16a, [4]byte{0xe4, 0xcb, 0xd3, 0xa7}} // redirectForAccount(address,bytes)
	scheduleRedirect = redirect{0x16b, [4]byte{0x5c, 0x38, 0x89, 0xca}} // redirectForScheduleTxn(address,bytes)
)

// proxy is the code of the entity at an address.
func (r redirect) proxy(of common.Address) []byte {
	return bytes.Join([][]byte{proxyHead, {byte(r.system >> 8), byte(r.system)}, proxyPush, r.selector[:], of[:], proxyTail}, nil)
}
