package ledger

// NFT is a serial of a non-fungible token: a row of the table nft, which also has burned serials.
type NFT struct {
	TokenID             EntityID
	SerialNumber        int64
	AccountID           EntityID // the owner, 0 if burned
	CreatedTimestamp    Null[Timestamp]
	DelegatingSpenderID EntityID
	Deleted             Null[bool] // burned, or its token was deleted
	Metadata            []byte
	SpenderID           EntityID
	Timestamp           TimestampRange
}

// ModifiedTimestamp returns the time of the last change.
func (n *NFT) ModifiedTimestamp() Null[Timestamp] { return n.Timestamp.From }

// NFTKey identifies a serial of a token.
type NFTKey struct {
	TokenID      EntityID
	SerialNumber int64
}

// Key returns the key of the NFT.
func (n *NFT) Key() NFTKey { return NFTKey{n.TokenID, n.SerialNumber} }

// NFTTransaction is a transaction that minted, transferred, changed or burned an NFT.
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

// TransactionID returns the transaction id.
func (t *NFTTransaction) TransactionID() TransactionID {
	return TransactionID{Payer: t.PayerAccountID, ValidStart: t.ValidStartTimestamp}
}

// MetadataText returns the metadata as text, or null if they are not valid UTF-8.
func (n *NFT) MetadataText() Null[string] { return textOf(n.Metadata) }

// NFTFilter selects NFTs.
type NFTFilter struct {
	Owner        *AccountRef
	OwnerID      *EntityIDFilter
	TokenID      *EntityIDFilter
	SerialNumber *LongFilter
	SpenderID    *EntityIDFilter
	Deleted      *bool
	AnyOf        []*NFTKeyFilter // nil means no condition, an empty list matches nothing
}

// NFTKeyFilter is a set of conditions on the key of an NFT.
type NFTKeyFilter struct {
	TokenID      *EntityIDFilter
	SerialNumber *LongFilter
}

// NFTTransactionFilter selects transactions in the history of an NFT.
type NFTTransactionFilter struct {
	Timestamp *TimestampFilter
}
