// Package evm panics only with an [abort], and package system too, once its tables are valid. The interfaces for
// state, hooks and precompiled contracts have no results for errors, and system contracts run inside them.
// [State.Abort] and [State.Check] end the run because a read failed or a rule of the network ends it, and
// [Simulation.run] returns the error.
//
// No panic leaves [Simulation.run], and none crosses a transaction of a database: simulations only read.
package evm

// abort is the panic value that ends a run.
type abort struct{ err error }
