package evm

import (
	"bytes"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/params"

	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
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
	Level67              // as 51, where a minimum price of call data can be configured
	Level70              // Prague: delegated code, BLS12-381, minimum price of call data

	NewestLevel = Level70
)

// ChainIDMainnet is the chain that went through the levels. Other chains use the newest level, unless
// [Config.PragueBlock] is set.
const ChainIDMainnet = 0x127

// pragueHAPI is the version of the network's API with which mainnet begins to use Level70.
var pragueHAPI = worldstate.HAPIVersion{Minor: 77}

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
	{87_129_575, Level67},
}

// LevelAt returns the level of a block. prague is the first block of Level70: before it, mainnet uses its levels by
// block, and other chains use Level67. If it is null, mainnet uses the version of the network's API at the block, and
// other chains always use the newest level.
func LevelAt(chainID uint64, prague ledger.Null[int64], block Block) Level {
	switch {
	case prague.Valid && block.Number >= prague.V:
		return Level70
	case chainID == ChainIDMainnet:
	case prague.Valid:
		return Level67
	default:
		return NewestLevel
	}
	level := Level30
	for _, l := range mainnetLevels {
		if block.Number >= l.from {
			level = l.level
		}
	}
	if !prague.Valid && block.HAPI.Valid && !block.HAPI.V.Before(pragueHAPI) {
		level = Level70
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
		HomesteadBlock: zero, EIP150Block: zero, EIP155Block: zero, EIP158Block: zero, ByzantiumBlock: zero,
		ConstantinopleBlock: zero,
		PetersburgBlock:     zero, IstanbulBlock: zero, BerlinBlock: zero, LondonBlock: zero, MergeNetsplitBlock: zero,
		TerminalTotalDifficulty: zero,
		BlobScheduleConfig:      params.DefaultBlobSchedule,
	}
	if l >= Level38 {
		c.ShanghaiTime = &now
	}
	if l >= Level50 {
		c.CancunTime = &now
	}
	if l >= Level70 {
		c.PragueTime = &now
	}
	return c
}

// hollowAccountGas is the gas, in addition to the intrinsic gas, to send hbars to an unused address, which creates a
// hollow account.
const hollowAccountGas = 549_000

// intrinsicGas returns the gas that a message costs before it runs, and the minimum that it is charged (EIP-7623), or
// 0 if there is no minimum. Both are a constant and a price per byte of the data, which is lower for zeros. A creation
// costs another constant and, from Level38 on, a price per 32 bytes of initcode. It reads nothing.
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
	if s.machine.cfg.CalldataFloor.Or(s.level >= Level70) && s.level >= Level67 {
		floor = params.TxGas + 10*(zeros+4*others)
	}
	return gas, floor
}

// hollowGas returns the gas, in addition to the intrinsic gas, to create the account to, to which the message m sends
// value, or 0 if it exists or m sends none. A long-zero address costs 0, because no account is created there. Before
// Level46 it fails with a [haltError] if m calls a missing account without value. It reads the account on first use; a
// failed read aborts the run.
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
