package status

import (
	"crypto/rand"
	"fmt"
	"io"
)

// codeAlphabet is what new codes are made of: digits and consonants, so that none spells a word.
const codeAlphabet = "0123456789bcdfghjklmnpqrstvwxyz"

// Lengths of codes, in characters.
const (
	codeLength    = 12
	maxCodeLength = 64
)

// NewCode returns a code from random, which is [rand.Reader] where it is nil. It fails only when random does.
func NewCode(random io.Reader) (string, error) {
	if random == nil {
		random = rand.Reader
	}
	const fair = 256 - 256%len(codeAlphabet) // bytes from here on would favour the first characters
	code := make([]byte, 0, codeLength)
	var b [codeLength]byte
	for len(code) < codeLength {
		if _, err := io.ReadFull(random, b[:]); err != nil {
			return "", fmt.Errorf("making a code: %w", err)
		}
		for _, v := range b {
			if int(v) < fair && len(code) < codeLength {
				code = append(code, codeAlphabet[int(v)%len(codeAlphabet)])
			}
		}
	}
	return string(code), nil
}

// ValidCode tells whether a code can be stored: those of pages elsewhere have other forms than ours.
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
