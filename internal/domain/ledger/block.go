package ledger

// Block is a block of the ledger: a row of the table record_file.
type Block struct {
	Number       int64
	Hash         string // "0x" and 96 hex digits
	PreviousHash string // "0x" and 96 hex digits
	Name         string // of the stream file
	Count        int64  // transactions in the block, children included
	HapiVersion  Null[string]
	Size         Null[int64] // bytes
	GasUsed      Null[int64]
	LogsBloom    []byte // nil: unknown; empty: no contract logs; else 256 bytes
	Timestamp    TimestampRange
}
