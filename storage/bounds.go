package storage

import (
	"math"
	"strings"

	"heliograph/internal/domain/ledger"
)

// condition is a comparison of a column with a value. op is =, >, >=, < or <=.
type condition struct {
	op    string
	value int64
}

// ColumnBounds contains the lower and upper bound of a column that a list is sorted by. An equality is stored as the
// lower bound.
type ColumnBounds struct {
	column       string
	lower, upper *condition
}

// BoundsOn returns the lower and upper bound of a filter on a column: the strictest ones. The value of eq replaces
// the lower bound and leaves the upper one. It ignores ne, in and notIn. f may be nil.
func BoundsOn[T ~int64](column string, f *ledger.Filter[T]) ColumnBounds {
	b := ColumnBounds{column: column}
	if f == nil {
		return b
	}
	stricter := func(into **condition, op string, v *T, sign int64) {
		if v != nil && (*into == nil || sign*int64(*v) > sign*(*into).value) {
			*into = &condition{op, int64(*v)}
		}
	}
	stricter(&b.lower, ">", f.Gt, 1)
	stricter(&b.lower, ">=", f.Gte, 1)
	stricter(&b.upper, "<", f.Lt, -1)
	stricter(&b.upper, "<=", f.Lte, -1)
	if f.Eq != nil {
		b.lower = &condition{"=", int64(*f.Eq)}
	}
	return b
}

// FilterKey is [Filter] for a column that a list is sorted by. Without inOrder, it adds all conditions of f to w, and
// returns no bounds. With inOrder, it adds only ne, in and notIn, and returns the others for [Where.InOrder]: they are
// keys in the order of the list. f may be nil.
func FilterKey[T ~int64](w *Where, column string, f *ledger.Filter[T], inOrder bool) ColumnBounds {
	if f == nil || !inOrder {
		Filter(w, column, f)
		return ColumnBounds{column: column}
	}
	Filter(w, column, &ledger.Filter[T]{Ne: f.Ne, In: f.In, NotIn: f.NotIn})
	return BoundsOn(column, f)
}

// inclusive returns the bound as an inclusive value. ok is false if no value satisfies the bound; v is not valid then.
func (c *condition) inclusive() (v int64, ok bool) {
	switch c.op {
	case ">":
		return c.value + 1, c.value < math.MaxInt64
	case "<":
		return c.value - 1, c.value > math.MinInt64
	default:
		return c.value, true
	}
}

// beyond returns the operator for the values strictly within the bound, > or <, or = for an equality.
func (c *condition) beyond() string {
	if c.isEq() {
		return c.op
	}
	return c.op[:1]
}

// isEq reports whether c is an equality. c may be nil.
func (c *condition) isEq() bool { return c != nil && c.op == "=" }

// InOrder adds bounds that are keys in the order of the list. The bounds of a column apply only to rows that are at
// the bound of the preceding column, unless one of the two is an equality. Any bound may be missing, but there must
// be a column.
func (w *Where) InOrder(bounds ...ColumnBounds) {
	sql := w.places(bounds)
	if sql == "" {
		return
	}
	// These conditions are implied, but an index scan can use only conditions that are common to all alternatives.
	if first := bounds[0]; len(bounds) > 1 {
		for _, c := range []*condition{first.lower, first.upper} {
			if c != nil && !first.lower.isEq() {
				w.And(first.column+" "+c.beyond()+"= ?", c.value)
			}
		}
	}
	w.sql.WriteString(" and " + sql)
}

// places returns the condition of [Where.InOrder], or "" if there are no bounds. It adds its arguments to w, but not
// the condition. There must be a column.
func (w *Where) places(bounds []ColumnBounds) string {
	p, rest := bounds[0], append([]ColumnBounds(nil), bounds[1:]...)
	if len(rest) == 0 {
		return w.both(p)
	}
	for i := range rest {
		if rest[i].lower.isEq() {
			rest[i].upper = rest[i].lower
		}
	}
	if p.upper.isEq() || p.lower != nil && p.upper != nil && sameValue(p.lower, p.upper) {
		v, _ := p.upper.inclusive()
		p.lower, p.upper = &condition{"=", v}, nil
	}
	var parts []string
	if p.lower != nil && !p.lower.isEq() {
		parts = w.atBound(parts, p.column, p.lower, onlySide(rest, true))
	}
	var middle []string
	for _, c := range []*condition{p.lower, p.upper} {
		if c != nil {
			middle = append(middle, w.compare(p.column, c.beyond(), c.value))
		}
	}
	for _, r := range rest {
		if p.lower.isEq() || r.lower.isEq() || r.upper.isEq() {
			if sql := w.both(r); sql != "" {
				middle = append(middle, sql)
			}
		}
	}
	if len(middle) > 0 {
		parts = append(parts, strings.Join(middle, " and "))
	}
	if p.upper != nil {
		parts = w.atBound(parts, p.column, p.upper, onlySide(rest, false))
	}
	if len(parts) == 0 {
		return ""
	}
	return "(" + strings.Join(parts, " or ") + ")"
}

// atBound appends to parts the alternative in which a column is equal to its bound and the following columns are
// within theirs, and returns them. It adds arguments to w. If no value satisfies the bound, it returns parts
// unchanged.
func (w *Where) atBound(parts []string, column string, c *condition, rest []ColumnBounds) []string {
	v, ok := c.inclusive()
	if !ok {
		return parts
	}
	sql := w.compare(column, "=", v)
	if more := w.places(rest); more != "" {
		sql += " and " + more
	}
	return append(parts, sql)
}

// onlySide returns a copy of the bounds: with the lower ones only if lower is set, and otherwise with the upper ones
// only.
func onlySide(bounds []ColumnBounds, lower bool) []ColumnBounds {
	out := make([]ColumnBounds, len(bounds))
	for i, b := range bounds {
		out[i].column = b.column
		if lower {
			out[i].lower = b.lower
		} else {
			out[i].upper = b.upper
		}
	}
	return out
}

// sameValue reports whether two bounds permit one value only.
func sameValue(lower, upper *condition) bool {
	a, ok := lower.inclusive()
	b, too := upper.inclusive()
	return ok && too && a == b
}

// compare adds v to the arguments of w and returns the text of a comparison with it.
func (w *Where) compare(column, op string, v int64) string {
	return column + " " + op + " " + w.Arg(v)
}

// both returns the conditions of the lower and the upper bound, or "" if both are missing. It adds their values to
// the arguments of w.
func (w *Where) both(b ColumnBounds) string {
	var parts []string
	if b.lower != nil {
		parts = append(parts, w.compare(b.column, b.lower.op, b.lower.value))
	}
	if b.upper != nil && b.upper != b.lower { // an equality is on both sides
		parts = append(parts, w.compare(b.column, b.upper.op, b.upper.value))
	}
	return strings.Join(parts, " and ")
}

// Given reports whether there is a bound.
func (b ColumnBounds) Given() bool { return b.lower != nil || b.upper != nil }
