package scalar

import (
	"context"
	"math/big"

	"github.com/99designs/gqlgen/graphql"

	"heliograph/graph/fault"
	"heliograph/internal/domain/ledger"
)

// AppendInteger appends an integer of any size: a string in GraphQL, a number in REST, or null if it is empty.
func AppendInteger(dst []byte, v ledger.Integer, style Style) []byte {
	switch {
	case v == "":
		return append(dst, null...)
	case style == GraphQL:
		return AppendString(dst, string(v), style)
	default:
		return append(dst, v...)
	}
}

// MarshalInteger is [AppendInteger] for gqlgen.
func MarshalInteger(v ledger.Integer) graphql.ContextMarshaler { return with(v, AppendInteger) }

// UnmarshalInteger parses an integer given as a number or in decimal digits.
func UnmarshalInteger(_ context.Context, v any) (ledger.Integer, error) {
	text, err := inputText(v)
	if err != nil {
		return "", err
	}
	if _, ok := new(big.Int).SetString(text, 10); !ok {
		return "", fault.Input("%q is not an integer", text)
	}
	return ledger.Integer(text), nil
}

// AppendQuantity appends an integer as "0x" and hex, or null if it is empty.
func AppendQuantity(dst []byte, v ledger.Quantity, style Style) []byte {
	if v == "" {
		return append(dst, null...)
	}
	return AppendString(dst, string(v), style)
}

// MarshalQuantity is [AppendQuantity] for gqlgen.
func MarshalQuantity(v ledger.Quantity) graphql.ContextMarshaler { return with(v, AppendQuantity) }

// UnmarshalQuantity parses "0x" and hex digits.
func UnmarshalQuantity(_ context.Context, v any) (ledger.Quantity, error) {
	text, err := inputText(v)
	if err != nil {
		return "", err
	}
	if len(text) < 3 || text[:2] != "0x" || !ledger.IsHex(text[2:]) {
		return "", fault.Input("%q is not 0x and hex digits", text)
	}
	return ledger.Quantity(text), nil
}

// AppendCallOperationType appends an operation type of the EVM.
func AppendCallOperationType(dst []byte, v ledger.CallOperationType, style Style) []byte {
	return AppendName(dst, v, style)
}

// MarshalCallOperationType is [AppendCallOperationType] for gqlgen.
func MarshalCallOperationType(v ledger.CallOperationType) graphql.ContextMarshaler {
	return with(v, AppendCallOperationType)
}

// UnmarshalCallOperationType parses an operation type of the EVM.
func UnmarshalCallOperationType(_ context.Context, v any) (ledger.CallOperationType, error) {
	return readName[ledger.CallOperationType](v)
}

// AppendCallType appends a call type.
func AppendCallType(dst []byte, v ledger.CallType, style Style) []byte {
	return AppendName(dst, v, style)
}

// MarshalCallType is [AppendCallType] for gqlgen.
func MarshalCallType(v ledger.CallType) graphql.ContextMarshaler { return with(v, AppendCallType) }

// UnmarshalCallType parses a call type.
func UnmarshalCallType(_ context.Context, v any) (ledger.CallType, error) {
	return readName[ledger.CallType](v)
}

// AppendResultDataType appends the type of result data.
func AppendResultDataType(dst []byte, v ledger.ResultDataType, style Style) []byte {
	return AppendName(dst, v, style)
}

// MarshalResultDataType is [AppendResultDataType] for gqlgen.
func MarshalResultDataType(v ledger.ResultDataType) graphql.ContextMarshaler {
	return with(v, AppendResultDataType)
}

// UnmarshalResultDataType parses the type of result data.
func UnmarshalResultDataType(_ context.Context, v any) (ledger.ResultDataType, error) {
	return readName[ledger.ResultDataType](v)
}
