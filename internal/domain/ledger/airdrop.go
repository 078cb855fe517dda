package ledger

// Airdrop is a transfer that waits until its receiver claims it: a row of the table token_airdrop.
type Airdrop struct {
	Amount       Null[int64] // in the token's smallest unit; unknown for a serial
	ReceiverID   EntityID
	SenderID     EntityID
	SerialNumber Null[int64] // unknown for a fungible token
	TokenID      EntityID
	Timestamp    TimestampRange
}

// AirdropFilter selects airdrops among those that an account sent or may claim.
type AirdropFilter struct {
	AccountID    *EntityIDFilter // of the other account
	TokenID      *EntityIDFilter
	SerialNumber *LongFilter // 0 stands for a fungible token
	Bounds       BoundsMode
}
