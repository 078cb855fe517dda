// Package evm panics only with an [abort], and package system too, once its tables are valid. The interfaces for
// state, hooks and precompiled contracts have no results for errors, and functions of system contracts run inside
// them. So there are two ways to leave a call before its end:
//
//   - [State.Abort] and [State.Check] end the run: a read failed, or a rule of the network ends it.
//     [Simulation.run] returns the error.
//   - [Refuse] ends an operation of a system contract that the network would reject. [State.Attempt] undoes its
//     changes and returns the response code. It lets all other panics pass.
//
// No panic leaves [Simulation.run], and none crosses a transaction of a database: simulations only read.
package evm

import "heliograph/internal/domain/ledger"

// abort is the panic value that ends a run or an operation.
type abort struct{ err error }

// refusal is the error of an operation that the network rejects.
type refusal struct{ code ledger.ResponseCode }

func (r refusal) Error() string { return r.code.String() }

// Refuse ends the operation that [State.Attempt] runs. It does not return.
func Refuse(code ledger.ResponseCode) { panic(abort{refusal{code}}) }

// Attempt runs an operation. If it ends by [Refuse], Attempt undoes its changes and returns the response code.
// Otherwise the code is 0.
func (s *State) Attempt(operation func()) (code ledger.ResponseCode) {
	mark := s.Snapshot()
	defer func() {
		p := recover()
		a, _ := p.(abort)
		r, refused := a.err.(refusal) //nolint:errorlint // Refuse does not wrap it
		switch {
		case refused:
			code = r.code
			s.RevertToSnapshot(mark)
		case p != nil:
			panic(p)
		}
	}()
	operation()
	return 0
}
