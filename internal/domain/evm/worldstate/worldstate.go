// Package worldstate has the values of the ledger's state that contracts read: entities, tokens, schedules and blocks, now or at a historical instant.
// Storage fills them, and the packages evm and system read them.
package worldstate

import "heliograph/internal/domain/ledger"

// Entity is an account, contract, token or other entity, now or at a historical instant.
type Entity struct {
	ID   ledger.EntityID
	Type ledger.EntityType
	// Alias is the 20-byte address that contracts use for the entity, from its EVM address or its alias. It is invalid if contracts use the long-zero
	// address.
	Alias ledger.Null[ledger.EVMAddress]
	// Balance is in tinybars.
	Balance ledger.Null[int64]
	// Nonce is the number of Ethereum transactions, or of contract creations, of the entity.
	Nonce int64
	// Code is the runtime bytecode of a contract. It is shared and must not be modified.
	Code []byte
	// Delegation is the contract whose code an account runs (EIP-7702).
	Delegation ledger.Null[ledger.EVMAddress]
	// Key is a serialized key.
	Key []byte
	// ReceiverSigRequired reports whether the account must sign to receive hbars.
	ReceiverSigRequired bool
}

// Schedule is a schedule with its signatures.
type Schedule struct {
	ledger.Schedule
	Signatures []*ledger.ScheduleSignature
}

// Block has the values of the block that contracts run in.
type Block struct {
	Number int64
	// Hash is the first 32 bytes of the block's hash.
	Hash [32]byte
	// Start and End are the consensus timestamps of the block's first and last transaction.
	Start, End ledger.Timestamp
}

// BlockRef selects the block and the state that a call runs on. The zero value selects the newest block and the current state. Any other value selects
// historical state, even if it names the newest block.
type BlockRef struct {
	// Hash is a hash, or a prefix of one, in hex without 0x.
	Hash     string
	Number   ledger.Null[int64]
	Earliest bool
	// Before is the consensus timestamp of a transaction. It selects the block of the transaction and the state before it.
	Before ledger.Timestamp
}

// IsPast reports whether the reference selects historical state.
func (r BlockRef) IsPast() bool { return r != BlockRef{} }
