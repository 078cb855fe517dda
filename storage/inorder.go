package storage

import (
	"math"
	"strings"

	"heliograph/internal/domain/ledger"
)

// condition compares a column with a value: op is =, >, >=, < or <=.
type condition struct {
	op    string
	value int64
}

// ColumnBounds are the bounds of a column that a list is ordered by. The lower one may be an equality.
type ColumnBounds struct {
	column       string
	lower, upper *condition
}

// BoundsOn takes the bounds out of a filter. A nil filter has none.
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

// WithoutBounds is what a filter says beyond its bounds.
func WithoutBounds[T ~int64](f *ledger.Filter[T]) *ledger.Filter[T] {
	if f == nil {
		return nil
	}
	return &ledger.Filter[T]{Ne: f.Ne, In: f.In, NotIn: f.NotIn}
}

// inclusive is the bound as a value that is allowed itself; ok is false when there is no such value.
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

// beyond is the operator that leaves the bound itself out, except for an equality.
func (c *condition) beyond() string {
	if c.isEq() {
		return c.op
	}
	return c.op[:1]
}

func (c *condition) isEq() bool { return c != nil && c.op == "=" }

// InOrder adds bounds that are places in the list's order: those of a column after the first count only for rows that are at the bound of the column
// before it, unless one of them is an equality. Each column's bounds may be missing.
func (w *Where) InOrder(bounds ...ColumnBounds) {
	sql := w.places(bounds)
	if sql == "" {
		return
	}
	// The bounds of the first column follow from the alternatives, but an index is searched only by what holds for all of them.
	if first := bounds[0]; len(bounds) > 1 {
		for _, c := range []*condition{first.lower, first.upper} {
			if c != nil && !first.lower.isEq() {
				w.And(first.column+" "+c.beyond()+"= ?", c.value)
			}
		}
	}
	w.sql.WriteString(" and " + sql)
}

// places is the condition of [where.inOrder], empty when it holds for all rows.
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

// atBound adds the alternative that a column is at its bound and the rest within theirs.
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

// onlySide keeps the lower or the upper bounds.
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

func sameValue(lower, upper *condition) bool {
	a, ok := lower.inclusive()
	b, too := upper.inclusive()
	return ok && too && a == b
}

func (w *Where) compare(column, op string, v int64) string {
	return column + " " + op + " " + w.Arg(v)
}

// both is a column's lower and upper bound as they stand, empty when there is none.
func (w *Where) both(b ColumnBounds) string {
	var parts []string
	if b.lower != nil {
		parts = append(parts, w.compare(b.column, b.lower.op, b.lower.value))
	}
	if b.upper != nil && b.upper != b.lower { // an equality stands on both sides
		parts = append(parts, w.compare(b.column, b.upper.op, b.upper.value))
	}
	return strings.Join(parts, " and ")
}

// Given reports whether there is a bound.
func (b ColumnBounds) Given() bool { return b.lower != nil || b.upper != nil }
