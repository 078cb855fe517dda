package evm

import (
	"bytes"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/params"
)

// hollowAccountGas is what it costs to send hbars to an address where nobody is yet, and so to create an account, besides the intrinsic gas.
const hollowAccountGas = 549_000

// intrinsicGas is what a message costs before anything runs, and what it costs at least.
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

// hollowGas is what a message costs besides because it creates the account that it sends value to, or why a call of nobody fails.
func (s *Simulation) hollowGas(m *Message, to common.Address) (uint64, error) {
	if s.state.Exist(to) {
		return 0, nil
	}
	switch {
	case m.Value == 0 && s.level.missingFails():
		return 0, haltError{InvalidContractID}
	case m.Value == 0 || isLongZero(to): // the transfer is refused later
		return 0, nil
	default:
		return hollowAccountGas, nil
	}
}
