package ledger

// NFT is one serial of a non-fungible token: a row of the table nft. Burned ones are kept.
type NFT struct {
	TokenID             EntityID
	SerialNumber        int64
	AccountID           EntityID // the owner; none when burned
	CreatedTimestamp    Null[Timestamp]
	DelegatingSpenderID EntityID
	Deleted             Null[bool] // burned, or its token was deleted
	Metadata            []byte
	SpenderID           EntityID
	Timestamp           TimestampRange
}

// ModifiedTimestamp is since when the NFT has been as it is.
func (n *NFT) ModifiedTimestamp() Null[Timestamp] { return n.Timestamp.From }

// NFTKey names a serial of a token.
type NFTKey struct {
	TokenID      EntityID
	SerialNumber int64
}

// Key names the NFT.
func (n *NFT) Key() NFTKey { return NFTKey{n.TokenID, n.SerialNumber} }

// NFTTransaction is a transaction in the history of an NFT: it minted, moved, changed or burned it.
type NFTTransaction struct {
	NFT                 NFTKey
	ConsensusTimestamp  Timestamp
	IsApproval          bool
	Nonce               int32
	PayerAccountID      EntityID
	ReceiverAccountID   EntityID
	SenderAccountID     EntityID
	Type                TransactionType
	ValidStartTimestamp Timestamp
}

// TransactionID is the id that the payer gave the transaction.
func (t *NFTTransaction) TransactionID() TransactionID {
	return TransactionID{Payer: t.PayerAccountID, ValidStart: t.ValidStartTimestamp}
}

// IsNode marks what has a global id in the graph.
func (*NFT) IsNode() {}

// NFTFilter selects NFTs.
type NFTFilter struct {
	Owner        *AccountRef
	OwnerID      *EntityIDFilter
	TokenID      *EntityIDFilter
	SerialNumber *LongFilter
	SpenderID    *EntityIDFilter
	AnyOf        []*NFTKeyFilter // nil means no condition, an empty list meets nothing
}

// NFTKeyFilter is a set of conditions on what names an NFT.
type NFTKeyFilter struct {
	TokenID      *EntityIDFilter
	SerialNumber *LongFilter
}

// NFTTransactionFilter selects transactions in the history of an NFT.
type NFTTransactionFilter struct {
	Timestamp *TimestampFilter
}
