package calls

import "heliograph/internal/domain/ledger"

// OpcodeTrace is the trace of a transaction that was run again.
type OpcodeTrace struct {
	Address     ledger.EVMAddress
	ContractID  ledger.EntityID
	Failed      bool
	Gas         int64
	Opcodes     []*OpcodeStep
	ReturnValue []byte
	Steps       int64
}

// OpcodeStep is a step of a trace: an opcode and the state after it.
type OpcodeStep struct {
	Depth   int32
	Gas     int64
	GasCost int64
	Memory  [][]byte
	Op      string
	Pc      int64
	Reason  []byte
	Stack   [][]byte
	Storage []*SlotValue
}

// SlotValue is a storage slot and its value, 32 bytes each.
type SlotValue struct {
	Key   []byte
	Value []byte
}
