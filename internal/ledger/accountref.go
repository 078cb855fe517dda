package ledger

import (
	"fmt"
	"strings"
)

// AccountRef names an account in one of three ways; exactly one of the fields is set. An address that is long-zero is read as the id in it.
type AccountRef struct {
	ID      EntityID
	Address Null[EVMAddress]
	Alias   Alias
}

// String is the id, the address or the alias in its own text form.
func (r AccountRef) String() string {
	switch {
	case r.Address.Valid:
		return r.Address.V.String()
	case r.Alias != nil:
		return r.Alias.String()
	default:
		return r.ID.String()
	}
}

// ParseAccountRef reads an entity id, an EVM address (40 hex digits, with "0x" or with shard and realm in front or bare), or an alias in
// base32 with optional shard and realm. Shard and realm in front of an address or an alias must be those of base.
func ParseAccountRef(s string, base EntityID) (AccountRef, error) {
	local, err := trimRealm(s, base)
	digits := TrimHexPrefix(s)
	switch {
	case len(digits) == 40 && IsHex(digits):
		return refOfAddress(digits, base)
	case err == nil && len(local) == 40 && IsHex(local):
		return refOfAddress(local, base)
	}
	if id, idErr := ParseEntityID(s, base); idErr == nil {
		return AccountRef{ID: id}, nil
	} else if isDigits(strings.ReplaceAll(s, ".", "")) {
		return AccountRef{}, idErr
	}
	if err != nil {
		return AccountRef{}, err
	}
	alias, err := ParseAlias(local)
	if err != nil {
		return AccountRef{}, fmt.Errorf("%q is no entity id, EVM address or alias: %w", s, ErrSyntax)
	}
	return AccountRef{Alias: alias}, nil
}

func refOfAddress(digits string, base EntityID) (AccountRef, error) {
	a, err := ParseEVMAddress(digits)
	if err != nil {
		return AccountRef{}, err
	}
	if num, ok := a.Num(); ok {
		return AccountRef{ID: base.WithNum(num)}, nil
	}
	return AccountRef{Address: Of(a)}, nil
}

// trimRealm drops "shard.realm." or "realm." in front of an address or alias, and fails when they are not those of base.
func trimRealm(s string, base EntityID) (string, error) {
	at := strings.LastIndexByte(s, '.')
	if at < 0 {
		return s, nil
	}
	id, err := ParseEntityID(s[:at+1]+"0", base)
	if err != nil {
		return "", err
	}
	if id.Shard() != base.Shard() || id.Realm() != base.Realm() {
		return "", fmt.Errorf("%q is of another shard or realm than %d.%d: %w", s, base.Shard(), base.Realm(), ErrSyntax)
	}
	return s[at+1:], nil
}
