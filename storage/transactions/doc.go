// Package transactions reads the ledger's activity from the mirror database: transactions, transfers, blocks,
// schedules, and contract results, logs, actions and state changes. Functions that take a [storage.DB] run
// immediately. Functions with the prefix Queue add one statement for many parents to a [storage.Batch] and return a
// result to read after the batch has run. Functions with the prefix finish fill the computed fields of a
// decoded row (see [storage.NewMapper]).
package transactions
