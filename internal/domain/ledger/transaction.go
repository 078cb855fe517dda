package ledger

import "slices"

// Transaction is a row of the table transaction. Transfers, which are rows of tables of their own, are loaded by consensus timestamp and payer.
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

// TransactionID is the id that the payer gave the transaction.
func (t *Transaction) TransactionID() TransactionID {
	return TransactionID{Payer: t.PayerAccountID, ValidStart: t.ValidStartTimestamp}
}

// CryptoTransfer is one account's part in a movement of hbar.
type CryptoTransfer struct {
	AccountID  EntityID
	Amount     int64 // tinybars; negative for who pays
	IsApproval bool
}

// TokenTransfer is one account's part in a movement of a fungible token.
type TokenTransfer struct {
	TokenID    EntityID
	AccountID  EntityID
	Amount     int64 // in the token's smallest unit; negative for who pays
	IsApproval bool
}

// NFTTransfer is the movement of one serial of a non-fungible token. A mint has no sender, a burn and a wipe have no receiver; a change of treasury
// moves all of its serials and stands as serial -1.
type NFTTransfer struct {
	IsApproval        bool
	ReceiverAccountID EntityID
	SenderAccountID   EntityID
	SerialNumber      int64
	TokenID           EntityID
}

// StakingReward is what an account was paid for staking when a transaction touched it.
type StakingReward struct {
	AccountID          EntityID
	Amount             int64 // tinybars
	ConsensusTimestamp Timestamp
}

// AssessedCustomFee is a custom fee of a token or topic that a transaction was charged.
type AssessedCustomFee struct {
	Amount                   int64 // tinybars, or the token's smallest unit
	CollectorAccountID       EntityID
	TokenID                  EntityID // none means hbar
	EffectivePayerAccountIDs []EntityID
}

// successCodes are the results that count as success.
var successCodes = []ResponseCode{22, 104, 220}

// SuccessCodes returns the results that count as success.
func SuccessCodes() []ResponseCode { return slices.Clone(successCodes) }

// IsNode marks what has a global id in the graph.
func (*Transaction) IsNode() {}
