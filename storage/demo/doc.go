// Package demo holds the ids of the demo network: a small generated ledger, so that a gateway has data to show before an
// importer writes any. README.md describes its accounts, tokens, contracts and topics.
//
// The packages below it are, from the bottom up:
//
//   - contracts: the compiled contracts of the network
//   - world: a simulated ledger, on which transactions move balances, contracts run on an EVM, and rows are recorded
//   - scenario: the transactions of the demo network, which cover half a year and go on while the network is live
//   - demodb: writes the scenario into a ledger database, and continues it
//   - statusdemo: writes the status page of the demo network
package demo
