package rest

import (
	"math"
	"time"

	"heliograph/internal/domain/ledger"
)

// Range is a range of numbers, both ends included. An end that is not given is the least or greatest number.
type Range struct {
	Lower, Upper       int64
	HasLower, HasUpper bool
	// The bound of the side excludes all numbers.
	noneAbove, noneBelow bool
}

// everything returns the range of all numbers of 64 bits.
func everything() Range { return Range{Lower: math.MinInt64, Upper: math.MaxInt64} }

// RangeOf returns the numbers that satisfy all bounds among the values. It ignores eq and ne.
func RangeOf(values []Value) Range {
	r := everything()
	for _, v := range values {
		r.narrow(v.Op, v.Number)
	}
	return r
}

// LastRange returns the numbers that satisfy the last lower and the last upper bound among the values. An eq counts as
// the given bound. It ignores ne.
func LastRange(values []Value, eq Op) Range {
	r := everything()
	for _, v := range values {
		op := v.Op
		if op == Eq {
			op = eq
		}
		r.bound(op, v.Number)
	}
	return r
}

// bound replaces an end of r by the bound with the operator op and the number key. The operators eq and ne have no
// effect.
func (r *Range) bound(op Op, key int64) {
	switch op {
	case Gt:
		r.Lower, r.HasLower, r.noneAbove = max(key, key+1), true, key == math.MaxInt64 // key+1 may overflow
	case Gte:
		r.Lower, r.HasLower, r.noneAbove = key, true, false
	case Lt:
		r.Upper, r.HasUpper, r.noneBelow = min(key, key-1), true, key == math.MinInt64
	case Lte:
		r.Upper, r.HasUpper, r.noneBelow = key, true, false
	case Eq, Ne:
	}
}

// narrow changes the range: it applies the bound with the operator op and the number key in addition to those that the
// range has. The operators eq and ne have no effect.
func (r *Range) narrow(op Op, key int64) {
	one := everything()
	one.bound(op, key)
	r.Lower, r.HasLower = max(r.Lower, one.Lower), r.HasLower || one.HasLower
	r.Upper, r.HasUpper = min(r.Upper, one.Upper), r.HasUpper || one.HasUpper
	r.noneAbove, r.noneBelow = r.noneAbove || one.noneAbove, r.noneBelow || one.noneBelow
}

// Empty reports whether the range has no number.
func (r Range) Empty() bool { return r.noneAbove || r.noneBelow || r.Lower > r.Upper }

// Contradicts reports whether both ends are given and no number is between them. A single bound does not contradict
// anything, because links may contain bounds that exclude all rows.
func (r Range) Contradicts() bool { return r.HasLower && r.HasUpper && r.Empty() }

// within reports whether the range, in nanoseconds, is not empty and at most most long, both ends included. The lower
// ends of callers are not before 1970, so the length cannot overflow.
func (r Range) within(most time.Duration) bool {
	return r.Lower <= r.Upper && r.Upper-r.Lower < int64(most)
}

// timestamps returns the graph's filter for a range of timestamps, or nil without ends. A range that ends before 1970
// becomes a filter that matches no row.
func (r Range) timestamps() map[string]any {
	switch {
	case !r.HasLower && !r.HasUpper:
		return nil
	case r.HasUpper && r.Upper < 0: // filters cannot express times before 1970, and no row has one
		return map[string]any{"in": []any{}}
	}
	f := map[string]any{}
	if r.HasLower {
		f["gte"] = ledger.Timestamp(r.Lower).String()
	}
	if r.HasUpper {
		f["lte"] = ledger.Timestamp(r.Upper).String()
	}
	return f
}
