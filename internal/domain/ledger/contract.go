package ledger

// Contract is a smart contract: a row of the table entity or entity_history with columns of the table contract. Its bytecode, which can be large, is read
// separately.
type Contract struct {
	EntityID                      EntityID
	AdminKey                      *KeyInfo
	AutoRenewAccountID            EntityID
	AutoRenewPeriod               Null[int64] // seconds
	CreatedTimestamp              Null[Timestamp]
	Deleted                       Null[bool]
	EVMAddress                    []byte          // the stored one, else the long-zero one
	ExpirationTimestamp           Null[Timestamp] // the stored one, else created plus the auto-renew period
	FileID                        EntityID
	MaxAutomaticTokenAssociations Null[int32]
	Memo                          string
	Nonce                         Null[int64]
	ObtainerID                    EntityID
	PermanentRemoval              Null[bool]
	ProxyAccountID                EntityID
	Timestamp                     TimestampRange
}

// ContractState is the value of a storage slot of a contract, now or at a historical instant.
type ContractState struct {
	Address    []byte // of the contract in the EVM; nil for the contract 0
	ContractID EntityID
	Slot       []byte    // 32 bytes
	Value      []byte    // 32 bytes; nil if unknown
	Timestamp  Timestamp // when the slot was last written, or read for the first time
}

// ContractLog is a row of the table contract_log with its contract's address and its block. A synthetic log is derived from a token transfer outside of the
// EVM.
type ContractLog struct {
	ConsensusTimestamp Timestamp
	Index              int32
	Address            []byte // of the contract in the EVM; nil if missing
	Bloom              []byte
	ContractID         EntityID
	Data               []byte // at least 32 bytes, or none
	PayerAccountID     EntityID
	RootContractID     EntityID
	Synthetic          bool
	Topics             [][]byte // 0 to 4, 32 bytes each
	TransactionHash    []byte   // 32 bytes; empty if unknown
	TransactionIndex   Null[int32]

	BlockHash   string // "0x" and hex; "0x" if the block is unknown
	BlockNumber Null[int64]
}

// MaxTopics is the maximum number of topics of a log.
const MaxTopics = 4

// ContractFilter selects contracts.
type ContractFilter struct {
	ID        *EntityIDFilter
	Contracts []ContractRef // their ids join those of ID.In
}

// ContractStateFilter selects storage slots.
type ContractStateFilter struct {
	Slot *SlotFilter
}

// ContractLogFilter selects logs.
type ContractLogFilter struct {
	ContractID *EntityIDFilter
	Contract   *ContractRef // joins the ids of ContractID.In
	Timestamp  *TimestampFilter
	// Index requires a single timestamp, or bounds a range of Timestamp at its ends.
	Index *LongFilter
	// Topics has the alternatives for each topic position. An empty list matches any topic.
	Topics [][][]byte
	// TransactionHash selects the logs of one transaction. If several transactions have the hash, it selects the first in the order of the list within
	// Timestamp.
	TransactionHash *string
}
