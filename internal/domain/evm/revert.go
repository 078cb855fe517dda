package evm

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"heliograph/internal/domain/ledger"
)

// errorSelector is what the data of Error(string) begins with.
const errorSelector = 0x08c379a0

// RevertReason is the text of data that is Error(string) as the ABI encodes it; empty when it is anything else.
func RevertReason(data []byte) string {
	if len(data) <= 4 || binary.BigEndian.Uint32(data) != errorSelector {
		return ""
	}
	args := data[4:]
	at, ok := wordAt(args, 0)
	if !ok {
		return ""
	}
	size, ok := wordAt(args, at)
	if !ok || at+32+size > uint64(len(args)) {
		return ""
	}
	text := args[at+32 : at+32+size]
	if !utf8.Valid(text) {
		return string(bytes.ToValidUTF8(text, []byte("\uFFFD")))
	}
	return string(text)
}

// wordAt reads a small number from a word.
func wordAt(args []byte, at uint64) (uint64, bool) {
	if at > uint64(len(args)) || uint64(len(args))-at < 32 {
		return 0, false
	}
	word := args[at : at+32]
	if v := binary.BigEndian.Uint64(word[24:]); bytes.Count(word[:24], []byte{0}) == 24 && v < 1<<32 {
		return v, true
	}
	return 0, false
}

// ErrorString is the data of Error(string).
func ErrorString(text string) []byte {
	size := (len(text) + 31) / 32 * 32
	out := make([]byte, 4+64+size)
	binary.BigEndian.PutUint32(out, errorSelector)
	out[4+31] = 32
	binary.BigEndian.PutUint64(out[4+56:], uint64(len(text)))
	copy(out[4+64:], text)
	return out
}

// SystemReason is how a trace tells why a system contract failed, given what the original transaction has of it: nothing or zeros are nothing, an
// Error(string) stays as it is, a known response code becomes one with its name, and anything else is taken for text.
func SystemReason(data []byte) []byte {
	significant := bytes.TrimLeft(data, "\x00")
	switch {
	case len(significant) == 0:
		return []byte{}
	case len(data) > 4 && binary.BigEndian.Uint32(data) == errorSelector:
		return data
	case len(significant) <= 4:
		var word [4]byte
		copy(word[4-len(significant):], significant)
		if v := binary.BigEndian.Uint32(word[:]); v < 1<<15 {
			if name := ledger.ResponseCode(v).String(); name != ledger.Unknown || v == 21 {
				return ErrorString(name)
			}
		}
	}
	return ErrorString(string(bytes.ToValidUTF8(data, []byte("\uFFFD"))))
}
