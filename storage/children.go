package storage

import "strings"

// Owned is a row with the position, from 1, of its parent in the list of parents.
type Owned[T any] struct {
	Row   T
	Owner int64
}

// QueueChildren queues a statement that reads rows for n parents. The first column is the position of the parent, from 1; the other columns are
// decoded into a T. done is called with one list for each parent, of the results of value.
func QueueChildren[T, R any](b *Batch, n int, sql string, args []any, cols Columns[T], finish func(*T) error, value func(*T) *R, done func([][]*R)) {
	var finishRow func(*Owned[T]) error
	if finish != nil {
		finishRow = func(r *Owned[T]) error { return finish(&r.Row) }
	}
	Queue(b, sql, args, func(r *Owned[T], into []any) []any { return cols(&r.Row, append(into, &r.Owner)) }, finishRow, func(rows []*Owned[T]) {
		done(GroupByParent(rows, n, func(r *Owned[T]) int { return int(r.Owner - 1) }, func(r *Owned[T]) *R { return value(&r.Row) }))
	})
}

// GroupByParent returns the rows of each of n parents, in the order of rows. parent returns the position of the row's parent, from 0; rows for which
// it is negative are dropped. If the rows of each parent are adjacent, which is usual, all lists share one array.
func GroupByParent[T, R any](rows []*T, n int, parent func(*T) int, value func(*T) *R) [][]*R {
	out, all := make([][]*R, n), make([]*R, len(rows))
	for start := 0; start < len(rows); {
		p, end := parent(rows[start]), start
		for ; end < len(rows) && (end == start || parent(rows[end]) == p); end++ {
			all[end] = value(rows[end])
		}
		switch adjacent := all[start:end:end]; {
		case p < 0:
		case out[p] == nil:
			out[p] = adjacent
		default:
			out[p] = append(out[p], adjacent...)
		}
		start = end
	}
	return out
}

// Itself returns v. It is the value function of rows that need no conversion.
func Itself[T any](v *T) *T { return v }

// Any1, Any2 and Any3 are the expression any(…) over the array of IDs or timestamps in parameter 1, 2 or 3, for columns with few rows per value. The
// subquery hides the length of the array from the planner: a generic plan then costs no more than a custom one, so PostgreSQL plans the statement once
// per connection instead of at each execution. unnest((select $1::bigint[])) does the same for parents.
const (
	Any1 = "any((select $1::bigint[])::bigint[])"
	Any2 = "any((select $2::bigint[])::bigint[])"
	Any3 = "any((select $3::bigint[])::bigint[])"
)

// Parents is a FROM item p with the columns id and ord: the IDs in the array $1 and their positions from 1.
const Parents = `unnest((select $1::bigint[])) with ordinality p(id, ord)`

// OfParents returns a FROM item like [Parents] and the argument $1 for it. A single ID becomes a scalar: the planner has statistics for a given
// value, but assumes an average number of rows for the elements of an array.
func OfParents[T ~int64](ids []T) (from string, arg any) {
	if len(ids) == 1 {
		return `(select $1::bigint as id, 1::bigint as ord) p`, int64(ids[0])
	}
	return Parents, Int64s(ids)
}

// Union returns the union of one statement for each of n alternatives. statement must sort and limit its rows, so that each alternative can use an
// index, which a condition with "or" cannot. part adds the conditions of an alternative. Without alternatives the statement returns no rows.
func (w *Where) Union(n int, statement func(conditions string) string, part func(w *Where, i int)) string {
	if n == 0 {
		return statement(" and false")
	}
	parts := make([]string, n)
	for i := range parts {
		alternative := Where{Args: w.Args}
		part(&alternative, i)
		w.Args = alternative.Args
		parts[i] = "(" + statement(alternative.String()) + ")"
	}
	return strings.Join(parts, "\n  union ")
}
