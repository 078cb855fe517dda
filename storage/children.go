package storage

import (
	"slices"
	"strings"

	"heliograph/internal/base/list"
)

// owned is a row with the position, from 1, of its parent in the list of parents.
type owned[T any] struct {
	row    T
	parent int64
}

// QueueChildren adds a statement that reads rows for n parents to a batch. Its first column is the position of the
// parent, from 1; the other columns are those of the mapper. args begin with the arguments of r.Parents, if r has
// parents. The result has one list for each parent. A parent without rows has a nil list. Within [Batch.Count], the
// statement counts the rows, the counts are kept in b as the result of Count, and the lists are empty.
func (m *Mapper[T, R]) QueueChildren(b *Batch, n int, r *Read, args []any) Result[[][]*R] {
	if !b.counting {
		return m.queueChildren(b, n, r, args)
	}
	counted := &Read{
		Setting: r.Setting, Parents: r.Parents, SQL: `select c.ord, count(*) from (` + r.Query(b.db) + `) c group ` +
			`by c.ord`,
	}
	rows := Values[int64]().queueChildren(b, n, counted, args)
	b.counts = Map(rows, func(rows [][]*int64) []int64 {
		return list.Map(rows, func(of []*int64) int64 {
			if len(of) == 0 {
				return 0
			}
			return *of[0]
		})
	})
	return Known(make([][]*R, n))
}

// queueChildren queues a read of the children of n parents, and returns them by parent. With distributed tables there
// is one statement for each parent, unless r.Parents is nil.
func (m *Mapper[T, R]) queueChildren(b *Batch, n int, r *Read, args []any) Result[[][]*R] {
	var parts []Result[[]*owned[T]]
	r.Parents.forEach(args, func(args []any, shift int64) {
		rows := &m.children
		if shift != 0 {
			rows = &decoding[owned[T], owned[T]]{rows.columns, func(r *owned[T]) error {
				r.parent += shift
				return m.children.finish(r)
			}, rows.value}
		}
		parts = append(parts, rows.queue(b, "", r, args))
	})
	var all Result[[]*owned[T]]
	if len(parts) == 1 { // PostgreSQL has one statement: its rows are not copied
		all = parts[0]
	} else {
		all = Map(All(parts), func(parts [][]*owned[T]) []*owned[T] { return slices.Concat(parts...) })
	}
	return Map(all, func(rows []*owned[T]) [][]*R {
		return GroupByParent(rows, n,
			func(r *owned[T]) int { return int(r.parent - 1) }, func(r *owned[T]) *R { return m.value(&r.row) })
	})
}

// MaxCount is the number of rows up to which [Batch.Count] counts.
const MaxCount = 10_000

// Count makes queue, which calls [Mapper.QueueChildren] at most once, count rows instead of reading them. queue gets
// the page of the rows to count, one row more than [MaxCount]. The result has one number for each of n parents, which
// is 0 if queue reads nothing. The numbers are read when the batch runs. The error is that of queue; with it, the
// result is not valid.
func (b *Batch) Count(n int, queue func(p Page) error) (Result[[]int64], error) {
	b.counting, b.counts = true, Known(make([]int64, n))
	defer func() { b.counting = false }()
	err := queue(Page{Limit: MaxCount + 1})
	return b.counts, err
}

// QueueChild adds a statement to b that reads a row for each of n parents, with the columns and arguments of
// [Mapper.QueueChildren]. Of several rows of a parent it uses the first. The result has nil for parents without a row.
func (m *Mapper[T, R]) QueueChild(b *Batch, n int, r *Read, args []any) Result[[]*R] {
	return Map(m.QueueChildren(b, n, r, args), func(rows [][]*R) []*R { return list.Map(rows, first) })
}

// GroupByParent returns the values of the rows of each of n parents, in the order of rows. parent returns the position
// of the row's parent, from 0; rows for which it is negative are dropped, and a position of n or more panics. value
// returns what the lists have for a row. If the rows of each parent are adjacent, which is usual, all lists share one
// array. A parent without rows has a nil list.
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

// Expressions of the parameters 1 to 3 in the statements of [ByKeys]. Arrays are arrays of IDs or timestamps, Bytes2 is
// an array of bytes, and Any1 to Any3 compare a column with few rows per value with them. The planner of PostgreSQL
// does not see the length of the arrays, as in [Batch.Parents].
const (
	Array1 = "(select $1::bigint[])"
	Array2 = "(select $2::bigint[])"
	Array3 = "(select $3::bigint[])"
	Bytes2 = "(select $2::bytea[])"
	Any1   = "any(" + Array1 + "::bigint[])"
	Any2   = "any(" + Array2 + "::bigint[])"
	Any3   = "any(" + Array3 + "::bigint[])"
)

var (
	singleKeys = strings.NewReplacer(Any1, "$1", Any2, "$2", Any3, "$3")
	openKeys   = strings.NewReplacer(
		Array1, "$1::bigint[]", Array2, "$2::bigint[]", Array3, "$3::bigint[]", Bytes2, "$2::bytea[]",
	)
)

// Keyed is a statement for the rows with some keys, for arrays, for a single key of each kind, and for arrays on a
// distributed database.
type Keyed struct{ arrays, single, apart *Read }

// ByKeys returns a statement in three forms: for a single key, for arrays of keys, and for distributed tables.
// [Any1] and the like in sql stand for the keys.
func ByKeys(sql string) *Keyed {
	return &Keyed{&Read{SQL: sql}, &Read{SQL: singleKeys.Replace(sql)}, &Read{SQL: openKeys.Replace(sql)}}
}

// Arrays returns the statement for arrays of keys, in the form for the tables of db.
func (k *Keyed) Arrays(db *DB) *Read {
	if db.Distributed() {
		return k.apart
	}
	return k.arrays
}

// For returns the statement for some keys, one array for each parameter, and its arguments. If each array has one key,
// the statement compares with the key itself, which costs PostgreSQL less.
func (k *Keyed) For(db *DB, keys ...[]int64) (r *Read, args []any) {
	several := slices.ContainsFunc(keys, func(list []int64) bool { return len(list) != 1 })
	args = make([]any, 0, len(keys)+1)
	for _, list := range keys {
		if several {
			args = append(args, list)
		} else {
			args = append(args, list[0])
		}
	}
	if several {
		return k.Arrays(db), args
	}
	return k.single, args
}

// Union returns the union of one statement for each of n alternatives, and adds their arguments to w. statement
// must sort and limit its rows, so that each alternative can use an index, which a condition with "or" cannot.
// part adds the conditions of an alternative. Without alternatives the statement returns no rows.
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
