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

// estimateRounds is the maximum number of runs of the binary search.
const estimateRounds = 20

// Estimate estimates the gas that a message needs by a binary search between the gas that it used and its limit. The search stops early, so the estimate can be
// about 10 percent too high. If the message fails with its gas limit, Estimate returns the failed result. Otherwise it returns the result of the first run
// with the estimate as GasUsed.
func (s *Simulation) Estimate(m Message) (*Result, error) {
	result, err := s.run(m)
	if err != nil || result.Failed() || result.GasUsed >= m.Gas {
		return result, err
	}
	low, high, last := result.GasUsed, m.Gas, result.GasUsed
	threshold := result.GasUsed / 10
	for range estimateRounds {
		if low+1 >= high {
			break
		}
		try := m
		try.Gas = low + (high-low)/2
		r, err := s.run(try)
		if err != nil {
			return nil, err
		}
		if r.Failed() {
			low = try.Gas
		} else {
			high = try.Gas
			if max(last, try.Gas)-min(last, try.Gas) < threshold {
				break
			}
		}
		last = try.Gas
	}
	result.GasUsed = high
	return result, nil
}
