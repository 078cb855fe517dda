package rest

import (
	"strings"
)

// Op is the operator in front of a value.
type Op string

// The operators.
const (
	Eq  Op = "eq"
	Ne  Op = "ne"
	Gt  Op = "gt"
	Gte Op = "gte"
	Lt  Op = "lt"
	Lte Op = "lte"
)

// Value is a value of a query parameter with its operator.
type Value struct {
	Op   Op
	Text string
	// Given tells that the operator was written.
	Given bool
	// Number is what the modern family compares the value by, where its reader says so.
	Number int64
}

func isOp(s string) bool {
	switch Op(s) {
	case Eq, Ne, Gt, Gte, Lt, Lte:
		return true
	default:
		return false
	}
}

// isRange tells whether the operator bounds a range.
func (o Op) isRange() bool { return o == Gt || o == Gte || o == Lt || o == Lte }

// Grammar is how the classic family's two validators read "operator:value".
type Grammar uint8

const (
	// V1 allows one colon, and goes through the parameters once: problems come in the order of the request.
	V1 Grammar = iota
	// V2 drops all but the last two parts, and tells counts first, then bad values, then unknown names.
	V2
)

// read splits a value; ok is false when the operator is unknown or there are too many parts.
func (g Grammar) read(s string) (v Value, ok bool) {
	at := strings.LastIndexByte(s, ':')
	if at < 0 {
		return Value{Op: Eq, Text: s}, true
	}
	op, text := s[:at], s[at+1:]
	if i := strings.LastIndexByte(op, ':'); i >= 0 {
		if g == V1 {
			return Value{}, false
		}
		op = op[i+1:]
	}
	return Value{Op: Op(op), Text: text, Given: true}, isOp(op)
}
