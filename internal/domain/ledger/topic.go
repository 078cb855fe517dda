package ledger

// Topic is a topic of the consensus service: a row of the table topic with what the table entity knows of it.
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

// TopicCustomFees are the fees that a message to a topic costs on top of the network's.
type TopicCustomFees struct {
	CreatedTimestamp Null[Timestamp]
	FixedFees        []*FixedFee
}

// FixedFee is a custom fee of a fixed amount.
type FixedFee struct {
	AllCollectorsAreExempt bool
	Amount                 int64 // tinybars, or the token's smallest unit
	CollectorAccountID     EntityID
	DenominatingTokenID    EntityID // none means hbar
}

// TopicMessage is a message that reached consensus in a topic.
type TopicMessage struct {
	ConsensusTimestamp Timestamp
	TopicID            EntityID
	SequenceNumber     int64
	Message            []byte
	PayerAccountID     EntityID
	RunningHash        []byte
	RunningHashVersion int32
	ChunkInfo          *ChunkInfo
}

// ChunkInfo places a message among the chunks of a longer one.
type ChunkInfo struct {
	InitialTransactionID *MessageTransactionID
	Number               int32
	Total                Null[int32]
}

// IsNode marks what has a global id in the graph.
func (*Topic) IsNode() {}

// IsNode marks what has a global id in the graph.
func (*TopicMessage) IsNode() {}

// IsEntity marks what has an entity id.
func (*Topic) IsEntity() {}

// Text is the message's bytes, which the reader takes for UTF-8. They need not be.
func (m *TopicMessage) Text() []byte { return m.Message }
