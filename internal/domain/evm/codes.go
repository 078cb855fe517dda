package evm

import (
	"errors"

	"github.com/ethereum/go-ethereum/core/vm"

	"heliograph/internal/domain/ledger"
)

// The response codes of simulations.
const (
	PayerAccountNotFound       ledger.ResponseCode = 2
	InvalidSignature           ledger.ResponseCode = 7
	InsufficientPayerBalance   ledger.ResponseCode = 10
	InvalidContractID          ledger.ResponseCode = 16
	Success                    ledger.ResponseCode = 22
	InvalidSolidityAddress     ledger.ResponseCode = 29
	InsufficientGas            ledger.ResponseCode = 30
	LocalCallModification      ledger.ResponseCode = 32
	ContractRevertExecuted     ledger.ResponseCode = 33
	ContractExecutionException ledger.ResponseCode = 34
	ObtainerSameContractID     ledger.ResponseCode = 77
	InvalidAliasKey            ledger.ResponseCode = 282
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
		return ContractRevertExecuted
	case errors.Is(err, vm.ErrOutOfGas), errors.Is(err, vm.ErrCodeStoreOutOfGas), errors.Is(err, vm.ErrGasUintOverflow):
		return InsufficientGas
	case errors.Is(err, vm.ErrWriteProtection):
		return LocalCallModification
	case errors.Is(err, vm.ErrInsufficientBalance):
		return InsufficientPayerBalance
	default:
		return ContractExecutionException
	}
}
