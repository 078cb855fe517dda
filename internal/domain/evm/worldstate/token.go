package worldstate

import "heliograph/internal/domain/ledger"

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

// HasKey reports whether the token has a key of the kind that can sign.
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

// AutoAssociations are the automatic token associations of an account: the maximum, -1 for no limit, and the number used.
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
