package evm

import (
	"errors"

	"github.com/ethereum/go-ethereum/core/vm"

	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
)

// haltError is an exceptional halt with a response code. The frame loses all its gas.
type haltError struct{ code ledger.ResponseCode }

func (h haltError) Error() string { return h.code.String() }

// abort is the panic value that stops a run in the middle of an opcode. The interpreter has no other way to do that. [Simulation.run] recovers the panic and
// returns err, or a failed result if err is a [haltError].
type abort struct{ err error }

// codeOf returns the response code of an execution error.
func codeOf(err error) ledger.ResponseCode {
	var halt haltError
	switch {
	case errors.As(err, &halt):
		return halt.code
	case errors.Is(err, vm.ErrExecutionReverted):
		return codes.ContractRevertExecuted
	case errors.Is(err, vm.ErrOutOfGas), errors.Is(err, vm.ErrCodeStoreOutOfGas), errors.Is(err, vm.ErrGasUintOverflow):
		return codes.InsufficientGas
	case errors.Is(err, vm.ErrWriteProtection):
		return codes.LocalCallModificationException
	case errors.Is(err, vm.ErrInsufficientBalance):
		return codes.InsufficientPayerBalance
	default:
		return codes.ContractExecutionException
	}
}
