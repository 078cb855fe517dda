package storage

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Batch collects statements that are sent in one round trip. It must not be used concurrently.
type Batch struct {
	db    *DB
	batch pgx.Batch
	last  func(pgx.Rows) error // reads the rows of the last statement that has rows
	done  []func()
}

// Then registers a function that Run calls after all statements have succeeded.
func (b *Batch) Then(f func()) { b.done = append(b.done, f) }

// NewBatch returns a new, empty batch.
func (db *DB) NewBatch() *Batch { return &Batch{db: db} }

// DB returns the DB that the batch runs on.
func (b *Batch) DB() *DB { return b.db }

// Exec queues a statement that returns no rows.
func (b *Batch) Exec(sql string, args ...any) { b.batch.Queue(sql, args...) }

// Len returns the number of queued statements.
func (b *Batch) Len() int { return b.batch.Len() }

// Run sends the batch, and reads the rows of its statements in the order in which they were queued.
func (b *Batch) Run(ctx context.Context) error {
	if err := withCause(ctx, b.send(ctx)); err != nil {
		return fmt.Errorf("running a batch: %w", err)
	}
	for _, f := range b.done {
		f()
	}
	return nil
}

func (b *Batch) send(ctx context.Context) error {
	n := b.batch.Len()
	if n == 0 {
		return nil
	}
	slot, err := b.db.enter(ctx, b.batch.QueuedQueries[0].SQL)
	if err != nil {
		return err
	}
	defer slot.leave()
	switch {
	case n == 1 && b.last != nil: // a single query needs fewer protocol messages than a batch
		only := b.batch.QueuedQueries[0]
		rows, err := b.db.querier().Query(ctx, only.SQL, only.Arguments...)
		if err != nil {
			return err
		}
		return b.last(rows)
	default:
		return b.db.querier().SendBatch(ctx, &b.batch).Close() //nolint:wrapcheck // Run wraps it
	}
}

// Set queues a setting of the session that applies to the following statements of the batch.
func (b *Batch) Set(name, value string) {
	Values[string]().Queue(b, `select set_config($1, $2, true)`, []any{name, value}, func([]*string) {})
}
