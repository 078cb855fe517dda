package evm

import (
	"bytes"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/params"

	"heliograph/internal/domain/ledger/codes"
)

// Level is a version of the network's EVM: the Ethereum fork that it follows, and its differences.
type Level int

// The levels, oldest first.
const (
	Level30 Level = iota // London, DIFFICULTY
	Level34              // Paris: PREVRANDAO
	Level38              // Shanghai: PUSH0
	Level46              // opcodes that refer to a missing account no longer fail
	Level50              // Cancun: transient storage, MCOPY, blobs, point evaluation
	Level51              // the account service; SELFDESTRUCT destroys only new contracts
	Level65              // as 51
	Level66              // as 51
	Level67              // Prague: delegated code, BLS12-381

	NewestLevel = Level67
)

// ChainIDMainnet is the chain that went through the levels. Other chains always use the newest level.
const ChainIDMainnet = 0x127

// mainnetLevels has the first block of each level on mainnet.
var mainnetLevels = [...]struct {
	from  int64
	level Level
}{
	{0, Level30},
	{44_029_066, Level34},
	{49_117_794, Level38},
	{60_258_042, Level46},
	{65_435_845, Level50},
	{66_602_102, Level51},
	{85_011_472, Level65},
	{85_659_065, Level66},
	{87_129_575, Level67},
}

// LevelAt returns the level of a block.
func LevelAt(chainID uint64, block int64) Level {
	if chainID != ChainIDMainnet {
		return NewestLevel
	}
	level := Level30
	for _, l := range mainnetLevels {
		if block >= l.from {
			level = l.level
		}
	}
	return level
}

// missingFails reports whether opcodes and calls that refer to a missing account fail.
func (l Level) missingFails() bool { return l < Level46 }

// hasAccountService reports whether the system contract 0x16a, and calls of accounts that redirect to it, exist.
func (l Level) hasAccountService() bool { return l >= Level51 }

// isMerge reports whether opcode 0x44 returns a random value instead of the difficulty.
func (l Level) isMerge() bool { return l >= Level34 }

// ChainConfig returns the configuration of a chain that uses the level from its first block.
func (l Level) ChainConfig(chainID uint64) *params.ChainConfig {
	zero, now := big.NewInt(0), uint64(0)
	c := &params.ChainConfig{
		ChainID:        new(big.Int).SetUint64(chainID),
		HomesteadBlock: zero, EIP150Block: zero, EIP155Block: zero, EIP158Block: zero, ByzantiumBlock: zero, ConstantinopleBlock: zero,
		PetersburgBlock: zero, IstanbulBlock: zero, BerlinBlock: zero, LondonBlock: zero, MergeNetsplitBlock: zero, TerminalTotalDifficulty: zero,
		BlobScheduleConfig: params.DefaultBlobSchedule,
	}
	if l >= Level38 {
		c.ShanghaiTime = &now
	}
	if l >= Level50 {
		c.CancunTime = &now
	}
	if l >= Level67 {
		c.PragueTime = &now
	}
	return c
}

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
