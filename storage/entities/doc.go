// Package entities reads what the mirror database holds of the ledger's entities: accounts and their balances, contracts, tokens, NFTs, allowances,
// airdrops, topics, files, hooks and nodes. Functions that take a [storage.DB] run at once. Functions whose names begin with Queue take a
// [storage.Batch], read for many parents in one statement, and call done when the batch has run.
package entities
