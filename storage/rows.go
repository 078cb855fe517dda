package storage

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Columns appends to into one pointer for each column of a statement, into a row of type T.
type Columns[T any] func(v *T, into []any) []any

// slab is the number of rows allocated together: a page of the default size and the row after it.
const slab = 26

// Collect decodes all rows and closes them. finish, if not nil, is called with each decoded row.
func Collect[T any](rows pgx.Rows, cols Columns[T], finish func(*T) error) ([]*T, error) {
	defer rows.Close()
	var (
		out    []*T
		free   []T
		decode *decoder
	)
	for rows.Next() {
		if decode == nil {
			decode = decoderOf(rows)
		}
		if len(free) == 0 {
			free = make([]T, slab)
		}
		v := &free[0]
		free = free[1:]
		decode.targets = cols(v, decode.targets[:0])
		if err := decode.row(rows.RawValues()); err != nil {
			return nil, fmt.Errorf("decoding a row: %w", err)
		}
		if finish != nil {
			if err := finish(v); err != nil {
				return nil, &unreadable{err}
			}
		}
		if out == nil {
			out = make([]*T, 0, slab)
		}
		out = append(out, v)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading rows: %w", err)
	}
	return out, nil
}

// unreadable is the error of a row that cannot be interpreted. Whatever error it wraps, the connection is usable.
type unreadable struct{ error }

func (e *unreadable) Unwrap() error { return e.error }

// List runs a statement and decodes its rows. finish, if not nil, is called with each of them.
func List[T any](ctx context.Context, db *DB, sql string, args []any, cols Columns[T], finish func(*T) error) ([]*T, error) {
	rows, err := db.querier().Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("querying: %w", withCause(ctx, err))
	}
	out, err := Collect(rows, cols, finish)
	return out, withCause(ctx, err)
}
