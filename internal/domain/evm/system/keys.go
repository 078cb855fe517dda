package system

import (
	"crypto/ed25519"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/system/abi"
	"heliograph/internal/domain/evm/system/keys"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
)

// keyValueOf returns a key as the struct KeyValue of the ABI, which contracts see. Key lists, threshold keys and
// invalid keys are empty.
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
	return []any{false /* inheritAccountKey */, contract, ed25519, ecdsa, delegatable}
}

// contractKey returns the key that stands for the contract at an address, of kind [keys.Contract] or
// [keys.Delegatable]. The contract need not exist. It can read the account, or allocate the number of one that the
// simulation created.
func (c *call) contractKey(kind keys.Kind, at common.Address) ledger.Key {
	num, ok := ledger.EVMAddress(at).Num()
	if p, known := c.facts.party(at); known {
		num, ok = p.Num(), true
	}
	if !ok {
		return keys.OfContractAddress(kind, at)
	}
	return keys.OfContract(kind, num)
}

// keysOf reads the keys of a token from the values of the ABI. Each entry applies to the kinds whose bits are set
// in its number. Later entries replace earlier ones. ok is false if an entry is invalid.
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

// keyOf reads a key from a struct KeyValue of the ABI, and reports whether it is valid. Exactly one of these must be
// given: an ed25519 key, a secp256k1 key, a contract, or the key of the caller. A public key of another length counts
// as not given. It can read the caller and the contracts; a failed read aborts the run.
func (c *call) keyOf(value []any) (ledger.Key, bool) {
	var found []ledger.Key
	add := func(given bool, key ledger.Key) {
		if given {
			found = append(found, key)
		}
	}
	contract, delegatable := value[1].(common.Address), value[4].(common.Address)
	public, secp256k1 := value[2].([]byte), value[3].([]byte)
	add(value[0].(bool), c.callersKey())
	add(contract != common.Address{}, c.contractKey(keys.Contract, contract))
	add(delegatable != common.Address{}, c.contractKey(keys.Delegatable, delegatable))
	add(len(public) == ed25519.PublicKeySize, keys.New(keys.ED25519, public))
	add(len(secp256k1) == keys.CompressedSize, keys.New(keys.Secp256k1, secp256k1))
	if len(found) != 1 || found[0].IsNone() {
		return nil, false
	}
	return found[0], true
}

// callersKey returns the key that the caller has in the ledger, or nil if it has none. A contract without a key, or
// one that the simulation created, is its own key. It reads the caller on first use; a failed read aborts the run.
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

// Gas of verifying a signature.
const (
	secp256k1Gas = 3_000
	ed25519Gas   = 1_500_000
)

// Sizes of signatures of secp256k1 with a recovery identifier, in bytes.
const (
	shortestWithParity = 65
	longestWithParity  = 72
)

// isAuthorizedRaw ends the call with whether an account has signed a hash: with its key if that is a single ED25519
// key, or with the ECDSA key whose address is its alias. Invalid input is a revert with a response code. The gas
// depends on the kind of signature. It reads the account on first use; a failed read aborts the run.
func isAuthorizedRaw(c *call, in []any) evm.Outcome {
	a, hash, signature := in[0].(common.Address), in[1].([]byte), in[2].([]byte)
	word := func(gas uint64, code ledger.ResponseCode) evm.Outcome {
		c.ChildFailed(code)
		w := abi.Word(uint64(code))
		return evm.Revert(gas, w[:])
	}
	answer := func(gas uint64, ok bool) evm.Outcome { return evm.Return(gas, c.f.result.Encode(nil, []any{ok})) }
	switch n := len(signature); {
	case n == keys.SignatureSize:
		e := c.State.Entity(a)
		if !isAccount(e) || evm.Canonical(e) != a {
			return word(ed25519Gas, codes.InvalidAccountID)
		}
		kind, key := keys.Split(e.Key)
		if kind != keys.ED25519 || len(key) != ed25519.PublicKeySize {
			return word(ed25519Gas, codes.InvalidSignatureTypeMismatchingKey)
		}
		return answer(ed25519Gas, ed25519.Verify(key, hash, signature))
	case n < shortestWithParity || n > longestWithParity:
		return word(secp256k1Gas, codes.InvalidTransactionBody)
	}
	parity, ok := parityOf(signature[keys.SignatureSize:])
	if len(hash) != len(common.Hash{}) || !ok {
		return word(secp256k1Gas, codes.InvalidTransactionBody)
	}
	if e := c.State.Entity(a); !isAccount(e) || !e.Alias.Valid || common.Address(e.Alias.V) != a {
		return word(secp256k1Gas, codes.InvalidAccountID)
	}
	public, err := crypto.SigToPub(hash, append(signature[:keys.SignatureSize:keys.SignatureSize], parity))
	return answer(secp256k1Gas, err == nil && crypto.PubkeyToAddress(*public) == a)
}

// parityOf returns the recovery identifier of a signature as 0 or 1, from any of the encodings of Ethereum, and
// false for other values.
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

// isAuthorized ends the call with a response code and whether signatures of a message satisfy the key of an account.
// Each signature has a gas cost. If the gas does not suffice for all of them, none is verified.
func isAuthorized(c *call, in []any) evm.Outcome {
	a, message, encoded := in[0].(common.Address), in[1].([]byte), in[2].([]byte)
	signatures, ok := keys.ParseSignatures(encoded)
	gas := evm.ViewGas()
	for _, x := range signatures {
		if x.Secp256k1 {
			gas += secp256k1Gas
		} else {
			gas += ed25519Gas
		}
	}
	end := func(code ledger.ResponseCode, signed bool) evm.Outcome {
		return evm.Return(gas, c.f.result.Encode(nil, []any{int64(code), signed}))
	}
	if gas > c.Gas {
		return evm.Return(gas, nil)
	}
	if !ok {
		return end(codes.InvalidTransactionBody, false)
	}
	e := c.State.Entity(a)
	if !isAccount(e) || evm.Canonical(e) != a {
		return end(codes.InvalidAccountID, false)
	}
	if ledger.Key(e.Key).IsNone() {
		return end(codes.InvalidTransactionBody, false)
	}
	return end(codes.Success, keys.Signed(e.Key, message, signatures))
}
