package storage

import (
	"strconv"
	"strings"

	"heliograph/internal/domain/ledger"
)

// where composes the optional conditions of a statement. Values become parameters, so statements that differ in values only are prepared once.
type where struct {
	sql  strings.Builder
	args []any
}

// arg makes a parameter of v and returns its placeholder.
func (w *where) arg(v any) string {
	w.args = append(w.args, v)
	return "$" + strconv.Itoa(len(w.args))
}

// and adds a condition; each ? in it stands for the next value.
func (w *where) and(condition string, values ...any) {
	w.sql.WriteString(" and ")
	for _, v := range values {
		before, after, _ := strings.Cut(condition, "?")
		w.sql.WriteString(before)
		w.sql.WriteString(w.arg(v))
		condition = after
	}
	w.sql.WriteString(condition)
}

// String is all conditions, each with "and" in front.
func (w *where) String() string { return w.sql.String() }

// filter adds the conditions of f on a column. A nil filter adds none.
func filter[T ~int64](w *where, column string, f *ledger.Filter[T]) {
	if f == nil {
		return
	}
	for _, c := range []struct {
		op    string
		value *T
	}{{" = ?", f.Eq}, {" <> ?", f.Ne}, {" > ?", f.Gt}, {" >= ?", f.Gte}, {" < ?", f.Lt}, {" <= ?", f.Lte}} {
		if c.value != nil {
			w.and(column+c.op, int64(*c.value))
		}
	}
	switch {
	case f.In == nil:
	case len(f.In) == 1: // an index gives rows in order for one value, not for a list
		w.and(column+" = ?", int64(f.In[0]))
	default:
		w.and(column+" = any(?)", int64s(f.In))
	}
	if len(f.NotIn) > 0 {
		w.and(column+" <> all(?)", int64s(f.NotIn))
	}
}

// textFilter adds the conditions of f on a text column.
func textFilter(w *where, column string, f *ledger.StringFilter) {
	if f == nil {
		return
	}
	for _, c := range []struct {
		op    string
		value *string
	}{{" = ?", f.Eq}, {" <> ?", f.Ne}, {" > ?", f.Gt}, {" >= ?", f.Gte}, {" < ?", f.Lt}, {" <= ?", f.Lte}} {
		if c.value != nil {
			w.and(column+c.op, *c.value)
		}
	}
	if f.In != nil {
		w.and(column+" = any(?)", f.In)
	}
	if len(f.NotIn) > 0 {
		w.and(column+" <> all(?)", f.NotIn)
	}
}

func int64s[T ~int64](list []T) []int64 {
	out := make([]int64, len(list))
	for i, v := range list {
		out[i] = int64(v)
	}
	return out
}

// Page says which rows of an ordered list to read: Limit of them at most, between two places in the order. A place is the values of the
// columns that the list is ordered by.
type Page struct {
	Limit   int
	Desc    bool
	Greater []any // only rows beyond this place in ascending order
	Less    []any // only rows before it
}

// keyset adds the page's bounds on the columns that the list is ordered by.
func (w *where) keyset(p Page, columns ...string) {
	row := columns[0]
	marks := "?"
	if len(columns) > 1 {
		row = "(" + strings.Join(columns, ", ") + ")"
		marks = "(?" + strings.Repeat(", ?", len(columns)-1) + ")"
	}
	if p.Greater != nil {
		w.and(row+" > "+marks, p.Greater...)
	}
	if p.Less != nil {
		w.and(row+" < "+marks, p.Less...)
	}
}

// orderBy is the order and the limit of a page.
func (w *where) orderBy(p Page, columns ...string) string {
	direction := p.direction()
	return " order by " + strings.Join(columns, direction+", ") + direction + " limit " + w.arg(p.Limit)
}

// direction is the page's order as SQL.
func (p Page) direction() string {
	if p.Desc {
		return " desc"
	}
	return " asc"
}
