package ledger

import (
	"errors"
	"fmt"
	"strings"
)

// AccountRef identifies an account by Address if it is valid, by Alias if it is not nil, else by ID. A long-zero address is the id in it, with the ledger's
// shard and realm.
type AccountRef struct {
	ID      EntityID
	Address Null[EVMAddress]
	Alias   Alias
	// Live requires an entity that is not deleted. Otherwise an alias also finds entities that the ledger only refers to.
	Live bool
}

// livePrefix precedes the address or alias of a reference that is Live.
const livePrefix = "live:"

// ParseLiveAccountRef is like [ParseAccountRef] but also accepts "live:" before an address or alias. Then the reference is Live, and an address is looked up
// even if it is long-zero.
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

// String returns the id, the address or the alias.
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

// ParseAccountRef parses an entity id, an EVM address or an alias. An EVM address has 40 hex digits, with "0x", with shard and realm, or without a prefix.
// An alias is base32 with optional shard and realm. A realm, or shard and realm, before an address or an alias must be those of base. 40 hex digits are
// always an address. Other text of digits and points is an id, never an alias. The error is an [EntityIDError] for an id that cannot exist, else it wraps
// [ErrSyntax].
func ParseAccountRef(s string, base EntityID) (AccountRef, error) {
	at := strings.LastIndexByte(s, '.') + 1
	realm, local := s[:at], s[at:]
	if realm == "" {
		local = TrimHexPrefix(s)
	}
	if len(local) == 2*len(EVMAddress{}) && IsHex(local) {
		// A shard has at most four digits before an address, and at most five before an alias.
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

// checkRealm fails if the prefix of an address or alias is not empty, "realm." or "shard.realm." of base.
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
