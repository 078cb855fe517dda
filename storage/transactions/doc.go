// Package transactions reads the ledger's activity from the mirror database: transactions, transfers, blocks,
// schedules, and contract results, logs, actions and state changes. The resolvers of the graph call it. It writes
// nothing.
//
// Functions that take a [storage.DB] run immediately. Functions with the prefix Queue add one statement for many
// parents to a [storage.Batch] and return a result to read after the batch has run, with one element for each parent
// in the given order. Functions with the prefix finish fill the computed fields of a decoded row (see
// [storage.NewMapper]). They return an error only if a column cannot be decoded.
package transactions
