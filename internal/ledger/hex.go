package ledger

import (
	"encoding/hex"
	"fmt"
)

// AppendHex appends "0x" and the bytes in lower-case hex.
func AppendHex(dst, b []byte) []byte { return hex.AppendEncode(append(dst, "0x"...), b) }

// ParseHex reads hex digits with or without "0x" in front, an even number of them.
func ParseHex(s string) ([]byte, error) {
	b, err := hex.DecodeString(TrimHexPrefix(s))
	if err != nil {
		return nil, fmt.Errorf("%q is not hex: %w", s, ErrSyntax)
	}
	return b, nil
}

// TrimHexPrefix drops a leading "0x".
func TrimHexPrefix(s string) string {
	if len(s) >= 2 && s[0] == '0' && s[1] == 'x' {
		return s[2:]
	}
	return s
}

// IsHex tells whether s is made of hex digits alone and has one at least.
func IsHex(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
	}
	return s != ""
}
