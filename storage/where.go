package storage

import (
	"slices"
	"strconv"
	"strings"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
)

// Where composes the conditions of a statement. Values become parameters, so that statements which differ only in
// values are prepared once.
type Where struct {
	sql strings.Builder
	// Args are the arguments of the statement. Conditions continue its numbering.
	Args []any
}

// With returns empty conditions for a statement whose first arguments are args.
func With(args ...any) Where { return Where{Args: args} }

// Arg appends v to the arguments of the statement and returns its placeholder, such as $3.
func (w *Where) Arg(v any) string {
	w.Args = append(w.Args, v)
	return "$" + strconv.Itoa(len(w.Args))
}

// And adds a condition. Each ? in it is replaced by the placeholder of the next value. There must be as many of them
// as values.
func (w *Where) And(condition string, values ...any) {
	w.sql.WriteString(" and ")
	for _, v := range values {
		before, after, _ := strings.Cut(condition, "?")
		w.sql.WriteString(before)
		w.sql.WriteString(w.Arg(v))
		condition = after
	}
	w.sql.WriteString(condition)
}

// Among adds a condition on an array of n values, which is false without values: a comparison with an empty array would
// read all rows. The only ? in the condition is replaced by the placeholder of the array.
func (w *Where) Among(condition string, n int, array any) {
	if n == 0 {
		w.And("false")
		return
	}
	w.And(condition, array)
}

// Raw appends SQL that has no values. Unlike [Where.And], it does not add "and".
func (w *Where) Raw(sql string) { w.sql.WriteString(sql) }

// String returns all conditions in the order in which they were added, those of [Where.And] with " and " before each;
// empty without conditions.
func (w *Where) String() string { return w.sql.String() }

// Filter adds the conditions of f on a column of integers to w, with their arguments. f may be nil.
func Filter[T ~int64](w *Where, column string, f *ledger.Filter[T]) {
	filter(w, column, "?", f, func(v T) any { return int64(v) }, func(values []T) any { return Int64s(values) })
}

// FilterOpaque adds the conditions of f on a column of integers to w, with their arguments, but unlike [Filter] hides
// single values from the planner with [DB.Hidden], and not arrays. It then expects a range to contain one of 200 rows,
// and uses the index of the column even if the range is larger and few of its rows match the other conditions. f may
// be nil.
func FilterOpaque[T ~int64](db *DB, w *Where, column string, f *ledger.Filter[T]) {
	filter(w, column, db.Hidden("?::bigint"), f, func(v T) any {
		return int64(v)
	}, func(values []T) any { return Int64s(values) })
}

// FilterText adds the conditions of f on a text column to w. f may be nil.
func FilterText(w *Where, column string, f *ledger.StringFilter) {
	filter(w, column, "?", f, func(v string) any { return v }, func(values []string) any { return values })
}

// filter adds the conditions of f to w. mark stands for a single value: "?", or an expression with it, and one and all
// convert values to arguments. f may be nil. An empty in that is not nil matches no row.
func filter[T ~int64 | ~string](
	w *Where, column, mark string, f *ledger.Filter[T], one func(T) any, all func([]T) any,
) {
	if f == nil {
		return
	}
	for _, c := range []struct {
		op    string
		value *T
	}{{" = ", f.Eq}, {" <> ", f.Ne}, {" > ", f.Gt}, {" >= ", f.Gte}, {" < ", f.Lt}, {" <= ", f.Lte}} {
		if c.value != nil {
			w.And(column+c.op+mark, one(*c.value))
		}
	}
	switch {
	case f.In == nil:
	case len(f.In) == 1: // an index returns rows in order for one value, but not for an array
		w.And(column+" = "+mark, one(f.In[0]))
	default:
		w.Among(column+" = any(?)", len(f.In), all(f.In))
	}
	if len(f.NotIn) > 0 {
		w.And(column+" <> all(?)", all(f.NotIn))
	}
}

// FilterBytes adds the conditions of f on a column of bytes to w. form converts a value to the form that the column
// holds. f may be nil. An empty in that is not nil matches no row.
func FilterBytes(w *Where, column string, f *ledger.BytesFilter, form func([]byte) []byte) {
	if f == nil {
		return
	}
	for _, c := range []struct {
		op    string
		value []byte
	}{{" = ?", f.Eq}, {" > ?", f.Gt}, {" >= ?", f.Gte}, {" < ?", f.Lt}, {" <= ?", f.Lte}} {
		if c.value != nil {
			w.And(column+c.op, form(c.value))
		}
	}
	if f.In != nil {
		w.Among(column+" = any(?)", len(f.In), list.Map(f.In, form))
	}
}

// Int64s converts IDs or timestamps to an array argument.
func Int64s[T ~int64](ids []T) []int64 { return list.Map(ids, func(v T) int64 { return int64(v) }) }

// Page selects rows of an ordered list: at most Limit rows between two keys. A key contains the values of the columns
// that the list is sorted by.
type Page struct {
	Limit   int
	Desc    bool
	Greater []any // only rows with a greater key
	Less    []any // only rows with a smaller key
}

// NewPage returns a page of at most limit rows, in descending order if desc. greater and less are the keys of the rows
// before and after it, and may be nil.
func NewPage(limit int, desc bool, greater, less []any) Page { return Page{limit, desc, greater, less} }

// Keyset adds to w the conditions of the page on the columns that the list is sorted by: after one key, before
// another. Columns before those of the keys have the value of the first argument of w.
func (w *Where) Keyset(p Page, columns ...string) {
	length := max(len(p.Greater), len(p.Less))
	row := "(" + strings.Join(columns, ", ") + ")"
	marks := "(" + strings.Repeat("$1, ", len(columns)-length) +
		strings.TrimPrefix(strings.Repeat(", ?", length), ", ") + ")"
	if p.Greater != nil {
		w.And(row+" > "+marks, p.Greater...)
	}
	if p.Less != nil {
		w.And(row+" < "+marks, p.Less...)
	}
}

// KeysetFirst adds what the conditions of the page imply for the first of the columns that the list is sorted by. A
// page without keys adds nothing.
func (w *Where) KeysetFirst(p Page, column string) {
	if p.Greater != nil {
		w.And(column+" >= ?", p.Greater[0])
	}
	if p.Less != nil {
		w.And(column+" <= ?", p.Less[0])
	}
}

// OrderBy returns the ORDER BY and LIMIT clauses of the page. It can add the limit to the arguments of w.
func (w *Where) OrderBy(p Page, columns ...string) string {
	return " order by " + p.Order(columns...) + " limit " + w.limit(p.Limit)
}

// limit returns a row count for a LIMIT clause. Usual page sizes, with and without the additional row that shows
// whether there is a next page, are part of the text: with a parameter, a generic plan would have to assume that a
// tenth of all rows is read, so PostgreSQL would plan each execution.
func (w *Where) limit(n int) string {
	if slices.Contains(usualSizes, n) {
		return strconv.Itoa(n)
	}
	return w.Arg(n)
}

var usualSizes = []int{1, 2, 25, 26, 100, 101}

// IsFirst reports whether statements have no arguments for the page: it is the first one, of a usual size.
func (p Page) IsFirst() bool {
	return p.Greater == nil && p.Less == nil && slices.Contains(usualSizes, p.Limit)
}

// Order returns the columns with the direction of the page, for an ORDER BY clause.
func (p Page) Order(columns ...string) string {
	return strings.Join(columns, p.Direction()+", ") + p.Direction()
}

// Direction returns " asc" or " desc".
func (p Page) Direction() string {
	if p.Desc {
		return " desc"
	}
	return " asc"
}
