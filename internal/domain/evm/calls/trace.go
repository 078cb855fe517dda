package calls

import (
	"heliograph/internal/domain/ledger"
)

// OpcodeTrace is what happened when a transaction was run again.
type OpcodeTrace struct {
	Address     ledger.EVMAddress
	ContractID  ledger.EntityID
	Failed      bool
	Gas         int64
	Opcodes     []*OpcodeStep
	ReturnValue []byte
	Steps       int64
}

// OpcodeStep is one step of it: what an opcode left behind.
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

// SlotValue is a slot of storage and what it holds, of 32 bytes each.
type SlotValue struct {
	Key   []byte
	Value []byte
}
