package ledger

import (
	"encoding/binary"
	"fmt"
)

// EVMAddress is the 20-byte address of an account or contract in the EVM.
type EVMAddress [20]byte

// EVMAddressOf converts b to an address if it has 20 bytes.
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

// Num returns the entity number of a long-zero address: its first 12 bytes are zero and the number is at most [MaxNum]. ok is false for other addresses.
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
