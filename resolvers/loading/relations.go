package loading

import (
	"context"
	"fmt"

	"heliograph/graph/fault"
	"heliograph/graph/rowplan"
	"heliograph/storage"
)

// MaxKeys is the maximum number of keys of objects in an argument.
const MaxKeys = 100

// CheckKeys fails with BAD_USER_INPUT if an argument has more than [MaxKeys] keys.
func CheckKeys(n int) error {
	if n > MaxKeys {
		return fault.Input("give at most %d keys", MaxKeys)
	}
	return nil
}

// BatchOf returns the batch of a request, in which the statements of a level are queued. It panics for a batch of
// another type.
func BatchOf(q rowplan.Request) *storage.Batch { return q.Batch.(*storage.Batch) }

// Ahead reads the object with a key and its relations in one round trip, if relations are selected and all of them are
// in byKey. row has the columns by which these relations are read, and becomes the object. found is row, or nil if the
// object does not exist. If it exists, the store of the operation in ctx keeps its relations for the root field of
// ctx. If row is nil, no or other relations are selected, they cannot be queued, or the response is sent in parts,
// done is false and nothing has been read. typ names the object in errors.
func Ahead[K, R any](
	ctx context.Context, tables *rowplan.Tables, typ string, key K, row *R, byKey []string,
	queue storage.QueueKeys[K, *R],
) (found *R, done bool, err error) {
	if row == nil {
		return nil, false, nil
	}
	use, err := rowplan.Ahead(ctx, tables, row, byKey, func(b rowplan.Batch) {
		batch := b.(*storage.Batch)
		storage.Use(batch, queue(batch, []K{key}), func(got []*R) {
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

// LoadAhead returns the object with a key, or nil if it does not exist. It reads it together with its relations, as
// [Ahead] does, which uses row, or else with a statement of its own unless the operation has read it. Other places of
// the operation use the result.
func LoadAhead[K comparable, R any](
	ctx context.Context, db *storage.DB, tables *rowplan.Tables, typ string, key K, row *R, byKey []string,
	queue storage.QueueKeys[K, *R],
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
