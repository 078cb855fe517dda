package system

import (
	"bytes"
	"crypto/ed25519"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"google.golang.org/protobuf/encoding/protowire"

	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/ledger"
)

// What it costs to check a signature.
const (
	secp256k1Gas = 3_000
	ed25519Gas   = 1_500_000
)

// Sizes of signatures in bytes. One of secp256k1 ends with a number that tells which of the possible keys it is of.
const (
	plainSignature     = 64
	shortestWithParity = 65
	longestWithParity  = 72
)

func isAuthorizedRaw(c *call, in []any) evm.Outcome {
	a, hash, signature := in[0].(common.Address), in[1].([]byte), in[2].([]byte)
	word := func(gas uint64, code ledger.ResponseCode) evm.Outcome {
		c.ChildFailed(code)
		w := encodeWord(uint64(code))
		return evm.Revert(gas, w[:])
	}
	answer := func(gas uint64, ok bool) evm.Outcome { return evm.Return(gas, c.f.result.encode(nil, []any{ok})) }
	switch n := len(signature); {
	case n == plainSignature:
		e := c.State.Entity(a)
		if !isAccount(e) || evm.Canonical(e) != a {
			return word(ed25519Gas, invalidAccountID)
		}
		field, key := firstBytes(e.Key)
		if field != keyED25519 || len(key) != ed25519.PublicKeySize {
			return word(ed25519Gas, invalidSignatureType)
		}
		return answer(ed25519Gas, ed25519.Verify(key, hash, signature))
	case n < shortestWithParity || n > longestWithParity:
		return word(secp256k1Gas, invalidTransactionBody)
	}
	parity, ok := parityOf(signature[plainSignature:])
	if len(hash) != len(common.Hash{}) || !ok {
		return word(secp256k1Gas, invalidTransactionBody)
	}
	if e := c.State.Entity(a); !isAccount(e) || !e.Alias.Valid || common.Address(e.Alias.V) != a {
		return word(secp256k1Gas, invalidAccountID)
	}
	public, err := crypto.SigToPub(hash, append(signature[:plainSignature:plainSignature], parity))
	return answer(secp256k1Gas, err == nil && crypto.PubkeyToAddress(*public) == a)
}

// parityOf reads which of two keys a signature is of, in any of the ways that Ethereum has written it.
func parityOf(b []byte) (byte, bool) {
	v := new(big.Int).SetBytes(b).Uint64() // at most 8 bytes
	switch {
	case v <= 1:
		return byte(v), true
	case v == 27 || v == 28:
		return byte(v - 27), true
	case v >= 35:
		return byte((v - 35) % 2), true
	default:
		return 0, false
	}
}

// signaturePair is a signature and what the key begins with that made it.
type signaturePair struct {
	prefix, signature []byte
	secp256k1         bool
}

// Fields of the messages SignatureMap and SignaturePair.
const (
	mapPair          = 1
	pairPrefix       = 1
	pairED25519      = 3
	pairSecp256k1    = 6
	thresholdNumber  = 1
	thresholdKeys    = 2
	keyThreshold     = 5
	keyList          = 6
	mostNestedKeys   = 15
	compressedLength = 33
)

// isAuthorized checks signatures of a message against the account's key, however that is made. Each signature that is there costs what checking it
// costs.
func isAuthorized(c *call, in []any) evm.Outcome {
	a, message, encoded := in[0].(common.Address), in[1].([]byte), in[2].([]byte)
	pairs, ok := signaturePairs(encoded)
	gas := evm.ViewGas()
	for _, p := range pairs {
		if p.secp256k1 {
			gas += secp256k1Gas
		} else {
			gas += ed25519Gas
		}
	}
	end := func(code ledger.ResponseCode, signed bool) evm.Outcome {
		return evm.Return(gas, c.f.result.encode(nil, []any{int64(code), signed}))
	}
	if gas > c.Gas {
		return evm.Return(gas, nil)
	}
	if !ok {
		return end(invalidTransactionBody, false)
	}
	e := c.State.Entity(a)
	if !isAccount(e) || evm.Canonical(e) != a {
		return end(invalidAccountID, false)
	}
	if ledger.Key(e.Key).IsNone() {
		return end(invalidTransactionBody, false)
	}
	return end(success, signedBy(e.Key, message, pairs, mostNestedKeys))
}

// signaturePairs reads a serialized SignatureMap.
func signaturePairs(b []byte) (out []signaturePair, ok bool) {
	ok = eachBytes(b, func(field protowire.Number, value []byte) bool {
		if field != mapPair {
			return true
		}
		var p signaturePair
		sound := eachBytes(value, func(field protowire.Number, value []byte) bool {
			switch field {
			case pairPrefix:
				p.prefix = value
			case pairED25519, pairSecp256k1:
				p.signature, p.secp256k1 = value, field == pairSecp256k1
			default:
			}
			return true
		})
		if p.signature != nil {
			out = append(out, p)
		}
		return sound
	})
	return out, ok
}

// eachBytes visits the fields of a message that hold bytes; false tells that it is no message, or that visit did not want to go on.
func eachBytes(b []byte, visit func(protowire.Number, []byte) bool) bool {
	for len(b) > 0 {
		field, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return false
		}
		b = b[n:]
		if typ == protowire.BytesType {
			value, n := protowire.ConsumeBytes(b)
			if n < 0 || !visit(field, value) {
				return false
			}
		}
		if n = protowire.ConsumeFieldValue(field, typ, b); n < 0 {
			return false
		}
		b = b[n:]
	}
	return true
}

// signedBy tells whether enough of a key's parts signed a message.
func signedBy(key, message []byte, pairs []signaturePair, depth int) bool {
	field, value := firstBytes(key)
	switch field {
	case keyED25519:
		return signedSimply(value, message, pairs, false)
	case keySecp256k1:
		return signedSimply(value, message, pairs, true)
	case keyList:
		keys, err := ledger.DecodeKeyList(value)
		return err == nil && depth > 0 && len(keys) > 0 && countSigned(keys, message, pairs, depth-1) == len(keys)
	case keyThreshold:
		needed, keys, ok := threshold(value)
		return ok && depth > 0 && needed > 0 && countSigned(keys, message, pairs, depth-1) >= needed
	default:
		return false
	}
}

func countSigned(keys []ledger.Key, message []byte, pairs []signaturePair, depth int) (n int) {
	for _, k := range keys {
		if signedBy(k, message, pairs, depth) {
			n++
		}
	}
	return n
}

// threshold reads a serialized ThresholdKey.
func threshold(b []byte) (needed int, keys []ledger.Key, ok bool) {
	var members []byte
	ok = eachBytes(b, func(field protowire.Number, value []byte) bool {
		if field == thresholdKeys {
			members = value
		}
		return true
	})
	for rest := b; ok && len(rest) > 0; {
		field, typ, n := protowire.ConsumeTag(rest)
		if field == thresholdNumber && typ == protowire.VarintType {
			v, _ := protowire.ConsumeVarint(rest[n:])
			needed = int(min(v, 1<<31))
		}
		rest = rest[n+protowire.ConsumeFieldValue(field, typ, rest[n:]):]
	}
	keys, err := ledger.DecodeKeyList(members)
	return needed, keys, ok && err == nil
}

// signedSimply tells whether a single key signed a message. One of secp256k1 signs its hash.
func signedSimply(public, message []byte, pairs []signaturePair, secp256k1 bool) bool {
	for _, p := range pairs {
		switch {
		case p.secp256k1 != secp256k1 || !bytes.HasPrefix(public, p.prefix) || len(p.signature) != plainSignature:
		case secp256k1 && len(public) == compressedLength && crypto.VerifySignature(public, crypto.Keccak256(message), p.signature):
			return true
		case !secp256k1 && len(public) == ed25519.PublicKeySize && ed25519.Verify(public, message, p.signature):
			return true
		}
	}
	return false
}
