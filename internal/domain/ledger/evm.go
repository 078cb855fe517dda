package ledger

// EVMEntity is what the EVM may see of an entity: one of now, or of an instant of the past.
type EVMEntity struct {
	ID   EntityID
	Type EntityType
	// Alias is the 20-byte address by which contracts know the entity, from its EVM address or its alias. It is unknown where they know it by
	// its number alone.
	Alias Null[EVMAddress]
	// Balance is in tinybars.
	Balance Null[int64]
	// Nonce is how many Ethereum transactions, or creations of a contract, it has made.
	Nonce int64
	// Code is what runs when a contract is called. It is shared, and must not be written.
	Code []byte
	// Delegation is the contract whose code an account runs.
	Delegation Null[EVMAddress]
	// Key is a serialized key.
	Key []byte
	// ReceiverSigRequired tells that hbars come in only when the account has signed.
	ReceiverSigRequired bool
}

// EVMSchedule is what contracts may see of a schedule, with the signatures that were given for it.
type EVMSchedule struct {
	Schedule
	Signatures []*ScheduleSignature
}

// EVMBlock are the values that contracts can ask of the block that they run in.
type EVMBlock struct {
	Number int64
	// Hash are the first 32 bytes of the block's hash.
	Hash [32]byte
	// Start and End are the consensus timestamps of the block's first and last transaction.
	Start, End Timestamp
}

// EVMBlockRef says in which block something is run: by hash, number or instant; the zero value is the newest block and what the ledger holds
// now. Any other is the past, even when it names the newest block.
type EVMBlockRef struct {
	// Hash is hex without 0x, a whole hash or what it begins with.
	Hash     string
	Number   Null[int64]
	Earliest bool
	// Before is the consensus timestamp of a transaction: its block, and the ledger as the transaction found it.
	Before Timestamp
}

// IsPast tells whether it is not what the ledger holds now.
func (r EVMBlockRef) IsPast() bool { return r != EVMBlockRef{} }
