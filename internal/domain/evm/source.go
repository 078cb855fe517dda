package evm

import (
	"context"

	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
)

// Source reads the ledger as it is at one instant: now, or at an instant of the past. All that one simulation reads comes from one source, so
// that it agrees with itself. Errors end the simulation and are returned as they are.
type Source interface {
	EntitySource
	SlotSource
	BlockSource
	FileSource
}

// EntitySource reads accounts, contracts, tokens and schedules.
type EntitySource interface {
	// Entities returns who is at each address, in the order of the addresses; nil where nobody is. A long-zero address is the entity with that
	// number, whatever other address it has; any other is an EVM address or an alias.
	Entities(ctx context.Context, addresses []ledger.EVMAddress) ([]*worldstate.Entity, error)
	// HighestEntity is the greatest number that an entity has.
	HighestEntity(ctx context.Context) (int64, error)
}

// SlotSource reads the storage of contracts.
type SlotSource interface {
	// Slots returns what the slots of a contract hold, in their order; zeros where nothing was written.
	Slots(ctx context.Context, contract ledger.EntityID, slots [][32]byte) ([][32]byte, error)
}

// BlockSource reads other blocks than the one that a simulation runs in.
type BlockSource interface {
	// BlockHash returns the first 32 bytes of a block's hash; zeros when there is no such block.
	BlockHash(ctx context.Context, number int64) ([32]byte, error)
}

// FileSource reads what the network keeps in system files.
type FileSource interface {
	// ExchangeRates are what hbars cost; nil when the ledger does not say.
	ExchangeRates(ctx context.Context) (*ledger.ExchangeRateSet, error)
	// GasPrice is what a unit of gas costs at the source's instant, in tinybars; 0 when the ledger does not say.
	GasPrice(ctx context.Context) (int64, error)
}
