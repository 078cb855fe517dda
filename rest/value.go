package rest

import (
	"strings"
)

// Op is a comparison operator.
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
	// Given reports that the operator was explicit.
	Given bool
	// Number is the comparable form of the value in the modern family, if the parameter's Read sets it.
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

// isRange reports whether the operator bounds a range.
func (o Op) isRange() bool { return o == Gt || o == Gte || o == Lt || o == Lte }

// Grammar selects one of the classic family's two validators of "operator:value".
type Grammar uint8

const (
	// V1 allows one colon and validates the parameters in one pass. Problems have the order of the request.
	V1 Grammar = iota
	// V2 uses the last two parts only. It reports wrong counts, then invalid values, then unknown names.
	V2
)

// read splits a value. ok is false if the operator is unknown or the value has too many parts.
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
