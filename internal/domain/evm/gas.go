package evm

import (
	"bytes"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/params"

	"heliograph/internal/domain/ledger/codes"
)

// hollowAccountGas is the gas, in addition to the intrinsic gas, to send hbars to an unused address, which creates a hollow account.
const hollowAccountGas = 549_000

// intrinsicGas returns the gas that a message costs before it runs, and its minimum.
func (s *Simulation) intrinsicGas(m *Message) (gas, floor uint64) {
	zeros := uint64(bytes.Count(m.Data, []byte{0}))
	others := uint64(len(m.Data)) - zeros
	gas = params.TxGas + zeros*params.TxDataZeroGas + others*params.TxDataNonZeroGasEIP2028
	if !m.To.Valid {
		gas += params.TxGasContractCreation - params.TxGas
		if s.level >= Level38 {
			gas += (uint64(len(m.Data)) + 31) / 32 * params.InitCodeWordGas
		}
	}
	if s.machine.cfg.CalldataFloor && s.level >= Level67 {
		floor = params.TxGas + 10*(zeros+4*others)
	}
	return gas, floor
}

// hollowGas returns the gas to create the account that a message sends value to. It fails if the message calls a missing account.
func (s *Simulation) hollowGas(m *Message, to common.Address) (uint64, error) {
	if s.state.Exist(to) {
		return 0, nil
	}
	switch {
	case m.Value == 0 && s.level.missingFails():
		return 0, haltError{codes.InvalidContractID}
	case m.Value == 0 || isLongZero(to): // the transfer fails later
		return 0, nil
	default:
		return hollowAccountGas, nil
	}
}
