package system

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"
)

// abiType is a type of the contract ABI. Its values are, as Go values: addresses common.Address, bools bool, integers of up to 64 bits int64
// (uint64 when unsigned), wider ones *big.Int, bytes []byte, bytes32 [32]byte, strings string, and arrays and tuples []any.
type abiType struct {
	name  string
	kind  abiKind
	bits  int
	parts []*abiType // of a tuple
	elem  *abiType   // of an array
}

type abiKind uint8

const (
	abiAddress abiKind = iota
	abiBool
	abiInt
	abiUint
	abiBytes
	abiBytes32
	abiString
	abiTuple
	abiArray
)

// errABI is returned for data that is not of the type.
var errABI = errors.New("the data does not have the form that the function takes")

// parseType reads a type such as "(address,int64)[]" and returns what follows it.
func parseType(text string) (t *abiType, rest string, err error) {
	if strings.HasPrefix(text, "(") {
		t = &abiType{kind: abiTuple}
		rest = text[1:]
		for !strings.HasPrefix(rest, ")") {
			var part *abiType
			if part, rest, err = parseType(strings.TrimPrefix(rest, ",")); err != nil {
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
		t = &abiType{kind: abiArray, elem: t}
		rest = rest[2:]
	}
	t.name = text[:len(text)-len(rest)]
	return t, rest, nil
}

func parseElementary(name string) (*abiType, error) {
	kinds := map[string]abiKind{"address": abiAddress, "bool": abiBool, "bytes": abiBytes, "bytes32": abiBytes32, "string": abiString}
	if kind, ok := kinds[name]; ok {
		return &abiType{kind: kind}, nil
	}
	kind, digits := abiInt, strings.TrimPrefix(name, "int")
	if digits == name {
		kind, digits = abiUint, strings.TrimPrefix(name, "uint")
	}
	bits, err := strconv.Atoi(digits)
	if err != nil || digits == name {
		return nil, fmt.Errorf("%q is no type of the ABI", name)
	}
	return &abiType{kind: kind, bits: bits}, nil
}

// dynamic tells whether the type's values are told by their place.
func (t *abiType) dynamic() bool {
	switch t.kind {
	case abiBytes, abiString, abiArray:
		return true
	case abiTuple:
		for _, p := range t.parts {
			if p.dynamic() {
				return true
			}
		}
	default:
	}
	return false
}

// size is how many bytes a value takes where it stands.
func (t *abiType) size() int {
	if t.kind != abiTuple || t.dynamic() {
		return 32
	}
	n := 0
	for _, p := range t.parts {
		n += p.size()
	}
	return n
}

// decode reads a value of the type from the start of data.
func (t *abiType) decode(data []byte) (any, error) {
	budget := len(data)/32 + 1
	return t.decodeAt(data, 0, &budget)
}

// decodeAt reads the value that begins at a place of data. Places are counted from the start of data. What is told by its place can be told many
// times: budget, which is the number of words that there are, bounds how often.
func (t *abiType) decodeAt(data []byte, at int, budget *int) (any, error) {
	switch t.kind {
	case abiTuple:
		return decodeParts(t.parts, data, at, budget)
	case abiArray:
		n, err := lengthAt(data, at)
		if err != nil {
			return nil, err
		}
		rest := data[at+32:]
		if *budget -= n; n > len(rest)/t.elem.size() || *budget < 0 {
			return nil, errABI
		}
		types := make([]*abiType, n)
		for i := range types {
			types[i] = t.elem
		}
		return decodeParts(types, rest, 0, budget)
	case abiBytes, abiString:
		n, err := lengthAt(data, at)
		if err != nil {
			return nil, err
		}
		rest := data[at+32:]
		padded := (n + 31) / 32 * 32
		if *budget -= padded / 32; padded > len(rest) || *budget < 0 {
			return nil, errABI
		}
		if t.kind == abiString {
			return string(rest[:n]), nil
		}
		return append([]byte{}, rest[:n]...), nil
	default:
		if at < 0 || len(data)-at < 32 {
			return nil, errABI
		}
		return t.decodeWord([32]byte(data[at:]))
	}
}

// decodeParts reads values that stand one behind the other; places are counted from the first.
func decodeParts(types []*abiType, data []byte, at int, budget *int) (any, error) {
	if at < 0 || at > len(data) {
		return nil, errABI
	}
	data = data[at:]
	out := make([]any, len(types))
	head := 0
	for i, t := range types {
		place := head
		if t.dynamic() {
			var err error
			if place, err = lengthAt(data, head); err != nil {
				return nil, err
			}
		}
		v, err := t.decodeAt(data, place, budget)
		if err != nil {
			return nil, err
		}
		out[i] = v
		head += t.size()
	}
	return out, nil
}

// lengthAt reads a length or a place, which cannot be more than there is data.
func lengthAt(data []byte, at int) (int, error) {
	if at < 0 || len(data)-at < 32 {
		return 0, errABI
	}
	word := data[at : at+32]
	if [24]byte(word) != [24]byte{} {
		return 0, errABI
	}
	n := binary.BigEndian.Uint64(word[24:])
	if n > uint64(len(data)) {
		return 0, errABI
	}
	return int(n), nil
}

func (t *abiType) decodeWord(word [32]byte) (any, error) {
	if t.kind == abiBytes32 {
		return word, nil
	}
	v := new(big.Int).SetBytes(word[:])
	switch t.kind {
	case abiAddress:
		if v.BitLen() > 160 {
			return nil, errABI
		}
		return common.Address(word[12:]), nil
	case abiBool:
		if v.BitLen() > 1 {
			return nil, errABI
		}
		return v.Sign() != 0, nil
	case abiInt:
		if word[0]&0x80 != 0 {
			v.Sub(v, new(big.Int).Lsh(common.Big1, 256))
		}
		if least := new(big.Int).Lsh(common.Big1, uint(t.bits-1)); v.Cmp(least) >= 0 || v.Cmp(new(big.Int).Neg(least)) < 0 {
			return nil, errABI
		}
		if t.bits <= 64 {
			return v.Int64(), nil
		}
	default:
		if v.BitLen() > t.bits {
			return nil, errABI
		}
		if t.bits <= 64 {
			return v.Uint64(), nil
		}
	}
	return v, nil
}

// encode appends a value to data. The value must be of the type: anything else is a mistake of ours, and encoded as zero.
func (t *abiType) encode(data []byte, v any) []byte {
	switch t.kind {
	case abiTuple:
		return encodeParts(t.parts, data, list(v))
	case abiArray:
		values := list(v)
		types := make([]*abiType, len(values))
		for i := range types {
			types[i] = t.elem
		}
		return encodeParts(types, appendUint(data, uint64(len(values))), values)
	case abiBytes, abiString:
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
		word := encodeWord(v)
		return append(data, word[:]...)
	}
}

// encodeParts appends values that stand one behind the other, and after them those that are told by their place.
func encodeParts(types []*abiType, data []byte, values []any) []byte {
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
			data = t.encode(data, v)
			continue
		}
		data = appendUint(data, uint64(head+len(tail)))
		tail = t.encode(tail, v)
	}
	return append(data, tail...)
}

func encodeWord(v any) (word [32]byte) {
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
	word := encodeWord(v)
	return append(data, word[:]...)
}

// list is a value that is made of others; nil has none.
func list(v any) []any {
	l, _ := v.([]any)
	return l
}
