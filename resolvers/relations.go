package resolvers

import (
	"heliograph/graph/relay"
	"heliograph/internal/domain/ledger"
	"heliograph/resolvers/past"
	"heliograph/resolvers/statuspages"
	"heliograph/storage"
	"heliograph/storage/entities"
	"heliograph/storage/transactions"
)

// pastFields has another name than the fields of status pages.
type pastFields = past.Fields

// fields implements [graph.Fields]: one method per field that is not stored in the row. A method queues the statements
// for all parents of a level and returns one result per parent.
type fields struct {
	*Resolver
	statuspages.Fields
	pastFields
}

// queueEntities queues the queries for entities of any type by id. A contract is a Contract, not an Account. done
// receives one entity per id, or nil for ids that do not exist.
func queueEntities(b *storage.Batch, ids []ledger.EntityID, done func([]relay.Entity)) {
	out := make([]relay.Entity, len(ids))
	entities.QueueContracts(b, ids, fill[ledger.Contract](out))
	entities.QueueAccounts(b, ids, fill[ledger.Account](out))
	entities.QueueTokens(b, ids, fill[ledger.Token](out))
	entities.QueueTopics(b, ids, fill[ledger.Topic](out))
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
