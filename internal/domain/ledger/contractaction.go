package ledger

// ContractAction is a step of a call: a call, a creation or a precompiled contract. A row of the table contract_action.
type ContractAction struct {
	ConsensusTimestamp Timestamp
	CallDepth          int32
	CallOperationType  CallOperationType
	CallType           CallType
	Caller             EntityID
	CallerType         EntityType
	Gas                int64
	GasUsed            int64
	Index              int32
	Input              []byte
	PayerAccountID     EntityID // of the transaction
	Recipient          EntityID
	RecipientType      *EntityType // nil without a recipient
	ResultData         []byte
	ResultDataType     ResultDataType
	To                 []byte // 20 bytes; nil without a recipient
	Value              int64  // tinybars
}

// From returns the long-zero address of the caller, or nil if the caller is unknown.
func (a *ContractAction) From() []byte { return longZero(a.Caller) }

// CallOperationType is the EVM operation of an action.
type CallOperationType string

// CallType is the kind of an action.
type CallType string

// ResultDataType is the meaning of an action's result data.
type ResultDataType string

// The names of the database values 0, 1 and so on.
var (
	callOperationTypes = []CallOperationType{Unknown, "CALL", "CALLCODE", "DELEGATECALL", "STATICCALL", "CREATE", "CREATE2"}
	callTypes          = []CallType{"NO_ACTION", "CALL", "CREATE", "PRECOMPILE", "SYSTEM"}
)

// resultDataTypes has the names of the database values 11, 12 and so on.
var resultDataTypes = []ResultDataType{"OUTPUT", "REVERT_REASON", "ERROR"}

// nameOf returns the name of a database value, or [Unknown].
func nameOf[T ~string](names []T, n int32) T {
	if n < 0 || int(n) >= len(names) {
		return Unknown
	}
	return names[n]
}

// CallOperationTypeOf returns the operation of a database value.
func CallOperationTypeOf(n int32) CallOperationType { return nameOf(callOperationTypes, n) }

// CallTypeOf returns the kind of a database value.
func CallTypeOf(n int32) CallType { return nameOf(callTypes, n) }

// ResultDataTypeOf returns the type of a database value.
func ResultDataTypeOf(n int32) ResultDataType { return nameOf(resultDataTypes, n-11) }

// ContractActionFilter selects the actions of a transaction.
type ContractActionFilter struct {
	Index *LongFilter
}
