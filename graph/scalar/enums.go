package scalar

import (
	"context"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/internal/domain/ledger"
)

// AppendName writes the name of an enum's value.
func AppendName[T ~string](dst []byte, v T, style Style) []byte {
	return AppendString(dst, string(v), style)
}

// readName reads the name of an enum's value. The schema has made sure that it is one.
func readName[T ~string](v any) (T, error) {
	text, err := inputText(v)
	return T(text), err
}

// MarshalOrder writes the direction of a list.
func MarshalOrder(v relay.Order) graphql.ContextMarshaler { return with(v, AppendName) }

// UnmarshalOrder reads the direction of a list.
func UnmarshalOrder(_ context.Context, v any) (relay.Order, error) { return readName[relay.Order](v) }

// MarshalTransactionOutcome writes how a transaction ended.
func MarshalTransactionOutcome(v ledger.TransactionOutcome) graphql.ContextMarshaler {
	return with(v, AppendName)
}

// UnmarshalTransactionOutcome reads how a transaction ended.
func UnmarshalTransactionOutcome(_ context.Context, v any) (ledger.TransactionOutcome, error) {
	return readName[ledger.TransactionOutcome](v)
}

// MarshalTransferDirection writes what a transfer did to an account.
func MarshalTransferDirection(v ledger.TransferDirection) graphql.ContextMarshaler {
	return with(v, AppendName)
}

// UnmarshalTransferDirection reads what a transfer did to an account.
func UnmarshalTransferDirection(_ context.Context, v any) (ledger.TransferDirection, error) {
	return readName[ledger.TransferDirection](v)
}

// AppendEntityType writes what kind of thing an entity is.
func AppendEntityType(dst []byte, v ledger.EntityType, style Style) []byte {
	return AppendName(dst, v, style)
}

// MarshalEntityType is [AppendEntityType] for gqlgen.
func MarshalEntityType(v ledger.EntityType) graphql.ContextMarshaler {
	return with(v, AppendEntityType)
}

// UnmarshalEntityType reads what kind of thing an entity is.
func UnmarshalEntityType(_ context.Context, v any) (ledger.EntityType, error) {
	return readName[ledger.EntityType](v)
}

// AppendKeyType writes how a key is made. REST has another spelling for keys that are not a single primitive one.
func AppendKeyType(dst []byte, v ledger.KeyType, style Style) []byte {
	if style != GraphQL && v == ledger.KeyProtobufEncoded {
		return append(dst, `"ProtobufEncoded"`...)
	}
	return AppendName(dst, v, style)
}

// MarshalKeyType is [AppendKeyType] for gqlgen.
func MarshalKeyType(v ledger.KeyType) graphql.ContextMarshaler { return with(v, AppendKeyType) }

// UnmarshalKeyType reads how a key is made.
func UnmarshalKeyType(_ context.Context, v any) (ledger.KeyType, error) {
	return readName[ledger.KeyType](v)
}

// AppendTransactionType writes a transaction type's name.
func AppendTransactionType(dst []byte, v ledger.TransactionType, style Style) []byte {
	return AppendString(dst, v.String(), style)
}

// MarshalTransactionType is [AppendTransactionType] for gqlgen.
func MarshalTransactionType(v ledger.TransactionType) graphql.ContextMarshaler {
	return with(v, AppendTransactionType)
}

// UnmarshalTransactionType reads a transaction type's name.
func UnmarshalTransactionType(_ context.Context, v any) (ledger.TransactionType, error) {
	text, err := inputText(v)
	if err != nil {
		return 0, err
	}
	if strings.EqualFold(text, ledger.Unknown) {
		return 0, fault.Input("%s names no type that can be asked for", ledger.Unknown)
	}
	return input(ledger.ParseTransactionType(text))
}

// AppendResponseCode writes a response code's name.
func AppendResponseCode(dst []byte, v ledger.ResponseCode, style Style) []byte {
	return AppendString(dst, v.String(), style)
}

// MarshalResponseCode is [AppendResponseCode] for gqlgen.
func MarshalResponseCode(v ledger.ResponseCode) graphql.ContextMarshaler {
	return with(v, AppendResponseCode)
}

// UnmarshalResponseCode reads a response code's name.
func UnmarshalResponseCode(_ context.Context, v any) (ledger.ResponseCode, error) {
	text, err := inputText(v)
	if err != nil {
		return 0, err
	}
	return input(ledger.ParseResponseCode(text))
}
