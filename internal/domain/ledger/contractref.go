package ledger

import (
	"fmt"
	"strings"
)

// ContractRef identifies a contract by Address if it is valid, else by ID. A long-zero address is the id in it.
type ContractRef struct {
	ID      EntityID
	Address Null[EVMAddress]
}

// String returns the id or the address.
func (r ContractRef) String() string {
	if r.Address.Valid {
		return r.Address.V.String()
	}
	return r.ID.String()
}

// AccountRef returns the reference as an AccountRef.
func (r ContractRef) AccountRef() AccountRef { return AccountRef{ID: r.ID, Address: r.Address} }

// ParseContractRef parses an entity id, or an EVM address: 40 hex digits, with "0x", with shard and realm, or without a prefix. Shard and realm before a
// long-zero address must be those of base; before other addresses they are ignored. The error is an [EntityIDError] if the reference is well-formed but
// cannot exist, else it wraps [ErrSyntax].
func ParseContractRef(s string, base EntityID) (ContractRef, error) {
	at := strings.LastIndexByte(s, '.') + 1
	prefix, local := s[:at], s[at:]
	if prefix == "" {
		local = TrimHexPrefix(s)
	}
	if len(local) != 2*len(EVMAddress{}) || !IsHex(local) {
		id, err := ParseEntityID(s, base)
		return ContractRef{ID: id}, err
	}
	parts, err := parsePrefix(prefix, base)
	if err != nil {
		return ContractRef{}, fmt.Errorf("EVM address %q: %w", s, err)
	}
	a, err := ParseEVMAddress(local)
	if err != nil {
		return ContractRef{}, err
	}
	num, longZero := a.Num()
	if !longZero {
		return ContractRef{Address: Of(a)}, nil
	}
	if parts != [2]int64{base.Shard(), base.Realm()} {
		return ContractRef{}, &EntityIDError{
			ID: fmt.Sprintf("%d.%d.%s", parts[0], parts[1], local), Reason: fmt.Sprintf("shard and realm are not %d.%d", base.Shard(), base.Realm()),
		}
	}
	return ContractRef{ID: base.WithNum(num)}, nil
}

// parsePrefix parses the prefix of an address: empty, "realm." or "shard.realm.".
func parsePrefix(prefix string, base EntityID) ([2]int64, error) {
	parts := [2]int64{base.Shard(), base.Realm()}
	if prefix == "" {
		return parts, nil
	}
	texts := strings.Split(strings.TrimSuffix(prefix, "."), ".")
	if len(texts) > len(parts) {
		return parts, fmt.Errorf("%q is no shard and realm: %w", prefix, ErrSyntax)
	}
	digits := [2]int{4, 5}
	for i := range texts {
		at := len(parts) - len(texts) + i
		v, err := parseDigits(texts[i], digits[at])
		if err != nil {
			return parts, fmt.Errorf("shard or realm: %w", err)
		}
		parts[at] = v
	}
	return parts, nil
}
