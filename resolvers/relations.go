package resolvers

import (
	"cmp"

	"heliograph/graph/relay"
	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/resolvers/decoding"
	"heliograph/resolvers/media"
	"heliograph/resolvers/past"
	"heliograph/resolvers/statuspages"
	"heliograph/storage"
	"heliograph/storage/entities"
	"heliograph/storage/transactions"
)

// These have other names than the fields of status pages.
type (
	pastFields    = past.Fields
	mediaFields   = media.Fields
	decodedFields = decoding.Fields
)

// fields implements [graph.Fields]: one method per field that is not stored in the row. A method queues the statements
// for all parents of a level and returns one result per parent.
type fields struct {
	*Resolver
	statuspages.Fields
	pastFields
	mediaFields
	*decodedFields
}

// queueEntities queues in b one query per type for entities of any type by id, for the signers of schedules. A
// contract is a Contract, not an Account. The result has one entity per id, in their order, or nil for ids that do not
// exist.
func queueEntities(b *storage.Batch, ids []ledger.EntityID) storage.Result[[]relay.Entity] {
	kinds := []storage.Result[[]relay.Entity]{
		asEntities(entities.QueueContracts(b, ids)), asEntities(entities.QueueAccounts(b, ids)),
		asEntities(entities.QueueTokens(b, ids)), asEntities(entities.QueueTopics(b, ids)),
		asEntities(transactions.QueueSchedules(b, ids)), asEntities(entities.QueueFiles(b, ids)),
	}
	return storage.Map(storage.All(kinds), func(kinds [][]relay.Entity) []relay.Entity {
		out := make([]relay.Entity, len(ids))
		for _, rows := range kinds {
			for i, row := range rows {
				out[i] = cmp.Or(out[i], row)
			}
		}
		return out
	})
}

// asEntities returns the result of rows of one type as entities: a nil pointer becomes a nil interface.
func asEntities[T any, P interface {
	*T
	relay.Entity
}](rows storage.Result[[]P]) storage.Result[[]relay.Entity] {
	return storage.Map(rows, func(rows []P) []relay.Entity {
		return list.Map(rows, func(row P) relay.Entity {
			if row == nil {
				return nil
			}
			return row
		})
	})
}
