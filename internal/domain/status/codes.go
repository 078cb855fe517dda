package status

import (
	"crypto/rand"
	"fmt"
	"io"
)

// codeAlphabet are the characters of new codes: digits and consonants, so that codes do not form words.
const codeAlphabet = "0123456789bcdfghjklmnpqrstvwxyz"

// Lengths of codes, in characters.
const (
	codeLength    = 12
	maxCodeLength = 64
)

// NewCode returns a new code. random defaults to [rand.Reader]. It fails only if random does.
func NewCode(random io.Reader) (string, error) {
	if random == nil {
		random = rand.Reader
	}
	const fair = 256 - 256%len(codeAlphabet) // larger bytes would favour the first characters
	code := make([]byte, 0, codeLength)
	var b [codeLength]byte
	for len(code) < codeLength {
		if _, err := io.ReadFull(random, b[:]); err != nil {
			return "", fmt.Errorf("generating a code: %w", err)
		}
		for _, v := range b {
			if int(v) < fair && len(code) < codeLength {
				code = append(code, codeAlphabet[int(v)%len(codeAlphabet)])
			}
		}
	}
	return string(code), nil
}

// ValidCode reports whether s can be stored as a code. Codes of other status pages may differ from those of [NewCode].
func ValidCode(s string) bool {
	if s == "" || len(s) > maxCodeLength {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}
