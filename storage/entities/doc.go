// Package entities reads the ledger's entities from the mirror database: accounts, balances, contracts, tokens, NFTs,
// allowances, airdrops, topics, files, hooks and nodes. Functions that take a [storage.DB] run immediately. Functions
// with the prefix Queue add one statement for many parents to a [storage.Batch] and return a result to read after the
// batch has run. Functions with the prefix finish fill the computed fields of a
// decoded row (see [storage.NewMapper]).
package entities
