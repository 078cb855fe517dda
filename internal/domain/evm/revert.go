package evm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/core/vm"

	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
)

// errorSelector is the selector of Error(string).
const errorSelector = 0x08c379a0

// RevertReason returns the text of revert data that encodes Error(string), with U+FFFD in place of invalid UTF-8, or
// an empty string.
func RevertReason(data []byte) string {
	if len(data) <= 4 || binary.BigEndian.Uint32(data) != errorSelector {
		return ""
	}
	text, err := abi.UnpackRevert(data)
	if err != nil {
		return ""
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// ErrorString returns the revert data that encodes Error(string).
func ErrorString(text string) []byte {
	size := (len(text) + 31) / 32 * 32
	out := make([]byte, 4+64+size)
	binary.BigEndian.PutUint32(out, errorSelector)
	out[4+31] = 32
	binary.BigEndian.PutUint64(out[4+56:], uint64(len(text)))
	copy(out[4+64:], text)
	return out
}

// SystemReason converts the recorded result of a failed system contract to the reason in a trace:
//
//   - empty data and zeros: empty
//   - Error(string): unchanged
//   - a known response code: Error(string) with its name
//   - other data: Error(string) with the data as text
func SystemReason(data []byte) []byte {
	significant := bytes.TrimLeft(data, "\x00")
	switch {
	case len(significant) == 0:
		return []byte{}
	case len(data) > 4 && binary.BigEndian.Uint32(data) == errorSelector:
		return data
	case len(significant) <= 4:
		var word [4]byte
		copy(word[4-len(significant):], significant)
		if v := binary.BigEndian.Uint32(word[:]); v < 1<<15 {
			if name := ledger.ResponseCode(v).String(); name != ledger.Unknown || v == 21 {
				return ErrorString(name)
			}
		}
	}
	return ErrorString(string(bytes.ToValidUTF8(data, []byte("\uFFFD"))))
}

// haltError is an exceptional halt with a response code. The frame loses all its gas.
type haltError struct{ code ledger.ResponseCode }

// Error returns the name of the response code.
func (h haltError) Error() string { return h.code.String() }

// codeOf returns the response code that the network reports for an execution error of the interpreter or a
// [haltError]. Errors that it does not distinguish are CONTRACT_EXECUTION_EXCEPTION.
func codeOf(err error) ledger.ResponseCode {
	var halt haltError
	switch {
	case errors.As(err, &halt):
		return halt.code
	case errors.Is(err, vm.ErrExecutionReverted):
		return codes.ContractRevertExecuted
	case errors.Is(err, vm.ErrOutOfGas), errors.Is(err, vm.ErrCodeStoreOutOfGas),
		errors.Is(err, vm.ErrGasUintOverflow):
		return codes.InsufficientGas
	case errors.Is(err, vm.ErrWriteProtection):
		return codes.LocalCallModificationException
	case errors.Is(err, vm.ErrInsufficientBalance):
		return codes.InsufficientPayerBalance
	default:
		return codes.ContractExecutionException
	}
}
