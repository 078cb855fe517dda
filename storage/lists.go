package storage

// listed is a row with the place of its parent among those that were asked for.
type listed[T any] struct {
	row    T
	parent int64
}

// queueLists queues a statement that reads rows of several parents, whose place, from 1, is in the first column; done gets one list for each parent.
func queueLists[T, R any](b *Batch, parents int, sql string, args []any, cols columns[R], finish func(*R) error, of func(*R) *T, done func([][]*T)) {
	targets := func(r *listed[R], into []any) []any { return cols(&r.row, append(into, &r.parent)) }
	var complete func(*listed[R]) error
	if finish != nil {
		complete = func(r *listed[R]) error { return finish(&r.row) }
	}
	queue(b, sql, args, targets, complete, func(rows []*listed[R]) {
		out := make([][]*T, parents)
		for _, r := range rows {
			out[r.parent-1] = append(out[r.parent-1], of(&r.row))
		}
		done(out)
	})
}

// itself is for rows that are what is asked for.
func itself[T any](v *T) *T { return v }
