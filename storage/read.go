package storage

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"
)

// Columns says where the columns of a statement go in a row of type T; it appends one pointer a column to into.
type Columns[T any] func(v *T, into []any) []any

// slab is how many rows are allocated together: a page of the usual size, and the row behind it.
const slab = 26

// Collect reads all rows. finish, if not nil, completes each one.
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
			return nil, fmt.Errorf("reading a row: %w", err)
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

// unreadable is the error of a row that the database gave and that cannot be understood. Whatever is inside of it, the connection is sound.
type unreadable struct{ error }

func (e *unreadable) Unwrap() error { return e.error }

// List runs a statement and reads its rows.
func List[T any](ctx context.Context, db *DB, sql string, args []any, cols Columns[T], finish func(*T) error) ([]*T, error) {
	rows, err := db.querier().Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("querying: %w", err)
	}
	return Collect(rows, cols, finish)
}

// Batch collects statements that are sent in one round trip.
type Batch struct {
	db    *DB
	batch pgx.Batch
	last  func(pgx.Rows) error // reads the rows of the last statement that has some
	done  []func()
}

// Then is called when all statements have been answered.
func (b *Batch) Then(f func()) { b.done = append(b.done, f) }

// NewBatch starts an empty batch.
func (db *DB) NewBatch() *Batch { return &Batch{db: db} }

// DB returns the DB that the batch runs on.
func (b *Batch) DB() *DB { return b.db }

// Exec queues a statement without rows.
func (b *Batch) Exec(sql string, args ...any) { b.batch.Queue(sql, args...) }

// Len is how many statements wait.
func (b *Batch) Len() int { return b.batch.Len() }

// Run sends the batch and reads all answers.
func (b *Batch) Run(ctx context.Context) error {
	if err := b.send(ctx); err != nil {
		return fmt.Errorf("running a batch: %w", err)
	}
	for _, f := range b.done {
		f()
	}
	return nil
}

func (b *Batch) send(ctx context.Context) error {
	switch n := b.batch.Len(); {
	case n == 0:
		return nil
	case n == 1 && b.last != nil: // which needs nothing of what tells the answers of several apart
		only := b.batch.QueuedQueries[0]
		rows, err := b.db.querier().Query(ctx, only.SQL, only.Arguments...)
		if err != nil {
			return err
		}
		return b.last(rows)
	default:
		return b.db.querier().SendBatch(ctx, &b.batch).Close() //nolint:wrapcheck // the caller does
	}
}

// Queue adds a statement whose rows are read when the batch runs.
func Queue[T any](b *Batch, sql string, args []any, cols Columns[T], finish func(*T) error, done func([]*T)) {
	b.last = func(rows pgx.Rows) error {
		got, err := Collect(rows, cols, finish)
		if err != nil {
			return err
		}
		done(got)
		return nil
	}
	b.batch.Queue(sql, args...).Query(b.last)
}

// Set queues a setting of the planner that holds for the statements behind it, until the end of the batch.
func (b *Batch) Set(name, value string) {
	Queue(b, `select set_config($1, $2, true)`, []any{name, value}, func(v *string, into []any) []any { return append(into, v) }, nil, func([]*string) {})
}

// Failure is what kind of trouble an error of this package is.
type Failure int

// The kinds of trouble.
const (
	FailureOther       Failure = iota // a mistake of ours, or data that cannot be read
	FailureTimeout                    // the statement or the request took too long
	FailureDatabase                   // the database refused, or cannot be reached
	FailureCancelled                  // the client has gone
	FailureAmbiguous                  // the database holds two where there can be one
	FailureOutOfBounds                // a value that no column can hold
)

// ErrAmbiguous is returned when two live entities have the alias or address that was asked for.
var ErrAmbiguous = errors.New("more than one live entity matches")

// FailureOf tells what kind of trouble err is.
func FailureOf(err error) Failure {
	var pg *pgconn.PgError
	var connect *pgconn.ConnectError
	var row *unreadable
	switch {
	case errors.As(err, &row):
		return FailureOther
	case errors.Is(err, ErrAmbiguous):
		return FailureAmbiguous
	case errors.As(err, &pg) && pg.Code == "57014", errors.Is(err, context.DeadlineExceeded), pgconn.Timeout(err) && !errors.Is(err, context.Canceled):
		return FailureTimeout
	case errors.Is(err, context.Canceled):
		return FailureCancelled
	case errors.As(err, &pg) && len(pg.Code) == 5 && pg.Code[:2] == "22":
		return FailureOutOfBounds
	case errors.As(err, &pg), errors.As(err, &connect), pgconn.SafeToRetry(err), errors.Is(err, puddle.ErrClosedPool), isClosed(err):
		return FailureDatabase
	default:
		return FailureOther
	}
}

// isClosed tells whether the connection broke while it was used.
func isClosed(err error) bool {
	var netErr interface{ Temporary() bool }
	return errors.As(err, &netErr) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
}
