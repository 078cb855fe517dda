package world

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/ethereum/go-ethereum/crypto"
	"google.golang.org/protobuf/encoding/protowire"

	"heliograph/storage/demo"
)

// The keys of the demo network are derived from the names of their holders. They are public and must not be used
// anywhere else.

// edPrivate returns the ED25519 private key of a holder, derived from the name, so that it is always the same. It
// is for demos only and not secret.
func edPrivate(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte("heliograph demo network, ed25519, " + name))
	return ed25519.NewKeyFromSeed(seed[:])
}

// ecPrivate returns the ECDSA private key of a holder, derived from the name: the first hash in a chain of hashes
// that is a valid key. It is for demos only and not secret.
func ecPrivate(name string) *ecdsa.PrivateKey {
	seed := sha256.Sum256([]byte("heliograph demo network, secp256k1, " + name))
	for {
		if k, err := crypto.ToECDSA(seed[:]); err == nil {
			return k
		}
		seed = sha256.Sum256(seed[:])
	}
}

// edRaw returns the 32 bytes of the ED25519 public key of a holder.
func edRaw(name string) []byte { return edPrivate(name).Public().(ed25519.PublicKey) }

// ecRaw returns the 33 bytes of the compressed ECDSA public key of a holder.
func ecRaw(name string) []byte { return crypto.CompressPubkey(&ecPrivate(name).PublicKey) }

// Ed25519Key returns the protobuf form of the Ed25519 key of a holder.
func Ed25519Key(name string) []byte { return message(nil).bytes(2, edRaw(name)) }

// ECDSAKey returns the protobuf form of the ECDSA key of a holder.
func ECDSAKey(name string) []byte { return message(nil).bytes(7, ecRaw(name)) }

// EVMAddress returns the EVM address of the ECDSA key of a holder.
func EVMAddress(name string) []byte { return crypto.PubkeyToAddress(ecPrivate(name).PublicKey).Bytes() }

// keyListBody returns the protobuf message KeyList with keys that are in protobuf form.
func keyListBody(keys ...[]byte) message {
	m := message{}
	for _, k := range keys {
		m = m.bytes(1, k)
	}
	return m
}

// KeyList returns the protobuf form of a list of keys, which are in protobuf form. Without keys, it marks a hollow
// or immutable entity.
func KeyList(keys ...[]byte) []byte { return message(nil).msg(6, keyListBody(keys...)) }

// ThresholdKey returns the protobuf form of a key that needs threshold of the given keys, which are in protobuf
// form.
func ThresholdKey(threshold int64, keys ...[]byte) []byte {
	return message(nil).msg(5, message(nil).num(1, threshold).msg(2, keyListBody(keys...)))
}

// ContractKey returns the protobuf form of a key that calls by contract id satisfy.
func ContractKey(id int64) []byte { return message(nil).msg(1, entityID(id)) }

// DelegatableKey returns the protobuf form of a key that calls and delegated calls by contract id satisfy.
func DelegatableKey(id int64) []byte { return message(nil).msg(8, entityID(id)) }

// publicKey returns the value of the column public_key: the hexadecimal raw key of a primitive key, or of a list
// of one, in protobuf form. For other keys it returns nil.
func publicKey(k []byte) any {
	for _, prefix := range []string{"1220", "32240a221220", "3a21", "32250a233a21"} {
		p, _ := hex.DecodeString(prefix)
		size := 32
		if p[len(p)-1] == 0x21 {
			size = 33
		}
		if len(k) == len(p)+size && bytes.Equal(k[:len(p)], p) {
			return hex.EncodeToString(k[len(p):])
		}
	}
	return nil
}

// keyHolder returns the name from which the keys of an account are derived: that of the scenario for the accounts from
// Alice to Fund, and the entity ID for any other account.
func keyHolder(id int64) string {
	for name, number := range demo.Numbers {
		if number == id && id >= demo.Alice && id <= demo.Fund {
			return name
		}
	}
	return fmt.Sprintf("0.0.%d", id)
}

// message encodes a protobuf message field by field. It omits zero numbers and nil bytes, which are the defaults.
type message []byte

// num returns m with an integer field appended; 0 is omitted.
func (m message) num(field protowire.Number, v int64) message {
	if v == 0 {
		return m
	}
	m = protowire.AppendTag(m, field, protowire.VarintType)
	return protowire.AppendVarint(m, uint64(v))
}

// signed returns m with a zigzag number (sint64) appended; 0 is omitted.
func (m message) signed(field protowire.Number, v int64) message {
	return m.num(field, int64(protowire.EncodeZigZag(v)))
}

// bytes returns m with a field of bytes appended; nil is omitted.
func (m message) bytes(field protowire.Number, v []byte) message {
	if v == nil {
		return m
	}
	m = protowire.AppendTag(m, field, protowire.BytesType)
	return protowire.AppendBytes(m, v)
}

// text returns m with a field of text appended; the empty text is omitted.
func (m message) text(field protowire.Number, v string) message {
	if v == "" {
		return m
	}
	return m.bytes(field, []byte(v))
}

// msg returns m with a sub-message appended, even if it is empty.
func (m message) msg(field protowire.Number, v message) message {
	m = protowire.AppendTag(m, field, protowire.BytesType)
	return protowire.AppendBytes(m, v)
}

// entityID returns an AccountID, ContractID, TokenID, TopicID or FileID in shard 0 and realm 0. All have the number in
// field 3.
func entityID(id int64) message { return message(nil).num(3, id) }

// timestampOf returns the protobuf message Timestamp for nanoseconds since 1970.
func timestampOf(ns int64) message { return message(nil).num(1, ns/Second).num(2, ns%Second) }

// transactionID returns the protobuf message TransactionID of a payer and a start in nanoseconds. False and 0 are
// omitted.
func transactionID(payer, validStart int64, scheduled bool, nonce int64) message {
	m := message(nil).msg(1, timestampOf(validStart)).msg(2, entityID(payer))
	if scheduled {
		m = m.num(3, 1)
	}
	return m.num(4, nonce)
}
