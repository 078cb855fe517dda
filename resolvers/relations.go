package resolvers

import (
	"context"
	"fmt"

	"heliograph/graph/rowplan"
	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/resolvers/statuspages"
	"heliograph/storage"
	"heliograph/storage/entities"
	"heliograph/storage/transactions"
)

// fields implements [graph.Fields]: one method per field that is not stored in the row. A method queues the statements for all parents of a level and
// returns one result per parent.
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
func read[T, K, R any](q rowplan.Request, of []T, key func(T) K, queue func(*storage.Batch, []K, func([]R))) (rowplan.Results[R], error) {
	return queued(q, func(b *storage.Batch, done func([]R)) { queue(b, list.Map(of, key), done) })
}

// readRows returns the results of a function of storage that takes the parents themselves.
func readRows[T, R any](q rowplan.Request, of []T, queue func(*storage.Batch, []T, func([]R))) (rowplan.Results[R], error) {
	return queued(q, func(b *storage.Batch, done func([]R)) { queue(b, of, done) })
}

// readAhead reads the object with a key. If row is not nil and all selected relations are in byKey, they are read in the same round trip. row has the columns
// by which these relations are read, and becomes the object. what names the object in errors.
func readAhead[K, R any](
	ctx context.Context, r *Resolver, what string, key K, row *R, byKey []string, queue func(*storage.Batch, []K, func([]*R)),
) (*R, error) {
	var found *R
	var use func()
	if row != nil {
		var err error
		if use, err = rowplan.Ahead(ctx, r.Tables(), row, byKey, func(b rowplan.Batch) {
			queue(b.(*storage.Batch), []K{key}, func(got []*R) {
				if got[0] != nil {
					*row, found = *got[0], row
				}
			})
		}); err != nil {
			return nil, fmt.Errorf("reading %s: %w", what, err)
		}
	}
	if use == nil {
		return storage.ReadOne(ctx, r.db, what, key, queue)
	}
	use()
	return found, nil
}

// The functions below read objects that rows reference by id or time. The result is nil if the row has no such id.

func accountsBy[T any](q rowplan.Request, of []T, id func(T) ledger.EntityID) (rowplan.Results[*ledger.Account], error) {
	return read(q, of, id, entities.QueueAccounts)
}

func tokensBy[T any](q rowplan.Request, of []T, id func(T) ledger.EntityID) (rowplan.Results[*ledger.Token], error) {
	return read(q, of, id, entities.QueueTokens)
}

func contractsBy[T any](q rowplan.Request, of []T, id func(T) ledger.EntityID) (rowplan.Results[*ledger.Contract], error) {
	return read(q, of, id, entities.QueueContracts)
}

func nfts[T any](q rowplan.Request, of []T, key func(T) ledger.NFTKey) (rowplan.Results[*ledger.NFT], error) {
	return read(q, of, key, entities.QueueNFTsByKey)
}

func nodesByID[T any](q rowplan.Request, of []T, id func(T) int64) (rowplan.Results[*ledger.NetworkNode], error) {
	return read(q, of, id, entities.QueueNetworkNodes)
}

func nodesOf[T any](q rowplan.Request, of []T, account func(T) ledger.EntityID) (rowplan.Results[*ledger.NetworkNode], error) {
	return read(q, of, account, entities.QueueNetworkNodesOf)
}

func blocksBy[T any](q rowplan.Request, of []T, at func(T) ledger.Timestamp) (rowplan.Results[*ledger.Block], error) {
	return read(q, of, at, transactions.QueueBlocksAt)
}

func transactionsBy[T any](q rowplan.Request, of []T, at func(T) ledger.Timestamp) (rowplan.Results[*ledger.Transaction], error) {
	return read(q, of, at, transactions.QueueTransactionsAt)
}

func contractResultsBy[T any](q rowplan.Request, of []T, at func(T) ledger.Timestamp) (rowplan.Results[*ledger.ContractResult], error) {
	return read(q, of, at, transactions.QueueContractResultsAt)
}
