package ledger

import (
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// AccountRef identifies an account by Address if it is valid, by Alias if it is not nil, else by ID. A long-zero
// address is the id in it, with the ledger's shard and realm.
type AccountRef struct {
	ID      EntityID
	Address Null[EVMAddress]
	Alias   Alias
	// Literal requires an entity that is not deleted. Otherwise an alias also finds entities that the ledger only
	// refers to.
	Literal bool
}

// literalPrefix precedes the address or alias of a reference that is Literal.
const literalPrefix = "literal:"

// ParseLiteralAccountRef parses the references to accounts in GraphQL and REST. It accepts an entity id, an EVM
// address or an alias, as [ParseAccountRef] does, and also "literal:" before an address or alias. In the latter case
// the reference is Literal, an address is looked up even if it is long-zero, base is not used, and errors wrap
// [ErrSyntax].
func ParseLiteralAccountRef(s string, base EntityID) (AccountRef, error) {
	name, live := strings.CutPrefix(s, literalPrefix)
	if !live {
		return ParseAccountRef(s, base)
	}
	if a, err := ParseEVMAddress(name); err == nil {
		return AccountRef{Address: Of(a), Literal: true}, nil
	}
	alias, err := ParseAlias(name)
	if err != nil {
		return AccountRef{}, fmt.Errorf("%q is no EVM address or alias: %w", name, err)
	}
	return AccountRef{Alias: alias, Literal: true}, nil
}

// String returns the id, the address or the alias, with "literal:" if the reference is Literal.
// [ParseLiteralAccountRef] accepts it.
func (r AccountRef) String() string {
	prefix := ""
	if r.Literal {
		prefix = literalPrefix
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

// ParseAccountRef parses an entity id, an EVM address or an alias. Missing parts of an id are those of base. The
// reference of a long-zero address is the id in it. An EVM address has 40 hex digits, with "0x", with shard and
// realm, or without a prefix. An alias is base32 with optional shard and realm. A realm, or shard and realm, before
// an address or an alias must be those of base. 40 hex digits are always an address. Other text of digits and points
// is an id, never an alias. The error is an [EntityIDError] for an id that cannot exist, else it wraps [ErrSyntax].
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
	if s == "" || strings.ContainsFunc(s[at:], func(c rune) bool { return !inBase32(c) }) {
		return AccountRef{}, fmt.Errorf("%q is no entity id, EVM address or alias: %w", s, ErrSyntax)
	}
	alias, err := ParseAlias(s[at:])
	if err != nil {
		return AccountRef{}, err
	}
	if err := checkRealm(realm, 5, base); err != nil {
		return AccountRef{}, fmt.Errorf("alias %q: %w", s, err)
	}
	return AccountRef{Alias: alias}, nil
}

// refOfAddress returns the reference of an EVM address. A long-zero address is the ID that it contains, with the
// shard and realm of base. It cannot fail, because [ParseAccountRef] has checked that there are 40 hex digits.
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

// checkRealm fails if the prefix of an address or alias is not empty, "realm." or "shard.realm." of base. The
// shard has at most shardDigits digits. Errors wrap [ErrSyntax].
func checkRealm(prefix string, shardDigits int, base EntityID) error {
	parts, err := parsePrefix(prefix, shardDigits, base)
	if err == nil && parts != [2]int64{base.Shard(), base.Realm()} {
		err = fmt.Errorf("shard and realm are not %d.%d: %w", base.Shard(), base.Realm(), ErrSyntax)
	}
	return err
}

var base32NoPadding = base32.StdEncoding.WithPadding(base32.NoPadding)

// Alias is the alias of an account: a protobuf-encoded key or a 20-byte EVM address. Nil means no alias.
type Alias []byte

// Append appends the alias in base32 of RFC 4648, upper case, without padding.
func (a Alias) Append(dst []byte) []byte { return base32NoPadding.AppendEncode(dst, a) }

// String returns the alias in base32.
func (a Alias) String() string { return base32NoPadding.EncodeToString(a) }

// ParseAlias parses base32 of RFC 4648, upper case, without padding. It rejects invalid lengths and non-zero trailing
// bits, so that each alias has a single spelling. Errors wrap [ErrSyntax].
func ParseAlias(s string) (Alias, error) {
	if s == "" {
		return nil, fmt.Errorf("alias is empty: %w", ErrSyntax)
	}
	// The decoder skips line breaks and accepts any length and trailing bits, so these are checked here.
	for i, c := range s {
		if !inBase32(c) {
			return nil, fmt.Errorf("alias %q: %q at %d is not one of A to Z and 2 to 7: %w", s, c, i, ErrSyntax)
		}
	}
	switch len(s) % 8 {
	case 1, 3, 6:
		return nil, fmt.Errorf("alias %q: no number of bytes has %d letters: %w", s, len(s), ErrSyntax)
	}
	b, err := base32NoPadding.DecodeString(s)
	if err != nil {
		return nil, fmt.Errorf("alias %q: %w: %w", s, ErrSyntax, err)
	}
	if base32NoPadding.EncodeToString(b) != s {
		return nil, fmt.Errorf("alias %q has bits set that belong to no byte: %w", s, ErrSyntax)
	}
	return b, nil
}

// inBase32 reports whether c is in the alphabet of aliases: A to Z and 2 to 7.
func inBase32(c rune) bool { return 'A' <= c && c <= 'Z' || '2' <= c && c <= '7' }

// EVMAddress is the 20-byte address of an account or contract in the EVM.
type EVMAddress [20]byte

// EVMAddressOf converts b to an address. It returns false unless b has 20 bytes.
func EVMAddressOf(b []byte) (EVMAddress, bool) {
	if len(b) != len(EVMAddress{}) {
		return EVMAddress{}, false
	}
	return EVMAddress(b), true
}

// Append appends "0x" and 40 lower-case hex digits.
func (a EVMAddress) Append(dst []byte) []byte { return AppendHex(dst, a[:]) }

// String returns "0x" and 40 lower-case hex digits.
func (a EVMAddress) String() string { return string(a.Append(nil)) }

// Num returns the entity number of a long-zero address: its first 12 bytes are zero and the number is at most
// [MaxNum]. ok is false for other addresses.
func (a EVMAddress) Num() (num int64, ok bool) {
	if [12]byte(a[:12]) != [12]byte{} {
		return 0, false
	}
	v := binary.BigEndian.Uint64(a[12:])
	return int64(v & MaxNum), v <= MaxNum
}

// ParseEVMAddress parses 40 hex digits of either case, with or without "0x". Errors wrap [ErrSyntax].
func ParseEVMAddress(s string) (EVMAddress, error) {
	digits := TrimHexPrefix(s)
	if len(digits) != 2*len(EVMAddress{}) {
		return EVMAddress{}, fmt.Errorf("EVM address %q does not have 40 hex digits: %w", s, ErrSyntax)
	}
	b, err := decodeHex(digits)
	if err != nil {
		return EVMAddress{}, fmt.Errorf("EVM address %q: %w", s, err)
	}
	return EVMAddress(b), nil
}

// ContractRef identifies a contract by Address if it is valid, else by ID. A long-zero address is the id in it.
type ContractRef struct {
	ID      EntityID
	Address Null[EVMAddress]
}

// String returns the id as "shard.realm.num", or the address as "0x" and 40 lower-case hex digits.
func (r ContractRef) String() string {
	if r.Address.Valid {
		return r.Address.V.String()
	}
	return r.ID.String()
}

// AccountRef returns the same reference as the type for accounts.
func (r ContractRef) AccountRef() AccountRef { return AccountRef{ID: r.ID, Address: r.Address} }

// ParseContractRef parses an entity id, whose missing parts are those of base, or an EVM address: 40 hex digits, with
// "0x", with shard and realm, or without a prefix. A long-zero address becomes the id in it. Shard and realm before a
// long-zero address must be those of base; before other addresses they are ignored. The error is an [EntityIDError]
// if the reference is well-formed but cannot exist, else it wraps [ErrSyntax].
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
	parts, err := parsePrefix(prefix, 4, base)
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
			ID:     fmt.Sprintf("%d.%d.%s", parts[0], parts[1], local),
			Reason: fmt.Sprintf("shard and realm are not %d.%d", base.Shard(), base.Realm()),
		}
	}
	return ContractRef{ID: base.WithNum(num)}, nil
}

// parsePrefix returns shard and realm from the prefix of an address or alias: empty, "realm." or "shard.realm.". The
// shard has at most shardDigits digits, the realm five. Missing parts are those of base. It does not check whether
// such an id can exist. Errors wrap [ErrSyntax].
func parsePrefix(prefix string, shardDigits int, base EntityID) ([2]int64, error) {
	parts := [2]int64{base.Shard(), base.Realm()}
	if prefix == "" {
		return parts, nil
	}
	texts := strings.SplitN(strings.TrimSuffix(prefix, "."), ".", len(parts))
	names, digits := [2]string{"shard", "realm"}, [2]int{shardDigits, 5}
	for i, text := range texts {
		at := len(parts) - len(texts) + i
		var err error
		if parts[at], err = parseDigits(text, digits[at]); err != nil {
			return parts, fmt.Errorf("%s: %w", names[at], err)
		}
	}
	return parts, nil
}
