package ledger

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
