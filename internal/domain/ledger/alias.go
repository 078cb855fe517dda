package ledger

import (
	"encoding/base32"
	"fmt"
)

var base32NoPadding = base32.StdEncoding.WithPadding(base32.NoPadding)

// Alias is the alias of an account: a protobuf-encoded key or a 20-byte EVM address. Nil means no alias.
type Alias []byte

// Append appends the alias in base32 of RFC 4648, upper case, without padding.
func (a Alias) Append(dst []byte) []byte { return base32NoPadding.AppendEncode(dst, a) }

// String returns the alias in base32.
func (a Alias) String() string { return base32NoPadding.EncodeToString(a) }

// ParseAlias parses base32 of RFC 4648, upper case, without padding. It rejects invalid lengths and non-zero trailing bits, so that each alias has a single
// spelling. Errors wrap [ErrSyntax].
func ParseAlias(s string) (Alias, error) {
	if s == "" {
		return nil, fmt.Errorf("alias is empty: %w", ErrSyntax)
	}
	// The decoder skips line breaks and accepts any length and trailing bits, so these are checked here.
	for i, c := range s {
		if (c < 'A' || c > 'Z') && (c < '2' || c > '7') {
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
