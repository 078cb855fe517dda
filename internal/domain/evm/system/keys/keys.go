// Package keys reads and writes the protobuf messages of keys, and verifies signatures.
package keys

import (
	"github.com/ethereum/go-ethereum/common"
	"github.com/hiero-ledger/hiero-sdk-go/v2/proto/services"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"heliograph/internal/domain/ledger"
)

// Kind is the kind of a key: the number of the field of the message Key that is set.
type Kind = protowire.Number

// The kinds of keys.
const (
	Contract    Kind = 1
	ED25519     Kind = 2
	Threshold   Kind = 5
	List        Kind = 6
	Secp256k1   Kind = 7
	Delegatable Kind = 8
)

// CompressedSize is the size of a compressed public key of secp256k1, in bytes.
const CompressedSize = 33

// maxDepth is the maximum nesting of key lists and threshold keys.
const maxDepth = 15

// Fields of the message ContractID.
const (
	contractNumber  = 3
	contractAddress = 4
)

// New returns a key that has a single field.
func New(kind Kind, value []byte) ledger.Key {
	return protowire.AppendBytes(protowire.AppendTag(nil, kind, protowire.BytesType), value)
}

// OfContract returns the key of a contract with a number. kind is [Contract] or [Delegatable].
func OfContract(kind Kind, num int64) ledger.Key {
	return New(kind, protowire.AppendVarint(protowire.AppendTag(nil, contractNumber, protowire.VarintType), uint64(num)))
}

// OfContractAddress returns the key of a contract with an address that is not a number. kind is [Contract] or [Delegatable].
func OfContractAddress(kind Kind, at common.Address) ledger.Key {
	return New(kind, protowire.AppendBytes(protowire.AppendTag(nil, contractAddress, protowire.BytesType), at[:]))
}

// Split returns the kind of a key and its value: a public key or a message. The value is nil if the key is invalid.
func Split(key []byte) (Kind, []byte) {
	field, typ, n := protowire.ConsumeTag(key)
	if n < 0 || typ != protowire.BytesType {
		return 0, nil
	}
	value, n := protowire.ConsumeBytes(key[n:])
	if n < 0 {
		return 0, nil
	}
	return field, value
}

// ContractAddress returns the address of a ContractID, or the zero address if it is invalid.
func ContractAddress(message []byte) common.Address {
	var id services.ContractID
	if proto.Unmarshal(message, &id) != nil {
		return common.Address{}
	}
	switch c := id.GetContract().(type) {
	case *services.ContractID_ContractNum:
		if c.ContractNum >= 0 && c.ContractNum <= ledger.MaxNum {
			return common.Address(ledger.EntityID(c.ContractNum).LongZero())
		}
	case *services.ContractID_EvmAddress:
		if len(c.EvmAddress) == len(common.Address{}) {
			return common.Address(c.EvmAddress)
		}
	}
	return common.Address{}
}

// Primitives returns the values of all keys in key that are not lists: public keys, and messages that identify contracts.
func Primitives(key ledger.Key) [][]byte { return primitives(key, maxDepth) }

func primitives(key ledger.Key, depth int) (out [][]byte) {
	kind, value := Split(key)
	var members []ledger.Key
	switch kind {
	case ED25519, Secp256k1, Contract, Delegatable:
		return [][]byte{value}
	case List:
		members, _ = ledger.DecodeKeyList(value) // an invalid list has no members
	case Threshold:
		_, members, _ = threshold(value)
	default:
	}
	for _, k := range members {
		if depth > 0 {
			out = append(out, primitives(k, depth-1)...)
		}
	}
	return out
}

// threshold decodes a ThresholdKey.
func threshold(b []byte) (required int, keys []ledger.Key, ok bool) {
	var t services.ThresholdKey
	if proto.Unmarshal(b, &t) != nil {
		return 0, nil, false
	}
	for _, k := range t.GetKeys().GetKeys() {
		key, _ := proto.Marshal(k) // a decoded message can be encoded
		keys = append(keys, key)
	}
	return int(t.GetThreshold()), keys, true
}
