// Package worldstate has the values of the ledger's state that contracts read: entities, tokens, schedules and blocks,
// now or at a historical instant. Storage fills them, and the packages evm and system read them.
package worldstate

import "heliograph/internal/domain/ledger"

// Entity is an account, contract, token or other entity, now or at a historical instant.
type Entity struct {
	ID   ledger.EntityID
	Type ledger.EntityType
	// Alias is the 20-byte address that contracts use for the entity, from its EVM address or its alias. It is invalid
	// if contracts use the long-zero address.
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
	// HAPI is the version of the network's API. Null if the ledger does not have it.
	HAPI ledger.Null[HAPIVersion]
}

// HAPIVersion is a version of the network's API.
type HAPIVersion struct{ Major, Minor int32 }

// Before reports whether v is an earlier version than other.
func (v HAPIVersion) Before(other HAPIVersion) bool {
	return v.Major < other.Major || v.Major == other.Major && v.Minor < other.Minor
}

// BlockRef selects the block and the state that a call runs on. The zero value selects the newest block and the
// current state. Any other value selects historical state, even if it names the newest block.
type BlockRef struct {
	// Hash is a hash, or a prefix of one, in hex without 0x.
	Hash     string
	Number   ledger.Null[int64]
	Earliest bool
	// Before is the consensus timestamp of a transaction. It selects the block of the transaction and the state before
	// it.
	Before ledger.Timestamp
}

// IsPast reports whether the reference selects historical state, because it is not the zero value, which is the
// latest block.
func (r BlockRef) IsPast() bool { return r != BlockRef{} }

// Token is a token, now or at a historical instant. Its fees are always loaded.
type Token struct {
	ledger.Token
	// Keys are the serialized keys by [KeyKind].
	Keys [KeyKinds]ledger.Key
	// KYCByDefault reports whether accounts are granted KYC when they are associated.
	KYCByDefault bool
}

// KeyKind is the purpose of a key of a token. Contracts identify it by the bit 1<<kind.
type KeyKind int

// The keys of a token.
const (
	AdminKey KeyKind = iota
	KYCKey
	FreezeKey
	WipeKey
	SupplyKey
	FeeScheduleKey
	PauseKey
	MetadataKey

	// KeyKinds is the number of kinds.
	KeyKinds
)

// HasKey reports whether the token has a key of the kind, other than the empty key list, which cannot sign.
func (t *Token) HasKey(kind KeyKind) bool { return !t.Keys[kind].IsNone() }

// Relation is the association of an account with a token.
type Relation struct {
	Key RelationKey
	// Balance is in the token's smallest unit. For a non-fungible token it is the number of serials.
	Balance    int64
	Frozen     bool
	KYCGranted bool // also if the token does not require KYC
	Automatic  bool
}

// RelationKey identifies a [Relation].
type RelationKey struct{ Account, Token ledger.EntityID }

// AllowanceKey identifies an allowance of a token, or of hbars if Token is 0.
type AllowanceKey struct{ Owner, Spender, Token ledger.EntityID }

// AutoAssociations are the automatic token associations of an account: the maximum, -1 for no limit, and the number
// used.
type AutoAssociations struct{ Most, Used int64 }

// TokenReads selects facts about tokens to read together.
type TokenReads struct {
	Tokens     []ledger.EntityID
	Relations  []RelationKey
	NFTs       []ledger.NFTKey
	Allowances []AllowanceKey    // of tokens and hbars
	Operators  []AllowanceKey    // approvals for all serials of an owner
	Slots      []ledger.EntityID // accounts whose automatic associations to read
	Serials    []ledger.EntityID // tokens whose last serial to read
}

// TokenFacts are the facts that [TokenReads] selects. A fact that does not exist is not in its map.
type TokenFacts struct {
	Tokens     map[ledger.EntityID]*Token
	Relations  map[RelationKey]*Relation
	NFTs       map[ledger.NFTKey]*ledger.NFT // without burned serials
	Allowances map[AllowanceKey]int64
	Operators  map[AllowanceKey]bool
	Slots      map[ledger.EntityID]AutoAssociations
	Serials    map[ledger.EntityID]int64
}
