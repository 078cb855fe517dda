package ledger

// ContractAction is one step of a call: a call, a creation or a precompile that the EVM ran. A row of the table contract_action.
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
	Recipient          EntityID
	RecipientType      *EntityType // nil when there is no recipient
	ResultData         []byte
	ResultDataType     ResultDataType
	To                 []byte // 20 bytes; nil when there is no recipient
	Value              int64  // tinybars
}

// From is the address made of the caller's number; nil when the caller is unknown.
func (a *ContractAction) From() []byte { return longZero(a.Caller) }

// CallOperationType is the operation of the EVM by which something was called.
type CallOperationType string

// CallType is what kind of thing was run.
type CallType string

// ResultDataType is what the result's data mean.
type ResultDataType string

// CallOperationTypeOf is the operation with a number of the ledger.
func CallOperationTypeOf(n int32) CallOperationType {
	switch n {
	case 1:
		return "CALL"
	case 2:
		return "CALLCODE"
	case 3:
		return "DELEGATECALL"
	case 4:
		return "STATICCALL"
	case 5:
		return "CREATE"
	case 6:
		return "CREATE2"
	default:
		return Unknown
	}
}

// CallTypeOf is the kind with a number of the ledger.
func CallTypeOf(n int32) CallType {
	switch n {
	case 0:
		return "NO_ACTION"
	case 1:
		return "CALL"
	case 2:
		return "CREATE"
	case 3:
		return "PRECOMPILE"
	case 4:
		return "SYSTEM"
	default:
		return Unknown
	}
}

// ResultDataTypeOf is the meaning with a number of the ledger.
func ResultDataTypeOf(n int32) ResultDataType {
	switch n {
	case 11:
		return "OUTPUT"
	case 12:
		return "REVERT_REASON"
	case 13:
		return "ERROR"
	default:
		return Unknown
	}
}

// ContractActionFilter selects the actions of a transaction.
type ContractActionFilter struct {
	Index *LongFilter
}
