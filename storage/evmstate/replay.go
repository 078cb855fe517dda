package evmstate

import (
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// typeContractCreate is the type of transactions that create a contract.
const typeContractCreate = 8

// creation contains whether a transaction created a contract, and its init code.
type creation struct {
	is       ledger.Null[bool]
	initcode []byte
}

var creationRows = storage.MapperOf(func(c *creation, into []any) []any { return append(into, &c.is, &c.initcode) }, nil)

// QueueCreation queues a query that checks whether a transaction created the contract. done also receives the init code contained in the transaction.
func QueueCreation(b *storage.Batch, at ledger.Timestamp, contract ledger.EntityID, done func(created bool, initcode []byte)) {
	creationRows.Queue(b, `select (select type = $3 from transaction where consensus_timestamp = $1 limit 1),
  coalesce((select failed_initcode from contract_result where consensus_timestamp = $1 and contract_id = $2 limit 1),
(select initcode from contract where id = $2))`,
		[]any{int64(at), int64(contract), typeContractCreate}, func(rows []*creation) { done(rows[0].is.V, rows[0].initcode) })
}
