package system

import (
	"encoding/binary"
	"strconv"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/domain/evm/system/abi"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
)

// DecodeCall decodes the input and output of a call by the declarations of a, for traces, nil if none fits. For a
// redirect function, whose arguments may be packed, it also decodes the call that is passed on, with its output.
func DecodeCall(a *abi.ABI, input, output []byte) *abi.Decoded {
	if len(input) >= 4 {
		switch binary.BigEndian.Uint32(input) {
		case redirectForToken, redirectForAccount, redirectForSchedule:
			if entity, inner, ok := unwrapRedirect(input[4:]); ok {
				d := a.Call(redirectArgs.Encode(input[:4:4], []any{entity, inner}), nil)
				if d != nil {
					d.Inner = a.Call(inner, output)
				}
				return d
			}
		}
	}
	return a.Call(input, output)
}

// unwrapRedirect returns the entity and the input of a redirected call. The arguments are either ABI-encoded, or
// the address followed by the input. ok is false if they are too short.
func unwrapRedirect(args []byte) (entity common.Address, inner []byte, ok bool) {
	if v, err := redirectArgs.Decode(args); err == nil {
		parts := abi.List(v)
		inner = parts[1].([]byte)
		return parts[0].(common.Address), inner, len(inner) >= 4
	}
	if len(args) < 24 {
		return entity, nil, false
	}
	return common.Address(args[:20]), args[20:], true
}

// DecodeError decodes the data of a revert by the declarations of a, or returns nil if none fits. The data of a system
// contract are a response code in 32 bytes: then the name is that of the code, which is also the only argument. OK,
// SUCCESS and unknown codes give nil.
func DecodeError(a *abi.ABI, data []byte) *abi.Decoded {
	if len(data) != 32 || [30]byte(data) != [30]byte{} {
		return a.Error(data)
	}
	code := ledger.ResponseCode(binary.BigEndian.Uint16(data[30:]))
	name := code.String()
	if name == ledger.Unknown || code == codes.OK || code == codes.Success {
		return nil
	}
	argument := &abi.Argument{Name: "responseCode", Type: "uint256", Value: strconv.Itoa(int(code))}
	return &abi.Decoded{Name: name, Arguments: []*abi.Argument{argument}}
}
