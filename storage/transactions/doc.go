// Package transactions reads what happened on the ledger: transactions, transfers, blocks, schedules, and the results, logs, actions and state changes
// of contracts. Functions that take a [storage.DB] run at once. Functions whose names begin with Queue take a [storage.Batch], read for many parents in
// one statement, and call done when the batch has run.
package transactions
