// Package demo fills an empty ledger database with a small network, so that there is something to look at before anybody
// has an importer: a harbour town with people, tokens, collections, contracts, topics, schedules and nodes.
//
// [Load] tells a story of half a year that ends four seconds before it is asked to, with a block every two seconds in the
// last ten minutes. The story runs on a small ledger of its own: transactions move balances, contracts run on a real EVM,
// and the rows of the database are what the story leaves behind. That is why balances are sums of transfers, storage is what
// the contracts wrote, and every reference leads somewhere. The same time gives the same rows; another time changes the
// times, and what is made of times, such as block hashes, but neither ids nor names, amounts, keys or messages.
//
// The people with names and what each of them shows are in the constants of this package and in its README.
package demo
