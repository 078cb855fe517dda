package system

import (
	"github.com/ethereum/go-ethereum/common"
	"google.golang.org/protobuf/encoding/protowire"

	"heliograph/internal/ledger"
)

// Fields of the protobuf message of a key.
const (
	keyContract    = 1
	keyED25519     = 2
	keySecp256k1   = 7
	keyDelegatable = 8
)

// contractNumber is the field of a contract's number in the message that names it.
const contractNumber = 3

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

// contractAddress is the address of the contract that a message names by its number.
func contractAddress(b []byte) common.Address {
	for len(b) > 0 {
		field, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			break
		}
		b = b[n:]
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
