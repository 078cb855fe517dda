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

// haltError ends a frame in a way that has a response code of its own. All gas of the frame is used up.
type haltError struct{ code ledger.ResponseCode }

func (h haltError) Error() string { return h.code.String() }

// abort is what the state panics with to leave the interpreter, which has no other way out of the middle of an opcode. The panic never
// leaves the package: [Simulation.run] recovers it and returns err, or a result that fails with a [haltError].
type abort struct{ err error }

// codeOf is the response code of an execution that failed with err.
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
