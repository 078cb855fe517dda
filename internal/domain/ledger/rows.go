package ledger

// File is a file of the file service. It has the columns of accounts, because both are rows of the table entity.
type File Account

// SnapshotWindow is the time range of the rows of a balance snapshot, inclusive. Only the first snapshot of a month is
// complete. Later ones have changes only, so the last row of each account is its balance.
type SnapshotWindow struct {
	From Timestamp // the start of the snapshot's month, UTC
	At   Timestamp // the time of the snapshot
}

// AccountAllowances are the allowances that an account granted or received.
type AccountAllowances struct {
	AccountID EntityID
	Received  bool
}

// MaxTopics is the maximum number of topics of a log.
const MaxTopics = 4

// HookSlotSize is the size of keys and values in a hook's storage, in bytes.
const HookSlotSize = 32

// ModifiedTimestamp returns the consensus time of the last change: the start of the version, or null.
func (n *NFT) ModifiedTimestamp() Null[Timestamp] { return n.Timestamp.From }

// NFTKey identifies a serial of a token.
type NFTKey struct {
	TokenID      EntityID
	SerialNumber int64
}

// Element is a part of an entity that has a number: a serial of a token, a message of a topic, or a hook of an
// account.
type Element struct {
	Entity EntityID
	Number int64
}

// Key returns the token and serial number, by which NFTs are looked up.
func (n *NFT) Key() NFTKey { return NFTKey{n.TokenID, n.SerialNumber} }

// Key returns the token and serial number of the NFT, by which NFTs are looked up.
func (e *NFTEffect) Key() NFTKey { return NFTKey{e.TokenID, e.SerialNumber} }

// TransactionID returns the ID of the transaction: payer and valid start.
func (t *NFTTransaction) TransactionID() TransactionID {
	return TransactionID{Payer: t.PayerAccountID, ValidStart: t.ValidStartTimestamp}
}

// TransactionParts are the rows that were read with a transaction. A list that was not read is nil.
type TransactionParts struct {
	Transfers      []*CryptoTransfer
	TokenTransfers []*TokenTransfer
	CustomFees     []*AssessedCustomFee
	Rewards        []*StakingReward
}

// MetadataText returns the metadata as text, or null if they are missing or not valid UTF-8.
func (n *NFT) MetadataText() Null[string] { return textOf(n.Metadata) }

// ExpirationNanoseconds returns the expiration of the token in nanoseconds since 1970 as decimal text, or the empty
// text for null.
func (t *Token) ExpirationNanoseconds() Integer { return t.ExpirationTimestamp.Nanoseconds() }

// ModifiedTimestamp returns the consensus time of the last change: the start of the version, or null.
func (t *Token) ModifiedTimestamp() Null[Timestamp] { return t.Timestamp.From }

// MetadataText returns the metadata as text, or null if they are missing or not valid UTF-8.
func (t *Token) MetadataText() Null[string] { return textOf(t.Metadata) }

// Text returns the message's bytes, which clients receive as UTF-8 text. They need not be valid UTF-8.
func (m *TopicMessage) Text() []byte { return m.Message }

// JoinedChunks returns the number of chunks whose content is in the message.
func (m *TopicMessage) JoinedChunks() int32 { return 1 + m.Joined }

// MessageText returns the content as text, or null if it is missing or not valid UTF-8.
func (m *TopicMessage) MessageText() Null[string] { return textOf(m.Message) }

// From returns the long-zero address of the caller, or nil if the caller is unknown.
func (a *ContractAction) From() []byte { return longZero(a.Caller) }

// nameOf returns the element of names with the index n, or [Unknown] if there is none. The index is the number in the
// database, or the caller has subtracted the number of the first name.
func nameOf[T ~string](names []T, n int32) T {
	if n < 0 || int(n) >= len(names) {
		return Unknown
	}
	return names[n]
}

// CallOperationTypeOf returns the operation with a number in contract_action, or [Unknown].
func CallOperationTypeOf(n int32) CallOperationType { return nameOf(callOperationTypes, n) }

// CallTypeOf returns the kind of call with a number in contract_action, or [Unknown].
func CallTypeOf(n int32) CallType { return nameOf(callTypes, n) }

// ResultDataTypeOf returns the type of result data with a number in contract_action, where the first type is 11, or
// [Unknown].
func ResultDataTypeOf(n int32) ResultDataType { return nameOf(resultDataTypes, n-11) }
