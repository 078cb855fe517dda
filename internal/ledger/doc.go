// Package ledger holds the values and the rows of a public ledger: entity ids, consensus timestamps, keys and hashes with their text forms,
// and accounts, blocks, transactions, topics as the mirror database keeps them. Storage fills the rows and the graph serves them: there is no second model.
package ledger
