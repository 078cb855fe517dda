package evm

import (
	"bytes"
	"unsafe"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/maypok86/otter/v2"
)

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

func newCode(b []byte) *code {
	return &code{bytes: b, hash: crypto.Keccak256Hash(b), uses: scanOpcodes(b)}
}

// scanOpcodes returns the opcodes in code. It may report too many, because compilers append data to the code.
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

// newCodeCache returns a cache for about limit bytes of code, or nil, which caches nothing, if limit is 0.
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

// get returns the scanned code of bytes from a source. Sources that cache code return the same bytes again, so their address in memory is the key. The
// cache keeps them alive.
func (c *codeCache) get(b []byte) *code {
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

// Load implements vm.JumpDestCache: it returns the valid jump destinations of code by its hash.
func (c *codeCache) Load(hash common.Hash) (vm.BitVec, bool) { return c.dests.GetIfPresent(hash) }

// Store implements vm.JumpDestCache.
func (c *codeCache) Store(hash common.Hash, v vm.BitVec) { c.dests.Set(hash, v) }

// Parts of the proxy code of tokens, schedules and accounts. It delegates the call to a system contract and passes the address.
var (
	proxyHead = common.FromHex("6080604052348015600f57600080fd5b50600061")
	proxyPush = common.FromHex("905077")
	proxyTail = common.FromHex("600052366000602037600080366018016008845af43d806000803e8160008114605857816000f35b" +
		"816000fdfea2646970667358221220d8378feed472ba49a0005514ef7087017f707b45fb9bf56bb81bb93ff19a238b64736f6c634300080b0033")
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

// proxy returns the code of the entity at an address.
func (r redirect) proxy(of common.Address) []byte {
	return bytes.Join([][]byte{proxyHead, {byte(r.system >> 8), byte(r.system)}, proxyPush, r.selector[:], of[:], proxyTail}, nil)
}
