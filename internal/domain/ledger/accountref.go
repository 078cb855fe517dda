package ledger

import (
	"errors"
	"fmt"
	"strings"
)

// AccountRef names an account in one of three ways: by ID, unless Address is known or Alias is not nil. An address that is long-zero is
// read as the id in it, with the ledger's own shard and realm.
type AccountRef struct {
	ID      EntityID
	Address Null[EVMAddress]
	Alias   Alias
	// Live tells that the entity must be known not to be deleted; otherwise an alias also finds what the ledger only refers to.
	Live bool
}

// livePrefix stands in front of an address or alias whose reference is Live.
const livePrefix = "live:"

// ParseLiveAccountRef reads what [ParseAccountRef] does, and also "live:" in front of an address or alias: the reference is Live then, and an
// address is looked up even when it is long-zero.
func ParseLiveAccountRef(s string, base EntityID) (AccountRef, error) {
	name, live := strings.CutPrefix(s, livePrefix)
	if !live {
		return ParseAccountRef(s, base)
	}
	if a, err := ParseEVMAddress(name); err == nil {
		return AccountRef{Address: Of(a), Live: true}, nil
	}
	alias, err := ParseAlias(name)
	if err != nil {
		return AccountRef{}, fmt.Errorf("%q is no EVM address or alias: %w", name, err)
	}
	return AccountRef{Alias: alias, Live: true}, nil
}

// String is the id, the address or the alias in its own text form.
func (r AccountRef) String() string {
	prefix := ""
	if r.Live {
		prefix = livePrefix
	}
	switch {
	case r.Address.Valid:
		return prefix + r.Address.V.String()
	case r.Alias != nil:
		return prefix + r.Alias.String()
	default:
		return r.ID.String()
	}
}

// ParseAccountRef reads an entity id, an EVM address (40 hex digits, with "0x" or with shard and realm in front or bare), or an alias in
// base32 with optional shard and realm. Shard and realm in front of an address or an alias must be those of base; either both or only
// the realm may stand there. Forty hex digits are always an address; otherwise text of digits and points only is an id, never an alias.
// An id that cannot exist is an [EntityIDError]; everything else that is none of the three is [ErrSyntax].
func ParseAccountRef(s string, base EntityID) (AccountRef, error) {
	at := strings.LastIndexByte(s, '.') + 1
	realm, local := s[:at], s[at:]
	if realm == "" {
		local = TrimHexPrefix(s)
	}
	if len(local) == 2*len(EVMAddress{}) && IsHex(local) {
		// A shard has four digits at most in front of an address, and five in front of an alias.
		if err := checkRealm(realm, 4, base); err != nil {
			return AccountRef{}, fmt.Errorf("EVM address %q: %w", s, err)
		}
		return refOfAddress(local, base)
	}
	id, err := ParseEntityID(s, base)
	switch {
	case err == nil:
		return AccountRef{ID: id}, nil
	case errors.Is(err, ErrRange) || isDigits(strings.ReplaceAll(s, ".", "")):
		return AccountRef{}, err
	}
	alias, err := ParseAlias(s[at:])
	if err != nil {
		return AccountRef{}, fmt.Errorf("%q is no entity id, EVM address or alias: %w", s, err)
	}
	if err := checkRealm(realm, 5, base); err != nil {
		return AccountRef{}, fmt.Errorf("alias %q: %w", s, err)
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

// checkRealm refuses what stands in front of an address or alias unless it is nothing, "realm." or "shard.realm." of base.
func checkRealm(prefix string, shardDigits int, base EntityID) error {
	if prefix == "" {
		return nil
	}
	shardText, realmText, two := strings.Cut(strings.TrimSuffix(prefix, "."), ".")
	shard := base.Shard()
	var err error
	if !two {
		realmText = shardText
	} else if shard, err = parseDigits(shardText, shardDigits); err != nil {
		return fmt.Errorf("shard: %w", err)
	}
	realm, err := parseDigits(realmText, 5)
	if err != nil {
		return fmt.Errorf("realm: %w", err)
	}
	if shard != base.Shard() || realm != base.Realm() {
		return fmt.Errorf("shard and realm are not %d.%d: %w", base.Shard(), base.Realm(), ErrSyntax)
	}
	return nil
}
