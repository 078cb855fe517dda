// Package keys reads and writes the protobuf messages of keys, and verifies signatures.
package keys

import (
	"bytes"
	"crypto/ed25519"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
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

// New returns the protobuf encoding of a Key with a single field: its kind and its value.
func New(kind Kind, value []byte) ledger.Key {
	return protowire.AppendBytes(protowire.AppendTag(nil, kind, protowire.BytesType), value)
}

// OfContract returns the key that stands for the contract with a number. kind is [Contract] or [Delegatable].
func OfContract(kind Kind, num int64) ledger.Key {
	return New(kind, protowire.AppendVarint(protowire.AppendTag(nil, contractNumber, protowire.VarintType),
		uint64(num)))
}

// OfContractAddress returns the key that stands for the contract with an address that is not a number. kind is
// [Contract] or [Delegatable].
func OfContractAddress(kind Kind, at common.Address) ledger.Key {
	return New(kind, protowire.AppendBytes(protowire.AppendTag(nil, contractAddress, protowire.BytesType), at[:]))
}

// Split returns the kind of a key and its value: a public key or a message. The value is part of key, or nil if the
// key is invalid. Bytes after the first field are ignored.
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

// ContractAddress returns the address in an encoded ContractID, long-zero for a number, or the zero address if it
// is invalid.
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

// Primitives returns the values of all keys in key that are not lists: public keys, and messages that identify
// contracts. Keys below more than maxDepth levels of lists, and those that cannot be decoded, are omitted. The values
// can share memory with key.
func Primitives(key ledger.Key) [][]byte { return primitives(key, maxDepth) }

// primitives returns the values of keys in a key that are not lists, with at most depth levels of lists. Deeper
// ones are omitted.
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

// threshold decodes a ThresholdKey: how many signatures it requires, and its keys. ok is false if it is invalid.
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

// SignatureSize is the size of a signature in bytes, without the recovery identifier that Ethereum appends.
const SignatureSize = 64

// Signature is a signature and a prefix of the public key that made it.
type Signature struct {
	Prefix, Signature []byte
	Secp256k1         bool
}

// ParseSignatures decodes an encoded SignatureMap. It omits other kinds of signatures and verifies none. ok is
// false if the encoding is invalid.
func ParseSignatures(b []byte) (out []Signature, ok bool) {
	var m services.SignatureMap
	if proto.Unmarshal(b, &m) != nil {
		return nil, false
	}
	for _, pair := range m.GetSigPair() {
		switch s := pair.GetSignature().(type) {
		case *services.SignaturePair_Ed25519:
			out = append(out, Signature{Prefix: pair.GetPubKeyPrefix(), Signature: s.Ed25519})
		case *services.SignaturePair_ECDSASecp256K1:
			out = append(out, Signature{Prefix: pair.GetPubKeyPrefix(), Signature: s.ECDSASecp256K1, Secp256k1: true})
		}
	}
	return out, true
}

// Signed reports whether the signatures of a message satisfy a key: a list requires all its members, a threshold key
// as many as its threshold. Contracts, empty lists, thresholds of 0 and invalid keys are never satisfied, nor are
// lists below maxDepth levels of others.
func Signed(key, message []byte, signatures []Signature) bool {
	return signed(key, message, signatures, maxDepth)
}

// signed reports whether signatures of a message satisfy a key, with at most depth levels of lists.
func signed(key, message []byte, signatures []Signature, depth int) bool {
	kind, value := Split(key)
	switch kind {
	case ED25519:
		return SignedBy(value, message, signatures, false /* secp256k1 */)
	case Secp256k1:
		return SignedBy(value, message, signatures, true /* secp256k1 */)
	case List:
		keys, err := ledger.DecodeKeyList(value)
		return err == nil && depth > 0 && len(keys) > 0 && countSigned(keys, message, signatures, depth-1) == len(keys)
	case Threshold:
		required, keys, ok := threshold(value)
		return ok && depth > 0 && required > 0 && countSigned(keys, message, signatures, depth-1) >= required
	default:
		return false
	}
}

// countSigned returns how many of some keys the signatures of a message satisfy, with at most depth levels of
// lists.
func countSigned(keys []ledger.Key, message []byte, signatures []Signature, depth int) (n int) {
	for _, k := range keys {
		if signed(k, message, signatures, depth) {
			n++
		}
	}
	return n
}

// SignedBy reports whether one of the signatures of a message is valid and made by a public key, and has a prefix of
// it, which may be empty. Keys of secp256k1 sign the hash of the message.
func SignedBy(public, message []byte, signatures []Signature, secp256k1 bool) bool {
	for _, s := range signatures {
		switch {
		case s.Secp256k1 != secp256k1 || !bytes.HasPrefix(public, s.Prefix) || len(s.Signature) != SignatureSize:
		case secp256k1 && len(public) == CompressedSize &&
			crypto.VerifySignature(public, crypto.Keccak256(message), s.Signature):
			return true
		case !secp256k1 && len(public) == ed25519.PublicKeySize && ed25519.Verify(public, message, s.Signature):
			return true
		}
	}
	return false
}
