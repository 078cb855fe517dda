package ledger

import (
	"bytes"
	"encoding/hex"
	"fmt"

	"github.com/hiero-ledger/hiero-sdk-go/v2/proto/services"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// Key is the protobuf encoding of an entity's key. Nil means no key. The empty key list, which marks hollow accounts
// and immutable entities, also counts as no key. A key that is empty but not nil has no type and no digits.
type Key []byte

var emptyKeyList = Key{0x32, 0x00}

// IsNone reports whether there is no key that can sign: it is nil or the empty key list.
func (k Key) IsNone() bool { return k == nil || bytes.Equal(k, emptyKeyList) }

// primitiveForms are the encodings of one primitive key: plain, in a key list of one, in a threshold key of one of
// one.
var primitiveForms = []struct {
	prefix []byte
	typ    KeyType
	size   int
}{
	{[]byte{0x12, 0x20}, KeyED25519, 32},
	{[]byte{0x32, 0x24, 0x0a, 0x22, 0x12, 0x20}, KeyED25519, 32},
	{[]byte{0x2a, 0x28, 0x08, 0x01, 0x12, 0x24, 0x0a, 0x22, 0x12, 0x20}, KeyED25519, 32},
	{[]byte{0x3a, 0x21}, KeyECDSASecp256k1, 33},
	{[]byte{0x32, 0x25, 0x0a, 0x23, 0x3a, 0x21}, KeyECDSASecp256k1, 33},
	{[]byte{0x2a, 0x29, 0x08, 0x01, 0x12, 0x25, 0x0a, 0x23, 0x3a, 0x21}, KeyECDSASecp256k1, 33},
}

// Decode returns the key's type and value: the public key of a primitive key, also if it is the only member of a list
// or of a one-of-one threshold key, else the whole encoding. The value is part of k.
func (k Key) Decode() (KeyType, []byte) {
	for _, f := range primitiveForms {
		if len(k) == len(f.prefix)+f.size && bytes.HasPrefix(k, f.prefix) {
			return f.typ, k[len(f.prefix):]
		}
	}
	return KeyProtobufEncoded, k
}

// DecodeKeyList decodes a protobuf message whose field 1 is a repeated key, such as KeyList. Other fields are
// ignored, and the keys are not decoded. The keys are slices of b. The result is never nil. Errors wrap [ErrSyntax].
func DecodeKeyList(b []byte) ([]Key, error) {
	keys := []Key{}
	err := eachField(b, func(f field) error {
		if f.is(1, protowire.BytesType) {
			keys = append(keys, f.bytes)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading a list of keys: %w", err)
	}
	return keys, nil
}

// KeyInfo is the type and the value of a key.
type KeyInfo struct {
	Type  KeyType
	Bytes Key
}

// Info returns the type and the value of the key, or nil if there is no key.
func (k Key) Info() *KeyInfo {
	if k.IsNone() {
		return nil
	}
	return (&KeyInfo{Bytes: k}).Typed()
}

// Typed sets k.Type from the bytes of the key, and returns k, or nil if there is no key. It does not keep the value
// that [Key.Decode] returns: [KeyInfo.Value] decodes it on request.
func (k *KeyInfo) Typed() *KeyInfo {
	if k.Bytes.IsNone() {
		return nil
	}
	k.Type, _ = k.Bytes.Decode()
	return k
}

// Value returns the value of the key: a public key or the whole encoding (see [Key.Decode]). It is part of k.Bytes.
func (k *KeyInfo) Value() HexDigits {
	_, b := k.Bytes.Decode()
	return b
}

// DecodedKey is the content of a key: one of the types below.
type DecodedKey interface{ IsDecodedKey() }

type (
	// ED25519Key is an ED25519 public key of 32 bytes.
	ED25519Key struct{ PublicKey HexDigits }
	// ECDSAKey is a compressed secp256k1 public key of 33 bytes.
	ECDSAKey struct{ PublicKey HexDigits }
	// KeyList requires the signatures of all its members.
	KeyList struct{ Keys []*KeyInfo }
	// ThresholdKey requires the signatures of a number of its members.
	ThresholdKey struct {
		Threshold int32
		Keys      []*KeyInfo
	}
	// ContractKey authorizes a contract that is called directly.
	ContractKey struct {
		ContractID EntityID
		EVMAddress Null[EVMAddress] // if the contract is not identified by its ID
	}
	// DelegatableContractKey authorizes a contract, also if its code runs by a delegate call.
	DelegatableContractKey struct{ ContractKey }
)

// Decoded returns the content of the key without that of its members, or nil if the key is malformed or of a type that
// the network does not use.
func (k *KeyInfo) Decoded() DecodedKey {
	var m services.Key
	if proto.Unmarshal(k.Bytes, &m) != nil {
		return nil
	}
	switch v := m.GetKey().(type) {
	case *services.Key_Ed25519:
		return &ED25519Key{v.Ed25519}
	case *services.Key_ECDSASecp256K1:
		return &ECDSAKey{v.ECDSASecp256K1}
	case *services.Key_KeyList:
		return &KeyList{members(v.KeyList)}
	case *services.Key_ThresholdKey:
		return &ThresholdKey{int32(v.ThresholdKey.GetThreshold()), members(v.ThresholdKey.GetKeys())}
	case *services.Key_ContractID:
		return contractKey(v.ContractID)
	case *services.Key_DelegatableContractId:
		return &DelegatableContractKey{*contractKey(v.DelegatableContractId)}
	default:
		return nil
	}
}

// members returns the keys in a key list, re-encoded, with their types.
func members(list *services.KeyList) []*KeyInfo {
	out := make([]*KeyInfo, len(list.GetKeys()))
	for i, m := range list.GetKeys() {
		b, _ := proto.Marshal(m) // has been unmarshaled
		t, _ := Key(b).Decode()
		out[i] = &KeyInfo{t, b}
	}
	return out
}

// contractKey returns the key with which a contract signs, by number or by address. An ID that cannot exist
// becomes 0.
func contractKey(id *services.ContractID) *ContractKey {
	c := &ContractKey{ContractID: idOf(id)}
	if a := id.GetEvmAddress(); len(a) == len(EVMAddress{}) {
		c.EVMAddress = Of(EVMAddress(a))
	}
	return c
}

// ParsePublicKey parses a public key and returns it in the form of the database's column public_key: lower-case hex
// without "0x". It accepts 64 hex digits (ED25519), 66 (compressed secp256k1) or 88 (DER), of either case, with or
// without "0x". DER of an ED25519 key is reduced to the key; other DER matches no key. Errors wrap [ErrSyntax].
func ParsePublicKey(s string) (string, error) {
	digits := TrimHexPrefix(s)
	switch len(digits) {
	case 64, 66, 88:
	default:
		return "", fmt.Errorf("public key %q has neither 64, 66 nor 88 hex digits: %w", s, ErrSyntax)
	}
	b, err := decodeHex(digits)
	if err != nil {
		return "", fmt.Errorf("public key %q: %w", s, err)
	}
	if len(b) == len(derED25519)+32 {
		b = bytes.TrimPrefix(b, []byte(derED25519))
	}
	return hex.EncodeToString(b), nil
}

// derED25519 is the DER prefix of an ED25519 public key.
const derED25519 = "\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00"
