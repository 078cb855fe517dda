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

// CallOperationTypeOf returns the operation of a database value.
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

// CallTypeOf returns the kind of a database value.
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

// ResultDataTypeOf returns the type of a database value.
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
