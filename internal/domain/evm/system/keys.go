package system

import (
	"crypto/ed25519"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"google.golang.org/protobuf/encoding/protowire"

	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
)

// Fields of the protobuf message of a key.
const (
	keyContract    = 1
	keyED25519     = 2
	keySecp256k1   = 7
	keyDelegatable = 8
)

// Fields of the message that names a contract: by its number, or by its address.
const (
	contractNumber = 3
	contractEVM    = 4
)

// keyValueOf is a key as contracts see it. Of a key that is made of others they see nothing.
func keyValueOf(k ledger.Key) []any {
	var (
		contract, delegatable common.Address
		ed25519, ecdsa        []byte
	)
	if field, value := firstBytes(k); value != nil {
		switch field {
		case keyContract:
			contract = contractAddress(value)
		case keyDelegatable:
			delegatable = contractAddress(value)
		case keyED25519:
			ed25519 = value
		case keySecp256k1:
			ecdsa = value
		default:
		}
	}
	return []any{false, contract, ed25519, ecdsa, delegatable}
}

// firstBytes is the first field of a message, where it holds bytes.
func firstBytes(b []byte) (protowire.Number, []byte) {
	field, typ, n := protowire.ConsumeTag(b)
	if n < 0 || typ != protowire.BytesType {
		return 0, nil
	}
	value, n := protowire.ConsumeBytes(b[n:])
	if n < 0 {
		return 0, nil
	}
	return field, value
}

// contractAddress is the address of the contract that a message names.
func contractAddress(b []byte) common.Address {
	for len(b) > 0 {
		field, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			break
		}
		b = b[n:]
		if field == contractEVM && typ == protowire.BytesType {
			if v, n := protowire.ConsumeBytes(b); n > 0 && len(v) == len(common.Address{}) {
				return common.Address(v)
			}
			break
		}
		if field == contractNumber && typ == protowire.VarintType {
			if v, n := protowire.ConsumeVarint(b); n > 0 && v <= ledger.MaxNum {
				return longZero(ledger.EntityID(v))
			}
			break
		}
		if n = protowire.ConsumeFieldValue(field, typ, b); n < 0 {
			break
		}
		b = b[n:]
	}
	return common.Address{}
}

// keyMessage is a key whose message has a single field.
func keyMessage(field protowire.Number, b []byte) ledger.Key {
	return protowire.AppendBytes(protowire.AppendTag(nil, field, protowire.BytesType), b)
}

// contractKey is the key of a contract, which need not be there.
func (c *call) contractKey(field protowire.Number, at common.Address) ledger.Key {
	num, ok := ledger.EVMAddress(at).Num()
	if p, known := c.facts.party(at); known {
		num, ok = p.id.Num(), true
	}
	if !ok {
		return keyMessage(field, protowire.AppendBytes(protowire.AppendTag(nil, contractEVM, protowire.BytesType), at[:]))
	}
	return keyMessage(field, protowire.AppendVarint(protowire.AppendTag(nil, contractNumber, protowire.VarintType), uint64(num)))
}

// keysOf reads keys by what they are for. Each entry is for the kinds of keys whose bits are set in its number, and a later one counts more than an
// earlier one; ok is false when an entry is no key.
func (c *call) keysOf(entries []any) (keys [worldstate.KeyKinds]ledger.Key, ok bool) {
	for _, v := range entries {
		entry := list(v)
		key, ok := c.keyOf(list(entry[1]))
		if !ok {
			return keys, false
		}
		for kind := range worldstate.KeyKinds {
			if entry[0].(*big.Int).Bit(int(kind)) != 0 {
				keys[kind] = key
			}
		}
	}
	return keys, true
}

// keyOf is the key that a contract tells by its value, which must say exactly one of these: an ed25519 key, a secp256k1 key, a contract, or the key of
// who calls.
func (c *call) keyOf(value []any) (ledger.Key, bool) {
	var keys []ledger.Key
	if value[0].(bool) {
		keys = append(keys, c.callersKey())
	}
	for _, contract := range []struct {
		field protowire.Number
		at    common.Address
	}{{keyContract, value[1].(common.Address)}, {keyDelegatable, value[4].(common.Address)}} {
		if contract.at != (common.Address{}) {
			keys = append(keys, c.contractKey(contract.field, contract.at))
		}
	}
	for _, public := range []struct {
		field protowire.Number
		key   []byte
		size  int
	}{{keyED25519, value[2].([]byte), ed25519.PublicKeySize}, {keySecp256k1, value[3].([]byte), compressedLength}} {
		if len(public.key) == public.size {
			keys = append(keys, keyMessage(public.field, public.key))
		}
	}
	if len(keys) != 1 || keys[0].IsNone() {
		return nil, false
	}
	return keys[0], true
}

// callersKey is the key of who calls. A contract without a key is its own.
func (c *call) callersKey() ledger.Key {
	e := c.State.Entity(c.Caller)
	switch {
	case e != nil && !ledger.Key(e.Key).IsNone():
		return e.Key
	case e != nil && e.Type == ledger.EntityContract, e == nil && c.State.IsNewContract(c.Caller):
		return c.contractKey(keyContract, c.Caller)
	default:
		return nil
	}
}
