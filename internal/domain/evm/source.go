package evm

import (
	"context"

	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
)

// Source reads a consistent snapshot of the ledger, now or at a historical instant. A simulation reads from one source. An error ends the simulation and is
// returned from it.
type Source interface {
	EntitySource
	SlotSource
	BlockSource
	FileSource
}

// EntitySource reads accounts, contracts, tokens and schedules.
type EntitySource interface {
	// Entities returns the entities at the addresses in the same order, nil for those that do not exist. A long-zero address identifies the entity with
	// that number, even if it has another address. Other addresses are EVM addresses or aliases.
	Entities(ctx context.Context, addresses []ledger.EVMAddress) ([]*worldstate.Entity, error)
	// HighestEntity returns the highest entity number.
	HighestEntity(ctx context.Context) (int64, error)
}

// SlotSource reads the storage of contracts.
type SlotSource interface {
	// Slots returns the values of storage slots in the same order, zero for unset slots.
	Slots(ctx context.Context, contract ledger.EntityID, slots [][32]byte) ([][32]byte, error)
}

// BlockSource reads other blocks than that of the simulation.
type BlockSource interface {
	// BlockHash returns the first 32 bytes of a block's hash, or zeros if the block does not exist.
	BlockHash(ctx context.Context, number int64) ([32]byte, error)
}

// FileSource reads system files.
type FileSource interface {
	// ExchangeRates returns the exchange rates, or nil if the ledger has none.
	ExchangeRates(ctx context.Context) (*ledger.ExchangeRateSet, error)
	// GasPrice returns the price of gas at the source's instant, in tinybars, or 0 if the ledger has none.
	GasPrice(ctx context.Context) (int64, error)
}
