package ledger

// AccountAllowances are the allowances that an account granted or received.
type AccountAllowances struct {
	AccountID EntityID
	Received  bool
}

// CryptoAllowance lets a spender transfer hbars of an owner: a row of the table crypto_allowance.
type CryptoAllowance struct {
	OwnerID       EntityID
	SpenderID     EntityID
	Amount        int64 // remaining tinybars
	AmountGranted int64 // tinybars
	Timestamp     TimestampRange
}

// TokenAllowance lets a spender transfer a fungible token of an owner: a row of the table token_allowance.
type TokenAllowance struct {
	OwnerID       EntityID
	SpenderID     EntityID
	TokenID       EntityID
	Amount        int64 // remaining amount in the token's smallest unit
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
	AnyOf     []*TokenAllowanceKeyFilter // nil means no condition, an empty list matches nothing
}

// TokenAllowanceKeyFilter is a set of conditions on the key of an owner's allowance.
type TokenAllowanceKeyFilter struct {
	SpenderID *EntityIDFilter
	TokenID   *EntityIDFilter
}

// StakingRewardFilter selects staking rewards of an account.
type StakingRewardFilter struct {
	Timestamp *TimestampFilter
}

// NFTAllowance is an approval, current or revoked, for a spender to transfer all serials of a collection that an owner holds. It is a row of the table
// nft_allowance.
type NFTAllowance struct {
	ApprovedForAll bool
	OwnerID        EntityID
	SpenderID      EntityID
	TokenID        EntityID
	Timestamp      TimestampRange
}

// NFTAllowanceFilter selects allowances that an account granted or received.
type NFTAllowanceFilter struct {
	AccountID *EntityIDFilter // of the other account
	TokenID   *EntityIDFilter
	Bounds    BoundsMode
}

// BoundsMode is the way bounds on several values of a row are combined.
type BoundsMode string

// The modes. With BoundsInOrder the bounds are positions in an ordered list: a bound on the second value applies only to rows whose first value equals its own
// bound.
const (
	BoundsEach    BoundsMode = "EACH"
	BoundsInOrder BoundsMode = "IN_ORDER"
)

// Airdrop is a pending transfer, which its receiver must claim: a row of the table token_airdrop.
type Airdrop struct {
	Amount       Null[int64] // in the token's smallest unit; null for a serial
	ReceiverID   EntityID
	SenderID     EntityID
	SerialNumber Null[int64] // null for a fungible token
	TokenID      EntityID
	Timestamp    TimestampRange
}

// AirdropFilter selects airdrops that an account sent or can claim.
type AirdropFilter struct {
	AccountID    *EntityIDFilter // of the other account
	TokenID      *EntityIDFilter
	SerialNumber *LongFilter // 0 stands for a fungible token
	Bounds       BoundsMode
}
