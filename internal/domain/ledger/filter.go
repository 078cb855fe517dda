package ledger

// Filter is a set of conditions on a 64-bit value or a text. Texts are compared byte by byte. A row must satisfy all conditions. A non-nil empty In matches
// nothing.
type Filter[T ~int64 | ~string] struct {
	Eq    *T
	Ne    *T
	Gt    *T
	Gte   *T
	Lt    *T
	Lte   *T
	In    []T
	NotIn []T
}

// The filters of the graph.
type (
	EntityIDFilter  = Filter[EntityID]
	TimestampFilter = Filter[Timestamp]
	LongFilter      = Filter[int64]
	StringFilter    = Filter[string]
	HookKeyFilter   = BytesFilter // on keys of up to HookSlotSize bytes
	SlotFilter      = BytesFilter // on storage slots, padded or trimmed to 32 bytes
)

// BytesFilter is a set of conditions on bytes. A row must satisfy all of them. A non-nil empty In matches nothing.
type BytesFilter struct {
	Eq  []byte
	Gt  []byte
	Gte []byte
	Lt  []byte
	Lte []byte
	In  [][]byte
}

// AccountFilter selects accounts.
type AccountFilter struct {
	ID        *EntityIDFilter
	Balance   *LongFilter
	PublicKey *StringFilter
}

// BalanceFilter selects balances.
type BalanceFilter struct {
	AccountID *EntityIDFilter
	Account   *AccountRef // joins the ids of AccountID.In
	Balance   *LongFilter
	PublicKey *StringFilter
}

// BlockFilter selects blocks.
type BlockFilter struct {
	Number    *LongFilter
	Timestamp *TimestampFilter // of the block's last transaction
}

// TransactionOutcome selects successful or failed transactions.
type TransactionOutcome string

// The outcomes.
const (
	OutcomeSuccess TransactionOutcome = "SUCCESS"
	OutcomeFailure TransactionOutcome = "FAILURE"
)

// TransferDirection is the direction of a transfer from the point of view of an account.
type TransferDirection string

// The directions.
const (
	DirectionCredit TransferDirection = "CREDIT"
	DirectionDebit  TransferDirection = "DEBIT"
)

// TransactionFilter selects transactions.
type TransactionFilter struct {
	AccountID *EntityIDFilter
	Account   *AccountRef // joins the ids of AccountID.In
	Timestamp *TimestampFilter
	Types     []TransactionType
	Outcome   *TransactionOutcome
	Direction *TransferDirection
	EntityID  *EntityID
	TokenID   *EntityID
}

// TopicMessageFilter selects messages of a topic.
type TopicMessageFilter struct {
	SequenceNumber *LongFilter
	Timestamp      *TimestampFilter
	// JoinChunks selects first chunks, each with the contents of its other chunks, and messages without chunks.
	JoinChunks bool
}

// Joining returns the filter with JoinChunks.
func (f *TopicMessageFilter) Joining(on bool) *TopicMessageFilter {
	if !on {
		return f
	}
	var copied TopicMessageFilter
	if f != nil {
		copied = *f
	}
	copied.JoinChunks = true
	return &copied
}
