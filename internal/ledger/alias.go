package ledger

import (
	"encoding/base32"
	"fmt"
)

var base32NoPadding = base32.StdEncoding.WithPadding(base32.NoPadding)

// Alias is an account's alias: a protobuf-encoded key, or a 20-byte EVM address. Nil means none.
type Alias []byte

// Append appends the alias in base32 of RFC 4648, upper case, without padding.
func (a Alias) Append(dst []byte) []byte { return base32NoPadding.AppendEncode(dst, a) }

// String is the alias in base32.
func (a Alias) String() string { return base32NoPadding.EncodeToString(a) }

// ParseAlias reads base32 of RFC 4648, upper case, without padding. Lengths that no number of bytes gives are refused, and so are
// letters after which bits that mean nothing are set: each alias has one spelling only.
func ParseAlias(s string) (Alias, error) {
	if s == "" {
		return nil, fmt.Errorf("an empty alias: %w", ErrSyntax)
	}
	b, err := base32NoPadding.DecodeString(s)
	if err != nil || base32NoPadding.EncodedLen(len(b)) != len(s) {
		return nil, fmt.Errorf("alias %q is not base32: %w", s, ErrSyntax)
	}
	// The decoder ignores unused trailing bits and line breaks; encoding again shows both.
	if base32NoPadding.EncodeToString(b) != s {
		return nil, fmt.Errorf("alias %q has bits set that belong to no byte: %w", s, ErrSyntax)
	}
	return b, nil
}
