package ledger

import (
	"encoding/binary"
	"fmt"
)

// EVMAddress is the 20-byte address of an account or contract in the EVM.
type EVMAddress [20]byte

// EVMAddressOf returns b as an address when it has 20 bytes.
func EVMAddressOf(b []byte) (EVMAddress, bool) {
	if len(b) != len(EVMAddress{}) {
		return EVMAddress{}, false
	}
	return EVMAddress(b), true
}

// Append appends "0x" and 40 lower-case hex digits.
func (a EVMAddress) Append(dst []byte) []byte { return AppendHex(dst, a[:]) }

// String is "0x" and 40 lower-case hex digits.
func (a EVMAddress) String() string { return string(a.Append(nil)) }

// Num is the entity number that a long-zero address holds: its first 12 bytes are zero and the rest is not above [MaxNum]. Any other
// address is opaque: ok is false, and num means nothing.
func (a EVMAddress) Num() (num int64, ok bool) {
	if [12]byte(a[:12]) != [12]byte{} {
		return 0, false
	}
	v := binary.BigEndian.Uint64(a[12:])
	return int64(v & MaxNum), v <= MaxNum
}

// ParseEVMAddress reads 40 hex digits of either case with or without "0x" in front. Errors wrap [ErrSyntax].
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
