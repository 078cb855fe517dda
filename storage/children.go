package storage

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"heliograph/internal/base/list"
)

// owned is a row with the position, from 1, of its parent in the list of parents.
type owned[T any] struct {
	row    T
	parent int64
}

// QueueChildren adds a statement that reads rows for n parents to a batch. Its first column is the position of the
// parent, from 1; the other columns are those of the mapper. done is called with one list for each parent.
func (m *Mapper[T, R]) QueueChildren(b *Batch, n int, sql string, args []any, done func([][]*R)) {
	if b.count != nil {
		b.queueCount(n, sql, args)
		return
	}
	columns := func(r *owned[T], into []any) []any { return m.columns(&r.row, append(into, &r.parent)) }
	var finish func(*owned[T]) error
	if m.finish != nil {
		finish = func(r *owned[T]) error { return m.finish(&r.row) }
	}
	statements := b.db.statements(sql, args)
	var all []*owned[T]
	left := len(statements)
	for _, s := range statements {
		queue(b, s.sql, s.args, columns, finish, itself, func(rows []*owned[T]) {
			if all == nil {
				all = rows // PostgreSQL has one statement: its rows are not copied
			} else {
				all = append(all, rows...)
			}
			left--
			if left == 0 {
				done(GroupByParent(all, n, func(r *owned[T]) int {
					return int(r.parent - 1)
				}, func(r *owned[T]) *R { return m.value(&r.row) }))
			}
		})
	}
	if left == 0 {
		b.Then(func() { done(make([][]*R, n)) })
	}
}

// MaxCount is the number of rows up to which [Batch.Count] counts.
const MaxCount = 10_000

// Count makes queue, which calls [Mapper.QueueChildren] once, count rows instead of reading them. queue gets the page
// of the rows to count, one row more than [MaxCount]. done is called with one number for each parent.
func (b *Batch) Count(queue func(p Page) error, done func([]int64)) error {
	b.count = done
	defer func() { b.count = nil }()
	return queue(Page{Limit: MaxCount + 1})
}

// parentCount is the number of rows of a parent.
type parentCount struct{ parent, rows int64 }

var parentCounts = MapperOf(func(c *parentCount, into []any) []any { return append(into, &c.parent, &c.rows) }, nil)

// queueCount queues a statement for the number of rows that a statement of [Mapper.QueueChildren] would read.
func (b *Batch) queueCount(n int, sql string, args []any) {
	done, counts, left := b.count, make([]int64, n), 0
	for _, s := range b.db.statements(sql, args) {
		var comment string
		if set := settingOf(s.sql); set >= 0 {
			comment, s.sql = settings[set].comment, s.sql[len(settings[set].comment):]
		}
		left++
		parentCounts.Queue(b, comment+`select c.ord, count(*) from (`+s.sql+`) c group by c.ord`,
			s.args, func(rows []*parentCount) {
				for _, r := range rows {
					counts[r.parent-1] = r.rows
				}
				left--
				if left == 0 {
					done(counts)
				}
			})
	}
	if left == 0 {
		b.Then(func() { done(counts) })
	}
}

// QueueChild is [Mapper.QueueChildren] for parents with at most one row. Of several rows it uses the first. done
// receives nil for parents without a row.
func (m *Mapper[T, R]) QueueChild(b *Batch, n int, sql string, args []any, done func([]*R)) {
	m.QueueChildren(b, n, sql, args, func(rows [][]*R) {
		out := make([]*R, n)
		for i, list := range rows {
			if len(list) > 0 {
				out[i] = list[0]
			}
		}
		done(out)
	})
}

// GroupByParent returns the rows of each of n parents, in the order of rows. parent returns the position of the row's
// parent, from 0; rows for which it is negative are dropped. If the rows of each parent are adjacent, which is usual,
// all lists share one array.
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

// Any1, Any2 and Any3 are the expression any(…) over the array of IDs or timestamps in parameter 1, 2 or 3, for
// columns with few rows per value. The subquery hides the length of the array from the planner: a generic plan then
// costs no more than a custom one, so PostgreSQL plans the statement once per connection instead of at each execution.
// [Unnest] does the same for parents.
const (
	Any1 = "any((select $1::bigint[])::bigint[])"
	Any2 = "any((select $2::bigint[])::bigint[])"
	Any3 = "any((select $3::bigint[])::bigint[])"
)

// ForKeys returns a statement with [Any1], [Any2] and [Any3], and its arguments. If each array has one key, the
// statement compares with the key itself, which costs PostgreSQL less.
func ForKeys(sql string, keys ...[]int64) (text string, args []any) {
	args = make([]any, len(keys))
	several := slices.ContainsFunc(keys, func(list []int64) bool { return len(list) != 1 })
	for i, list := range keys {
		if args[i] = list; !several {
			args[i] = list[0]
		}
	}
	if several {
		return sql, args
	}
	single, ok := forSingle.Load(sql)
	if !ok {
		single = strings.NewReplacer(Any1, "$1", Any2, "$2", Any3, "$3").Replace(sql)
		forSingle.Store(sql, single)
	}
	return single.(string), args
}

// forSingle has the statements of [ForKeys] for single keys. Replacing takes longer than finding them.
var forSingle sync.Map

// Parents is a FROM item p with the columns id and ord: the IDs in the array $1 and their positions from 1.
const Parents = `unnest((select $1::bigint[])) with ordinality p(id, ord)`

// Unnest returns a FROM item p with one column for each of the arrays of numbers $1, $2 … and the column ord, their
// position from 1.
func Unnest(columns ...string) string {
	arrays := make([]string, len(columns))
	for i := range columns {
		arrays[i] = `(select $` + strconv.Itoa(i+1) + `::bigint[])`
	}
	return `unnest(` + strings.Join(arrays, ", ") + `) with ordinality p(` + strings.Join(columns, ", ") + `, ord)`
}

// UnnestKeys returns a FROM item like [Unnest] and its arguments, for columns with few rows per value. The columns of
// a single row are scalars, which cost PostgreSQL less.
func UnnestKeys(columns []string, keys ...[]int64) (from string, args []any) {
	args = list.Map(keys, func(key []int64) any { return key })
	if len(keys[0]) != 1 {
		return Unnest(columns...), args
	}
	var sql strings.Builder
	sql.WriteString("(select ")
	for i, key := range keys {
		args[i] = key[0]
		sql.WriteString("$" + strconv.Itoa(i+1) + "::bigint as " + columns[i] + ", ")
	}
	return sql.String() + "1::bigint as ord) p", args
}

// OfParents returns a FROM item like [Parents] and the argument $1 for it. A single ID becomes a scalar: the planner
// has statistics for a given value, but assumes an average number of rows for the elements of an array.
func OfParents[T ~int64](ids []T) (from string, arg any) {
	if len(ids) == 1 {
		return `(select $1::bigint as id, 1::bigint as ord) p`, int64(ids[0])
	}
	return Parents, Int64s(ids)
}

// Union returns the union of one statement for each of n alternatives. statement must sort and limit its rows, so that
// each alternative can use an index, which a condition with "or" cannot. part adds the conditions of an alternative.
// Without alternatives the statement returns no rows.
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
