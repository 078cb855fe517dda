package storage

import "strings"

// owned is a row with the place, from 1, of the parent it belongs to among those that were asked for.
type owned[T any] struct {
	row   T
	owner int64
}

// queueChildren queues a statement whose first column is the parent's place, from 1, and reads the others into a T; done gets one list for each
// of n parents. value is what of a T is handed on.
func queueChildren[T, R any](b *Batch, n int, sql string, args []any, cols columns[T], finish func(*T) error, value func(*T) *R, done func([][]*R)) {
	var finishRow func(*owned[T]) error
	if finish != nil {
		finishRow = func(r *owned[T]) error { return finish(&r.row) }
	}
	queue(b, sql, args, func(r *owned[T], into []any) []any { return cols(&r.row, append(into, &r.owner)) }, finishRow, func(rows []*owned[T]) {
		done(divide(rows, n, func(r *owned[T]) int { return int(r.owner - 1) }, func(r *owned[T]) *R { return value(&r.row) }))
	})
}

// divide gives each of n parents its rows in the order in which they come; parent is the place of a row's parent, negative for a row that belongs
// to none. Rows of a parent stand together as a rule: then its list is a part of one list for all.
func divide[T, R any](rows []*T, n int, parent func(*T) int, value func(*T) *R) [][]*R {
	out, all := make([][]*R, n), make([]*R, len(rows))
	for start := 0; start < len(rows); {
		p, end := parent(rows[start]), start
		for ; end < len(rows) && (end == start || parent(rows[end]) == p); end++ {
			all[end] = value(rows[end])
		}
		switch together := all[start:end:end]; {
		case p < 0:
		case out[p] == nil:
			out[p] = together
		default:
			out[p] = append(out[p], together...)
		}
		start = end
	}
	return out
}

// itself is a row that is handed on as it is.
func itself[T any](v *T) *T { return v }

// parents is the list of parents whose ids are $1, as a table p with their ids and places.
const parents = `unnest($1::bigint[]) with ordinality p(id, ord)`

// eachPart composes the union of a statement for each of n alternatives, of which every one is ordered and cut to the page: so each can use an
// index where one statement with "or" could not. part adds the conditions of an alternative. Without alternatives nothing is found.
func (w *where) eachPart(n int, statement func(conditions string) string, part func(w *where, i int)) string {
	if n == 0 {
		return statement(" and false")
	}
	parts := make([]string, n)
	for i := range parts {
		alternative := where{args: w.args}
		part(&alternative, i)
		w.args = alternative.args
		parts[i] = "(" + statement(alternative.String()) + ")"
	}
	return strings.Join(parts, "\n  union ")
}
