package ledger

import (
	"encoding/hex"
	"fmt"
)

// AppendHex appends "0x" and the bytes in lower-case hex.
func AppendHex(dst, b []byte) []byte { return hex.AppendEncode(append(dst, "0x"...), b) }

// HexDigits are bytes whose text form is lower-case hex without "0x".
type HexDigits []byte

// String implements [fmt.Stringer].
func (d HexDigits) String() string { return hex.EncodeToString(d) }

// ParseHex parses an even number of hex digits of either case, with or without "0x". Errors wrap [ErrSyntax].
func ParseHex(s string) ([]byte, error) {
	b, err := decodeHex(TrimHexPrefix(s))
	if err != nil {
		return nil, fmt.Errorf("hex %q: %w", s, err)
	}
	return b, nil
}

// decodeHex parses hex digits without a prefix.
func decodeHex(digits string) ([]byte, error) {
	for i, c := range digits {
		if c >= 0x80 || !isHexDigit(byte(c)) {
			return nil, fmt.Errorf("%q at %d is not a hex digit: %w", c, i, ErrSyntax)
		}
	}
	if len(digits)%2 != 0 {
		return nil, fmt.Errorf("an odd number of digits: %w", ErrSyntax)
	}
	b, err := hex.DecodeString(digits)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSyntax, err)
	}
	return b, nil
}

// TrimHexPrefix removes one leading "0x". It does not remove "0X".
func TrimHexPrefix(s string) string {
	if len(s) >= 2 && s[0] == '0' && s[1] == 'x' {
		return s[2:]
	}
	return s
}

// IsHex reports whether s consists of one or more hex digits.
func IsHex(s string) bool {
	for i := range len(s) {
		if !isHexDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

func isHexDigit(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
