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
	const fair = 256 - 256%len(codeAlphabet) // larger bytes would favour the first characters
	code := make([]byte, 0, codeLength)
	for len(code) < codeLength {
		b, err := randomBytes(random, codeLength)
		if err != nil {
			return "", err
		}
		for _, v := range b {
			if int(v) < fair && len(code) < codeLength {
				code = append(code, codeAlphabet[int(v)%len(codeAlphabet)])
			}
		}
	}
	return string(code), nil
}

// randomBytes reads random bytes. random defaults to [rand.Reader].
func randomBytes(random io.Reader, n int) ([]byte, error) {
	if random == nil {
		random = rand.Reader
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(random, b); err != nil {
		return nil, fmt.Errorf("reading random bytes: %w", err)
	}
	return b, nil
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
