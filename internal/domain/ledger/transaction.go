package ledger

import "slices"

// Transaction is a row of the table transaction. Transfers are rows of other tables and are loaded by consensus timestamp and payer.
type Transaction struct {
	ConsensusTimestamp          Timestamp
	PayerAccountID              EntityID
	ValidStartTimestamp         Timestamp
	Type                        TransactionType
	Result                      ResponseCode
	BatchKey                    *KeyInfo
	Bytes                       []byte
	ChargedFee                  Null[int64] // tinybars
	EntityID                    EntityID
	HighVolume                  bool
	HighVolumePricingMultiplier Null[int64] // thousandths
	Index                       Null[int32]
	InnerTransactions           []TransactionID
	MaxCustomFees               []*CustomFeeLimit
	MaxFee                      Null[int64] // tinybars
	Memo                        []byte
	NFTTransfers                []*NFTTransfer
	NodeAccountID               EntityID
	Nonce                       int32
	ParentConsensusTimestamp    Null[Timestamp]
	Scheduled                   bool
	Hash                        []byte
	ValidDurationSeconds        Null[int64]
}

// TransactionID returns the transaction id.
func (t *Transaction) TransactionID() TransactionID {
	return TransactionID{Payer: t.PayerAccountID, ValidStart: t.ValidStartTimestamp}
}

// CryptoTransfer is the change of an account's hbar balance in a transaction.
type CryptoTransfer struct {
	AccountID          EntityID
	Amount             int64     // tinybars; negative for the sender
	ConsensusTimestamp Timestamp // 0 for a scheduled transaction
	IsApproval         bool
}

// TokenTransfer is the change of an account's balance of a fungible token in a transaction.
type TokenTransfer struct {
	TokenID    EntityID
	AccountID  EntityID
	Amount     int64 // in the token's smallest unit; negative for the sender
	IsApproval bool
}

// Transfer is the net change of an account's balance of hbars or of a fungible token by a transaction.
type Transfer struct {
	AccountID          EntityID
	Amount             int64 // tinybars, or the token's smallest unit
	ConsensusTimestamp Timestamp
	TokenID            EntityID    // 0 for hbars
	PayerAccountID     EntityID    // of the transaction
	ChargedFee         Null[int64] // tinybars
}

// Fee returns the part of the change that is the transaction fee, in tinybars.
func (t *Transfer) Fee() int64 {
	if !t.TokenID.IsNone() || t.AccountID != t.PayerAccountID {
		return 0
	}
	return t.ChargedFee.V
}

// TransferFilter selects transfers.
type TransferFilter struct {
	Token     *EntityID // 0 for hbars
	Direction *TransferDirection
	Timestamp *TimestampFilter
}

// NFTTransfer is the transfer of a serial. A mint has no sender, a burn and a wipe have no receiver. A change of the treasury transfers all its serials and
// has the serial -1.
type NFTTransfer struct {
	IsApproval        bool
	ReceiverAccountID EntityID
	SenderAccountID   EntityID
	SerialNumber      int64
	TokenID           EntityID
}

// StakingReward is a staking reward that a transaction paid to an account.
type StakingReward struct {
	AccountID          EntityID
	Amount             int64 // tinybars
	ConsensusTimestamp Timestamp
}

// AssessedCustomFee is a custom fee of a token or topic that a transaction paid.
type AssessedCustomFee struct {
	Amount                   int64 // tinybars, or the token's smallest unit
	CollectorAccountID       EntityID
	ConsensusTimestamp       Timestamp
	TokenID                  EntityID // 0 for hbars
	EffectivePayerAccountIDs []EntityID
}

// successCodes are the results that count as success.
var successCodes = []ResponseCode{22, 104, 220}

// SuccessCodes returns the results that count as success.
func SuccessCodes() []ResponseCode { return slices.Clone(successCodes) }

// MemoText returns the memo as text, or null if it is not valid UTF-8.
func (t *Transaction) MemoText() Null[string] { return textOf(t.Memo) }
