// Package entities reads the ledger's entities from the mirror database: accounts, balances, contracts, tokens, NFTs,
// allowances, airdrops, topics, files, hooks and nodes. The resolvers of the graph call it. It writes nothing.
//
// Functions that take a [storage.DB] run immediately. Functions with the prefix Queue add one statement for many
// parents to a [storage.Batch] and return a result to read after the batch has run, with one element for each parent
// in the given order. Functions with the prefix finish fill the computed fields of a decoded row (see
// [storage.NewMapper]). They return an error only if a column cannot be decoded.
package entities
