package loading

import (
	"context"
	"fmt"

	"heliograph/graph/rowplan"
	"heliograph/internal/base/list"
	"heliograph/storage"
)

// MaxKeys is the maximum number of keys of objects in an argument.
const MaxKeys = 100

// Queued returns the results that a function of storage passes to done.
func Queued[R any](q rowplan.Request, queue func(b *storage.Batch, done func([]R))) (rowplan.Results[R], error) {
	var got []R
	queue(BatchOf(q), func(r []R) { got = r })
	return func() ([]R, error) { return got, nil }, nil
}

// BatchOf returns the batch of a request.
func BatchOf(q rowplan.Request) *storage.Batch { return q.Batch.(*storage.Batch) }

// Read returns the results of a function of storage that reads rows by their keys.
func Read[T, K, R any](
	q rowplan.Request, of []T, key func(T) K, queue func(*storage.Batch, []K, func([]R)),
) (rowplan.Results[R], error) {
	return Queued(q, func(b *storage.Batch, done func([]R)) { queue(b, list.Map(of, key), done) })
}

// ReadRows returns the results of a function of storage that takes the parents themselves.
func ReadRows[T, R any](
	q rowplan.Request, of []T, queue func(*storage.Batch, []T, func([]R)),
) (rowplan.Results[R], error) {
	return Queued(q, func(b *storage.Batch, done func([]R)) { queue(b, of, done) })
}

// Ahead reads the object with a key and its relations in one round trip, if all selected relations are in byKey.
// row has the columns by which these relations are read, and becomes the object. If row is nil or other relations are
// selected, done is false and nothing has been read. typ names the object in errors.
func Ahead[K, R any](
	ctx context.Context, tables *rowplan.Tables, typ string, key K, row *R, byKey []string, queue QueueKeys[K, *R],
) (found *R, done bool, err error) {
	if row == nil {
		return nil, false, nil
	}
	use, err := rowplan.Ahead(ctx, tables, row, byKey, func(b rowplan.Batch) {
		queue(b.(*storage.Batch), []K{key}, func(got []*R) {
			if got[0] != nil {
				*row, found = *got[0], row
			}
		})
	})
	if err != nil {
		return nil, false, fmt.Errorf("reading %s: %w", typ, err)
	}
	if found != nil { // else the caller can return another object, whose relations are not those of row
		use()
	}
	return found, use != nil, nil
}

// LoadAhead is [Ahead], or [LoadOne] if other relations are selected.
func LoadAhead[K comparable, R any](
	ctx context.Context, db *storage.DB, tables *rowplan.Tables, typ string, key K, row *R, byKey []string,
	queue QueueKeys[K, *R],
) (*R, error) {
	found, done, err := Ahead(ctx, tables, typ, key, row, byKey, queue)
	if err != nil {
		return nil, err
	}
	if !done {
		return LoadOne(ctx, db, typ, key, queue)
	}
	Prime(ctx, typ, key, found)
	return found, nil
}
