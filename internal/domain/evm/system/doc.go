// Package system has the network's own contracts: the token service, the account service and the schedule service.
// Calls of the addresses of tokens, accounts and schedules are redirected to them.
//
// A function is a row of a table: its signature, result types, kind and price, and the plain Go function that
// implements it. That function gets the decoded arguments and returns the results, or a [refusal] with the response
// code of a failed operation of the network: its changes are undone, and the code is a result or the data of a revert
// ([call.perform]). Checks without side effects that follow each other are one call of [firstOf]. A function that ends
// in other ways returns its outcome itself.
//
// Changes are stored with the ledger's facts for the duration of a simulation, by [evm.Set], so that a failed frame
// changes nothing.
package system
