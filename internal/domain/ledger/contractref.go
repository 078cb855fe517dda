package ledger

import (
	"fmt"
	"strings"
)

// ContractRef names what can be called: by ID, unless Address is known. An address that is long-zero is read as the id in it.
type ContractRef struct {
	ID      EntityID
	Address Null[EVMAddress]
}

// String is the id or the address in its own text form.
func (r ContractRef) String() string {
	if r.Address.Valid {
		return r.Address.V.String()
	}
	return r.ID.String()
}

// AccountRef is the same as the name of an account.
func (r ContractRef) AccountRef() AccountRef { return AccountRef{ID: r.ID, Address: r.Address} }

// ParseContractRef reads an entity id, or an EVM address: 40 hex digits, with "0x" or with shard and realm in front or bare. In front of an
// address that is made of an entity's number, shard and realm must be those of base; in front of any other they do not matter. What has the form
// of one but names nothing that can exist is an [EntityIDError]; everything else is [ErrSyntax].
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

// parsePrefix reads shard and realm in front of an address: nothing, "realm." or "shard.realm.".
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
