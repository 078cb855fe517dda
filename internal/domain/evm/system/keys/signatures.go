package keys

import (
	"bytes"
	"crypto/ed25519"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/hiero-ledger/hiero-sdk-go/v2/proto/services"
	"google.golang.org/protobuf/proto"

	"heliograph/internal/domain/ledger"
)

// SignatureSize is the size of a signature in bytes, without the recovery identifier that Ethereum appends.
const SignatureSize = 64

// Signature is a signature and a prefix of the public key that made it.
type Signature struct {
	Prefix, Signature []byte
	Secp256k1         bool
}

// ParseSignatures decodes a SignatureMap. ok is false if it is invalid.
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

// Signed reports whether the signatures of a message satisfy a key: a list requires all its members, a threshold key as many as its threshold.
func Signed(key, message []byte, signatures []Signature) bool {
	return signed(key, message, signatures, maxDepth)
}

func signed(key, message []byte, signatures []Signature, depth int) bool {
	kind, value := Split(key)
	switch kind {
	case ED25519:
		return SignedBy(value, message, signatures, false)
	case Secp256k1:
		return SignedBy(value, message, signatures, true)
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

func countSigned(keys []ledger.Key, message []byte, signatures []Signature, depth int) (n int) {
	for _, k := range keys {
		if signed(k, message, signatures, depth) {
			n++
		}
	}
	return n
}

// SignedBy reports whether one of the signatures of a message is valid and made by a public key. Keys of secp256k1 sign the hash of the message.
func SignedBy(public, message []byte, signatures []Signature, secp256k1 bool) bool {
	for _, s := range signatures {
		switch {
		case s.Secp256k1 != secp256k1 || !bytes.HasPrefix(public, s.Prefix) || len(s.Signature) != SignatureSize:
		case secp256k1 && len(public) == CompressedSize && crypto.VerifySignature(public, crypto.Keccak256(message), s.Signature):
			return true
		case !secp256k1 && len(public) == ed25519.PublicKeySize && ed25519.Verify(public, message, s.Signature):
			return true
		}
	}
	return false
}
