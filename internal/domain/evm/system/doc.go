// Package system has the network's own contracts: the token service, the account service and the schedule service, and what calls of the
// addresses of tokens, accounts and schedules lead to.
//
// A function is a row of a table: its signature, what it returns, whether it changes anything, what it costs, and the Go function that answers
// it. What contracts change is kept beside the ledger's facts for as long as the simulation lasts, and every change is in the journal of the
// simulation's state, so that frames that fail leave nothing behind.
package system
