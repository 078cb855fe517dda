// Package evmstate reads the state for contract calls: a snapshot of the ledger at one block, in one database transaction.
package evmstate
