// Package evm runs contracts like the network: read-only calls, gas estimates and replays of historical transactions.
//
// It runs go-ethereum's unmodified interpreter on a [State] that loads accounts, code and storage from a [Source] on first use. The differences between
// the network and Ethereum are implemented at the interpreter's extension points:
//
//   - accounts and code in the state
//   - value transfers in the block context
//   - the network's own contracts ([SystemContract]) as precompiled contracts
//   - other rules in hooks on frames and, only for code that needs them, on opcodes
//
// A [Machine] is created once. Each request creates a [Simulation], which belongs to one goroutine.
package evm
