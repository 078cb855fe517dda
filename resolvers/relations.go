package resolvers

import (
	"context"
	"fmt"

	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/resolvers/statuspages"
	"heliograph/storage"
	"heliograph/storage/entities"
	"heliograph/storage/transactions"
)

// fields implements [graph.Fields]: one method per field that is not stored in the row. A method queues the statements
// for all parents of a level and returns one result per parent.
type fields struct {
	*Resolver
	statuspages.Fields
}

// queued returns the results that a function of storage passes to done.
//
//nolint:unparam // batch functions return the error as it is
func queued[R any](q rowplan.Request, queue func(b *storage.Batch, done func([]R))) (rowplan.Results[R], error) {
	var got []R
	queue(batchOf(q), func(r []R) { got = r })
	return func() ([]R, error) { return got, nil }, nil
}

func batchOf(q rowplan.Request) *storage.Batch { return q.Batch.(*storage.Batch) }

// read returns the results of a function of storage that reads rows by their keys.
func read[T, K, R any](
	q rowplan.Request, of []T, key func(T) K, queue func(*storage.Batch, []K, func([]R)),
) (rowplan.Results[R], error) {
	return queued(q, func(b *storage.Batch, done func([]R)) { queue(b, list.Map(of, key), done) })
}

// readRows returns the results of a function of storage that takes the parents themselves.
func readRows[T, R any](
	q rowplan.Request, of []T, queue func(*storage.Batch, []T, func([]R)),
) (rowplan.Results[R], error) {
	return queued(q, func(b *storage.Batch, done func([]R)) { queue(b, of, done) })
}

// readAhead reads the object with a key and its relations in one round trip, if all selected relations are in byKey.
// row has the columns by which these relations are read, and becomes the object. If row is nil or other relations are
// selected, done is false and nothing has been read. typ names the object in errors.
func readAhead[K, R any](
	ctx context.Context, r *Resolver, typ string, key K, row *R, byKey []string, queue queueKeys[K, *R],
) (found *R, done bool, err error) {
	if row == nil {
		return nil, false, nil
	}
	use, err := rowplan.Ahead(ctx, r.Tables(), row, byKey, func(b rowplan.Batch) {
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

// loadAhead is [readAhead], or [loadOne] if other relations are selected.
func loadAhead[K comparable, R any](
	ctx context.Context, r *Resolver, typ string, key K, row *R, byKey []string, queue queueKeys[K, *R],
) (*R, error) {
	found, done, err := readAhead(ctx, r, typ, key, row, byKey, queue)
	if err != nil {
		return nil, err
	}
	if !done {
		return loadOne(ctx, r, typ, key, queue)
	}
	prime(ctx, typ, key, found)
	return found, nil
}

// queueEntities queues the queries for entities of any type by id. A contract is a Contract, not an Account. done
// receives one entity per id, or nil for ids that do not exist.
func queueEntities(b *storage.Batch, ids []ledger.EntityID, done func([]relay.Entity)) {
	out := make([]relay.Entity, len(ids))
	entities.QueueContracts(b, ids, fill[ledger.Contract](out))
	entities.QueueAccounts(b, ids, fill[ledger.Account](out))
	entities.QueueTokens(b, ids, fill[ledger.Token](out))
	queueTopics(b, ids, fill[ledger.Topic](out))
	transactions.QueueSchedules(b, ids, fill[ledger.Schedule](out))
	entities.QueueFiles(b, ids, fill[ledger.File](out))
	b.Then(func() { done(out) })
}

// fill returns a function that sets the elements of out that are nil.
func fill[T any, P interface {
	*T
	relay.Entity
}](out []relay.Entity) func([]P) {
	return func(rows []P) {
		for i, row := range rows {
			if row != nil && out[i] == nil {
				out[i] = row
			}
		}
	}
}
