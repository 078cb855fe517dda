package evm

import (
	"context"
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/params"

	"heliograph/internal/domain/evm/worldstate"
)

// Block are the values of the block that a simulation runs in.
type Block = worldstate.Block

// Config says how a machine runs contracts. The zero value is the test network without caches.
type Config struct {
	// ChainID identifies the network to contracts; 0 is the test network's.
	ChainID uint64
	// SystemContracts are the network's own contracts by their numbers, besides those of this package.
	SystemContracts map[int64]SystemContract
	// MinimumBalance is what accounts are treated as owning at least when they send hbars, in tinybars. It does not count with ValidatePayer.
	MinimumBalance int64
	// ValidatePayer makes calls fail that the sender could not pay for.
	ValidatePayer bool
	// CalldataFloor charges at least the price that Prague asks for data.
	CalldataFloor bool
	// MaxRefundPercent is how much of the gas that was not used is given back; 0 means all of it.
	MaxRefundPercent uint64
	// CacheBytes bounds what is remembered of code between simulations; 0 remembers nothing.
	CacheBytes uint64
	// Level, if not nil, tells the version of the EVM at a block instead of the network's table.
	Level func(block int64) Level
}

// ChainIDTestnet is the chain that is used when none is configured.
const ChainIDTestnet = 0x128

// DefaultMinimumBalance is what accounts own at least unless something else is configured, in tinybars.
const DefaultMinimumBalance = 100_000_000_000_000_000

// Machine runs contracts. It may be used by several goroutines at the same time.
type Machine struct {
	cfg     Config
	codes   *codeCache
	engines [NewestLevel + 1]engines
}

// engines are what runs of one level share and reuse.
type engines struct {
	chain *params.ChainConfig
	rules params.Rules
	warm  []common.Address
	pool  sync.Pool // of *engine
}

// engine has the table of contracts that are not code. It serves one run at a time.
type engine struct {
	sim         *Simulation
	precompiled vm.PrecompiledContracts
}

// New makes a machine.
func New(cfg Config) *Machine {
	if cfg.ChainID == 0 {
		cfg.ChainID = ChainIDTestnet
	}
	if cfg.MaxRefundPercent == 0 {
		cfg.MaxRefundPercent = 100
	}
	m := &Machine{cfg: cfg, codes: newCodeCache(cfg.CacheBytes)}
	for level := range m.engines {
		e, l := &m.engines[level], Level(level)
		e.chain = l.chainConfig(cfg.ChainID)
		e.rules = e.chain.Rules(common.Big0, l.isMerge(), 0)
		e.warm = vm.ActivePrecompiles(e.rules)
		e.pool.New = func() any { return m.newEngine(l, e.rules) }
	}
	return m
}

// newEngine makes the table of what answers calls of system accounts.
func (m *Machine) newEngine(l Level, rules params.Rules) *engine {
	e := &engine{precompiled: vm.ActivePrecompiledContracts(rules)}
	for a, p := range e.precompiled {
		e.precompiled[a] = valueGuard{p, &e.sim}
	}
	add := func(num int64, c SystemContract) {
		a := longZero(num)
		e.precompiled[a] = &systemAdapter{at: a, contract: c, sim: &e.sim}
	}
	for num := int64(1); num <= lastSystemAccount; num++ {
		if _, taken := e.precompiled[longZero(num)]; !taken {
			add(num, nil)
		}
	}
	add(ExchangeRateNumber, exchangeRate{})
	add(PRNGNumber, prng{})
	for num, c := range m.cfg.SystemContracts {
		if num == accountServiceNumber && !l.hasAccountService() {
			continue
		}
		add(num, c)
	}
	return e
}

// accountServiceNumber is the number of a system contract that is not there at all levels.
const accountServiceNumber = 0x16a

// level is the version of the EVM at a block.
func (m *Machine) level(block int64) Level {
	if m.cfg.Level != nil {
		return min(max(m.cfg.Level(block), Level30), NewestLevel)
	}
	return LevelAt(m.cfg.ChainID, block)
}

// Begin starts a simulation in a block over what source reads. It lasts until ctx ends, which stops whatever runs.
func (m *Machine) Begin(ctx context.Context, source Source, block Block) *Simulation {
	level := m.level(block.Number)
	return &Simulation{machine: m, block: block, level: level, state: newState(ctx, source, m.codes, level)}
}
