package scalar

import (
	"context"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/internal/domain/ledger"
)

// AppendName appends the name of an enum value.
func AppendName[T ~string](dst []byte, v T, style Style) []byte {
	return AppendString(dst, string(v), style)
}

// readName parses the name of an enum value. Validation has checked that the value exists.
func readName[T ~string](v any) (T, error) {
	text, err := inputText(v)
	return T(text), err
}

// MarshalOrder marshals a sort order.
func MarshalOrder(v relay.Order) graphql.ContextMarshaler { return with(v, AppendName) }

// UnmarshalOrder parses a sort order.
func UnmarshalOrder(_ context.Context, v any) (relay.Order, error) { return readName[relay.Order](v) }

// MarshalTransactionOutcome marshals a transaction outcome.
func MarshalTransactionOutcome(v ledger.TransactionOutcome) graphql.ContextMarshaler {
	return with(v, AppendName)
}

// UnmarshalTransactionOutcome parses a transaction outcome.
func UnmarshalTransactionOutcome(_ context.Context, v any) (ledger.TransactionOutcome, error) {
	return readName[ledger.TransactionOutcome](v)
}

// MarshalTransferDirection marshals a transfer direction.
func MarshalTransferDirection(v ledger.TransferDirection) graphql.ContextMarshaler {
	return with(v, AppendName)
}

// UnmarshalTransferDirection parses a transfer direction.
func UnmarshalTransferDirection(_ context.Context, v any) (ledger.TransferDirection, error) {
	return readName[ledger.TransferDirection](v)
}

// AppendEntityType appends an entity type.
func AppendEntityType(dst []byte, v ledger.EntityType, style Style) []byte {
	return AppendName(dst, v, style)
}

// MarshalEntityType is [AppendEntityType] for gqlgen.
func MarshalEntityType(v ledger.EntityType) graphql.ContextMarshaler {
	return with(v, AppendEntityType)
}

// UnmarshalEntityType parses an entity type.
func UnmarshalEntityType(_ context.Context, v any) (ledger.EntityType, error) {
	return readName[ledger.EntityType](v)
}

// AppendKeyType appends a key type. REST spells the type of complex keys differently.
func AppendKeyType(dst []byte, v ledger.KeyType, style Style) []byte {
	if style != GraphQL && v == ledger.KeyProtobufEncoded {
		return append(dst, `"ProtobufEncoded"`...)
	}
	return AppendName(dst, v, style)
}

// MarshalKeyType is [AppendKeyType] for gqlgen.
func MarshalKeyType(v ledger.KeyType) graphql.ContextMarshaler { return with(v, AppendKeyType) }

// UnmarshalKeyType parses a key type.
func UnmarshalKeyType(_ context.Context, v any) (ledger.KeyType, error) {
	return readName[ledger.KeyType](v)
}

// AppendTransactionType appends the name of a transaction type.
func AppendTransactionType(dst []byte, v ledger.TransactionType, style Style) []byte {
	return AppendString(dst, v.String(), style)
}

// MarshalTransactionType is [AppendTransactionType] for gqlgen.
func MarshalTransactionType(v ledger.TransactionType) graphql.ContextMarshaler {
	return with(v, AppendTransactionType)
}

// UnmarshalTransactionType parses the name of a transaction type.
func UnmarshalTransactionType(_ context.Context, v any) (ledger.TransactionType, error) {
	text, err := inputText(v)
	if err != nil {
		return 0, err
	}
	if strings.EqualFold(text, ledger.Unknown) {
		return 0, fault.Input("%s is not a valid transaction type for input", ledger.Unknown)
	}
	return input(ledger.ParseTransactionType(text))
}

// AppendResponseCode appends the name of a response code.
func AppendResponseCode(dst []byte, v ledger.ResponseCode, style Style) []byte {
	return AppendString(dst, v.String(), style)
}

// MarshalResponseCode is [AppendResponseCode] for gqlgen.
func MarshalResponseCode(v ledger.ResponseCode) graphql.ContextMarshaler {
	return with(v, AppendResponseCode)
}

// UnmarshalResponseCode parses the name of a response code.
func UnmarshalResponseCode(_ context.Context, v any) (ledger.ResponseCode, error) {
	text, err := inputText(v)
	if err != nil {
		return 0, err
	}
	return input(ledger.ParseResponseCode(text))
}

// MarshalHbarUnit writes a unit of the ledger's currency.
func MarshalHbarUnit(v ledger.HbarUnit) graphql.ContextMarshaler { return with(v, AppendName) }

// UnmarshalHbarUnit reads a unit of the ledger's currency.
func UnmarshalHbarUnit(_ context.Context, v any) (ledger.HbarUnit, error) {
	return readName[ledger.HbarUnit](v)
}
