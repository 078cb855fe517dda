package resolvers

import (
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

// The functions below read objects that rows reference by id or time. The result is nil if the row has no such id.

func accounts[T any](q rowplan.Request, of []T, id func(T) ledger.EntityID) (rowplan.Results[*ledger.Account], error) {
	return read(q, of, id, entities.QueueAccounts)
}

func tokens[T any](q rowplan.Request, of []T, id func(T) ledger.EntityID) (rowplan.Results[*ledger.Token], error) {
	return read(q, of, id, entities.QueueTokens)
}

func contracts[T any](q rowplan.Request, of []T, id func(T) ledger.EntityID) (rowplan.Results[*ledger.Contract], error) {
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

func blocksAt[T any](q rowplan.Request, of []T, at func(T) ledger.Timestamp) (rowplan.Results[*ledger.Block], error) {
	return read(q, of, at, transactions.QueueBlocksAt)
}

func transactionsAt[T any](q rowplan.Request, of []T, at func(T) ledger.Timestamp) (rowplan.Results[*ledger.Transaction], error) {
	return read(q, of, at, transactions.QueueTransactionsAt)
}

func resultsAt[T any](q rowplan.Request, of []T, at func(T) ledger.Timestamp) (rowplan.Results[*ledger.ContractResult], error) {
	return read(q, of, at, transactions.QueueContractResultsAt)
}
