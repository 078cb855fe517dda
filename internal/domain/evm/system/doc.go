// Package system has the network's own contracts: the token service, the account service and the schedule service. Calls of the addresses of tokens,
// accounts and schedules are redirected to them.
//
// A function is a row of a table: its signature, return types, kind, price and the Go function that implements it. Changes are stored with the ledger's
// facts for the duration of a simulation. Each change is registered in the journal, so that a failed frame changes nothing.
package system
