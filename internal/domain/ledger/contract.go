package ledger

// Contract is a smart contract: a row of the table entity or entity_history with what the table contract knows of it. The codes, which can be
// large, are read apart.
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

// ContractState is what a slot of a contract's storage holds, now or at a time.
type ContractState struct {
	Address    []byte // of the contract in the EVM; nil for the contract 0
	ContractID EntityID
	Slot       []byte    // 32 bytes
	Value      []byte    // 32 bytes; nil when unknown
	Timestamp  Timestamp // when the slot was last written, or read for the first time
}

// ContractLog is a row of the table contract_log with its contract's address and its block. A synthetic one was derived from the movement of a
// token outside of the EVM.
type ContractLog struct {
	ConsensusTimestamp Timestamp
	Index              int32
	Address            []byte // of the contract in the EVM; nil where there is none
	Bloom              []byte
	ContractID         EntityID
	Data               []byte // at least 32 bytes, or none
	PayerAccountID     EntityID
	RootContractID     EntityID
	Synthetic          bool
	Topics             [][]byte // 0 to 4, 32 bytes each
	TransactionHash    []byte   // 32 bytes; empty when unknown
	TransactionIndex   Null[int32]

	BlockHash   string // "0x" and hex; only "0x" when the block is unknown
	BlockNumber Null[int64]
}

// MaxTopics is how many topics a log can have.
const MaxTopics = 4

// ContractFilter selects contracts.
type ContractFilter struct {
	ID        *EntityIDFilter
	Contracts []ContractRef // their ids join those of ID.In
}

// SlotFilter is a set of conditions on a slot of storage; a row must meet all that are given. Slots are filled with zeros in front, or lose
// them, before they are compared byte by byte. A non-nil empty In meets nothing.
type SlotFilter struct {
	Eq  []byte
	Gt  []byte
	Gte []byte
	Lt  []byte
	Lte []byte
	In  [][]byte
}

// ContractStateFilter selects slots of storage.
type ContractStateFilter struct {
	Slot *SlotFilter
}

// ContractLogFilter selects logs.
type ContractLogFilter struct {
	ContractID *EntityIDFilter
	Contract   *ContractRef // joins the ids of ContractID.In
	Timestamp  *TimestampFilter
	// Index goes with an instant, or bounds a range of Timestamp at its ends.
	Index *LongFilter
	// Topics are alternatives for each place; none for a place means any.
	Topics [][][]byte
	// TransactionHash selects the logs of one transaction: of several with the hash, the first in the order of the list that Timestamp selects.
	TransactionHash *string
}

// IsNode marks what has a global id in the graph.
func (*Contract) IsNode() {}

// IsEntity marks what has an entity id.
func (*Contract) IsEntity() {}

// IsNode marks what has a global id in the graph.
func (*ContractLog) IsNode() {}
