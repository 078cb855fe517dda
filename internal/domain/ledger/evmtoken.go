package ledger

// EVMToken is what contracts may see of a token: one of now, or of an instant of the past. Its fees are always read.
type EVMToken struct {
	Token
	// Keys are the serialized keys by their [TokenKeyKind].
	Keys [TokenKeyKinds]Key
	// KYCByDefault tells whether accounts are granted KYC as soon as they are associated.
	KYCByDefault bool
}

// TokenKeyKind is what a key of a token is for. As a bit, 1<<kind, it is the number by which contracts name the key.
type TokenKeyKind int

// The keys of a token in the order of their numbers.
const (
	TokenAdminKey TokenKeyKind = iota
	TokenKYCKey
	TokenFreezeKey
	TokenWipeKey
	TokenSupplyKey
	TokenFeeScheduleKey
	TokenPauseKey
	TokenMetadataKey

	TokenKeyKinds
)

// HasKey tells whether the token has a key that can sign.
func (t *EVMToken) HasKey(kind TokenKeyKind) bool { return !t.Keys[kind].IsNone() }

// EVMRelation is what contracts may see of an account's association with a token.
type EVMRelation struct {
	Key TokenAccountKey
	// Balance is in the token's smallest unit; for a non-fungible token the number of serials.
	Balance    int64
	Frozen     bool
	KYCGranted bool // also where it is not asked for
	Automatic  bool
}

// TokenAccountKey names the association of an account with a token.
type TokenAccountKey struct{ Account, Token EntityID }

// AllowanceKey names what an owner allows to a spender: of a token, or of hbars where there is no token.
type AllowanceKey struct{ Owner, Spender, Token EntityID }

// AutoAssociations are how many tokens an account takes without having been associated with them, -1 for any number, and how many it has taken.
type AutoAssociations struct{ Most, Used int64 }

// EVMTokenReads are facts about tokens that are read together.
type EVMTokenReads struct {
	Tokens     []EntityID
	Relations  []TokenAccountKey
	NFTs       []NFTKey
	Allowances []AllowanceKey // of units of tokens, and of hbars
	Operators  []AllowanceKey // who may take each serial of an owner
	Slots      []EntityID     // automatic associations of accounts
	Serials    []EntityID     // last serials of tokens
}

// EVMTokenFacts are the facts that there are; what is not in a map is not there, or nothing.
type EVMTokenFacts struct {
	Tokens     map[EntityID]*EVMToken
	Relations  map[TokenAccountKey]*EVMRelation
	NFTs       map[NFTKey]*NFT // without those that were burned
	Allowances map[AllowanceKey]int64
	Operators  map[AllowanceKey]bool
	Slots      map[EntityID]AutoAssociations
	Serials    map[EntityID]int64
}
