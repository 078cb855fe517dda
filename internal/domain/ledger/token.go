package ledger

// TokenType is the type of a token.
type TokenType string

// The types of tokens, in the database's order.
const (
	TokenFungibleCommon    TokenType = "FUNGIBLE_COMMON"
	TokenNonFungibleUnique TokenType = "NON_FUNGIBLE_UNIQUE"
)

// TokenSupplyType reports whether the supply of a token is limited.
type TokenSupplyType string

// TokenPauseStatus is the pause status of a token.
type TokenPauseStatus string

// TokenFreezeStatus is the freeze status of an account for a token.
type TokenFreezeStatus string

// The freeze statuses.
const (
	FreezeNotApplicable TokenFreezeStatus = "NOT_APPLICABLE"
	Frozen              TokenFreezeStatus = "FROZEN"
	Unfrozen            TokenFreezeStatus = "UNFROZEN"
)

// TokenKYCStatus is the KYC ("know your customer") status of an account for a token.
type TokenKYCStatus string

// The KYC statuses.
const (
	KYCNotApplicable TokenKYCStatus = "NOT_APPLICABLE"
	KYCGranted       TokenKYCStatus = "GRANTED"
	KYCRevoked       TokenKYCStatus = "REVOKED"
)

// Token is a fungible or non-fungible token: a row of the table token with columns of the table entity, now or at a historical instant.
type Token struct {
	EntityID            EntityID
	Type                TokenType
	AdminKey            *KeyInfo
	AutoRenewAccountID  EntityID
	AutoRenewPeriod     Null[int64] // seconds
	CreatedTimestamp    Timestamp
	Decimals            int64
	Deleted             Null[bool]
	ExpirationTimestamp Null[Timestamp] // the stored one, else created plus the auto-renew period
	FeeScheduleKey      *KeyInfo
	FreezeDefault       bool
	FreezeKey           *KeyInfo
	InitialSupply       int64 // in the token's smallest unit, as all supplies
	KYCKey              *KeyInfo
	MaxSupply           int64
	Memo                string
	Metadata            []byte // never nil
	MetadataKey         *KeyInfo
	Name                string
	PauseKey            *KeyInfo
	PauseStatus         TokenPauseStatus
	SupplyKey           *KeyInfo
	SupplyType          TokenSupplyType
	Symbol              string
	Timestamp           TimestampRange // the validity of both rows
	TotalSupply         int64
	TreasuryAccountID   EntityID
	WipeKey             *KeyInfo

	// Fees are the token's custom fees. Null means that they were not read, nil that the database has none.
	Fees Null[*TokenCustomFees]
	// At is the time condition that selected the version. Nil means the present.
	At *TimestampFilter
}

// ExpirationNanoseconds returns the expiration in nanoseconds since 1970.
func (t *Token) ExpirationNanoseconds() Null[int64] {
	return Null[int64]{V: int64(t.ExpirationTimestamp.V), Valid: t.ExpirationTimestamp.Valid}
}

// ModifiedTimestamp returns the time of the last change.
func (t *Token) ModifiedTimestamp() Null[Timestamp] { return t.Timestamp.From }

// TokenCustomFees are the custom fees of a transfer of a token, in addition to the network's fee.
type TokenCustomFees struct {
	CreatedTimestamp Null[Timestamp]
	FixedFees        []*FixedFee
	FractionalFees   []*FractionalFee // nil for tokens that are not fungible
	RoyaltyFees      []*RoyaltyFee    // nil for fungible tokens
}

// Fraction is a fraction of an amount.
type Fraction struct {
	Numerator   int64
	Denominator int64
}

// FractionalFee is a custom fee that is a fraction of the transferred amount.
type FractionalFee struct {
	AllCollectorsAreExempt bool
	Amount                 *Fraction
	CollectorAccountID     EntityID
	DenominatingTokenID    EntityID    // the token itself
	Maximum                Null[int64] // in the token's smallest unit
	Minimum                int64       // in the token's smallest unit
	NetOfTransfers         bool
}

// RoyaltyFee is a custom fee that is a fraction of the payment for a serial.
type RoyaltyFee struct {
	AllCollectorsAreExempt bool
	Amount                 *Fraction
	CollectorAccountID     EntityID
	FallbackFee            *FallbackFee
}

// FallbackFee is the fee that the receiver of a serial pays if there is no payment.
type FallbackFee struct {
	Amount              int64    // tinybars, or the token's smallest unit
	DenominatingTokenID EntityID // 0 for hbars
}

// TokenRelationship is the association of an account with a token: a row of the table token_account.
type TokenRelationship struct {
	AccountID            EntityID
	TokenID              EntityID
	AutomaticAssociation Null[bool]
	Balance              int64 // in the token's smallest unit; for a non-fungible token the number of serials
	CreatedTimestamp     Null[Timestamp]
	Decimals             Null[int32]
	FreezeStatus         Null[TokenFreezeStatus] // the account's own, else the token's
	KYCStatus            Null[TokenKYCStatus]    // the account's own, else the token's
	Timestamp            TimestampRange
}

// TokenHolder is the balance of a token in an account, now or in a balance snapshot.
type TokenHolder struct {
	AccountID EntityID
	TokenID   EntityID
	Balance   int64           // in the token's smallest unit; for a non-fungible token the number of serials
	Decimals  Null[int32]     // of the token
	Timestamp Null[Timestamp] // when the balance last changed; of a snapshot, its time
	Holders   int64           // in a list that is sorted by balance: how many holders it has
}

// MetadataText returns the metadata as text, or null if they are not valid UTF-8.
func (t *Token) MetadataText() Null[string] { return textOf(t.Metadata) }

// TokenFilter selects tokens.
type TokenFilter struct {
	ID           *EntityIDFilter
	AssociatedTo *AccountRef
	Treasury     *AccountRef
	NameContains []string // all of them
	PublicKey    *StringFilter
	Types        []TokenType // any of them
}

// TokenHolderFilter selects holders of a token.
type TokenHolderFilter struct {
	AccountID *EntityIDFilter
	Balance   *LongFilter
	PublicKey *StringFilter
}

// TokenRelationshipFilter selects token relationships of an account.
type TokenRelationshipFilter struct {
	TokenID *EntityIDFilter
}
