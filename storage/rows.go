package storage

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/jackc/pgx/v5"

	"heliograph/internal/base/list"
	"heliograph/internal/base/wrap"
)

// Columns appends to into one pointer for each column of a statement, into a row of type T.
type Columns[T any] func(v *T, into []any) []any

// Mapper decodes the rows of statements with the same columns. Each row is decoded into a T, and the result is the R
// in it.
type Mapper[T, R any] struct {
	decoding[T, R]

	children decoding[owned[T], owned[T]]
}

// decoding is how rows are decoded.
type decoding[T, R any] struct {
	columns Columns[T]
	finish  func(*T) error
	value   func(*T) *R
}

// NewMapper returns a mapper. finish, if not nil, fills the computed fields of a decoded row; its error makes the
// whole read fail. value returns the result of a row.
func NewMapper[T, R any](columns Columns[T], finish func(*T) error, value func(*T) *R) *Mapper[T, R] {
	if finish == nil {
		finish = func(*T) error { return nil }
	}
	return &Mapper[T, R]{decoding[T, R]{columns, finish, value}, decoding[owned[T], owned[T]]{
		func(r *owned[T], into []any) []any { return columns(&r.row, append(into, &r.parent)) },
		func(r *owned[T]) error { return finish(&r.row) }, itself[owned[T]],
	}}
}

// MapperOf returns a mapper whose results are the rows themselves. finish, if not nil, fills the computed fields of a
// decoded row; its error makes the whole read fail.
func MapperOf[T any](columns Columns[T], finish func(*T) error) *Mapper[T, T] {
	return NewMapper(columns, finish, itself)
}

// itself returns v, for mappers whose results are the rows themselves.
func itself[T any](v *T) *T { return v }

// Values returns a mapper of statements with a single column, whose results are pointers to the values.
func Values[T any]() *Mapper[T, T] {
	return MapperOf(func(v *T, into []any) []any { return append(into, v) }, nil)
}

// Value runs at once, in a batch of its own, a statement with one row and one column, and returns its value, or the
// zero value unless there is exactly one row. what names it in errors.
func Value[T any](ctx context.Context, db *DB, what, sql string, args ...any) (v T, err error) {
	row, err := Values[T]().One(ctx, db, what, sql, args...)
	if err != nil || row == nil {
		return v, err
	}
	return *row, nil
}

// slab is the number of rows allocated together: the rest of a page of the default size, and the row after it. The
// first row is allocated alone, because most objects are read by a unique key. A list of 25 transactions has 246
// allocations in BenchmarkWays of app/testing/bench instead of 418 with one for each row, in the same CPU time.
const slab = 25

// Collect decodes all rows and closes them. It fails if a row cannot be decoded or its computed fields are invalid;
// the rows before are lost. Without rows the result is nil. A panic of the function that computes fields is an error
// too: otherwise it could hit another request, which sends the statement with its own, or end the process, and the
// connection would stay in use.
func (d *decoding[T, R]) Collect(rows pgx.Rows) (out []*R, err error) {
	defer rows.Close()
	defer func() {
		if p := recover(); p != nil {
			out, err = nil, &unreadable{fmt.Errorf("computing the fields of a row panicked: %v\n%s", p, debug.Stack())}
		}
	}()
	var (
		free   []T
		decode *decoder
	)
	for rows.Next() {
		if decode == nil {
			decode = decoderOf(rows)
		}
		switch {
		case out == nil:
			out, free = make([]*R, 0, 1), make([]T, 1)
		case len(free) == 0:
			out, free = slices.Grow(out, slab), make([]T, slab)
		}
		v := &free[0]
		free = free[1:]
		decode.targets = d.columns(v, decode.targets[:0])
		if err := decode.row(rows.RawValues()); err != nil {
			return nil, fmt.Errorf("decoding a row: %w", err)
		}
		if err := d.finish(v); err != nil {
			return nil, &unreadable{err}
		}
		out = append(out, d.value(v))
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading rows: %w", err)
	}
	return out, nil
}

// unreadable is the error of a row that cannot be interpreted. Whatever error it wraps, the connection is usable.
type unreadable struct{ error }

// Unwrap returns the error of the function that filled the computed fields.
func (e *unreadable) Unwrap() error { return e.error }

// List runs a statement in a batch of its own and returns its rows. what names them in errors.
func (m *Mapper[T, R]) List(ctx context.Context, db *DB, what, sql string, args ...any) ([]*R, error) {
	return m.ListRead(ctx, db, what, &Read{SQL: sql}, args)
}

// ListRead runs the statement that r describes, with its arguments, in a batch of its own and returns its rows. Its
// text depends on how tables are distributed and on the moment of ctx. what names the rows in errors.
func (m *Mapper[T, R]) ListRead(ctx context.Context, db *DB, what string, r *Read, args []any) ([]*R, error) {
	b := db.NewBatch()
	rows, err := Run(ctx, b, m.QueueRead(b, r, args))
	return rows, wrap.Error(err, "reading %s", what)
}

// One runs a statement in a batch of its own and returns its row, or nil unless there is exactly one. what names the
// row in errors.
func (m *Mapper[T, R]) One(ctx context.Context, db *DB, what, sql string, args ...any) (*R, error) {
	rows, err := m.List(ctx, db, what, sql, args...)
	if err != nil || len(rows) != 1 {
		return nil, err
	}
	return rows[0], nil
}

// Result returns what a batch has read. It fails if the batch has not run.
type Result[T any] = func() (T, error)

var errNotRun = errors.New("the batch has not run")

// Known returns a result with the value v that needs no statement.
func Known[T any](v T) Result[T] { return func() (T, error) { return v, nil } }

// Failed returns a result that fails with err when it is read.
func Failed[T any](err error) Result[T] {
	return func() (v T, _ error) { return v, err }
}

// Map returns a result that applies f to the value of another result each time it is read. Errors are passed on.
func Map[A, B any](r Result[A], f func(A) B) Result[B] {
	return func() (out B, err error) {
		got, err := r()
		if err == nil {
			out = f(got)
		}
		return out, err
	}
}

// First returns a result with the first row of another result, or nil if that has none.
func First[R any](rows Result[[]*R]) Result[*R] { return Map(rows, first) }

// QueueCheck queues a statement with one argument that returns one row with one Boolean, which is the result. Without a
// row, reading the result panics.
func QueueCheck(b *Batch, sql string, arg any) Result[bool] {
	return Map(Values[bool]().Queue(b, sql, []any{arg}), func(rows []*bool) bool { return *rows[0] })
}

// FirstOf returns the first of the rows that a read returns, or nil if it has none, and the read's error.
func FirstOf[R any](rows []*R, err error) (*R, error) { return first(rows), err }

// first returns the first row, or nil if there is none, for results with at most one row.
func first[R any](rows []*R) *R {
	if len(rows) == 0 {
		return nil
	}
	return rows[0]
}

// All returns a result with the values of several results, in order, or with the first error and no values.
func All[T any](results []Result[T]) Result[[]T] {
	return func() (out []T, err error) {
		for _, r := range results {
			got, err := r()
			if err != nil {
				return nil, err
			}
			out = append(out, got)
		}
		return out, nil
	}
}

// Run runs a batch, and returns the value of one of its results. If the batch fails, the result is not read.
func Run[T any](ctx context.Context, b *Batch, r Result[T]) (v T, err error) {
	if err = b.Run(ctx); err == nil {
		v, err = r()
	}
	return v, err
}

// Use registers a function that calls f with the value of a result after the batch has run. f is not called if the
// batch or the result fails.
func Use[T any](b *Batch, r Result[T], f func(T)) {
	b.Then(func() {
		if v, err := r(); err == nil {
			f(v)
		}
	})
}

// QueueGroups calls queue for each distinct key, with the places of the key in keys. The result of queue has one
// element for each of these places, and that of QueueGroups one for each of keys. It calls queue before it returns, in
// no order, and not at all without keys.
func QueueGroups[K comparable, R any](keys []K, queue func(key K, places []int) Result[[]R]) Result[[]R] {
	all, same := make([]int, len(keys)), len(keys) > 0
	for i, key := range keys {
		all[i], same = i, same && key == keys[0]
	}
	if same { // on most pages, for which a map would take longer than the rest
		return queue(keys[0], all)
	}
	groups := map[K][]int{}
	for i, key := range keys {
		groups[key] = append(groups[key], i)
	}
	var places [][]int
	var results []Result[[]R]
	for key, at := range groups {
		places, results = append(places, at), append(results, queue(key, at))
	}
	return Map(All(results), func(groups [][]R) []R {
		out := make([]R, len(keys))
		for i, group := range groups {
			for k, r := range group {
				out[places[i][k]] = r
			}
		}
		return out
	})
}

// Queue adds a statement to a batch, and returns its rows, which can be read after [Batch.Run].
func (m *Mapper[T, R]) Queue(b *Batch, sql string, args []any) Result[[]*R] {
	return m.QueueRead(b, &Read{SQL: sql}, args)
}

// QueueRead queues in b the statement that r describes, with its arguments, like [Mapper.Queue]. The result has all
// rows.
func (m *Mapper[T, R]) QueueRead(b *Batch, r *Read, args []any) Result[[]*R] {
	return m.queue(b, "", r, args)
}

// queue adds a statement to a batch, the text of the prefix and a description, and returns its rows. They can be
// read after the batch has run.
func (d *decoding[T, R]) queue(b *Batch, prefix string, r *Read, args []any) Result[[]*R] {
	f := &fetch[T, R]{decoding: d, err: errNotRun}
	q := query{settings[r.Setting].comment + prefix, r, args, b.marked(f)}
	b.queries[r.Setting] = append(b.queries[r.Setting], q)
	return f.result
}

// fetch reads the rows of a queued statement.
type fetch[T, R any] struct {
	*decoding[T, R]

	rows []*R
	err  error
}

// read implements the reader of a batch: it decodes the rows and keeps them, or the error, for fetch.result.
func (f *fetch[T, R]) read(rows pgx.Rows) error {
	f.rows, f.err = f.Collect(rows)
	return f.err
}

// result returns the decoded rows, or an error if the statement failed or has not run.
func (f *fetch[T, R]) result() ([]*R, error) { return f.rows, f.err }

// QueueByKey adds a statement that reads the rows with some keys to a batch. [Any1] in it stands for the keys, and key
// returns that of a row. The result has one row per key, in the order of keys, and nil for keys without a row.
func QueueByKey[T, R any, K ~int64](
	b *Batch, m *Mapper[T, R], by *Keyed, keys []K, key func(*R) K,
) Result[[]*R] {
	r, args := by.For(b.db, Int64s(keys))
	return Map(m.QueueRead(b, r, args), func(rows []*R) []*R { return ForKeys(rows, keys, key) })
}

// ForKeys returns one of some rows for each key, or nil for keys without a row. Of several rows with the same key it
// returns the last. The list can be rows itself.
func ForKeys[R any, K comparable](rows []*R, keys []K, key func(*R) K) []*R {
	if len(rows) == 1 && len(keys) == 1 && key(rows[0]) == keys[0] {
		return rows
	}
	byKey := list.By(rows, key)
	return list.Map(keys, func(k K) *R { return byKey[k] })
}

// QueueKeys queues reading the objects with some keys. The result has one for each.
type QueueKeys[K, V any] func(b *Batch, keys []K) Result[[]V]

// ReadOne reads one object with a function that queues a query for many. what and the key name the object in errors.
// Without the object, it returns what the result of queue has for it, usually nil.
func ReadOne[K, R any](ctx context.Context, db *DB, what string, key K, queue QueueKeys[K, R]) (found R, err error) {
	b := db.NewBatch()
	rows, err := Run(ctx, b, queue(b, []K{key}))
	if err != nil {
		return found, fmt.Errorf("reading %s %v: %w", what, key, err)
	}
	return rows[0], nil
}

// DecodeJSON decodes a JSON column into v. Names of members and of Go fields match if they differ in case and
// underscores only, so that rows of the graph need no second type for the names of the database. A null column
// leaves v as it is. Errors do not name the column: callers add it.
func DecodeJSON(column []byte, v any) error {
	if column == nil || string(column) == "null" {
		return nil
	}
	return json.Unmarshal(column, v, json.MatchCaseInsensitiveNames(true)) //nolint:wrapcheck // see the callers
}
