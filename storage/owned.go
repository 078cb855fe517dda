package storage

import "strings"

// Owned is a row with the place, from 1, of the parent it belongs to among those that were asked for.
type Owned[T any] struct {
	Row   T
	Owner int64
}

// QueueChildren queues a statement whose first column is the parent's place, from 1, and reads the others into a T; done gets one list for each
// of n parents. value is what of a T is handed on.
func QueueChildren[T, R any](b *Batch, n int, sql string, args []any, cols Columns[T], finish func(*T) error, value func(*T) *R, done func([][]*R)) {
	var finishRow func(*Owned[T]) error
	if finish != nil {
		finishRow = func(r *Owned[T]) error { return finish(&r.Row) }
	}
	Queue(b, sql, args, func(r *Owned[T], into []any) []any { return cols(&r.Row, append(into, &r.Owner)) }, finishRow, func(rows []*Owned[T]) {
		done(Divide(rows, n, func(r *Owned[T]) int { return int(r.Owner - 1) }, func(r *Owned[T]) *R { return value(&r.Row) }))
	})
}

// Divide gives each of n parents its rows in the order in which they come; parent is the place of a row's parent, negative for a row that belongs
// to none. Rows of a parent stand together as a rule: then its list is a part of one list for all.
func Divide[T, R any](rows []*T, n int, parent func(*T) int, value func(*T) *R) [][]*R {
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

// Itself is a row that is handed on as it is.
func Itself[T any](v *T) *T { return v }

// Parents is the list of parents whose ids are $1, as a table p with their ids and places.
const Parents = `unnest($1::bigint[]) with ordinality p(id, ord)`

// OfParents is the list of parents as a table p with their ids and places, and its parameter $1. A single parent stands for itself: so the planner
// knows how many rows it has, where it expects of a list that each has as many as most.
func OfParents[T ~int64](ids []T) (from string, arg any) {
	if len(ids) == 1 {
		return `(select $1::bigint as id, 1::bigint as ord) p`, int64(ids[0])
	}
	return Parents, Int64s(ids)
}

// Union composes the union of a statement for each of n alternatives, of which every one is ordered and cut to the page: so each can use an
// index where one statement with "or" could not. part adds the conditions of an alternative. Without alternatives nothing is found.
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
