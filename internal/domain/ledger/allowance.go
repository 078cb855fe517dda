package ledger

// AccountAllowances are the allowances that an account has granted, or those that were granted to it.
type AccountAllowances struct {
	AccountID EntityID
	Received  bool
}

// CryptoAllowance lets a spender move hbar of an owner: a row of the table crypto_allowance.
type CryptoAllowance struct {
	OwnerID       EntityID
	SpenderID     EntityID
	Amount        int64 // tinybars that are left
	AmountGranted int64 // tinybars
	Timestamp     TimestampRange
}

// TokenAllowance lets a spender move a fungible token of an owner: a row of the table token_allowance.
type TokenAllowance struct {
	OwnerID       EntityID
	SpenderID     EntityID
	TokenID       EntityID
	Amount        int64 // what is left, in the token's smallest unit
	AmountGranted int64 // in the token's smallest unit
	Timestamp     TimestampRange
}

// CryptoAllowanceFilter selects hbar allowances.
type CryptoAllowanceFilter struct {
	OwnerID   *EntityIDFilter
	SpenderID *EntityIDFilter
}

// TokenAllowanceFilter selects allowances of fungible tokens.
type TokenAllowanceFilter struct {
	OwnerID   *EntityIDFilter
	SpenderID *EntityIDFilter
	TokenID   *EntityIDFilter
	AnyOf     []*TokenAllowanceKeyFilter // nil means no condition, an empty list meets nothing
}

// TokenAllowanceKeyFilter is a set of conditions on what names an owner's allowance.
type TokenAllowanceKeyFilter struct {
	SpenderID *EntityIDFilter
	TokenID   *EntityIDFilter
}

// StakingRewardFilter selects staking rewards of an account.
type StakingRewardFilter struct {
	Timestamp *TimestampFilter
}

// NftAllowance lets a spender take every serial of a collection that an owner has, or had let it: a row of the table nft_allowance.
type NftAllowance struct {
	ApprovedForAll bool
	OwnerID        EntityID
	SpenderID      EntityID
	TokenID        EntityID
	Timestamp      TimestampRange
}

// NftAllowanceFilter selects allowances among those that an account granted or got.
type NftAllowanceFilter struct {
	AccountID *EntityIDFilter // of the other account
	TokenID   *EntityIDFilter
	Bounds    BoundsMode
}

// BoundsMode tells how bounds on several values of a row hold together.
type BoundsMode string

// The modes. With BoundsInOrder they are places in the order of a list, so that a bound on the second value counts only where the first is at its own bound.
const (
	BoundsEach    BoundsMode = "EACH"
	BoundsInOrder BoundsMode = "IN_ORDER"
)
