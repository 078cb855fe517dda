// Package evm runs contracts as the network would: calls that change nothing, estimates of gas, and replays of what was run before.
//
// It drives go-ethereum's interpreter, unmodified, over a state of its own ([State]) that reads from the ledger what a contract touches, when
// it touches it ([Source]). What the network does differently from Ethereum is told to the interpreter through the places where it asks:
// accounts and code through the state, value transfers through the block's context, the network's own contracts ([SystemContract]) as
// precompiled ones, and everything else through hooks on frames and, only for code that needs it, on opcodes.
//
// A [Machine] is made once. Each request begins a [Simulation] on a source, which belongs to one goroutine.
package evm
