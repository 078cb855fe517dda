package evm

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/holiman/uint256"
)

// Frame is a call frame: a call or the creation of a contract.
type Frame struct {
	// Op is CALL, CALLCODE, DELEGATECALL, STATICCALL, CREATE or CREATE2.
	Op vm.OpCode
	// Caller, Self and Value are msg.sender, address(this) and msg.value of the frame.
	Caller, Self common.Address
	Value        *uint256.Int
	// Code is the address whose code runs. It differs from Self in delegate calls.
	Code common.Address
	// Static reports whether the state must not change: this frame or an outer one was called by STATICCALL.
	Static bool
	// Input is the call's data, or the code that creates a contract.
	Input []byte
	// Gas is the gas limit of the frame.
	Gas uint64
}

// frames is the call stack, outermost frame first.
type frames []*Frame

func (f frames) top() *Frame { return f[len(f)-1] }

// push adds a frame. from is the contract whose opcode made the call, to is the contract whose code runs.
func (f *frames) push(op vm.OpCode, from, to common.Address, input []byte, gas uint64, value *big.Int) {
	frame := &Frame{Op: op, Caller: from, Self: to, Value: new(uint256.Int), Code: to, Input: input, Gas: gas, Static: op == vm.STATICCALL}
	if value != nil {
		frame.Value.SetFromBig(value)
	}
	if len(*f) > 0 {
		parent := f.top()
		frame.Static = frame.Static || parent.Static
		if op == vm.DELEGATECALL {
			frame.Caller, frame.Value = parent.Caller, parent.Value
		}
	}
	if op == vm.DELEGATECALL || op == vm.CALLCODE {
		frame.Self = from
	}
	*f = append(*f, frame)
}

func (f *frames) pop() { *f = (*f)[:len(*f)-1] }
