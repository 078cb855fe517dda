package ledger

// Topic is a topic of the consensus service: a row of the table topic with columns of the table entity.
type Topic struct {
	EntityID            EntityID
	AdminKey            *KeyInfo
	AutoRenewAccountID  EntityID
	AutoRenewPeriod     Null[int64] // seconds
	CreatedTimestamp    Null[Timestamp]
	CustomFees          *TopicCustomFees
	Deleted             Null[bool]
	ExpirationTimestamp Null[Timestamp]
	FeeExemptKeys       []*KeyInfo
	FeeScheduleKey      *KeyInfo
	Memo                string
	SubmitKey           *KeyInfo
	Timestamp           TimestampRange
}

// TopicCustomFees are the custom fees of a message to a topic, in addition to the network's fee.
type TopicCustomFees struct {
	CreatedTimestamp Null[Timestamp]
	FixedFees        []*FixedFee
}

// FixedFee is a custom fee of a fixed amount.
type FixedFee struct {
	AllCollectorsAreExempt bool
	Amount                 int64 // tinybars, or the token's smallest unit
	CollectorAccountID     EntityID
	DenominatingTokenID    EntityID // 0 for hbars
}

// TopicMessage is a message in a topic.
type TopicMessage struct {
	ConsensusTimestamp Timestamp
	TopicID            EntityID
	SequenceNumber     int64
	Message            []byte
	PayerAccountID     EntityID
	RunningHash        []byte
	RunningHashVersion int32
	ChunkInfo          *ChunkInfo
	Joined             int32 // the number of chunks after this one whose content is in Message
}

// ChunkInfo is the position of a chunk in a longer message.
type ChunkInfo struct {
	InitialTransactionID *MessageTransactionID
	Number               int32
	Total                Null[int32]
}

// Text returns the message's bytes, which clients receive as UTF-8 text. They need not be valid UTF-8.
func (m *TopicMessage) Text() []byte { return m.Message }

// JoinedChunks returns the number of chunks whose content is in the message.
func (m *TopicMessage) JoinedChunks() int32 { return 1 + m.Joined }

// MessageText returns the content as text, or null if it is not valid UTF-8.
func (m *TopicMessage) MessageText() Null[string] { return textOf(m.Message) }
