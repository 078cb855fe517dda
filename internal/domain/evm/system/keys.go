package system

import (
	"crypto/ed25519"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/domain/evm/system/abi"
	"heliograph/internal/domain/evm/system/keys"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
)

// keyValueOf returns a key as contracts see it. Key lists and threshold keys are empty.
func keyValueOf(k ledger.Key) []any {
	var (
		contract, delegatable common.Address
		ed25519, ecdsa        []byte
	)
	if kind, value := keys.Split(k); value != nil {
		switch kind {
		case keys.Contract:
			contract = keys.ContractAddress(value)
		case keys.Delegatable:
			delegatable = keys.ContractAddress(value)
		case keys.ED25519:
			ed25519 = value
		case keys.Secp256k1:
			ecdsa = value
		default:
		}
	}
	return []any{false, contract, ed25519, ecdsa, delegatable}
}

// contractKey returns the key of a contract. The contract need not exist.
func (c *call) contractKey(kind keys.Kind, at common.Address) ledger.Key {
	num, ok := ledger.EVMAddress(at).Num()
	if p, known := c.facts.party(at); known {
		num, ok = p.id.Num(), true
	}
	if !ok {
		return keys.OfContractAddress(kind, at)
	}
	return keys.OfContract(kind, num)
}

// keysOf reads the keys of a token. Each entry applies to the kinds whose bits are set in its number. Later entries replace earlier ones. ok is false if an
// entry is invalid.
func (c *call) keysOf(entries []any) (all [worldstate.KeyKinds]ledger.Key, ok bool) {
	for _, v := range entries {
		entry := abi.List(v)
		key, ok := c.keyOf(abi.List(entry[1]))
		if !ok {
			return all, false
		}
		for kind := range worldstate.KeyKinds {
			if entry[0].(*big.Int).Bit(int(kind)) != 0 {
				all[kind] = key
			}
		}
	}
	return all, true
}

// keyOf reads a key. Exactly one of these must be given: an ed25519 key, a secp256k1 key, a contract, or the key of the caller.
func (c *call) keyOf(value []any) (ledger.Key, bool) {
	var found []ledger.Key
	if value[0].(bool) {
		found = append(found, c.callersKey())
	}
	for _, contract := range []struct {
		kind keys.Kind
		at   common.Address
	}{{keys.Contract, value[1].(common.Address)}, {keys.Delegatable, value[4].(common.Address)}} {
		if contract.at != (common.Address{}) {
			found = append(found, c.contractKey(contract.kind, contract.at))
		}
	}
	for _, public := range []struct {
		kind keys.Kind
		key  []byte
		size int
	}{{keys.ED25519, value[2].([]byte), ed25519.PublicKeySize}, {keys.Secp256k1, value[3].([]byte), keys.CompressedSize}} {
		if len(public.key) == public.size {
			found = append(found, keys.New(public.kind, public.key))
		}
	}
	if len(found) != 1 || found[0].IsNone() {
		return nil, false
	}
	return found[0], true
}

// callersKey returns the key of the caller. A contract without a key is its own key.
func (c *call) callersKey() ledger.Key {
	e := c.State.Entity(c.Caller)
	switch {
	case e != nil && !ledger.Key(e.Key).IsNone():
		return e.Key
	case e != nil && e.Type == ledger.EntityContract, e == nil && c.State.IsNewContract(c.Caller):
		return c.contractKey(keys.Contract, c.Caller)
	default:
		return nil
	}
}
