// Package abi encodes and decodes values of the contract ABI.
package abi

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"
)

// Type is a type of the contract ABI. Its values have these Go types: address is common.Address, bool is bool, integers of up to 64 bits are int64 or
// uint64, wider integers are *big.Int, bytes is []byte, bytes32 is [32]byte, string is string, and arrays and tuples are []any.
type Type struct {
	kind  kind
	bits  int
	parts []*Type // of a tuple
	elem  *Type   // of an array
}

type kind uint8

const (
	kindAddress kind = iota
	kindBool
	kindInt
	kindUint
	kindBytes
	kindBytes32
	kindString
	kindTuple
	kindArray
)

// ErrInvalid is returned for data that is not an encoding of the type.
var ErrInvalid = errors.New("invalid ABI encoding")

// Parse parses a type such as "(address,int64)[]".
func Parse(text string) (*Type, error) {
	t, rest, err := parse(text)
	if err == nil && rest != "" {
		return nil, fmt.Errorf("unexpected %q after an ABI type", rest)
	}
	return t, err
}

// MustParse is like [Parse] but panics if the type is invalid.
func MustParse(text string) *Type {
	t, err := Parse(text)
	if err != nil {
		panic(err)
	}
	return t
}

// parse parses a type and returns the text after it.
func parse(text string) (t *Type, rest string, err error) {
	if strings.HasPrefix(text, "(") {
		t = &Type{kind: kindTuple}
		rest = text[1:]
		for !strings.HasPrefix(rest, ")") {
			var part *Type
			if part, rest, err = parse(strings.TrimPrefix(rest, ",")); err != nil {
				return nil, "", err
			}
			t.parts = append(t.parts, part)
		}
		rest = rest[1:]
	} else {
		n := strings.IndexAny(text, ",)[")
		if n < 0 {
			n = len(text)
		}
		if t, err = parseElementary(text[:n]); err != nil {
			return nil, "", err
		}
		rest = text[n:]
	}
	for strings.HasPrefix(rest, "[]") {
		t = &Type{kind: kindArray, elem: t}
		rest = rest[2:]
	}
	return t, rest, nil
}

func parseElementary(name string) (*Type, error) {
	kinds := map[string]kind{"address": kindAddress, "bool": kindBool, "bytes": kindBytes, "bytes32": kindBytes32, "string": kindString}
	if kind, ok := kinds[name]; ok {
		return &Type{kind: kind}, nil
	}
	kind, digits := kindInt, strings.TrimPrefix(name, "int")
	if digits == name {
		kind, digits = kindUint, strings.TrimPrefix(name, "uint")
	}
	bits, err := strconv.Atoi(digits)
	if err != nil || digits == name {
		return nil, fmt.Errorf("%q is not an ABI type", name)
	}
	return &Type{kind: kind, bits: bits}, nil
}

// dynamic reports whether the type's values are encoded by their offset.
func (t *Type) dynamic() bool {
	switch t.kind {
	case kindBytes, kindString, kindArray:
		return true
	case kindTuple:
		for _, p := range t.parts {
			if p.dynamic() {
				return true
			}
		}
	default:
	}
	return false
}

// size returns the number of bytes of a value in the head.
func (t *Type) size() int {
	if t.kind != kindTuple || t.dynamic() {
		return 32
	}
	n := 0
	for _, p := range t.parts {
		n += p.size()
	}
	return n
}

// Decode decodes the value at the start of data.
func (t *Type) Decode(data []byte) (any, error) {
	budget := len(data)/32 + 1
	return t.decodeAt(data, 0, &budget)
}

// decodeAt decodes the value at an offset of data. Several offsets may refer to one value: budget, which starts with the number of words, limits how
// many values are decoded.
func (t *Type) decodeAt(data []byte, at int, budget *int) (any, error) {
	switch t.kind {
	case kindTuple:
		return decodeParts(t.parts, data, at, budget)
	case kindArray:
		n, err := lengthAt(data, at)
		if err != nil {
			return nil, err
		}
		rest := data[at+32:]
		if *budget -= n; n > len(rest)/t.elem.size() || *budget < 0 {
			return nil, ErrInvalid
		}
		types := make([]*Type, n)
		for i := range types {
			types[i] = t.elem
		}
		return decodeParts(types, rest, 0, budget)
	case kindBytes, kindString:
		n, err := lengthAt(data, at)
		if err != nil {
			return nil, err
		}
		rest := data[at+32:]
		padded := (n + 31) / 32 * 32
		if *budget -= padded / 32; padded > len(rest) || *budget < 0 {
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

// decodeParts decodes a sequence of values. Their offsets are relative to the first.
func decodeParts(types []*Type, data []byte, at int, budget *int) (any, error) {
	if at < 0 || at > len(data) {
		return nil, ErrInvalid
	}
	data = data[at:]
	out := make([]any, len(types))
	head := 0
	for i, t := range types {
		offset := head
		if t.dynamic() {
			var err error
			if offset, err = lengthAt(data, head); err != nil {
				return nil, err
			}
		}
		v, err := t.decodeAt(data, offset, budget)
		if err != nil {
			return nil, err
		}
		out[i] = v
		head += t.size()
	}
	return out, nil
}

// lengthAt decodes a length or an offset, which must not exceed the length of data.
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

func (t *Type) decodeWord(word [32]byte) (any, error) {
	if t.kind == kindBytes32 {
		return word, nil
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
		if least := new(big.Int).Lsh(common.Big1, uint(t.bits-1)); v.Cmp(least) >= 0 || v.Cmp(new(big.Int).Neg(least)) < 0 {
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

// Encode appends the encoding of a value to data. A value of another type is encoded as zero.
func (t *Type) Encode(data []byte, v any) []byte {
	switch t.kind {
	case kindTuple:
		return encodeParts(t.parts, data, List(v))
	case kindArray:
		values := List(v)
		types := make([]*Type, len(values))
		for i := range types {
			types[i] = t.elem
		}
		return encodeParts(types, appendUint(data, uint64(len(values))), values)
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

// encodeParts appends the heads of a sequence of values, and then the tails.
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
		if !t.dynamic() {
			data = t.Encode(data, v)
			continue
		}
		data = appendUint(data, uint64(head+len(tail)))
		tail = t.Encode(tail, v)
	}
	return append(data, tail...)
}

// Word returns the encoding of a value of a static type that is not a tuple.
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

func appendUint(data []byte, v uint64) []byte {
	word := Word(v)
	return append(data, word[:]...)
}

// List returns the elements of an array or a tuple.
func List(v any) []any {
	l, _ := v.([]any)
	return l
}
