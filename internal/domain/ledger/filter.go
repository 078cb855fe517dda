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
