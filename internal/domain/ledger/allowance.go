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
