// Package abi encodes and decodes values of the contract ABI, and declarations in the notation of Solidity.
//
// It replaces go-ethereum's package of the same name, which the tests compare it with. That package makes Go types by
// reflection for each ABI, and the runtime keeps such types for ever: a client could fill the memory with different
// texts. It cannot parse declarations in the notation of Solidity, and has no limit for values that refer to the same
// data.
package abi

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"github.com/ethereum/go-ethereum/common"
)

// Type is a type of the contract ABI. Its values have these Go types: address is common.Address, bool is bool,
// integers of up to 64 bits are int64 or uint64, wider integers are *big.Int, bytes and shorter fixed bytes are
// []byte, bytes32 is [32]byte, string is string, and arrays and tuples are []any.
type Type struct {
	kind  kind
	bits  int      // of integers; the length of kindFixed and kindSequence
	parts []*Type  // of a tuple
	names []string // of the parts, empty for parts without a name
	elem  *Type    // of an array
	text  string   // the canonical name
	words int      // of a value in the head
	depth int      // how many tuples and arrays are nested in it, itself included; 0 for an elementary type
	// dynamic reports whether values are encoded by their offset.
	dynamic bool
}

// String returns the canonical name of the type as in signatures, without the names of parts.
func (t *Type) String() string { return t.text }

type kind uint8

const (
	kindAddress kind = iota
	kindBool
	kindInt
	kindUint
	kindBytes
	kindBytes32
	kindFixed    // bytes of a fixed length
	kindSequence // array of a fixed length, encoded like a tuple
	kindString
	kindTuple
	kindArray
)

// ErrInvalid is returned for data that is not an encoding of the type.
var ErrInvalid = errors.New("invalid ABI encoding")

// Parse parses an ABI type such as "(address,int64)[]". It fails if text is not exactly one type or nests too
// deeply.
func Parse(text string) (*Type, error) {
	p := parser{text}
	t, err := p.typ(0)
	if err == nil && p.rest != "" {
		return nil, fmt.Errorf("unexpected %q after an ABI type", p.rest)
	}
	return t, err
}

// MustParse parses an ABI type as [Parse] does, and panics if it is invalid. It is for types in the code.
func MustParse(text string) *Type {
	t, err := Parse(text)
	if err != nil {
		panic(err)
	}
	return t
}

// Limits of types.
const (
	MaxDepth = 16   // of nested types
	MaxWords = 4096 // in the head of a tuple or an array of fixed length
)

// elementaryTypes are the types without parts by name. Other types share them.
var elementaryTypes = func() map[string]*Type {
	all := map[string]*Type{}
	add := func(k kind, name string, bits int) {
		all[name] = &Type{kind: k, bits: bits, text: name, words: 1, dynamic: k == kindBytes || k == kindString}
	}
	add(kindAddress, "address", 0)
	add(kindBool, "bool", 0)
	add(kindBytes, "bytes", 0)
	add(kindBytes32, "bytes32", 0)
	add(kindString, "string", 0)
	for n := 1; n < 32; n++ {
		add(kindFixed, "bytes"+strconv.Itoa(n), n)
	}
	for bits := 8; bits <= 256; bits += 8 {
		add(kindInt, "int"+strconv.Itoa(bits), bits)
		add(kindUint, "uint"+strconv.Itoa(bits), bits)
	}
	all["int"], all["uint"] = all["int256"], all["uint256"]
	return all
}()

// elementary returns the type with a name such as uint64 or bytes4, which has no parentheses and brackets. uint
// and int have 256 bits. It fails for other names.
func elementary(name string) (*Type, error) {
	if t, ok := elementaryTypes[name]; ok {
		return t, nil
	}
	const hint = "use address for contracts, uint8 for enums, and a tuple such as (uint256,bool) for structs"
	return nil, fmt.Errorf("%.40q is not an ABI type: %s", name, hint)
}

// size returns the number of bytes of a value in the head: 32 for a dynamic type.
func (t *Type) size() int { return 32 * t.words }

// Decode returns the value at the start of data: integers as int64, uint64 or *big.Int, lists and tuples as []any,
// addresses as [common.Address]. It fails with [ErrInvalid] if the encoding is invalid or too large, and ignores
// bytes after the value.
func (t *Type) Decode(data []byte) (any, error) {
	return t.decodeAt(data, 0, &budget{len(data)/32 + 1, 8*len(data)/32 + 8})
}

// budget limits how many values are decoded, because several offsets may refer to one value.
type budget struct {
	words int // of elements of arrays and of bytes
	parts int // of tuples, which may be nested
}

// decodeAt returns the value at an offset, in bytes, of data, as [Type.Decode] does. It subtracts the parts and words
// that it reads from left, and fails with [ErrInvalid] if too few are left or the encoding is invalid. The value
// shares no memory with data.
func (t *Type) decodeAt(data []byte, at int, left *budget) (any, error) {
	switch t.kind {
	case kindTuple:
		return decodeParts(t.parts, data, at, left)
	case kindSequence:
		if t.bits > left.parts {
			return nil, ErrInvalid
		}
		return decodeParts(slices.Repeat([]*Type{t.elem}, t.bits), data, at, left)
	case kindArray:
		n, err := lengthAt(data, at)
		if err != nil {
			return nil, err
		}
		rest := data[at+32:]
		if left.words -= n; n > len(rest)/t.elem.size() || left.words < 0 {
			return nil, ErrInvalid
		}
		return decodeParts(slices.Repeat([]*Type{t.elem}, n), rest, 0, left)
	case kindBytes, kindString:
		n, err := lengthAt(data, at)
		if err != nil {
			return nil, err
		}
		rest := data[at+32:]
		padded := (n + 31) / 32 * 32
		if left.words -= padded / 32; padded > len(rest) || left.words < 0 {
			return nil, ErrInvalid
		}
		if t.kind == kindString {
			return string(rest[:n]), nil
		}
		return append([]byte{}, rest[:n]...), nil
	default:
		if at < 0 || len(data)-at < 32 {
			return nil, ErrInvalid
		}
		return t.decodeWord([32]byte(data[at:]))
	}
}

// decodeParts returns a sequence of values at an offset, in bytes, of data as []any. Their own offsets are relative to
// the first. It fails as [Type.decodeAt] does.
func decodeParts(types []*Type, data []byte, at int, left *budget) (any, error) {
	if left.parts -= len(types); at < 0 || at > len(data) || left.parts < 0 {
		return nil, ErrInvalid
	}
	data = data[at:]
	out := make([]any, len(types))
	head := 0
	for i, t := range types {
		offset := head
		if t.dynamic {
			var err error
			if offset, err = lengthAt(data, head); err != nil {
				return nil, err
			}
		}
		v, err := t.decodeAt(data, offset, left)
		if err != nil {
			return nil, err
		}
		out[i] = v
		head += t.size()
	}
	return out, nil
}

// lengthAt returns the length or offset in the word at a byte of data. It fails with [ErrInvalid] if that exceeds the
// length of data, or the word is not in data.
func lengthAt(data []byte, at int) (int, error) {
	if at < 0 || len(data)-at < 32 {
		return 0, ErrInvalid
	}
	word := data[at : at+32]
	if [24]byte(word) != [24]byte{} {
		return 0, ErrInvalid
	}
	n := binary.BigEndian.Uint64(word[24:])
	if n > uint64(len(data)) {
		return 0, ErrInvalid
	}
	return int(n), nil
}

// decodeWord returns the value of a word, for a type that is encoded in one. Integers with up to 64 bits are int64 or
// uint64, others *big.Int. A word with bits that the type does not have is [ErrInvalid]. Fixed bytes are an exception:
// what follows them in the word is ignored.
func (t *Type) decodeWord(word [32]byte) (any, error) {
	switch t.kind {
	case kindBytes32:
		return word, nil
	case kindFixed:
		return append([]byte{}, word[:t.bits]...), nil
	default:
	}
	v := new(big.Int).SetBytes(word[:])
	switch t.kind {
	case kindAddress:
		if v.BitLen() > 160 {
			return nil, ErrInvalid
		}
		return common.Address(word[12:]), nil
	case kindBool:
		if v.BitLen() > 1 {
			return nil, ErrInvalid
		}
		return v.Sign() != 0, nil
	case kindInt:
		if word[0]&0x80 != 0 {
			v.Sub(v, new(big.Int).Lsh(common.Big1, 256))
		}
		if least := new(
			big.Int,
		).Lsh(common.Big1, uint(t.bits-1)); v.Cmp(least) >= 0 || v.Cmp(new(big.Int).Neg(least)) < 0 {
			return nil, ErrInvalid
		}
		if t.bits <= 64 {
			return v.Int64(), nil
		}
	default:
		if v.BitLen() > t.bits {
			return nil, ErrInvalid
		}
		if t.bits <= 64 {
			return v.Uint64(), nil
		}
	}
	return v, nil
}

// Encode appends the ABI encoding of a value, of the types that Decode returns, to data. A value of another type, or
// of fixed bytes other than bytes32, is encoded as zero. It panics for a *big.Int of more than 256 bits.
func (t *Type) Encode(data []byte, v any) []byte {
	switch t.kind {
	case kindTuple:
		return encodeParts(t.parts, data, List(v))
	case kindArray:
		values := List(v)
		return encodeParts(slices.Repeat([]*Type{t.elem}, len(values)), appendUint(data, uint64(len(values))), values)
	case kindSequence:
		return encodeParts(slices.Repeat([]*Type{t.elem}, t.bits), data, List(v))
	case kindBytes, kindString:
		var b []byte
		switch v := v.(type) {
		case string:
			b = []byte(v)
		case []byte:
			b = v
		}
		data = append(appendUint(data, uint64(len(b))), b...)
		return append(data, make([]byte, (32-len(b)%32)%32)...)
	default:
		word := Word(v)
		return append(data, word[:]...)
	}
}

// encodeParts appends the heads of a sequence of values to data, and then the tails. types and values pair by index.
// Missing values are zero, and values without a type are ignored.
func encodeParts(types []*Type, data []byte, values []any) []byte {
	head := 0
	for _, t := range types {
		head += t.size()
	}
	var tail []byte
	for i, t := range types {
		var v any
		if i < len(values) {
			v = values[i]
		}
		if !t.dynamic {
			data = t.Encode(data, v)
			continue
		}
		data = appendUint(data, uint64(head+len(tail)))
		tail = t.Encode(tail, v)
	}
	return append(data, tail...)
}

// Word returns the 32 bytes of a value of a static type that is not a tuple. Values of other Go types are zero. It
// panics for a *big.Int that does not fit.
func Word(v any) (word [32]byte) {
	switch v := v.(type) {
	case common.Address:
		copy(word[12:], v[:])
	case bool:
		if v {
			word[31] = 1
		}
	case int64:
		if v < 0 {
			for i := range 24 {
				word[i] = 0xff
			}
		}
		binary.BigEndian.PutUint64(word[24:], uint64(v))
	case uint64:
		binary.BigEndian.PutUint64(word[24:], v)
	case *big.Int:
		u := v
		if v.Sign() < 0 {
			u = new(big.Int).Add(v, new(big.Int).Lsh(common.Big1, 256))
		}
		u.FillBytes(word[:])
	case [32]byte:
		word = v
	}
	return word
}

// appendUint appends a number, such as a length or an offset, as a word of 32 bytes to data.
func appendUint(data []byte, v uint64) []byte {
	word := Word(v)
	return append(data, word[:]...)
}

// List returns the elements of a decoded array or tuple, or nil for any other value.
func List(v any) []any {
	l, _ := v.([]any)
	return l
}
