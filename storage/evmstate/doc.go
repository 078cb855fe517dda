// Package evmstate reads the state that contract calls need: a snapshot of the ledger at one block, in one transaction of the database.
package evmstate
